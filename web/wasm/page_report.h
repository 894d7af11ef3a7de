/* SPDX-License-Identifier: MIT */
/* Reports of the module to the page while it works. */
#ifndef PAGE_REPORT_H
#define PAGE_REPORT_H

#include "lab/door/json.h"

/* Module.onRow(text) and Module.onProgress(done, total), where the page set them. */
void page_report_row(const char *json);
void page_report_progress(double done, double total);
/* Begins an object, whose prose is set as in print. */
struct lab_json *page_begin(void);
/* Ends it: its text, valid until the next is begun; NULL: out of memory. */
const char *page_end(void);
/* {"error": why} */
const char *page_refuse(const char *why);

#endif
