/* SPDX-License-Identifier: MIT */
#include "bench/read_bandwidth.h"

#include <stdatomic.h>
#include <stdint.h>

#include "bench/team.h"

/*
 * Threads take pieces until none is left, so that one on a slow core does not hold up the
 * others: a piece is an eighth of a thread's share, and at most this.  Small ones are
 * slower: on two cores of Zen 5, 50 GB/s with 128 KB and 54 with 2 MB.
 */
enum { PIECE_MOST = 2 << 20, PIECES_OF_THREAD = 8, LINE_BYTES = 64, STREAMS_MAX = 4 };

/*
 * The fastest order of reading depends on the machine: a piece is read as one stream or
 * as several, with or without a prefetch some bytes ahead.
 */
struct pattern {
    size_t streams, ahead;
};
static const struct pattern patterns[] = {{1, 0}, {4, 0}, {1, 4096}, {4, 1024}};
enum { PATTERNS = sizeof patterns / sizeof patterns[0], TRIALS = 3 };

typedef uint64_t vector __attribute__((vector_size(16)));

struct run {
    const unsigned char *memory;
    size_t bytes, piece;
    struct pattern pattern;
    void (*read)(const unsigned char *from, size_t bytes, struct pattern pattern);
    atomic_size_t next;
};

static volatile uint64_t sink;

/* One body for loads of any width; `streams` and `prefetches` are constants. */
#define READ_BODY(vector_, streams, prefetches)                                          \
    do {                                                                                 \
        enum { VECTORS = LINE_BYTES / sizeof(vector_) };                                 \
        const size_t part = bytes / (streams) / LINE_BYTES * LINE_BYTES;                 \
        vector_ all[STREAMS_MAX] = {{0}};                                                \
                                                                                         \
        for (size_t offset = 0; offset < part; offset += LINE_BYTES)                     \
            for (size_t s = 0; s < (streams); s++) {                                     \
                const unsigned char *const line = from + s * part + offset;              \
                const vector_ *const p = (const vector_ *)(const void *)line;            \
                                                                                         \
                if (prefetches)                                                          \
                    __builtin_prefetch(line + pattern.ahead, 0, 2);                      \
                for (int v = 0; v < VECTORS; v++)                                        \
                    all[s] |= p[v];                                                      \
            }                                                                            \
        all[0] |= (all[1] | all[2]) | all[3];                                            \
        sink = all[0][0] | all[0][1];                                                    \
    } while (0)

#define READ_PIECE(vector_)                                                              \
    do {                                                                                 \
        if (pattern.streams == 1 && pattern.ahead == 0)                                  \
            READ_BODY(vector_, 1, 0);                                                    \
        else if (pattern.streams == 1)                                                   \
            READ_BODY(vector_, 1, 1);                                                    \
        else if (pattern.ahead == 0)                                                     \
            READ_BODY(vector_, 4, 0);                                                    \
        else                                                                             \
            READ_BODY(vector_, 4, 1);                                                    \
    } while (0)

static void read_piece(const unsigned char *from, size_t bytes, struct pattern pattern)
{
    READ_PIECE(vector);
}

#ifdef __x86_64__
typedef uint64_t vector_512 __attribute__((vector_size(64)));

__attribute__((target("avx512f"))) static void
read_piece_512(const unsigned char *from, size_t bytes, struct pattern pattern)
{
    READ_PIECE(vector_512);
}
#endif

static double read_pieces(void *arg, int w)
{
    struct run *const run = arg;
    double done = 0;

    (void)w;
    for (;;) {
        const size_t start = atomic_fetch_add(&run->next, run->piece);
        if (start >= run->bytes)
            return done;
        const size_t left = run->bytes - start;
        const size_t bytes = left < run->piece ? left : run->piece;
        run->read(run->memory + start, bytes, run->pattern);
        done += (double)bytes;
    }
}

static double sample(const void *memory, size_t bytes, int threads,
                     struct pattern pattern)
{
    const size_t share =
        bytes / ((size_t)threads * PIECES_OF_THREAD * LINE_BYTES) * LINE_BYTES;
    struct run run = {.memory = memory,
                      .bytes = bytes,
                      .piece = share < LINE_BYTES   ? LINE_BYTES
                               : share < PIECE_MOST ? share
                                                    : PIECE_MOST,
                      .pattern = pattern,
                      .read = read_piece};

#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        run.read = read_piece_512;
#endif
    return bench_team_rate(threads, read_pieces, &run);
}

int bench_read_pattern(const void *memory, size_t bytes, size_t part, int threads)
{
    double best = 0;
    int fastest = 0;
    size_t start = 0;

    for (int trial = 0; trial < TRIALS; trial++)
        for (int n = 0; n < PATTERNS; n++) {
            const double rate =
                sample((const unsigned char *)memory + start, part, threads, patterns[n]);

            start = start + 2 * part <= bytes ? start + part : 0;
            if (rate > best) {
                best = rate;
                fastest = n;
            }
        }
    return fastest;
}

double bench_read_sample(const void *memory, size_t bytes, int threads, int pattern)
{
    return sample(memory, bytes, threads, patterns[pattern]);
}
