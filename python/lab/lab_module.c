/* SPDX-License-Identifier: MIT */
/* The module attend._lab: JSON, and work that Python can interrupt. */
#include "lab_module.h"

#include <stdlib.h>

/* ---- JSON ------------------------------------------------------------------ */

void lab_begin(struct lab_json *json, char bracket)
{
    lab_json_open(json, LAB_JSON_EXACT);
    json->has_nan = 1;
    lab_json_begin(json, bracket);
}

PyObject *lab_end(struct lab_json *json, char bracket)
{
    lab_json_end(json, bracket);
    char *const text = lab_json_close(json);
    PyObject *const made = text ? PyUnicode_FromString(text) : PyErr_NoMemory();

    free(text);
    return made;
}

PyObject *lab_drop(struct lab_json *json, int refused, const char *message)
{
    free(lab_json_close(json));
    if (!PyErr_Occurred())
        PyErr_SetString(refused ? PyExc_ValueError : PyExc_RuntimeError, message);
    return NULL;
}

/* ---- work ------------------------------------------------------------------ */

static void on_progress(void *user, int64_t done, int64_t total)
{
    struct lab_work *const work = user;

    PyEval_RestoreThread(work->state);
    if (!PyErr_Occurred() && !PyErr_CheckSignals() && work->progress != Py_None)
        Py_XDECREF(PyObject_CallFunction(work->progress, "LL", (long long)done,
                                         (long long)total));
    if (PyErr_Occurred())
        work->stop = 1;
    work->state = PyEval_SaveThread();
}

void lab_work_enter(struct lab_work *work, PyObject *progress,
                    struct lab_session *session)
{
    work->progress = progress;
    work->stop = 0;
    session->progress = on_progress;
    session->user = work;
    session->stop = &work->stop;
    work->state = PyEval_SaveThread();
}

void lab_work_leave(struct lab_work *work) { PyEval_RestoreThread(work->state); }

/* ---- the module ------------------------------------------------------------ */

static PyMethodDef functions[] = {
    {"experiments", lab_py_experiments, METH_NOARGS, "every experiment"},
    {"perform", lab_py_perform, METH_VARARGS, "lab_perform()"},
    {"design", lab_py_design, METH_VARARGS, "lab_design_make()"},
    {"random_keys", lab_py_random_keys, METH_VARARGS, "lab_design_random_keys()"},
    {"design_trials", lab_py_design_trials, METH_VARARGS, "lab_design_trials()"},
    {"sheets", lab_py_sheets, METH_VARARGS, "lab_sheets_judge_all()"},
    {"disputes", lab_py_disputes, METH_VARARGS, "lab_sheets_dispute()"},
    {"parts", lab_py_parts, METH_NOARGS, "every part of the exercise"},
    {"grade", lab_py_grade, METH_VARARGS, "lab_grade()"},
    {"judge", lab_py_judge, METH_VARARGS, "lab_reading_open()"},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "attend._lab",
    .m_doc = "The laboratory, positional arguments only; use the package attend.lab.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__lab(void);
PyMODINIT_FUNC PyInit__lab(void) { return PyModuleDef_Init(&definition); }
