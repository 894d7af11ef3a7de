/* SPDX-License-Identifier: MIT */
/* `attend grade --tensors`: exercises in code. */
#ifndef TOOLS_GRADE_TENSORS_H
#define TOOLS_GRADE_TENSORS_H

#include <stdint.h>

struct tensors_options {
    const char *folder;   /* of the student's tensors; NULL: none */
    const char *exercise; /* NULL: exercise.json of that folder, if it is there */
    const char *make;     /* a new folder with an exercise; NULL: none */
    int as_json, as_results;
    uint64_t seed; /* of `make` */
    int threads;   /* 0: one */
};

/* TOOL_OK, or another status with a message; tool_finish_output() is left to the caller.
 */
int grade_tensors(const struct tensors_options *options);

#endif
