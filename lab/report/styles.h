/* SPDX-License-Identifier: MIT */
#ifndef LAB_STYLES_H
#define LAB_STYLES_H

/* CSS, shared.css and report.css: rules that the pages share, and the report's own. */
extern const char lab_shared_style[], lab_report_style[];

#endif
