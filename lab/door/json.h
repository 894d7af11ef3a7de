/* SPDX-License-Identifier: MIT */
/*
 * The one writer of JSON, for the command, the page and Python.  Commas come by
 * themselves; a number that JSON lacks is null, or NaN and Infinity with `has_nan`; bytes
 * above 0x7f are '?' in a text that is not UTF-8.  Without memory nothing more is
 * written, and lab_json_close() gives NULL.
 */
#ifndef LAB_JSON_H
#define LAB_JSON_H

#include <stdint.h>
#include <stdio.h>

/* Bytes of the character of UTF-8 at `text`; 0: there is none. */
size_t lab_json_character(const char *text);

/* Digits of numbers: 17 read back as the number that was written. */
enum { LAB_JSON_SHORT = 12, LAB_JSON_EXACT = 17 };

/* Writes `text` as markup of HTML. */
typedef void (*lab_json_markup)(FILE *out, const char *text);

struct lab_json {
    lab_json_markup prose; /* of members of prose; NULL: they are written as they are */
    char *text;
    size_t used, size;
    int digits;
    int has_nan;   /* numbers that JSON lacks are written as Python reads them */
    int indent;    /* columns for each bracket, and a line for each value; 0: one line */
    int depth;     /* brackets that are open */
    int has_value; /* the next one needs a comma before it */
    int has_key;   /* of an indented value: it follows on the line */
    int failed;
};

void lab_json_open(struct lab_json *json, int digits);
/* The text, to be freed by free(); NULL: out of memory. */
char *lab_json_close(struct lab_json *json);

/* One of "{[" and of "}]". */
void lab_json_begin(struct lab_json *json, char bracket);
void lab_json_end(struct lab_json *json, char bracket);
/* Name of the next value in an object. */
void lab_json_key(struct lab_json *json, const char *key);
/* NULL is null. */
void lab_json_text(struct lab_json *json, const char *text);
void lab_json_real(struct lab_json *json, double number);
void lab_json_whole(struct lab_json *json, long long number);
/* Negative is null. */
void lab_json_truth(struct lab_json *json, int truth);

/*
 * Members of an object: "id:s rows:l mean:r shape:{ n:i }", each with the letter of its
 * argument: s a text, p a text of prose, w a lab_json_markup and the text that it writes,
 * r double, i int, l int64_t, b int as lab_json_truth(); brackets open and close, and
 * take no argument.  A value of a list has its letter alone.
 */
void lab_json_put(struct lab_json *json, const char *members, ...);
void lab_json_reals(struct lab_json *json, const char *key, const double *numbers,
                    long long count);

#endif
