/* SPDX-License-Identifier: MIT */
/* The type Context: a context of the engine and its lock. */
#include "core.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Seconds between two checks for signals, each of which waits for the GIL. */
#define LOOK_SECONDS 0.05

/* Fields whose Python argument has another name. */
static const struct {
    attend_field field;
    const char *argument;
} renamed[] = {
    {ATTEND_FIELD_CAUSAL_OFFSET, "causal"}, {ATTEND_FIELD_WINDOW_LEFT, "window"},
    {ATTEND_FIELD_WINDOW_RIGHT, "window"},  {ATTEND_FIELD_POOLED_BLOCK, "pooled"},
    {ATTEND_FIELD_LAST_QUERIES, "last"},    {ATTEND_FIELD_OPTIONS_THREADS, "threads"},
    {ATTEND_FIELD_OPTIONS_ISA, "isa"},      {ATTEND_FIELD_OPTIONS_DEVICE, "device"},
    {ATTEND_FIELD_HQ, "heads of q: hq"},
};

PyObject *raise_error(attend_status status, const attend_error *error)
{
    const char *argument = attend_field_name(error->field);
    /* "problem x: " comes first where a call has many. */
    const char *const many =
        strncmp(error->message, "problem ", 8) ? NULL : strchr(error->message, ':');
    const size_t before = many ? (size_t)(many + 2 - error->message) : 0;
    const char *const rest = error->message + before + strlen(argument);
    char number[40] = "";

    if (PyErr_Occurred()) /* raised by a signal handler */
        return NULL;
    if (status == ATTEND_ENOMEM)
        return PyErr_NoMemory();
    if (status == ATTEND_EBUSY) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the context is in use by the call that a signal interrupted");
        return NULL;
    }
    for (size_t x = 0; x < sizeof renamed / sizeof renamed[0]; x++)
        if (error->field == renamed[x].field)
            argument = renamed[x].argument;
    snprintf(number, sizeof number, "%.*s", (int)before, error->message);
    PyErr_Format(error->member == ATTEND_MEMBER_DTYPE ? PyExc_TypeError
                                                      : PyExc_ValueError,
                 "%s%s%s", number, argument, rest);
    return NULL;
}

int check_count(const char *name, Py_ssize_t count, Py_ssize_t wanted)
{
    if (count == wanted)
        return 0;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", name, wanted, count);
    return -1;
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* attend_options.cancelled: runs Python's signal handlers, in the caller's thread. */
static int signal_raised(void *user)
{
    struct context *const self = user;

    if (PyThread_get_thread_ident() != self->caller || seconds_now() < self->next_look)
        return 0;
    PyEval_RestoreThread(self->state);
    const int raised = PyErr_CheckSignals();
    self->state = PyEval_SaveThread();
    self->next_look = seconds_now() + LOOK_SECONDS;
    return raised;
}

static PyObject *context_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"threads", "isa", "device", "fast", NULL};
    attend_options options = attend_options_default();
    attend_error error;
    int fast = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|izzp:Context", names,
                                     &options.threads, &options.isa, &options.device,
                                     &fast)) {
        name_error("threads, isa or device");
        return NULL;
    }
    options.order = fast ? ATTEND_ORDER_FAST : ATTEND_ORDER_SAME;
    struct context *const self = (struct context *)PyType_GenericNew(type, NULL, NULL);
    if (!self)
        return NULL;
    options.cancelled = signal_raised;
    options.cancel_user = self;
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

static PyObject *set_stream(PyObject *self, PyObject *stream)
{
    void *const handle = PyLong_AsVoidPtr(stream);
    attend_error error;

    if (PyErr_Occurred())
        return NULL;
    const attend_status status =
        attend_context_set_stream(((struct context *)self)->ctx, handle, &error);
    if (status != ATTEND_OK)
        return raise_error(status, &error);
    Py_RETURN_NONE;
}

static PyObject *wait_for(PyObject *self, PyObject *nothing)
{
    struct context *const context = (struct context *)self;
    attend_error error;

    (void)nothing;
    context_enter(context);
    const attend_status status = attend_context_wait(context->ctx, &error);
    context_leave(context);
    if (status != ATTEND_OK)
        return raise_error(status, &error);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_stream", set_stream, METH_O,
     "set_stream(stream)\n--\n\nCalls from now on are queued on this CUDA stream."},
    {"wait", wait_for, METH_NOARGS,
     "wait()\n--\n\nReturns when all that was queued on the device is done."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"threads", get_threads, NULL, "threads, the caller's included", NULL},
    {"isa", get_isa, NULL, "the kernel set", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, context_new},
    {Py_tp_dealloc, context_free},
    {Py_tp_getset, properties},
    {Py_tp_methods, methods},
    {Py_tp_doc, "Context(threads=0, isa=None, device=None, fast=False)\n--\n\n"
                "Threads, kernel set and scratch of the engine.  Calls on one context "
                "take turns; different contexts run at once.\n\n"
                "threads: 0 for OMP_NUM_THREADS, else every CPU this process may use.\n"
                "isa: a kernel set of attend.info(), or None for the best.\n"
                "device: \"cuda\" or \"cuda:N\" for a GPU, whose arrays are in its "
                "memory.\n"
                "fast: bits of a row may depend on how many rows there are."},
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

void context_enter(struct context *context)
{
    PyThreadState *const state = PyEval_SaveThread();
    const unsigned long caller = PyThread_get_thread_ident();

    /* From a signal handler: the engine answers EBUSY, and waiting would never end. */
    if (context->caller == caller) {
        context->nested++;
        return;
    }
    PyThread_acquire_lock(context->lock, WAIT_LOCK);
    context->caller = caller;
    context->state = state;
    context->next_look = seconds_now() + LOOK_SECONDS;
}

void context_leave(struct context *context)
{
    PyThreadState *const state = context->state;

    if (context->nested > 0) {
        context->nested--;
    } else {
        context->caller = 0;
        PyThread_release_lock(context->lock);
    }
    PyEval_RestoreThread(state);
}

PyObject *core_perform(PyObject *module, PyObject *object, int bad, core_call *call,
                       void *user, struct arrays *arrays)
{
    struct context *const context = bad ? NULL : context_of(module, object);
    attend_status status = ATTEND_OK;
    attend_error error;

    if (context) {
        context_enter(context);
        status = call(context->ctx, user, &error);
        context_leave(context);
    }
    arrays_close(arrays);
    if (!context || status != ATTEND_OK)
        return context ? raise_error(status, &error) : NULL;
    Py_RETURN_NONE;
}
