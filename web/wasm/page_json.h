/* SPDX-License-Identifier: MIT */
/*
 * JSON as it is written, one text at a time.  Text is UTF-8; a number that JSON lacks is
 * null.  Commas come by themselves.
 */
#ifndef PAGE_JSON_H
#define PAGE_JSON_H

#include <stdio.h>

/* Starts a text, and ends it: NULL without memory; valid until the next start. */
void page_json_open(void);
const char *page_json_close(void);

/* One of "{[" and of "}]". */
void page_json_begin(char bracket);
void page_json_end(char bracket);
/* Name of the next value in an object. */
void page_json_key(const char *key);
/* NULL is null. */
void page_json_text(const char *text);
void page_json_number(double number);
void page_json_whole(long long number);
void page_json_truth(int truth);
/* A text of what `write` writes of `from`: markup, as lab/figures/text.h makes it. */
void page_json_markup(void (*write)(FILE *out, const char *from), const char *from);

/* An object's entries. */
void page_json_text_of(const char *key, const char *text);
void page_json_number_of(const char *key, double number);
void page_json_whole_of(const char *key, long long number);
void page_json_truth_of(const char *key, int truth);
void page_json_markup_of(const char *key, void (*write)(FILE *out, const char *from),
                         const char *from);
void page_json_numbers_of(const char *key, const double *numbers, long long count);

#endif
