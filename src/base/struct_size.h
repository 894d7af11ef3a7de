/* SPDX-License-Identifier: MIT */
/*
 * Structs that grow at their end: a caller may have been compiled with an older or a
 * newer header than this library.  docs/API.md has the rules.
 */
#ifndef ATTEND_BASE_STRUCT_SIZE_H
#define ATTEND_BASE_STRUCT_SIZE_H

#include "attend/attend.h"

/* The sizes that headers up to this one have given a struct, oldest first. */
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
 * The other way, for a struct that the library fills: copies what the caller's has of
 * `own`, and sets the rest of it to 0.  The same sizes are refused; any larger one is
 * accepted.
 */
attend_status attendi_struct_write(const struct struct_sizes *sizes, const void *own,
                                   void *given, attend_error *err);

#endif
