/* SPDX-License-Identifier: MIT */
/* The type Context: a context of the engine and its lock. */
#include "core.h"

#include <string.h>

/* Fields of the library that an argument of another name sets. */
static const struct {
    const char *field, *argument;
} renamed[] = {
    {"causal_offset", "causal"}, {"window_left", "window"},
    {"window_right", "window"},  {"pooled_block", "pooled"},
    {"last_queries", "last"},    {"options.threads", "threads"},
    {"options.isa", "isa"},      {"hq (", "heads of q: hq ("},
};

PyObject *raise_error(attend_status status, const attend_error *error)
{
    const char *start = "", *rest = error->message;

    if (status == ATTEND_ENOMEM)
        return PyErr_NoMemory();
    for (size_t x = 0; x < sizeof renamed / sizeof renamed[0]; x++)
        if (!strncmp(error->message, renamed[x].field, strlen(renamed[x].field))) {
            start = renamed[x].argument;
            rest = error->message + strlen(renamed[x].field);
        }
    PyErr_Format(strstr(error->message, "dtype") ? PyExc_TypeError : PyExc_ValueError,
                 "%s%s", start, rest);
    return NULL;
}

int check_count(const char *name, Py_ssize_t count, Py_ssize_t wanted)
{
    if (count == wanted)
        return 0;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", name, wanted, count);
    return -1;
}

static PyObject *context_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"threads", "isa", NULL};
    attend_options options = attend_options_default();
    attend_error error;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|iz:Context", names,
                                     &options.threads, &options.isa)) {
        name_error("threads or isa");
        return NULL;
    }
    struct context *const self = (struct context *)PyType_GenericNew(type, NULL, NULL);
    if (!self)
        return NULL;
    const attend_status status = attend_context_create(&self->ctx, &options, &error);
    if (status != ATTEND_OK) {
        Py_DECREF(self);
        return raise_error(status, &error);
    }
    self->lock = PyThread_allocate_lock();
    if (!self->lock) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static void context_free(PyObject *object)
{
    struct context *const self = (struct context *)object;
    PyTypeObject *const type = Py_TYPE(object);

    attend_context_destroy(self->ctx);
    if (self->lock)
        PyThread_free_lock(self->lock);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *get_threads(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(attend_context_threads(((struct context *)self)->ctx));
}

static PyObject *get_isa(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(attend_context_isa(((struct context *)self)->ctx));
}

static PyGetSetDef properties[] = {
    {"threads", get_threads, NULL, "threads, the caller's included", NULL},
    {"isa", get_isa, NULL, "the kernel set", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, context_new},
    {Py_tp_dealloc, context_free},
    {Py_tp_getset, properties},
    {Py_tp_doc, "Context(threads=0, isa=None)\n--\n\n"
                "Threads, kernel set and scratch of the engine.  Calls on one context "
                "take turns; different contexts run at once.\n\n"
                "threads: 0 for OMP_NUM_THREADS, else every CPU this process may use.\n"
                "isa: a kernel set of attend.info(), or None for the best."},
    {0, NULL},
};

PyType_Spec context_spec = {
    .name = "attend.Context",
    .basicsize = sizeof(struct context),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

struct context *context_of(PyObject *module, PyObject *object)
{
    const struct module_state *const state = PyModule_GetState(module);

    if (PyObject_TypeCheck(object, (PyTypeObject *)state->context_type))
        return (struct context *)object;
    PyErr_SetString(PyExc_TypeError, "context must be an attend.Context");
    return NULL;
}

PyThreadState *context_enter(struct context *context)
{
    PyThreadState *const state = PyEval_SaveThread();

    PyThread_acquire_lock(context->lock, WAIT_LOCK);
    return state;
}

void context_leave(struct context *context, PyThreadState *state)
{
    PyThread_release_lock(context->lock);
    PyEval_RestoreThread(state);
}
