/* SPDX-License-Identifier: MIT */
/*
 * The extension module attend._core: arrays of Python as views of the engine, and its
 * calls.  Limited API of Python 3.11, so one build serves every later version.  Defaults,
 * shapes of outputs and names of arguments are resolved in Python; arguments here are
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

/* Memory of a Python object, by the buffer protocol or by DLPack.  All zero: none. */
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

/*
 * The exception that is set, as one that names the argument: TypeError stays one, any
 * other becomes ValueError.  Returns -1.
 */
int name_error(const char *name);

enum array_use { ARRAY_READ, ARRAY_WRITE };

/* Axes of q, k, v and out of four dimensions; fewer lack b, then h. */
enum layout { LAYOUT_BHLD, LAYOUT_BLHD };

/* The layout of a number in Python; LAYOUT_BHLD for any other object. */
enum layout layout_of(PyObject *number);

/* The arrays of a call, closed together: a pool of `most` of them. */
struct arrays {
    struct array *list;
    Py_ssize_t count, most;
};

/* 0, or -1 with MemoryError.  The caller closes the pool in either case. */
int arrays_open(struct arrays *arrays, Py_ssize_t most);
void arrays_close(struct arrays *arrays);

/*
 * Each opens `object`: a buffer, a DLPack producer, or the tuple ("memory", address,
 * attend_dtype or the letter of an integer, sizes, strides in elements) of memory that
 * the caller keeps alive and writable; None has data NULL.  `name` is the argument in
 * messages.  0, or -1 with TypeError for a dtype, ValueError for anything else.
 *
 * As (b, h, l, d), for 2 to 4 dimensions; with LAYOUT_BHLD any number up to 4, leading
 * axes of size 1.
 */
int take_view(struct arrays *arrays, PyObject *object, const char *name,
              enum layout layout, attend_view *view);
/* As take_view(), for an array that is written. */
int take_tensor(struct arrays *arrays, PyObject *object, const char *name,
                enum layout layout, attend_tensor *tensor);
/*
 * A contiguous vector of int64 'q', int32 'i' or f64 'd' with `count` elements, or with
 * as many as the rows of an array (n, -count).  The array, or NULL with an exception.
 */
const struct array *take_numbers(struct arrays *arrays, PyObject *object,
                                 const char *name, enum array_use use, char type,
                                 int64_t count);

/* ---- contexts ------------------------------------------------------------ */

/* attend.Context: a context of the engine, used by one caller at a time. */
struct context {
    PyObject_HEAD attend_context *ctx;
    PyThread_type_lock lock;
    unsigned long caller; /* the thread that holds the lock; 0: none */
    int nested;           /* depth of its calls from signal handlers */
    PyThreadState *state; /* the caller's, while it computes without the GIL */
    double next_look;     /* next check for signals, in seconds */
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

/*
 * Performs a call of the engine in `context`, an object of Python, unless arguments were
 * `bad`, and closes the arrays in either case: None, or NULL with an exception.
 */
typedef attend_status core_call(attend_context *ctx, void *user, attend_error *error);
PyObject *core_perform(PyObject *module, PyObject *context, int bad, core_call *call,
                       void *user, struct arrays *arrays);

/* NULL, with the exception that stands for the status and the error's message. */
PyObject *raise_error(attend_status status, const attend_error *error);

/* ---- rules --------------------------------------------------------------- */

enum { RULE_ARRAYS = 6 };

/*
 * From the tuple (scale, softcap, causal, offset, left, right, key_lengths, mask, bias,
 * alibi, sinks), or from None; None in it is the default.  Takes up to RULE_ARRAYS.
 */
int take_rule(struct arrays *arrays, PyObject *tuple, int64_t nb, int64_t hq,
              attend_rule *rule);
/* An integer, unless `object` is None. */
int take_integer(PyObject *object, const char *name, int64_t *number);

/* ---- the functions of the module ------------------------------------------ */

typedef PyObject *core_function(PyObject *module, PyObject *const *args,
                                Py_ssize_t count);
core_function core_forward, core_forward_many, core_inspect, core_merge, core_head,
    core_isas, core_names;

/* Refuses a call with another number of arguments: -1 with TypeError. */
int check_count(const char *name, Py_ssize_t count, Py_ssize_t wanted);

/* The state of the module. */
struct module_state {
    PyObject *context_type;
};

#endif
