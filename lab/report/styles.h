/* SPDX-License-Identifier: MIT */
/*
 * CSS: shared.css has the rules of every page, report.css the report's own, marks.css
 * those of a marked solution.
 */
#ifndef LAB_STYLES_H
#define LAB_STYLES_H

extern const char lab_shared_style[], lab_report_style[], lab_marks_style[];

#endif
