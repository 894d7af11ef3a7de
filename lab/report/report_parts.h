/* SPDX-License-Identifier: MIT */
/* The parts of the report's page. */
#ifndef LAB_REPORT_PARTS_H
#define LAB_REPORT_PARTS_H

#include "lab/report/findings.h"
#include "lab/report/styles.h"
#include "lab/report/teaching.h"

/* The exercise in one screen, five things to remember, the glossary: <section>s. */
void lab_report_primer(FILE *out);
/* <section> of every question: statement, answer, formula, plot, numbers, sheets. */
void lab_report_questions(const struct lab_findings *findings, FILE *out);
/* <section> of one experiment: its result, its remaining figures, its rows. */
void lab_report_result(const struct lab_findings *findings,
                       const struct lab_result *result, FILE *out);
/* <section> of the points on which the sheets disagree, and who is right. */
void lab_report_disputes(const struct lab_findings *findings, FILE *out);
/* <section> of the sheets: each statement with its verdict. */
void lab_report_sheets(const struct lab_findings *findings, FILE *out);

/* ---- pieces ------------------------------------------------------------------ */

/* Nonzero for questions of the exercise, which have numbers; others have a word. */
int lab_report_is_numbered(const struct lab_question *question);
/* A link to a question, by its number or, beyond the exercise, by its title. */
void lab_report_question_link(const struct lab_question *question, FILE *out);
/* The question that shows the figure with this id; NULL: none. */
const struct lab_question *lab_report_shown_in(const char *experiment, const char *id);
void lab_report_figure(const struct lab_figure *figure, FILE *out);
/* The name of a row's quantity, and below it the meaning, if `explained`. */
void lab_report_quantity(const struct lab_result *result, const struct lab_row *row,
                         int explained, FILE *out);
/* Theory and measurement of a row as the last two cells of its line, which they end. */
void lab_report_row_numbers(const struct lab_row *row, FILE *out);
/*
 * The parameters of a row that are set; in a sweep only those that differ from the
 * run's.
 */
void lab_report_params(const struct lab_row *row, int sweep, FILE *out);

#endif
