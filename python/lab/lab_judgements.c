/* SPDX-License-Identifier: MIT */
/* The statements of the sheets, their contradictions, and answers to the exercise. */
#include "lab_module.h"

#include <stdlib.h>

#include "lab/door/form.h"
#include "lab/grade/grade.h"
#include "lab/sheets/sheets.h"

/* ---- sheets ------------------------------------------------------------------ */

/* All judgements, or those of one sheet, to be freed by free(); NULL on failure. */
static struct lab_judgement *judge(const char *sheet, int reading, int threads)
{
    struct lab_judgement *judgements = calloc(LAB_STATEMENTS, sizeof *judgements);
    int failed = !judgements;

    if (judgements) {
        Py_BEGIN_ALLOW_THREADS failed = lab_sheets_judge_all(
            sheet, (enum lab_strictness)reading, threads, judgements);
        Py_END_ALLOW_THREADS
    }
    if (!failed)
        return judgements;
    free(judgements);
    PyErr_NoMemory();
    return NULL;
}

/* sheets(sheet or None, reading, threads) */
PyObject *lab_py_sheets(PyObject *module, PyObject *args)
{
    const char *sheet;
    int reading, threads;
    struct lab_json json;

    (void)module;
    if (!PyArg_ParseTuple(args, "zii", &sheet, &reading, &threads))
        return NULL;
    struct lab_judgement *const judgements = judge(sheet, reading, threads);
    if (!judgements)
        return NULL;
    lab_begin(&json, '[');
    for (int x = 0; x < LAB_STATEMENTS; x++)
        if (*judgements[x].id) {
            lab_json_begin(&json, '{');
            lab_json_judgement(&json, &judgements[x], judgements[x].quote);
            lab_json_end(&json, '}');
        }
    free(judgements);
    return lab_end(&json, ']');
}

/* disputes(sheet or None, reading, threads) */
PyObject *lab_py_disputes(PyObject *module, PyObject *args)
{
    const char *sheet;
    int reading, threads, failed = 0;
    struct lab_json json;

    (void)module;
    if (!PyArg_ParseTuple(args, "zii", &sheet, &reading, &threads))
        return NULL;
    /* The disputes of one sheet need the judgements of all sheets. */
    struct lab_judgement *const judgements = judge(NULL, reading, threads);
    if (!judgements)
        return NULL;
    lab_begin(&json, '[');
    for (int x = 0; x < LAB_DISPUTES && !failed; x++) {
        struct lab_dispute dispute;

        if (sheet && !lab_sheets_dispute_has(x, sheet))
            continue;
        failed = lab_sheets_dispute(x, judgements, &dispute);
        lab_json_begin(&json, '{');
        if (!failed)
            lab_json_dispute(&json, &dispute);
        lab_json_end(&json, '}');
    }
    free(judgements);
    return failed ? lab_drop(&json, 0, "a dispute could not be judged")
                  : lab_end(&json, ']');
}

/* ---- grading ------------------------------------------------------------------ */

PyObject *lab_py_parts(PyObject *module, PyObject *args)
{
    struct lab_json json;

    (void)module;
    (void)args;
    lab_begin(&json, '[');
    for (int p = 0; p < LAB_GRADE_PARTS; p++) {
        lab_json_begin(&json, '{');
        lab_json_asked(&json, p);
        lab_json_end(&json, '}');
    }
    return lab_end(&json, ']');
}

static PyObject *put_grade(const struct lab_form *form, const struct lab_grade *grade)
{
    struct lab_json json;

    lab_begin(&json, '{');
    lab_json_put(&json, "student:s points:r of:r parts:[", form->student, grade->points,
                 grade->most);
    for (int p = 0; p < LAB_GRADE_PARTS; p++) {
        lab_json_begin(&json, '{');
        lab_json_part(&json, p, &grade->part[p]);
        lab_json_put(&json, "solution:s hint:s }", grade->part[p].solution,
                     grade->part[p].hint ? grade->part[p].hint : "");
    }
    lab_json_end(&json, ']');
    return lab_end(&json, '}');
}

/* The grade as JSON, or NULL with an exception that names the place. */
static PyObject *read_and_grade(const Py_buffer *answers, const char *place,
                                const Py_buffer *rubric_text, const char *rubric_place,
                                unsigned long long seed, const char *name)
{
    struct lab_form form;
    struct lab_rubric rubric;
    char why[LAB_FORM_WHY];
    PyObject *graded = NULL;
    struct lab_grade *const grade = malloc(sizeof *grade);

    lab_rubric_default(&rubric);
    if (lab_form_read(answers->buf, (size_t)answers->len, &form, why))
        PyErr_Format(PyExc_ValueError, "%s%s", place, why);
    else if (form.remarks.count > 0)
        PyErr_Format(PyExc_ValueError, "%s%s", place, form.remarks.list[0]);
    else if (rubric_text->buf &&
             lab_rubric_read(rubric_text->buf, (size_t)rubric_text->len, &rubric, why))
        PyErr_Format(PyExc_ValueError, "%s%s", rubric_place, why);
    else {
        int failed = !grade;

        if (grade) {
            Py_BEGIN_ALLOW_THREADS failed =
                lab_grade(&form.answer, &rubric, lab_grade_seed(seed, name), grade);
            Py_END_ALLOW_THREADS
        }
        graded = failed ? PyErr_NoMemory() : put_grade(&form, grade);
    }
    free(grade);
    lab_form_free(&form);
    return graded;
}

/*
 * grade(answers, place, rubric or None, place, seed, name): texts of JSON in UTF-8, and
 * the prefix of each one's error messages.
 */
PyObject *lab_py_grade(PyObject *module, PyObject *args)
{
    Py_buffer answers, rubric;
    const char *place, *rubric_place, *name;
    unsigned long long seed;

    (void)module;
    if (!PyArg_ParseTuple(args, "s*sz*sKs", &answers, &place, &rubric, &rubric_place,
                          &seed, &name))
        return NULL;
    PyObject *const graded =
        read_and_grade(&answers, place, &rubric, rubric_place, seed, name);
    PyBuffer_Release(&answers);
    PyBuffer_Release(&rubric);
    return graded;
}
