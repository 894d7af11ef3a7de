/* SPDX-License-Identifier: MIT */
/*
 * The extension module attend._core: arrays of Python as views of the engine, and its
 * calls.  Limited API of Python 3.11, so one build serves every later version.  Defaults,
 * shapes of outputs and names of arguments are settled in Python; what arrives here is
 * positional.
 */
#ifndef ATTEND_PYTHON_CORE_H
#define ATTEND_PYTHON_CORE_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "attend/attend.h"
#include "attend/stats.h"

/* ---- arrays -------------------------------------------------------------- */

struct dlpack;

/*
 * Memory of a Python object, by the buffer protocol or by DLPack.  All zero: none, data
 * NULL.  Closed by array_close(), whatever array_open() returned.
 */
struct array {
    void *data;
    attend_dtype dtype; /* of a floating type or bool; 0 for integers */
    char integer;       /* 'i': int32, 'q': int64; 0: none */
    int ndim;
    int64_t size[8], stride[8]; /* in elements */
    Py_buffer buffer;
    int has_buffer;
    struct dlpack *dlpack;
    PyObject *owner;
};

enum array_use { ARRAY_READ, ARRAY_WRITE };

/*
 * Opens `object`: a buffer, a DLPack producer, or the tuple ("memory", address,
 * attend_dtype or the letter of an integer, sizes, strides in elements) of memory that
 * the caller keeps alive and writable; None is no array.  `name` is the argument in
 * messages.  0, or -1 with TypeError for a dtype, ValueError for anything else.
 */
int array_open(struct array *array, PyObject *object, const char *name,
               enum array_use use);
void array_close(struct array *array);
/*
 * The exception that is set, as one that names the argument: TypeError stays one, any
 * other becomes ValueError.  Returns -1.
 */
int name_error(const char *name);

/* Axes of q, k, v and out of four dimensions; fewer lack b, then h. */
enum layout { LAYOUT_BHLD, LAYOUT_BLHD };

/*
 * As (b, h, l, d), for 2 to 4 dimensions; with LAYOUT_BHLD any number up to 4, leading
 * axes of size 1.  0, or -1 with an exception.  An array that is not there has data NULL.
 */
int array_as_tensor(const struct array *array, const char *name, enum layout layout,
                    attend_tensor *tensor);
int array_as_view(const struct array *array, const char *name, enum layout layout,
                  attend_view *view);
/* A contiguous vector of int64, int32 or f64 with `count` elements, or NULL for none. */
int array_as_numbers(const struct array *array, const char *name, char type,
                     int64_t count, const void **numbers);

/* ---- contexts ------------------------------------------------------------ */

/* The object of Python, and a context that one caller uses at a time. */
struct context {
    PyObject_HEAD attend_context *ctx;
    PyThread_type_lock lock;
    unsigned long caller; /* the thread that holds the lock; 0: none */
    int nested;           /* calls that it makes from a signal handler */
    PyThreadState *state; /* its own, while it computes without the GIL */
    double next_look;     /* for signals, in seconds */
};

extern PyType_Spec context_spec;

/* NULL with TypeError unless `object` is a Context. */
struct context *context_of(PyObject *module, PyObject *object);
/*
 * Releases the GIL and waits for the context; both undone by context_leave().  A call in
 * between ends with ATTEND_ECANCELLED, and an exception set, when a signal handler of
 * Python raises one, as that of Ctrl-C does.
 */
void context_enter(struct context *context);
void context_leave(struct context *context);

/* NULL, with the exception that stands for the status and the error's message. */
PyObject *raise_error(attend_status status, const attend_error *error);

/* ---- rules --------------------------------------------------------------- */

/* A rule, and the arrays it points into. */
struct rule {
    attend_rule rule;
    struct array mask, bias, key_lengths, offset, alibi, sinks;
};

/*
 * From the tuple (scale, softcap, causal, offset, left, right, key_lengths, mask, bias,
 * alibi, sinks), None standing for none, or from None.  Closed in either case.
 */
int rule_open(struct rule *rule, PyObject *tuple, int64_t nb, int64_t hq);
void rule_close(struct rule *rule);

/* ---- the functions of the module ------------------------------------------ */

typedef PyObject *core_function(PyObject *module, PyObject *const *args,
                                Py_ssize_t count);
core_function core_forward, core_inspect, core_merge, core_head, core_isas, core_names;

/* Refuses a call with another number of arguments: -1 with TypeError. */
int check_count(const char *name, Py_ssize_t count, Py_ssize_t wanted);

/* What the module keeps. */
struct module_state {
    PyObject *context_type;
};

#endif
