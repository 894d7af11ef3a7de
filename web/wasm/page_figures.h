/* SPDX-License-Identifier: MIT */
#ifndef PAGE_FIGURES_H
#define PAGE_FIGURES_H

#include "lab/door/json.h"
#include "lab/figures/figure.h"

/* The entry "figures": drawings as the report has them, and the numbers in them. */
void page_figures_put(struct lab_json *json, const struct lab_figures *figures);

#endif
