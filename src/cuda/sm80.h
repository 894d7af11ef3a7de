/* SPDX-License-Identifier: MIT */
/* What the kernels of sm80.cuh are given. */
#ifndef ATTEND_CUDA_SM80_H
#define ATTEND_CUDA_SM80_H

#include "cuda/launch.h"

/* Keys of a split of the decode kernels, and rows of their tile. */
enum { SM80_SPLIT = 512, SM80_DECODE_ROWS = 16, SM80_DECODE_THREADS = 32 };
/* The kernels of many rows: threads of a block, rows of a tile by kernel. */
enum { SM80_THREADS = 128, SM80_ROWS = 128, SM80_ROWS_RULES = 64 };
/* Threads that combine the records of a row: every PARTS-th is of one of the parts. */
enum { SM80_COMBINE_THREADS = 512, SM80_COMBINE_PARTS = 4 };

/* Dynamic shared memory: a tile of Q, and slots of `keys` keys for K and V. */
#define SM80_SHARED(columns, rows, keys, slots)                                          \
    (2 * (columns) * ((rows) + (keys) * (slots)))
enum { SM80_SLOTS = 3, SM80_DECODE_SLOTS = 4 };
/* The most that any of them asks for: compute capability 8.6 has 99 KiB. */
enum { SM80_SHARED_MOST = 96 << 10 };

struct sm80_launch {
    struct problem p; /* inputs are such that rows are read 16 bytes at a time */
    int items;        /* tiles of rows, by splits */
    int row_blocks;   /* tiles of a head */
    int splits;       /* 0: rows are ended; else records are left */
    int folds;        /* the rows of a tile are the heads of a group: nq = 1 */
    int score_mod;    /* scores are finished in nats before they are compared */
    int chunks;       /* eight columns of O are 16 bytes */
    int mask_pairs;   /* two keys of the mask are two bytes, at even addresses */
    int plain;        /* by the kernels without rules, whose m is in units of log 2 */
    float c;          /* of products, or of finished scores, in units of log 2 */
    double unit;      /* of m in nats */
    float *records;   /* [nb][hq][splits][dv + 2]: m, l, acc */
};

/* A view of 16-bit elements to be laid out as (b, h, l, padded). */
struct sm80_pack {
    attend_view from;
    int64_t padded, count; /* count: of elements that are written */
    uint16_t *to;
};

#endif
