/* SPDX-License-Identifier: MIT */
/* CSS: shared.css has the rules of every page, report.css the report's own. */
#ifndef LAB_STYLES_H
#define LAB_STYLES_H

extern const char lab_shared_style[], lab_report_style[];

#endif
