/* SPDX-License-Identifier: MIT */
/* The parts of the report's page. */
#ifndef LAB_REPORT_PARTS_H
#define LAB_REPORT_PARTS_H

#include "lab/report/findings.h"

/* Rules of CSS, NULL at the end. */
extern const char *const lab_report_style[];

/* <section> of one experiment: what it shows, its figures, its rows. */
void lab_report_result(const struct lab_findings *findings,
                       const struct lab_result *result, FILE *out);
/* <section> of the points on which the sheets disagree, and who is right. */
void lab_report_disputes(const struct lab_findings *findings, FILE *out);
/* <section> of the sheets: each statement with its verdict. */
void lab_report_sheets(const struct lab_findings *findings, FILE *out);
/* A verdict as a coloured word. */
void lab_report_verdict(enum lab_verdict verdict, FILE *out);

#endif
