/* SPDX-License-Identifier: MIT */
/* What the kernels of sm90.cuh are given besides tensor maps. */
#ifndef ATTEND_CUDA_SM90_H
#define ATTEND_CUDA_SM90_H

#include <stdint.h>

/* Keys of a split of the decode kernel. */
enum { SM90_SPLIT = 1024 };
/*
 * The combination of records: columns at a time, the most threads, and the splits from
 * which on four threads have a column.
 */
enum {
    SM90_COMBINE_COLUMNS = 128,
    SM90_COMBINE_THREADS = 4 * SM90_COMBINE_COLUMNS,
    SM90_COMBINE_SPLITS = 32
};
/* Dynamic shared memory: all that an SM gives to a CTA. */
enum { SM90_SHARED = 232448 };

/* A tensor of the caller: element (b, h, l, d) as attend_view has it. */
struct sm90_tensor {
    void *data;
    int64_t stride[4];
};

/*
 * Numbers that kernels leave at 0 for the next launch: tiles handed out, blocks of
 * threads that are done, tiles in `list`; the same of the non-finite kernel, that reads
 * it.
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
 * the blocks of keys of a tile that are not all hidden, in order: their number, then
 * index | SM90_MIXED for those that are not all seen.
 */
enum { SM90_UNIT = 128, SM90_TILE_THREADS = 256, SM90_TILE_ROWS = 128 };
enum { SM90_MASK_SHARED = SM90_TILE_ROWS * SM90_UNIT / 16 * 4 };
enum { SM90_MIXED = 0x40000000 };
/* A piece of a bias on its way: 16 rows of 32 floats, and what parts them. */
enum { SM90_STAGE_PITCH = 160, SM90_STAGE_BYTES = 16 * SM90_STAGE_PITCH };
/* What a thread keeps of the largest scores of its rows. */
enum { SM90_TOP_BYTES = 208 };
enum sm90_state { SM90_ALL_HIDDEN, SM90_SOME_SEEN, SM90_ALL_SEEN };

struct sm90_rules {
    int on;        /* any of it: every block looks for its maximum */
    int score_mod; /* scores are finished in nats before they are compared */
    float scale, cap;
    const double *alibi;
    int bias_type;                 /* an attend_dtype; 0: none */
    struct sm90_tensor bias, mask; /* the strides of the bias are bytes */
    int block_keys, units, list_length;
    int64_t bits_step[2], list_step[2]; /* tiles from b to b and from h to h; 0: shared */
    uint32_t *bits;                     /* NULL: no mask */
    uint8_t *states;                    /* [tiles of bits][units] */
    int *lists;
    int bits_tiles, list_tiles; /* how many there are of each */
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
    int splits;                     /* 1: rows are ended; else records are left */
    int bounded, may_hide;
    /*
     * Row i is at offset (or causal_offset[b]) + i step, sees keys before that + reach,
     * and from that - behind on.
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
    float *records;              /* [nb][heads][rows][splits][dv + 2] */
    int *control, *flags, *list; /* flags and list: [tiles] */
    struct sm90_rules rules;
    struct sm90_row_sums stats;
};

/* A view to be laid out as (b, h, l, padded). */
struct sm90_pack {
    struct sm90_tensor from;
    int64_t size[4], padded, count; /* count: of elements that are written */
    uint16_t *to;
};

/* Sums of P over queries; see struct sm90_launch for what has the same name. */
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
