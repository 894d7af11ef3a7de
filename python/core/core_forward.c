/* SPDX-License-Identifier: MIT */
/* attend_forward(), with statistics. */
#include "core.h"

/* ---- statistics -------------------------------------------------------------- */

struct request {
    attend_stats stats;
    attend_stat columns[ATTEND_STAT_COUNT];
};

enum {
    STATS_COLUMNS,
    STATS_ROWS,
    STATS_TOP_WEIGHTS,
    STATS_TOP_KEYS,
    STATS_DISTANCES,
    STATS_CLASS_MASS,
    STATS_CLASSES,
    STATS_SUMMARIES,
    STATS_ITEMS
};

static int take_columns(PyObject *columns, struct request *request)
{
    const Py_ssize_t count = PyTuple_Check(columns) ? PyTuple_Size(columns) : -1;

    if (count < 0 || count > ATTEND_STAT_COUNT) {
        PyErr_Format(PyExc_ValueError, "stats: columns are a tuple of at most %d",
                     ATTEND_STAT_COUNT);
        return -1;
    }
    for (Py_ssize_t x = 0; x < count; x++)
        request->columns[x] = (attend_stat)PyLong_AsLong(PyTuple_GetItem(columns, x));
    request->stats.columns = request->columns;
    return PyErr_Occurred() ? -1 : 0;
}

/* Keys, classes of keys, and summaries as words of 8 bytes. */
static int take_vectors(struct arrays *arrays, PyObject *const *item, const attend_io *io,
                        attend_stats *stats)
{
    const int64_t heads = io->q.size[0] * io->q.size[1], keys = io->k.size[2];
    const int64_t words = ATTEND_SUMMARY_COUNT * ATTEND_SUMMARY_GROUPS *
                          (int64_t)(sizeof(attend_summary) / sizeof(int64_t));
    const struct array *const top =
        take_numbers(arrays, item[STATS_TOP_KEYS], "top_keys", ARRAY_WRITE, 'q',
                     heads * io->q.size[2] * stats->top_weights.size[3]);
    const struct array *const classes =
        top ? take_numbers(arrays, item[STATS_CLASSES], "classes", ARRAY_READ, 'i',
                           io->k.size[0] * keys)
            : NULL;
    const struct array *const summaries =
        classes ? take_numbers(arrays, item[STATS_SUMMARIES], "summaries", ARRAY_WRITE,
                               'q', heads * words)
                : NULL;

    if (!summaries)
        return -1;
    stats->top_keys = top->data;
    stats->classes = classes->data;
    stats->summaries = summaries->data;
    return 0;
}

static int take_request(struct arrays *arrays, PyObject *tuple, const attend_io *io,
                        struct request *request)
{
    PyObject *item[STATS_ITEMS];
    attend_stats *const stats = &request->stats;

    *stats = attend_stats_default();
    if (tuple == Py_None)
        return 0;
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != STATS_ITEMS) {
        PyErr_SetString(PyExc_TypeError, "a request for statistics is a tuple of 8");
        return -1;
    }
    for (int x = 0; x < STATS_ITEMS; x++)
        item[x] = PyTuple_GetItem(tuple, x);
    const struct {
        int item;
        const char *name;
        attend_tensor *tensor;
    } outputs[] = {{STATS_ROWS, "rows", &stats->rows},
                   {STATS_TOP_WEIGHTS, "top_weights", &stats->top_weights},
                   {STATS_DISTANCES, "distances", &stats->distances},
                   {STATS_CLASS_MASS, "class_mass", &stats->class_mass}};
    if (take_columns(item[STATS_COLUMNS], request))
        return -1;
    for (size_t x = 0; x < sizeof outputs / sizeof outputs[0]; x++)
        if (take_tensor(arrays, item[outputs[x].item], outputs[x].name, LAYOUT_BHLD,
                        outputs[x].tensor))
            return -1;
    return take_vectors(arrays, item, io, stats);
}

/* ---- forward ----------------------------------------------------------------- */

/* The arguments of forward() behind the context, by name. */
enum {
    ARG_Q,
    ARG_K,
    ARG_V,
    ARG_OUT,
    ARG_LSE,
    ARG_WEIGHTS,
    ARG_FORCE,
    ARG_LAYOUT,
    ARG_RULE,
    ARG_STATS,
    ARGS
};

/* Arrays of a call. */
enum { CALL_ARRAYS = 6 + RULE_ARRAYS + STATS_ITEMS };

struct call {
    attend_rule rule;
    attend_io io;
    struct request request;
};

static int take_call(struct arrays *arrays, PyObject *const *args, struct call *call)
{
    const enum layout layout = layout_of(args[ARG_LAYOUT]);
    attend_io *const io = &call->io;

    *io = attend_io_default();
    io->force_weights = PyObject_IsTrue(args[ARG_FORCE]);
    if (args[ARG_STATS] != Py_None)
        io->stats = &call->request.stats;
    return take_view(arrays, args[ARG_Q], "q", layout, &io->q) ||
           take_view(arrays, args[ARG_K], "k", layout, &io->k) ||
           take_view(arrays, args[ARG_V], "v", layout, &io->v) ||
           take_tensor(arrays, args[ARG_OUT], "out", layout, &io->out) ||
           take_tensor(arrays, args[ARG_LSE], "lse", LAYOUT_BHLD, &io->lse) ||
           take_tensor(arrays, args[ARG_WEIGHTS], "weights", LAYOUT_BHLD, &io->weights) ||
           take_rule(arrays, args[ARG_RULE], io->q.size[0], io->q.size[1], &call->rule) ||
           take_request(arrays, args[ARG_STATS], io, &call->request);
}

static attend_status perform(attend_context *ctx, void *user, attend_error *error)
{
    const struct call *const call = user;

    return attend_forward(ctx, &call->rule, &call->io, error);
}

PyObject *core_forward(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    struct arrays arrays;
    struct call call;

    if (check_count("forward", count, 1 + ARGS))
        return NULL;
    const int bad =
        arrays_open(&arrays, CALL_ARRAYS) || take_call(&arrays, args + 1, &call);
    return core_perform(module, args[0], bad, perform, &call, &arrays);
}

/* ---- many problems ----------------------------------------------------------- */

struct calls {
    Py_ssize_t count;
    struct call *call;
    const attend_rule **rules;
    const attend_io **ios;
};

/* From a tuple of tuples of the arguments of forward(). */
static int take_calls(struct arrays *arrays, PyObject *tuple, struct calls *calls)
{
    const size_t count = (size_t)calls->count;

    calls->call = PyMem_Calloc(count + 1, sizeof *calls->call);
    calls->rules = PyMem_Calloc(count + 1, sizeof *calls->rules);
    calls->ios = PyMem_Calloc(count + 1, sizeof *calls->ios);
    if (!calls->call || !calls->rules || !calls->ios) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t x = 0; x < calls->count; x++) {
        PyObject *const one = PyTuple_GetItem(tuple, x);
        PyObject *args[ARGS];
        if (!PyTuple_Check(one) || PyTuple_Size(one) != ARGS) {
            PyErr_Format(PyExc_TypeError, "a problem is a tuple of %d", ARGS);
            return -1;
        }
        for (int a = 0; a < ARGS; a++)
            args[a] = PyTuple_GetItem(one, a);
        if (take_call(arrays, args, &calls->call[x]))
            return -1;
        calls->rules[x] = &calls->call[x].rule;
        calls->ios[x] = &calls->call[x].io;
    }
    return 0;
}

static attend_status perform_many(attend_context *ctx, void *user, attend_error *error)
{
    const struct calls *const calls = user;

    return attend_forward_many(ctx, calls->count, calls->rules, calls->ios, error);
}

PyObject *core_forward_many(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    struct arrays arrays;

    if (check_count("forward_many", count, 2))
        return NULL;
    if (!PyTuple_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "problems must be a tuple");
        return NULL;
    }
    struct calls calls = {.count = PyTuple_Size(args[1])};
    const int bad = arrays_open(&arrays, calls.count * CALL_ARRAYS) ||
                    take_calls(&arrays, args[1], &calls);
    PyObject *const done =
        core_perform(module, args[0], bad, perform_many, &calls, &arrays);
    PyMem_Free(calls.call);
    PyMem_Free(calls.rules);
    PyMem_Free(calls.ios);
    return done;
}
