/* SPDX-License-Identifier: MIT */
/* What fuzzers of parsers share. */
#ifndef FUZZ_DEMAND_H
#define FUZZ_DEMAND_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process where the condition does not hold, for the fuzzer to see. */
static inline void demand(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "not so: %s\n", what);
    abort();
}

#endif
