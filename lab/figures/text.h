/* SPDX-License-Identifier: MIT */
/* Text on a page: widths, line breaks, escaping for HTML and XML. */
#ifndef LAB_TEXT_H
#define LAB_TEXT_H

#include <stdio.h>

/* Width of `length` bytes of UTF-8 in em, roughly, in a wide sans-serif face. */
double lab_text_width(const char *text, size_t length);
/* The bytes of `text` that fit into `width` em, broken at a space; at least a word. */
size_t lab_text_break(const char *text, double width);
/* For HTML and XML: markup characters as entities, control characters left out. */
void lab_text_escape(FILE *out, const char *text, size_t length);
/* A whole string; the second with its formulas set. */
void lab_text_html(FILE *out, const char *text);
void lab_text_prose(FILE *out, const char *text);
/*
 * Text as the tour has it: "$...$" is a formula in TeX, set as MathML, "`...`" is code.
 * The second: one formula on a line of its own.
 */
void lab_text_markdown(FILE *out, const char *text);
void lab_text_formula(FILE *out, const char *tex);
/* A formula in TeX as MathML, with its TeX as an annotation that can be copied. */
void lab_text_tex(FILE *out, const char *tex, size_t length, int block);
/* TeX in plain letters: \mu_a as mu_a, \frac{1}{2} as 1/2. */
void lab_text_plain(const char *tex, char *text, size_t size);
/* A number for reading: `digits` significant ones, "1.2 x 10^-7" set as in print. */
void lab_text_number(FILE *out, double value, int digits);

/*
 * HTML from a template; each field in braces takes the next argument: {s} a string as it
 * is, {h} one to be escaped, {p} prose, {m} Markdown, {f} a formula, {d} an int, {l} an
 * int64_t, {n5} a double in 5 digits for reading, {.3g} a double as printf() writes it.
 */
void lab_html(FILE *out, const char *template, ...);

enum lab_markup { LAB_HTML, LAB_SVG };

/*
 * Text with formulas: "mu_a^T", "e^-C", "C -> inf" and "<=" as in print, escaped.
 * Names of quantities such as var_w stay as they are.  In SVG the text must be the
 * rest of its <text>.
 */
void lab_text_math(FILE *out, const char *text, size_t length, enum lab_markup markup);

#endif
