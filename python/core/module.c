/* SPDX-License-Identifier: MIT */
/* The module attend._core, and queries about the library. */
#include "core.h"

/* head(columns, rows, top_weights, b, h, noise): character, reason and means of a head.
 */
PyObject *core_head(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    attend_stat columns[ATTEND_STAT_COUNT];
    attend_stats stats = attend_stats_default();
    attend_head head = attend_head_default();
    struct arrays arrays;
    attend_error error;
    char reason[256];

    (void)module;
    if (check_count("head", count, 6))
        return NULL;
    const Py_ssize_t n = PyTuple_Check(args[0]) ? PyTuple_Size(args[0]) : -1;
    if (n < 0 || n > ATTEND_STAT_COUNT) {
        PyErr_SetString(PyExc_ValueError, "columns must be a tuple of statistics");
        return NULL;
    }
    for (Py_ssize_t x = 0; x < n; x++)
        columns[x] = (attend_stat)PyLong_AsLong(PyTuple_GetItem(args[0], x));
    stats.columns = columns;
    const int64_t b = PyLong_AsLongLong(args[3]), h = PyLong_AsLongLong(args[4]);
    const double noise = PyFloat_AsDouble(args[5]);
    const int bad =
        arrays_open(&arrays, 2) || PyErr_Occurred() ||
        take_tensor(&arrays, args[1], "rows", LAYOUT_BHLD, &stats.rows) ||
        take_tensor(&arrays, args[2], "top_weights", LAYOUT_BHLD, &stats.top_weights);
    const attend_status status =
        bad ? ATTEND_OK : attend_head_read(&stats, b, h, &head, &error);

    arrays_close(&arrays);
    if (bad)
        return NULL;
    if (status != ATTEND_OK)
        return raise_error(status, &error);
    const attend_character character =
        attend_head_character(&head, noise, reason, sizeof reason);
    return Py_BuildValue("(ssLddddddddd)", attend_character_name(character), reason,
                         (long long)head.rows, head.keys, head.max, head.n_eff,
                         head.sink1, head.previous, head.log_distance, head.raw_sd,
                         head.entropy_share, head.margin);
}

/* isas(): a list of (name, needs, runs); then the CPU's features as text. */
PyObject *core_isas(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    PyObject *const list = PyList_New(0);
    char features[512];

    (void)module;
    (void)args;
    (void)count;
    for (int x = 0; list && x < attend_isa_count(); x++) {
        attend_isa isa = attend_isa_default();

        attend_isa_get(x, &isa);
        PyObject *const item =
            Py_BuildValue("(ssO)", isa.name, isa.needs, isa.runs ? Py_True : Py_False);
        const int bad = !item || PyList_Append(list, item);
        Py_XDECREF(item);
        if (bad) {
            Py_DECREF(list);
            return NULL;
        }
    }
    attend_cpu_features(features, sizeof features);
    return Py_BuildValue("(Nss)", list, features, attend_version());
}

/* names(): of the row statistics, in the order of their numbers. */
PyObject *core_names(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    PyObject *const names = PyTuple_New(ATTEND_STAT_COUNT);

    (void)module;
    (void)args;
    (void)count;
    for (int x = 0; names && x < ATTEND_STAT_COUNT; x++) {
        PyObject *const name = PyUnicode_FromString(attend_stat_name((attend_stat)x));

        if (!name) {
            Py_DECREF(names);
            return NULL;
        }
        PyTuple_SetItem(names, x, name);
    }
    return names;
}

#define FUNCTION(name, doc)                                                              \
    {                                                                                    \
#name, (PyCFunction)(void (*)(void))core_##name, METH_FASTCALL, doc              \
    }

static PyMethodDef functions[] = {
    FUNCTION(forward, "attend_forward()"),
    FUNCTION(forward_many, "attend_forward_many()"),
    FUNCTION(inspect, "attend_inspect()"),
    FUNCTION(merge, "attend_merge_with()"),
    FUNCTION(head, "attend_head_read() and attend_head_character()"),
    FUNCTION(isas, "kernel sets, CPU features and version"),
    FUNCTION(names, "names of the row statistics"),
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module)
{
    struct module_state *const state = PyModule_GetState(module);

    state->context_type = PyType_FromModuleAndSpec(module, &context_spec, NULL);
    if (!state->context_type)
        return -1;
    return PyModule_AddObjectRef(module, "Context", state->context_type);
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    const struct module_state *const state = PyModule_GetState(module);

    Py_VISIT(state->context_type);
    return 0;
}

static int clear(PyObject *module)
{
    struct module_state *const state = PyModule_GetState(module);

    Py_CLEAR(state->context_type);
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "attend._core",
    .m_doc = "The engine, positional arguments only; use the package attend.",
    .m_size = sizeof(struct module_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
