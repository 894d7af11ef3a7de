/* SPDX-License-Identifier: MIT */
/*
 * The extension module attend._lab: the laboratory in the process of Python.  Limited API
 * of Python 3.11.  Arguments are positional; defaults and checks are in Python.  Results
 * are JSON, with NaN and Infinity.
 */
#ifndef ATTEND_PYTHON_LAB_H
#define ATTEND_PYTHON_LAB_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "lab/door/objects.h"
#include "lab/measure/session.h"

typedef PyObject *lab_function(PyObject *module, PyObject *args);
lab_function lab_py_experiments, lab_py_perform, lab_py_design, lab_py_random_keys,
    lab_py_design_trials, lab_py_sheets, lab_py_disputes, lab_py_parts, lab_py_grade,
    lab_py_judge;

/* ---- JSON ------------------------------------------------------------------ */

/* Begins a document with the opening bracket. */
void lab_begin(struct lab_json *json, char bracket);
/* Ends it with the closing bracket: a str, or NULL with an exception. */
PyObject *lab_end(struct lab_json *json, char bracket);
/* Frees the document.  NULL, with ValueError if `refused` is set, else RuntimeError. */
PyObject *lab_drop(struct lab_json *json, int refused, const char *message);

/* ---- work ------------------------------------------------------------------ */

/*
 * Work without the GIL.  Progress takes the GIL while it is called, in the thread that
 * entered.  A signal's exception, or one of the caller's own progress, stops the work.
 */
struct lab_work {
    PyThreadState *state;
    PyObject *progress; /* called with (done, total); None: not called */
    volatile sig_atomic_t stop;
};

/* Sets the session's progress, stop and user; the caller sets all other fields. */
void lab_work_enter(struct lab_work *work, PyObject *progress,
                    struct lab_session *session);
void lab_work_leave(struct lab_work *work);

#endif
