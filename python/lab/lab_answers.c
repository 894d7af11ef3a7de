/* SPDX-License-Identifier: MIT */
/* Grading of answers to the exercise. */
#include "lab_module.h"

#include <stdlib.h>

#include "lab/grade/grade.h"

static PyObject *solution_tuple(const struct lab_part *part)
{
    PyObject *const tuple = PyTuple_New(part->texts);

    for (int k = 0; tuple && k < part->texts; k++)
        PyTuple_SetItem(tuple, k, lab_text_of(part->solution[k]));
    return tuple;
}

/* [(question, name, asks, texts, choices, points, hint, solution, letters)] */
PyObject *lab_py_parts(PyObject *module, PyObject *args)
{
    PyObject *list = PyList_New(0);

    (void)module;
    (void)args;
    for (int p = 0; list && p < LAB_GRADE_PARTS; p++) {
        const struct lab_part *const part = lab_grade_part(p);
        char letters[300];

        lab_grade_letters(p, letters, sizeof letters);
        if (lab_append(list,
                       Py_BuildValue("(sssizdsNs)", part->question, part->name,
                                     part->asks, part->texts, part->choices, part->points,
                                     part->hint, solution_tuple(part), letters)))
            Py_CLEAR(list);
    }
    return list;
}

/* check(part, text): None, or why it cannot be graded */
PyObject *lab_py_check(PyObject *module, PyObject *args)
{
    char why[240];
    const char *text;
    int part;

    (void)module;
    if (!PyArg_ParseTuple(args, "is", &part, &text))
        return NULL;
    if (part < 0 || part >= LAB_GRADE_PARTS)
        return lab_raise(1, "no such part");
    if (!lab_grade_check(part, text, why, sizeof why))
        Py_RETURN_NONE;
    return lab_text_of(why);
}

/* texts: a tuple of texts for every part, "" where there is no answer. */
static int read_answer(PyObject *texts, struct lab_answer *answer)
{
    for (int p = 0; p < LAB_GRADE_PARTS; p++) {
        PyObject *const part = PyTuple_GetItem(texts, p);

        if (!part)
            return -1;
        for (int k = 0; k < lab_grade_part(p)->texts; k++) {
            PyObject *const text = PyTuple_GetItem(part, k);

            if (!text || !(answer->text[p][k] = PyUnicode_AsUTF8AndSize(text, NULL)))
                return -1;
        }
    }
    return 0;
}

static int read_points(PyObject *points, struct lab_rubric *rubric)
{
    for (int p = 0; p < LAB_GRADE_PARTS; p++) {
        PyObject *const number = PyTuple_GetItem(points, p);

        if (!number)
            return -1;
        rubric->points[p] = PyFloat_AsDouble(number);
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* ([(verdict, points, most, computed, claimed, error, evidence)], points, most) */
static PyObject *grade_tuple(const struct lab_grade *grade)
{
    PyObject *list = PyList_New(0);

    for (int p = 0; list && p < LAB_GRADE_PARTS; p++) {
        const struct lab_part_grade *const part = &grade->part[p];

        if (lab_append(list, Py_BuildValue("(sddddNN)", lab_mark_name(part->mark),
                                           part->points, part->most, part->computed,
                                           part->claimed, lab_text_of(part->error),
                                           lab_text_of(part->evidence))))
            Py_CLEAR(list);
    }
    return list ? Py_BuildValue("(Ndd)", list, grade->points, grade->most) : NULL;
}

/*
 * grade(texts, points, limit, slip, seed, name): every text has passed check(); points
 * of every part, or an empty tuple, and a credit of None, for the defaults.
 */
PyObject *lab_py_grade(PyObject *module, PyObject *args)
{
    struct lab_answer answer;
    struct lab_rubric rubric;
    PyObject *texts, *points, *limit, *slip;
    unsigned long long seed;
    const char *name;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!OOKs", &PyTuple_Type, &texts, &PyTuple_Type, &points,
                          &limit, &slip, &seed, &name))
        return NULL;
    lab_rubric_default(&rubric);
    if (limit != Py_None)
        rubric.limit = PyFloat_AsDouble(limit);
    if (slip != Py_None)
        rubric.slip = PyFloat_AsDouble(slip);
    if (PyErr_Occurred() || (PyTuple_Size(points) > 0 && read_points(points, &rubric)) ||
        read_answer(texts, &answer))
        return NULL;
    struct lab_grade *const grade = malloc(sizeof *grade);
    int failed = !grade;

    if (grade) {
        Py_BEGIN_ALLOW_THREADS failed =
            lab_grade(&answer, &rubric, lab_grade_seed(seed, name), grade);
        Py_END_ALLOW_THREADS
    }
    PyObject *const graded = failed ? PyErr_NoMemory() : grade_tuple(grade);
    free(grade);
    return graded;
}
