/* SPDX-License-Identifier: MIT */
/*
 * The reader of JSON for forms.  Strict: UTF-8, no key twice in an object, no character
 * U+0000, at most LAB_JSON_DEPTH brackets deep.  A byte order mark is skipped.
 */
#ifndef LAB_JSON_READ_H
#define LAB_JSON_READ_H

#include <stddef.h>

enum { LAB_JSON_DEPTH = 64 };

enum lab_json_type {
    LAB_JSON_OBJECT,
    LAB_JSON_LIST,
    LAB_JSON_TEXT,
    LAB_JSON_NUMBER,
    LAB_JSON_TRUE,
    LAB_JSON_FALSE,
    LAB_JSON_NULL
};

struct lab_json_value {
    enum lab_json_type type;
    int count;                                 /* values in an object or a list */
    const char *key;                           /* of a value in an object */
    const char *text;                          /* of a text */
    double number;                             /* of a number */
    const struct lab_json_value *first, *next; /* the first in it; the next beside it */
};

struct lab_json_tree {
    struct lab_json_value *root; /* and the memory of all values */
    char *texts;
};

/*
 * 0, or -1 with "line 1, column 2: ..." in why[size].  To be freed in either case; the
 * bytes are not used after the call.
 */
int lab_json_read(const char *bytes, size_t length, struct lab_json_tree *tree, char *why,
                  size_t size);
void lab_json_free(struct lab_json_tree *tree);

/* "an object", "a list", "a text", "a number", "true", "false", "null". */
const char *lab_json_type_name(const struct lab_json_value *value);

#endif
