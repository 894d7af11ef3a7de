/* SPDX-License-Identifier: MIT */
/* Comparison of arguments that have to be equal on all ranks. */
#ifndef ATTEND_MPI_COMPARE_ARGUMENTS_H
#define ATTEND_MPI_COMPARE_ARGUMENTS_H

#include "mpi/comm/communicator.h"

enum { ARGUMENTS_MAX = ALLGATHER_NUMBERS };

struct arguments {
    int count;
    struct argument {
        const char *name;
        /*
         * 'n' an integer, 'g' the bits of a double, '#' a hash of an array, 's' and 'S'
         * the two halves of a text
         */
        char kind;
        int64_t value;
    } list[ARGUMENTS_MAX];
};

void attendi_argument(struct arguments *a, const char *name, int64_t value);
void attendi_argument_real(struct arguments *a, const char *name, double value);
/*
 * Texts compare by their first 16 bytes, arrays by a hash.  NULL data differs from any
 * array.
 */
void attendi_argument_text(struct arguments *a, const char *name, const char *text);
void attendi_argument_bytes(struct arguments *a, const char *name, const void *data,
                            int64_t count, size_t size);

/*
 * EINVAL, the same on all ranks, if a value differs; the message names rank, field and
 * both values.  Collective.
 */
attend_status attendi_arguments_compare(struct communicator *comm,
                                        const struct arguments *a, attend_error *err);

#endif
