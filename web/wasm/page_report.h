/* SPDX-License-Identifier: MIT */
/* What the module tells the page while it works. */
#ifndef PAGE_REPORT_H
#define PAGE_REPORT_H

struct lab_run;
struct lab_row;

/* Module.onRow(text) and Module.onProgress(done, total), where the page set them. */
void page_report_row(const char *json);
void page_report_progress(double done, double total);
/* {"error": why} */
const char *page_refuse(const char *why);
/* A row of a run, with the names of `attend lab --json` and "own". */
const char *page_row_json(const struct lab_run *run, const struct lab_row *row);

#endif
