/* SPDX-License-Identifier: MIT */
/* Parameters of the kernels of sm80.cuh. */
#ifndef ATTEND_CUDA_SM80_H
#define ATTEND_CUDA_SM80_H

#include "cuda/launch.h"

/* Decode kernels: keys of a split, rows of a tile, threads. */
enum { SM80_SPLIT = 512, SM80_DECODE_ROWS = 16, SM80_DECODE_THREADS = 32 };
/* Prefill kernels: threads of a CTA; rows of a tile, plain and with rules. */
enum { SM80_THREADS = 128, SM80_ROWS = 128, SM80_ROWS_RULES = 64 };
/* Combine: threads of a CTA, and parts into which the records of a row are divided. */
enum { SM80_COMBINE_THREADS = 512, SM80_COMBINE_PARTS = 4 };

/* Dynamic shared memory in bytes: a tile of Q, and slots of `keys` keys for K and V. */
#define SM80_SHARED(columns, rows, keys, slots)                                          \
    (2 * (columns) * ((rows) + (keys) * (slots)))
enum { SM80_SLOTS = 3, SM80_DECODE_SLOTS = 4 };
/* Upper limit of all kernels: compute capability 8.6 has 99 KiB. */
enum { SM80_SHARED_MOST = 96 << 10 };

struct sm80_launch {
    struct problem p; /* rows of q, k, v are aligned for loads of 16 bytes */
    int items;        /* tiles of rows times splits */
    int row_blocks;   /* tiles of a head */
    int splits;       /* 0: O and LSE are stored; else a record for each split */
    int pack_gqa;     /* nq = 1: the rows of a tile are the query heads of a group */
    int score_mod;    /* bias, ALiBi or softcap: scores are modified before the max */
    int vector_store; /* O is stored 16 bytes at a time */
    int mask_pairs;   /* the mask is read two keys at a time, at even addresses */
    int plain;        /* kernels without RULES: m is in units of log 2 */
    float c;          /* factor that takes scores to units of log 2 */
    double unit;      /* factor that takes m to nats */
    float *records;   /* [nb][hq][splits][dv + 2]: m, l, acc */
};

/* Copies a view of 16-bit elements to dense (b, h, l, padded). */
struct sm80_pack {
    attend_view from;
    int64_t padded, count; /* count: elements written */
    uint16_t *to;
};

#endif
