/* SPDX-License-Identifier: MIT */
/* Answers and rubrics as JSON, for the command, the page and Python. */
#ifndef LAB_FORM_H
#define LAB_FORM_H

#include "lab/door/json.h"
#include "lab/door/json_read.h"
#include "lab/grade/courses.h"

enum {
    LAB_FORM_BYTES = 1 << 18, /* of a file, at most */
    LAB_FORM_WHY = 320        /* of a message */
};

struct lab_texts {
    char **list;
    int count;
};

struct lab_form {
    struct lab_json_tree tree; /* with `texts`, owns all texts */
    struct lab_texts texts;
    struct lab_texts remarks; /* messages about ignored entries */
    const char *student, *id; /* "": not named */
    struct lab_answer answer;
    int failed; /* out of memory */
};

/*
 * Reads a form; a part that cannot be read is a problem of that part alone.  0, or -1
 * with one line in why[LAB_FORM_WHY] that names the place and the reason: bytes that are
 * not JSON, or a bad name of the student.  To be freed in either case.
 */
int lab_form_read(const char *bytes, size_t length, struct lab_form *form, char *why);
void lab_form_free(struct lab_form *form);

/* Points and credit that the file does not name stay as they are. */
int lab_rubric_read(const char *bytes, size_t length, struct lab_rubric *rubric,
                    char *why);

/* The empty form, with help: all of it, or the parts of a scheme (NULL: all). */
void lab_form_put_empty(struct lab_json *json, const struct lab_scheme *scheme);

#endif
