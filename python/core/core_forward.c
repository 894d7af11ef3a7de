/* SPDX-License-Identifier: MIT */
/* attend_forward(), with statistics. */
#include "core.h"

#include <string.h>

/* A request for statistics and the arrays it points into. */
struct request {
    attend_stats stats;
    attend_stat columns[ATTEND_STAT_COUNT];
    struct array rows, top_weights, top_keys, distances, class_mass, classes, summaries;
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

static int get_columns(PyObject *tuple, struct request *request)
{
    PyObject *const columns = PyTuple_GetItem(tuple, STATS_COLUMNS);
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

static int get_output(PyObject *tuple, int item, const char *name, struct array *array,
                      attend_tensor *tensor)
{
    return array_open(array, PyTuple_GetItem(tuple, item), name, ARRAY_WRITE) ||
                   array_as_tensor(array, name, LAYOUT_BHLD, tensor)
               ? -1
               : 0;
}

static int get_numbers(PyObject *tuple, int item, const char *name, char type,
                       enum array_use use, int64_t count, struct array *array,
                       const void **numbers)
{
    return array_open(array, PyTuple_GetItem(tuple, item), name, use) ||
                   array_as_numbers(array, name, type, count, numbers)
               ? -1
               : 0;
}

/* Summaries are bytes: [nb][hq][ATTEND_SUMMARY_COUNT][ATTEND_SUMMARY_GROUPS] structs. */
static int get_summaries(PyObject *tuple, int64_t heads, struct request *request)
{
    const int64_t count = heads * ATTEND_SUMMARY_COUNT * ATTEND_SUMMARY_GROUPS *
                          (int64_t)(sizeof(attend_summary) / sizeof(int64_t));
    const void *memory;

    if (get_numbers(tuple, STATS_SUMMARIES, "summaries", 'q', ARRAY_WRITE, count,
                    &request->summaries, &memory))
        return -1;
    request->stats.summaries = request->summaries.data;
    return 0;
}

static int request_open(struct request *request, PyObject *tuple, const attend_io *io)
{
    const int64_t rows = io->q.size[0] * io->q.size[1] * io->q.size[2];
    attend_stats *const stats = &request->stats;
    const void *top_keys;

    memset(request, 0, sizeof *request);
    *stats = attend_stats_default();
    if (tuple == Py_None)
        return 0;
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != STATS_ITEMS) {
        PyErr_SetString(PyExc_TypeError, "a request for statistics is a tuple of 8");
        return -1;
    }
    if (get_columns(tuple, request) ||
        get_output(tuple, STATS_ROWS, "rows", &request->rows, &stats->rows) ||
        get_output(tuple, STATS_TOP_WEIGHTS, "top_weights", &request->top_weights,
                   &stats->top_weights) ||
        get_numbers(tuple, STATS_TOP_KEYS, "top_keys", 'q', ARRAY_WRITE,
                    rows * stats->top_weights.size[3], &request->top_keys, &top_keys) ||
        get_output(tuple, STATS_DISTANCES, "distances", &request->distances,
                   &stats->distances) ||
        get_output(tuple, STATS_CLASS_MASS, "class_mass", &request->class_mass,
                   &stats->class_mass) ||
        get_numbers(tuple, STATS_CLASSES, "classes", 'i', ARRAY_READ,
                    io->k.size[0] * io->k.size[2], &request->classes,
                    (const void **)&stats->classes) ||
        get_summaries(tuple, io->q.size[0] * io->q.size[1], request))
        return -1;
    stats->top_keys = request->top_keys.data;
    return 0;
}

static void request_close(struct request *request)
{
    array_close(&request->rows);
    array_close(&request->top_weights);
    array_close(&request->top_keys);
    array_close(&request->distances);
    array_close(&request->class_mass);
    array_close(&request->classes);
    array_close(&request->summaries);
}

/* The arguments of forward(), by name. */
enum {
    ARG_CONTEXT,
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

struct call {
    struct array q, k, v, out, lse, weights;
    struct rule rule;
    struct request request;
    attend_io io;
};

static int call_open(struct call *call, PyObject *const *args)
{
    const enum layout layout =
        PyLong_AsLong(args[ARG_LAYOUT]) == LAYOUT_BLHD ? LAYOUT_BLHD : LAYOUT_BHLD;
    attend_io *const io = &call->io;

    *io = attend_io_default();
    io->force_weights = PyObject_IsTrue(args[ARG_FORCE]);
    if (array_open(&call->q, args[ARG_Q], "q", ARRAY_READ) ||
        array_open(&call->k, args[ARG_K], "k", ARRAY_READ) ||
        array_open(&call->v, args[ARG_V], "v", ARRAY_READ) ||
        array_open(&call->out, args[ARG_OUT], "out", ARRAY_WRITE) ||
        array_open(&call->lse, args[ARG_LSE], "lse", ARRAY_WRITE) ||
        array_open(&call->weights, args[ARG_WEIGHTS], "weights", ARRAY_WRITE) ||
        array_as_view(&call->q, "q", layout, &io->q) ||
        array_as_view(&call->k, "k", layout, &io->k) ||
        array_as_view(&call->v, "v", layout, &io->v) ||
        array_as_tensor(&call->out, "out", layout, &io->out) ||
        array_as_tensor(&call->lse, "lse", LAYOUT_BHLD, &io->lse) ||
        array_as_tensor(&call->weights, "weights", LAYOUT_BHLD, &io->weights))
        return -1;
    if (rule_open(&call->rule, args[ARG_RULE], io->q.size[0], io->q.size[1]) ||
        request_open(&call->request, args[ARG_STATS], io))
        return -1;
    if (args[ARG_STATS] != Py_None)
        io->stats = &call->request.stats;
    return 0;
}

static void call_close(struct call *call)
{
    array_close(&call->q);
    array_close(&call->k);
    array_close(&call->v);
    array_close(&call->out);
    array_close(&call->lse);
    array_close(&call->weights);
    rule_close(&call->rule);
    request_close(&call->request);
}

PyObject *core_forward(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    struct context *context;
    struct call call;
    attend_error error;

    if (check_count("forward", count, ARGS))
        return NULL;
    context = context_of(module, args[ARG_CONTEXT]);
    if (!context)
        return NULL;
    memset(&call, 0, sizeof call);
    if (call_open(&call, args)) {
        call_close(&call);
        return NULL;
    }
    context_enter(context);
    const attend_status status =
        attend_forward(context->ctx, &call.rule.rule, &call.io, &error);
    context_leave(context);
    call_close(&call);
    if (status != ATTEND_OK)
        return raise_error(status, &error);
    Py_RETURN_NONE;
}
