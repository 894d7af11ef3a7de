/* SPDX-License-Identifier: MIT */
/*
 * Structs that grow at their end: callers may be compiled with an older or a newer header
 * than this library. docs/ARCHITECTURE.md has the rules.
 */
#ifndef ATTEND_BASE_STRUCT_SIZE_H
#define ATTEND_BASE_STRUCT_SIZE_H

#include "attend/attend.h"

/* The published sizes of a struct, oldest first. */
struct struct_sizes {
    const char *name; /* in messages */
    size_t count;
    const size_t *size;
};

/*
 * Copies the caller's struct `given` into `own`, a struct of sizes->size[count - 1] bytes
 * that holds the defaults.  Both start with struct_size, which keeps its own value in
 * `own`.  A size below the first, or between two published ones, is EINVAL; a larger one
 * is accepted if every byte past ours is 0, else EUNSUPPORTED with the offset of the
 * first that is not.
 */
attend_status attendi_struct_read(const struct struct_sizes *sizes, const void *given,
                                  void *own, attend_error *err);

/*
 * The reverse, for a struct that the library fills: copies `own` up to the caller's size
 * and sets the rest of the caller's struct to 0.  The same sizes are EINVAL; any larger
 * size is accepted.
 */
attend_status attendi_struct_write(const struct struct_sizes *sizes, const void *own,
                                   void *given, attend_error *err);

#endif
