/* SPDX-License-Identifier: MIT */
/* attend_inspect() and attend_merge_with(). */
#include "core.h"

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
    attend_rule rule;
    attend_inspection request;
};

/* Probes are int64 (count, 4): b, h, i, j, as the struct has them. */
static int take_probes(struct arrays *arrays, PyObject *const *args,
                       attend_inspection *request)
{
    const struct array *const probes =
        take_numbers(arrays, args[ARG_PROBES], "probes", ARRAY_READ, 'q', -4);

    if (!probes)
        return -1;
    request->probes = probes->data;
    request->probe_count = probes->ndim == 2 ? probes->size[0] : 0;
    const struct array *const weights =
        take_numbers(arrays, args[ARG_PROBE_WEIGHTS], "probe_weights", ARRAY_WRITE, 'd',
                     request->probe_count);
    request->probe_weights = weights ? weights->data : NULL;
    return weights ? 0 : -1;
}

static int take_inspection(struct arrays *arrays, PyObject *const *args,
                           struct inspection *call)
{
    const enum layout layout = layout_of(args[ARG_LAYOUT]);
    attend_inspection *const request = &call->request;
    const struct {
        int arg;
        const char *name;
        attend_tensor *tensor;
    } outputs[] = {{ARG_MASS, "column_mass", &request->column_mass},
                   {ARG_MAX, "column_max", &request->column_max},
                   {ARG_LAST, "column_last", &request->column_last},
                   {ARG_POOLED, "pooled", &request->pooled},
                   {ARG_ZOOM, "zoom", &request->zoom}};

    *request = attend_inspection_default();
    if (take_integer(args[ARG_LAST_QUERIES], "last", &request->last_queries) ||
        take_integer(args[ARG_BLOCK], "pooled", &request->pooled_block) ||
        take_integer(args[ARG_ZOOM_QUERY], "zoom", &request->zoom_query) ||
        take_integer(args[ARG_ZOOM_KEY], "zoom", &request->zoom_key) ||
        take_view(arrays, args[ARG_Q], "q", layout, &request->q) ||
        take_view(arrays, args[ARG_K], "k", layout, &request->k) ||
        take_view(arrays, args[ARG_LSE], "lse", LAYOUT_BHLD, &request->lse))
        return -1;
    for (size_t x = 0; x < sizeof outputs / sizeof outputs[0]; x++)
        if (take_tensor(arrays, args[outputs[x].arg], outputs[x].name, LAYOUT_BHLD,
                        outputs[x].tensor))
            return -1;
    return take_probes(arrays, args, request) ||
           take_rule(arrays, args[ARG_RULE], request->q.size[0], request->q.size[1],
                     &call->rule);
}

static attend_status perform_inspection(attend_context *ctx, void *user,
                                        attend_error *error)
{
    const struct inspection *const call = user;

    return attend_inspect(ctx, &call->rule, &call->request, error);
}

PyObject *core_inspect(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    struct arrays arrays;
    struct inspection call;

    if (check_count("inspect", count, ARGS))
        return NULL;
    const int bad =
        arrays_open(&arrays, 10 + RULE_ARRAYS) || take_inspection(&arrays, args, &call);
    return core_perform(module, args[ARG_CONTEXT], bad, perform_inspection, &call,
                        &arrays);
}

/* ---- merge ------------------------------------------------------------------ */

struct merging {
    attend_part *parts;
    Py_ssize_t count;
    attend_tensor out, lse;
};

/* merge(context, parts, out, lse): parts is a tuple of (out, lse), 4-d, lse 4-d too. */
static int take_parts(struct arrays *arrays, PyObject *const *args, struct merging *call)
{
    for (Py_ssize_t x = 0; x < call->count; x++) {
        PyObject *out, *lse;

        if (!PyArg_ParseTuple(PyTuple_GetItem(args[1], x), "OO", &out, &lse) ||
            take_view(arrays, out, "out of a part", LAYOUT_BHLD, &call->parts[x].out) ||
            take_view(arrays, lse, "lse of a part", LAYOUT_BHLD, &call->parts[x].lse))
            return -1;
    }
    return take_tensor(arrays, args[2], "out", LAYOUT_BHLD, &call->out) ||
           take_tensor(arrays, args[3], "lse", LAYOUT_BHLD, &call->lse);
}

static attend_status perform_merge(attend_context *ctx, void *user, attend_error *error)
{
    const struct merging *const call = user;

    return attend_merge_with(ctx, call->parts, call->count, &call->out, &call->lse,
                             error);
}

PyObject *core_merge(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    struct arrays arrays;
    struct merging call = {.parts = NULL};

    if (check_count("merge", count, 4))
        return NULL;
    if (!PyTuple_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "parts must be a tuple");
        return NULL;
    }
    call.count = PyTuple_Size(args[1]);
    call.parts = PyMem_Calloc((size_t)call.count + 1, sizeof *call.parts);
    if (!call.parts)
        return PyErr_NoMemory();
    const int bad =
        arrays_open(&arrays, 2 * call.count + 2) || take_parts(&arrays, args, &call);
    PyObject *const merged =
        core_perform(module, args[0], bad, perform_merge, &call, &arrays);
    PyMem_Free(call.parts);
    return merged;
}
