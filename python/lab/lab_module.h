/* SPDX-License-Identifier: MIT */
/*
 * The extension module attend._lab: the laboratory in the process of Python.  Limited API
 * of Python 3.11.  Defaults, checks of arguments and names of results are settled in
 * Python; what arrives here is positional, and what leaves are plain tuples.
 */
#ifndef ATTEND_PYTHON_LAB_H
#define ATTEND_PYTHON_LAB_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "lab/measure/session.h"

typedef PyObject *lab_function(PyObject *module, PyObject *args);
lab_function lab_py_experiments, lab_py_perform, lab_py_design, lab_py_random_keys,
    lab_py_design_trials, lab_py_sheets, lab_py_disputes, lab_py_parts, lab_py_check,
    lab_py_grade;

/*
 * Work without the GIL.  Its callbacks take the GIL back while they run; they are called
 * by the thread that entered.  A signal's exception, or one of the caller's own progress,
 * stops the work.
 */
struct lab_work {
    PyThreadState *state;
    PyObject *progress; /* called with (done, total); None: not wanted */
    volatile sig_atomic_t stop;
};

/* Sets the session's progress, stop and user; the rest is the caller's. */
void lab_work_enter(struct lab_work *work, PyObject *progress,
                    struct lab_session *session);
void lab_work_leave(struct lab_work *work);
/* Within a callback. */
void lab_work_take(struct lab_work *work);
void lab_work_give(struct lab_work *work);

/* Appends to a list and drops `item`, which may be NULL: 0, or -1 with an exception. */
int lab_append(PyObject *list, PyObject *item);
/* A text of the laboratory; bytes that are no UTF-8 are replaced. */
PyObject *lab_text_of(const char *text);
/* NULL, with ValueError for what was refused, else RuntimeError. */
PyObject *lab_raise(int refused, const char *message);

#endif
