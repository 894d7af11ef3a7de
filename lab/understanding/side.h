/* SPDX-License-Identifier: MIT */
/* Writing of a side; for the files that do it. */
#ifndef LAB_SIDE_H
#define LAB_SIDE_H

#include "lab/understanding/chains.h"

/* Where a piece stands: what stands there without parentheses. */
enum lab_level { LAB_IN_SUM, LAB_IN_TERM, LAB_IN_PRODUCT, LAB_AT_BASE };

enum { LAB_BOUND = 4, LAB_FACTORS = 32 };

struct lab_writer {
    const struct lab_translation *t;
    struct lab_said *said;
    size_t used;
    int output; /* letters that may be scale or output are outputs */
    int depth;
    int bound; /* indices of sums, and their values in the term that is written */
    struct {
        char index[16], value;
    } bind[LAB_BOUND];
};

/* All that write return 0, or -1 with the reason in `said`. */
__attribute__((format(printf, 2, 3))) int lab_write(struct lab_writer *w,
                                                    const char *format, ...);
__attribute__((format(printf, 2, 3))) int lab_write_fail(struct lab_writer *w,
                                                         const char *format, ...);
void lab_write_note(struct lab_writer *w, const char *name);
int lab_write_node(struct lab_writer *w, int node, enum lab_level level);
int lab_write_letter(struct lab_writer *w, const struct lab_node *node,
                     enum lab_level level);
int lab_write_sum(struct lab_writer *w, int node, enum lab_level level);
int lab_write_series(struct lab_writer *w, int node);
int lab_write_call(struct lab_writer *w, const struct lab_node *node,
                   enum lab_level level);

const struct lab_node *lab_side_node(const struct lab_translation *t, int node);
/* The factors of a product, nested ones included; more than LAB_FACTORS: too many. */
int lab_side_factors(const struct lab_translation *t, int node, int *factor, int count);
/* The letter of a factor, transposed or not; 0: it has another role. */
int lab_side_has_role(const struct lab_writer *w, int node, enum lab_role role,
                      struct lab_name *name);
/* 'a', 'b', 'i' for another key, or 0. */
char lab_write_key(const struct lab_writer *w, const char *index);
int lab_is_head(const char *index);
/* Head 1 or 2 of a letter with a key's index; 0: it is not clear. */
int lab_write_head(const struct lab_writer *w, const struct lab_name *name, char key);
/* The index that names a key, and not a head; NULL: there is none. */
const char *lab_key_index(const struct lab_writer *w, const struct lab_name *name);
int lab_write_use_head(struct lab_writer *w, int head);
int lab_is_output_side(const struct lab_translation *t, int node, int depth);
enum lab_shape lab_shape_of(const struct lab_translation *t, int node, int depth);

#endif
