/* SPDX-License-Identifier: MIT */
/* Design of queries. */
#include "lab_module.h"

#include <string.h>

#include "lab/design/design.h"

/* random_keys(seed, n, d): n * d numbers of f64 as bytes */
PyObject *lab_py_random_keys(PyObject *module, PyObject *args)
{
    unsigned long long seed;
    long long n, d;

    (void)module;
    if (!PyArg_ParseTuple(args, "KLL", &seed, &n, &d))
        return NULL;
    PyObject *const bytes =
        PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(n * d) * (Py_ssize_t)sizeof(double));
    if (bytes)
        lab_design_random_keys(seed, n, d, (double *)(void *)PyBytes_AsString(bytes));
    return bytes;
}

/* design_trials(n, d) */
PyObject *lab_py_design_trials(PyObject *module, PyObject *args)
{
    long long n, d;

    (void)module;
    if (!PyArg_ParseTuple(args, "LL", &n, &d))
        return NULL;
    return PyLong_FromLongLong(lab_design_trials(n, d));
}

/* Numbers of a tuple of at most LAB_DESIGN_ITEMS_MAX; how many, or -1. */
static int read_numbers(PyObject *tuple, double *numbers)
{
    const Py_ssize_t count = PyTuple_Size(tuple);

    if (count < 0 || count > LAB_DESIGN_ITEMS_MAX) {
        PyErr_Format(PyExc_ValueError, "items: more than %d", LAB_DESIGN_ITEMS_MAX);
        return -1;
    }
    for (Py_ssize_t x = 0; x < count; x++)
        numbers[x] = PyFloat_AsDouble(PyTuple_GetItem(tuple, x));
    return PyErr_Occurred() ? -1 : (int)count;
}

static PyObject *make(struct lab_design_request *request, PyObject *progress)
{
    struct lab_design design = {.heads = 0};
    struct lab_work work;
    struct lab_json json;
    attend_error error;
    PyObject *made = NULL;

    lab_work_enter(&work, progress, &request->session);
    const attend_status status = lab_design_make(request, &design, &error);
    lab_work_leave(&work);
    lab_begin(&json, '{');
    if (status || PyErr_Occurred()) {
        lab_drop(&json, status != ATTEND_ENOMEM, error.message);
    } else {
        lab_json_design(&json, &design);
        made = Py_BuildValue("Ny#", lab_end(&json, '}'), (const char *)design.queries,
                             (Py_ssize_t)(design.heads * request->d) *
                                 (Py_ssize_t)sizeof(double));
    }
    lab_design_free(&design);
    return made;
}

/*
 * design(keys, n, d, items, weights, heads, eps, tau, sigma2, alpha, noisy, scale,
 * trials, seed, threads, progress): the design, and its queries as bytes.  keys is a
 * buffer of n * d numbers of f64; weights is a tuple as long as items, or empty.
 */
PyObject *lab_py_design(PyObject *module, PyObject *args)
{
    struct lab_design_request request = {.m = 0};
    double items_read[LAB_DESIGN_ITEMS_MAX], weights[LAB_DESIGN_ITEMS_MAX];
    int64_t items[LAB_DESIGN_ITEMS_MAX];
    Py_buffer keys;
    PyObject *item_tuple, *weight_tuple, *progress, *made = NULL;
    long long n, d, trials;
    unsigned long long seed;

    (void)module;
    if (!PyArg_ParseTuple(args, "y*LLO!O!iddddidLKiO", &keys, &n, &d, &PyTuple_Type,
                          &item_tuple, &PyTuple_Type, &weight_tuple, &request.heads,
                          &request.eps, &request.tau, &request.sigma2, &request.alpha,
                          &request.noisy, &request.scale, &trials, &seed,
                          &request.session.threads, &progress))
        return NULL;
    request.m = read_numbers(item_tuple, items_read);
    const int weight_count = request.m < 0 ? -1 : read_numbers(weight_tuple, weights);
    if (weight_count < 0 ||
        keys.len != (Py_ssize_t)(n * d) * (Py_ssize_t)sizeof(double)) {
        PyBuffer_Release(&keys);
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "keys: not n times d numbers");
        return NULL;
    }
    for (int x = 0; x < request.m; x++)
        items[x] = (int64_t)items_read[x];
    request.keys = keys.buf;
    request.n = n;
    request.d = d;
    request.items = items;
    request.weights = weight_count ? weights : NULL;
    request.trials = trials;
    request.session.seed = seed;
    made = make(&request, progress);
    PyBuffer_Release(&keys);
    return made;
}
