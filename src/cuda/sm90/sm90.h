/* SPDX-License-Identifier: MIT */
/* Parameters of the kernels of sm90.cuh, in addition to tensor maps. */
#ifndef ATTEND_CUDA_SM90_H
#define ATTEND_CUDA_SM90_H

#include <stdint.h>

/* The minimum number of keys of a split of the decode kernel: its largest block. */
enum { SM90_SPLIT_LEAST = 128 };
/*
 * The record of a row and a split: reference, sum, and the columns from SM90_RECORD_HEAD
 * on.  Its length in floats is a multiple of 4.
 */
enum { SM90_RECORD_HEAD = 4 };
/* Combining records: maximum warps per row, columns per step, floats of shared memory. */
enum {
    SM90_COMBINE_WARPS = 8,
    SM90_COMBINE_COLUMNS = 128,
    SM90_COMBINE_SHARED = SM90_COMBINE_WARPS * (2 + SM90_COMBINE_COLUMNS)
};
/* Dynamic shared memory: the maximum of a CTA. */
enum { SM90_SHARED = 232448 };

/* A tensor of the caller, addressed like an attend_view. */
struct sm90_tensor {
    void *data;
    int64_t stride[4];
};

/*
 * Counters that are 0 before and after each launch: tiles taken, CTAs done, tiles in
 * `list`; the same counters for the non-finite kernel, which reads the list.
 */
enum sm90_control {
    SM90_NEXT,
    SM90_DONE,
    SM90_LISTED,
    SM90_NONFINITE_NEXT,
    SM90_NONFINITE_DONE,
    SM90_CONTROL_COUNT = 64
};

/*
 * Masks, biases, ALiBi and softcap, for kernels of tiles of 128 rows.  `bits` holds the
 * mask as the threads of a tile read it: for each (b, h), tile of rows and unit of
 * SM90_UNIT keys, 256 threads by two words, one for each of a thread's rows.  A list has
 * the blocks of a tile that are not fully hidden, in order: their number, then index |
 * SM90_MIXED for blocks that are not fully visible.
 */
enum { SM90_UNIT = 128, SM90_TILE_THREADS = 256, SM90_TILE_ROWS = 128 };
enum { SM90_MASK_SHARED = SM90_TILE_ROWS * SM90_UNIT / 16 * 4 };
enum { SM90_MIXED = 0x40000000 };
/* Staging of a bias: 16 rows of 32 floats, with padding. */
enum { SM90_STAGE_PITCH = 160, SM90_STAGE_BYTES = 16 * SM90_STAGE_PITCH };
/* Bytes per thread for the largest scores of its rows. */
enum { SM90_TOP_BYTES = 208 };
enum sm90_state { SM90_ALL_HIDDEN, SM90_SOME_SEEN, SM90_ALL_SEEN };

struct sm90_rules {
    int on;        /* any rule is in use: every block computes its row max */
    int score_mod; /* scores are modified, in nats, before the row max */
    float scale, cap;
    const double *alibi;
    int bias_type;                 /* an attend_dtype; 0: none */
    struct sm90_tensor bias, mask; /* strides of the bias in bytes */
    int block_keys, units, list_length;
    int64_t bits_step[2], list_step[2]; /* tiles per step of b and of h; 0: broadcast */
    uint32_t *bits;                     /* NULL: no mask */
    uint8_t *states;                    /* [tiles of bits][units] */
    int *lists;
    int bits_tiles, list_tiles; /* number of each */
};

/* Row statistics: doubles in the layout of core/row_sums.h, [nb][heads][rows][length]. */
struct sm90_row_sums {
    double *sums;
    int length, top;
};

struct sm90_launch {
    int nb, heads, group, rows, nk, d,
        dv;                         /* `rows` of a head; key/value head = h / group */
    int row_blocks, section, tiles; /* section: heads that share the cache */
    int splits;                     /* 1: O and LSE are stored; else records */
    int bounded, may_hide;
    /*
     * Row i has position offset (or causal_offset[b]) + i step; it sees keys from
     * position - behind to before position + reach.
     */
    int64_t offset, reach, behind;
    int step;
    const int64_t *causal_offset, *key_lengths;
    float c; /* scale log2 e */
    double scale;
    const double *sinks;
    float *lse;
    int64_t lse_stride[3];
    int out_float, out_tma;
    struct sm90_tensor out, q, k, v;
    float *records;              /* [nb][heads][rows][splits][record] */
    int *control, *flags, *list; /* flags and list: [tiles] */
    struct sm90_rules rules;
    struct sm90_row_sums stats;
    int split_keys, record; /* keys of a split, floats of a record */
};

/* Copies a view to dense (b, h, l, padded). */
struct sm90_pack {
    struct sm90_tensor from;
    int64_t size[4], padded, count; /* count: elements written */
    uint16_t *to;
};

/* Sums of P over queries; fields as in struct sm90_launch. */
struct sm90_columns {
    int nb, heads, group, nq, nk, key_blocks, tiles, bounded, lse_double;
    int64_t offset, reach, behind;
    const int64_t *causal_offset, *key_lengths;
    float c;
    struct sm90_tensor lse, mass, most;
    float *bits; /* [nb][heads][padded]: lse log2 e, +inf for none */
    int64_t padded, count;
};

#endif
