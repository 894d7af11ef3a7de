/* SPDX-License-Identifier: MIT */
/* Answers and rubrics as JSON, strictly read. */
#ifndef TOOLS_ANSWER_FILE_H
#define TOOLS_ANSWER_FILE_H

#include <jansson.h>

#include "lab/grade/grade.h"

enum {
    ANSWER_BYTES = 1 << 18, /* of a file, at most */
    ANSWER_WHY = 320        /* of a message */
};

struct answer_file {
    json_t *root;        /* owns the texts */
    const char *student; /* "": not named */
    struct lab_answer answer;
};

/*
 * 0, or -1 with one line in `why` [ANSWER_WHY] that names the place and the reason.
 * To be closed after success.
 */
int answer_parse(const char *bytes, size_t size, struct answer_file *file, char *why);
void answer_close(struct answer_file *file);

/* Points and credit that the file does not name stay as they are. */
int rubric_parse(const char *bytes, size_t size, struct lab_rubric *rubric, char *why);

/* The form, with help, to be released; NULL: no memory. */
json_t *answer_template(void);

#endif
