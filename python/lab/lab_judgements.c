/* SPDX-License-Identifier: MIT */
/* The statements of the sheets, and the points on which the sheets disagree. */
#include "lab_module.h"

#include <stdlib.h>

#include "lab/sheets/sheets.h"

/* All judgements, or those of one sheet, to be freed by free(); NULL. */
static struct lab_judgement *judge(const char *sheet, int reading, int threads)
{
    struct lab_judgement *judgements = calloc(LAB_STATEMENTS, sizeof *judgements);
    int failed = !judgements;

    if (judgements) {
        Py_BEGIN_ALLOW_THREADS failed =
            lab_sheets_judge_all(sheet, (enum lab_reading)reading, threads, judgements);
        Py_END_ALLOW_THREADS
    }
    if (!failed)
        return judgements;
    free(judgements);
    PyErr_NoMemory();
    return NULL;
}

/*
 * (id, sheet, line, says, quote, quoted line, verdict, reading, readings agree,
 * invariant, holds when, measured, expected, evidence)
 */
static PyObject *judgement_tuple(const struct lab_judgement *j)
{
    return Py_BuildValue("(ssiNNissiiNddN)", j->id, j->sheet, j->line,
                         lab_text_of(j->says), lab_text_of(j->quote), j->quoted,
                         lab_verdict_name(j->verdict), lab_reading_name(j->reading),
                         j->readings_agree, j->invariant, lab_text_of(j->holds_when),
                         j->measured, j->expected, lab_text_of(j->evidence));
}

/* sheets(sheet or None, reading, threads) */
PyObject *lab_py_sheets(PyObject *module, PyObject *args)
{
    const char *sheet;
    int reading, threads;

    (void)module;
    if (!PyArg_ParseTuple(args, "zii", &sheet, &reading, &threads))
        return NULL;
    struct lab_judgement *const judgements = judge(sheet, reading, threads);
    PyObject *list = judgements ? PyList_New(0) : NULL;

    for (int x = 0; list && x < LAB_STATEMENTS; x++)
        if (*judgements[x].id && lab_append(list, judgement_tuple(&judgements[x])))
            Py_CLEAR(list);
    free(judgements);
    return list;
}

/* disputes(sheet or None, reading, threads): [(question, sides, right)] */
PyObject *lab_py_disputes(PyObject *module, PyObject *args)
{
    const char *sheet;
    int reading, threads;

    (void)module;
    if (!PyArg_ParseTuple(args, "zii", &sheet, &reading, &threads))
        return NULL;
    /* The disputes of one sheet are with the others. */
    struct lab_judgement *const judgements = judge(NULL, reading, threads);
    PyObject *list = judgements ? PyList_New(0) : NULL;

    for (int x = 0; list && x < LAB_DISPUTES; x++) {
        struct lab_dispute dispute;

        if (sheet && !lab_sheets_dispute_has(x, sheet))
            continue;
        if (lab_sheets_dispute(x, judgements, &dispute)) {
            PyErr_NoMemory();
            Py_CLEAR(list);
        } else if (lab_append(list, Py_BuildValue("(NNN)", lab_text_of(dispute.question),
                                                  lab_text_of(dispute.sides),
                                                  lab_text_of(dispute.right))))
            Py_CLEAR(list);
    }
    free(judgements);
    return list;
}
