/* SPDX-License-Identifier: MIT */
/* attend_inspect() and attend_merge_with(). */
#include "core.h"

#include <string.h>

enum {
    ARG_CONTEXT,
    ARG_Q,
    ARG_K,
    ARG_LSE,
    ARG_LAYOUT,
    ARG_RULE,
    ARG_MASS,
    ARG_MAX,
    ARG_LAST,
    ARG_LAST_QUERIES,
    ARG_POOLED,
    ARG_BLOCK,
    ARG_ZOOM,
    ARG_ZOOM_QUERY,
    ARG_ZOOM_KEY,
    ARG_PROBES,
    ARG_PROBE_WEIGHTS,
    ARGS
};

struct inspection {
    struct array q, k, lse, mass, max, last, pooled, zoom, probes, weights;
    struct rule rule;
    attend_inspection request;
};

static int open_output(struct array *array, PyObject *object, const char *name,
                       attend_tensor *tensor)
{
    return array_open(array, object, name, ARRAY_WRITE) ||
                   array_as_tensor(array, name, LAYOUT_BHLD, tensor)
               ? -1
               : 0;
}

/* Probes are int64 (count, 4): b, h, i, j, as the struct has them. */
static int open_probes(struct inspection *call, PyObject *const *args)
{
    const void *probes, *weights;
    attend_inspection *const request = &call->request;

    if (array_open(&call->probes, args[ARG_PROBES], "probes", ARRAY_READ) ||
        array_open(&call->weights, args[ARG_PROBE_WEIGHTS], "probe_weights", ARRAY_WRITE))
        return -1;
    request->probe_count = call->probes.ndim == 2 ? call->probes.size[0] : 0;
    if (array_as_numbers(&call->probes, "probes", 'q', 4 * request->probe_count,
                         &probes) ||
        array_as_numbers(&call->weights, "probe_weights", 'd', request->probe_count,
                         &weights))
        return -1;
    request->probes = probes;
    request->probe_weights = call->weights.data;
    return 0;
}

static int get_integer(PyObject *object, const char *name, int64_t *number)
{
    *number = PyLong_AsLongLong(object);
    return PyErr_Occurred() ? name_error(name) : 0;
}

static int inspection_open(struct inspection *call, PyObject *const *args)
{
    const enum layout layout =
        PyLong_AsLong(args[ARG_LAYOUT]) == LAYOUT_BLHD ? LAYOUT_BLHD : LAYOUT_BHLD;
    attend_inspection *const request = &call->request;

    *request = attend_inspection_default();
    if (get_integer(args[ARG_LAST_QUERIES], "last", &request->last_queries) ||
        get_integer(args[ARG_BLOCK], "pooled", &request->pooled_block) ||
        get_integer(args[ARG_ZOOM_QUERY], "zoom", &request->zoom_query) ||
        get_integer(args[ARG_ZOOM_KEY], "zoom", &request->zoom_key) ||
        array_open(&call->q, args[ARG_Q], "q", ARRAY_READ) ||
        array_open(&call->k, args[ARG_K], "k", ARRAY_READ) ||
        array_open(&call->lse, args[ARG_LSE], "lse", ARRAY_READ) ||
        array_as_view(&call->q, "q", layout, &request->q) ||
        array_as_view(&call->k, "k", layout, &request->k) ||
        array_as_view(&call->lse, "lse", LAYOUT_BHLD, &request->lse) ||
        open_output(&call->mass, args[ARG_MASS], "column_mass", &request->column_mass) ||
        open_output(&call->max, args[ARG_MAX], "column_max", &request->column_max) ||
        open_output(&call->last, args[ARG_LAST], "column_last", &request->column_last) ||
        open_output(&call->pooled, args[ARG_POOLED], "pooled", &request->pooled) ||
        open_output(&call->zoom, args[ARG_ZOOM], "zoom", &request->zoom) ||
        open_probes(call, args))
        return -1;
    return rule_open(&call->rule, args[ARG_RULE], request->q.size[0], request->q.size[1]);
}

static void inspection_close(struct inspection *call)
{
    array_close(&call->q);
    array_close(&call->k);
    array_close(&call->lse);
    array_close(&call->mass);
    array_close(&call->max);
    array_close(&call->last);
    array_close(&call->pooled);
    array_close(&call->zoom);
    array_close(&call->probes);
    array_close(&call->weights);
    rule_close(&call->rule);
}

PyObject *core_inspect(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    struct context *context;
    struct inspection call;
    attend_error error;

    if (check_count("inspect", count, ARGS))
        return NULL;
    context = context_of(module, args[ARG_CONTEXT]);
    if (!context)
        return NULL;
    memset(&call, 0, sizeof call);
    if (inspection_open(&call, args)) {
        inspection_close(&call);
        return NULL;
    }
    context_enter(context);
    const attend_status status =
        attend_inspect(context->ctx, &call.rule.rule, &call.request, &error);
    context_leave(context);
    inspection_close(&call);
    if (status != ATTEND_OK)
        return raise_error(status, &error);
    Py_RETURN_NONE;
}

/* ---- merge ------------------------------------------------------------------ */

struct merging {
    Py_ssize_t count;
    struct array *arrays; /* out and lse of each part */
    attend_part *parts;
    struct array out, lse;
    attend_tensor out_tensor, lse_tensor;
};

/* merge(context, parts, out, lse): parts is a tuple of (out, lse), 4-d, lse 4-d too. */
static int merging_open(struct merging *call, PyObject *const *args)
{
    PyObject *const parts = args[1];

    if (!PyTuple_Check(parts)) {
        PyErr_SetString(PyExc_TypeError, "parts must be a tuple");
        return -1;
    }
    call->count = PyTuple_Size(parts);
    call->arrays = PyMem_Calloc((size_t)call->count * 2 + 1, sizeof *call->arrays);
    call->parts = PyMem_Calloc((size_t)call->count + 1, sizeof *call->parts);
    if (!call->arrays || !call->parts) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t x = 0; x < call->count; x++) {
        PyObject *out, *lse;

        if (!PyArg_ParseTuple(PyTuple_GetItem(parts, x), "OO", &out, &lse) ||
            array_open(&call->arrays[2 * x], out, "out of a part", ARRAY_READ) ||
            array_open(&call->arrays[2 * x + 1], lse, "lse of a part", ARRAY_READ) ||
            array_as_view(&call->arrays[2 * x], "out of a part", LAYOUT_BHLD,
                          &call->parts[x].out) ||
            array_as_view(&call->arrays[2 * x + 1], "lse of a part", LAYOUT_BHLD,
                          &call->parts[x].lse))
            return -1;
    }
    return array_open(&call->out, args[2], "out", ARRAY_WRITE) ||
                   array_open(&call->lse, args[3], "lse", ARRAY_WRITE) ||
                   array_as_tensor(&call->out, "out", LAYOUT_BHLD, &call->out_tensor) ||
                   array_as_tensor(&call->lse, "lse", LAYOUT_BHLD, &call->lse_tensor)
               ? -1
               : 0;
}

static void merging_close(struct merging *call)
{
    for (Py_ssize_t x = 0; call->arrays && x < 2 * call->count; x++)
        array_close(&call->arrays[x]);
    array_close(&call->out);
    array_close(&call->lse);
    PyMem_Free(call->arrays);
    PyMem_Free(call->parts);
}

PyObject *core_merge(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    struct context *context;
    struct merging call;
    attend_error error;

    if (check_count("merge", count, 4))
        return NULL;
    context = context_of(module, args[0]);
    if (!context)
        return NULL;
    memset(&call, 0, sizeof call);
    if (merging_open(&call, args)) {
        merging_close(&call);
        return NULL;
    }
    context_enter(context);
    const attend_status status = attend_merge_with(
        context->ctx, call.parts, call.count, &call.out_tensor, &call.lse_tensor, &error);
    context_leave(context);
    merging_close(&call);
    if (status != ATTEND_OK)
        return raise_error(status, &error);
    Py_RETURN_NONE;
}
