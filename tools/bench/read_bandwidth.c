/* SPDX-License-Identifier: MIT */
#include "bench/read_bandwidth.h"

#include <stdint.h>

#include "bench/team.h"

/*
 * Streams that a thread reads, interleaved.  Four feed the prefetchers best: one gives
 * 27 GB/s on a core of Zen 4 and four give 28, eight 25, and prefetching by hand 22-24.
 */
enum { STREAMS = 4, LINE_BYTES = 64 };

typedef uint64_t pair __attribute__((vector_size(16)));

struct part {
    const unsigned char *memory;
    size_t bytes; /* of one stream of one thread */
};

static pair read_line(const unsigned char *line)
{
    const pair *const p = (const pair *)(const void *)line;

    return (p[0] | p[1]) | (p[2] | p[3]);
}

static double read_part(const void *arg, int w)
{
    const struct part *const part = arg;
    const unsigned char *const from = part->memory + (size_t)w * STREAMS * part->bytes;
    pair all[STREAMS] = {{0}};

    for (size_t offset = 0; offset < part->bytes; offset += LINE_BYTES)
        for (size_t s = 0; s < STREAMS; s++)
            all[s] |= read_line(from + s * part->bytes + offset);
    all[0] |= (all[1] | all[2]) | all[3];
    volatile uint64_t result = all[0][0] | all[0][1];
    (void)result;
    return (double)(STREAMS * part->bytes);
}

double bench_read_sample(const void *memory, size_t bytes, int threads)
{
    const size_t parts = (size_t)threads * STREAMS;
    const struct part part = {memory, bytes / parts / LINE_BYTES * LINE_BYTES};

    return bench_team_rate(threads, read_part, &part);
}
