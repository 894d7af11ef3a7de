/* SPDX-License-Identifier: MIT */
/* Common to the fuzzers of parsers. */
#ifndef FUZZ_DEMAND_H
#define FUZZ_DEMAND_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts unless the condition holds, so that the fuzzer reports it. */
static inline void demand(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "not so: %s\n", what);
    abort();
}

#endif
