/* SPDX-License-Identifier: MIT */
/*
 * attend: exact softmax attention.
 *
 * For every batch b, query head h and query i, with g = h / (hq / hkv):
 *
 *     O[b][h][i]    = sum_j P[j] V[b][g][j]
 *     P             = softmax over the keys j that row i sees of score[j]
 *     score[j]      = cap(scale * <Q[b][h][i], K[b][g][j]>)
 *                     + bias[b][h][i][j] + alibi[h] * (j - position(i))
 *     cap(x)        = softcap * tanh(x / softcap)  if softcap > 0,  else x
 *
 * What row i sees is set by the causal rule, the window, the key lengths and
 * the boolean mask together.  A key that is not seen influences no bit of any
 * output, whatever K and V hold there.  A row that sees no key, or whose scores
 * are all -inf, yields O = 0 and LSE = -inf, or the sink where there is one.  A score
 * of +inf or NaN yields NaN.  In any other row, an Inf in V that the row sees yields
 * Inf in that column of O, or NaN where its weight is 0, since 0 * Inf is NaN: its score
 * is -inf, or exp(score - largest) underflows.  That is below 2^-126, and for f64 and
 * the set `ref`, which computes in double, far lower.
 *
 * Results are the same, bit for bit, for any number of threads, any batch and
 * heads around a row, and any strides of the same values; attend_order says more.  Where
 * a result is NaN, it is NaN in every such call; sign and payload of a NaN may differ.
 *
 * Calls of the CPU compute in the default floating-point environment (round to nearest,
 * denormals kept, no traps) on every thread, whatever environment the thread is in, and
 * restore it.  Hooks of the host may be called in the default environment.
 *
 * The library prints nothing, never aborts and keeps no global state.
 *
 * A struct that may grow starts with struct_size, which its _default() function sets. One
 * of an older header is taken with defaults for what it lacks, one of a newer header if
 * it asks for nothing that this library does not know; docs/API.md has the rules.
 *
 * This header is the engine.  attend/stats.h has statistics of the attention
 * distribution, attend/layer.h self-attention with projections, attend/theory.h closed
 * forms.
 */
#ifndef ATTEND_ATTEND_H
#define ATTEND_ATTEND_H

#include <stddef.h>
#include <stdint.h>

#define ATTEND_VERSION_MAJOR 0
#define ATTEND_VERSION_MINOR 2
#define ATTEND_VERSION_PATCH 0

/*
 * ATTEND_BUILD is defined while the library is compiled.  On Windows, define ATTEND_DLL
 * in a program that uses it as a DLL.
 */
#if defined(_WIN32) && defined(ATTEND_BUILD)
#define ATTEND_API __declspec(dllexport)
#elif defined(_WIN32) && defined(ATTEND_DLL)
#define ATTEND_API __declspec(dllimport)
#elif defined(ATTEND_BUILD) && (defined(__GNUC__) || defined(__clang__))
#define ATTEND_API __attribute__((visibility("default")))
#else
#define ATTEND_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* "major.minor.patch" of the library that runs, which may be newer than this header. */
ATTEND_API const char *attend_version(void);

/* ---- status and errors ------------------------------------------------- */

typedef enum attend_status {
    ATTEND_OK = 0,
    ATTEND_EINVAL = 1,       /* an argument is wrong; the error names field and value */
    ATTEND_ENOMEM = 2,       /* an allocation failed; nothing is leaked */
    ATTEND_EUNSUPPORTED = 3, /* well-formed, but not on this machine or in this build */
    ATTEND_ETOOBIG = 4,      /* weights above ATTEND_WEIGHTS_MAX without force */
    /* 5 is reserved. */
    ATTEND_ECOMM = 6,      /* communication between ranks failed: attend/mpi.h */
    ATTEND_ECANCELLED = 7, /* attend_options.cancelled asked the call to end */
    ATTEND_EBUSY = 8       /* the context is in use by another call; nothing was done */
} attend_status;

/* Enums have the size of int: -fshort-enums changes the layout of the structs below. */
typedef char attend_enums_are_int[sizeof(attend_status) == sizeof(int) ? 1 : -1];

/* Filled by a call that fails, untouched by one that succeeds. */
typedef struct attend_error {
    attend_status status;
    char message[252]; /* one line, no newline, always terminated */
} attend_error;

/* "ATTEND_OK" and so on; "unknown status" for any other number. */
ATTEND_API const char *attend_status_name(attend_status status);

/* ---- tensors ----------------------------------------------------------- */

typedef enum attend_dtype {
    ATTEND_F64 = 1,
    ATTEND_F32 = 2,
    ATTEND_F16 = 3,
    ATTEND_BF16 = 4,
    ATTEND_BOOL = 5 /* one byte; 0 is false, anything else true */
} attend_dtype;

/* Bytes per element; 0 for a number that is no dtype. */
ATTEND_API size_t attend_dtype_size(attend_dtype dtype);
/* "f64", "f32", "f16", "bf16", "bool"; "unknown" for a number that is no dtype. */
ATTEND_API const char *attend_dtype_name(attend_dtype dtype);

/*
 * A strided view of memory the caller owns, axes in the order b, h, l, d:
 * element (b, h, l, d) is data[b*stride[0] + h*stride[1] + l*stride[2] +
 * d*stride[3]].  Strides count elements and may be 0 or negative.  `data` is
 * aligned to the size of an element, and may be NULL when a size is 0.  Nothing
 * outside the view is read.
 */
typedef struct attend_view {
    const void *data;
    attend_dtype dtype;
    int64_t size[4];
    int64_t stride[4];
} attend_view;

/*
 * The same for an output.  No two elements may share an address, and outputs must
 * not overlap inputs or each other.  EINVAL where that is certain: two axes whose
 * strides meet, more elements than addresses, a tensor whose first, lowest or
 * highest element lies in another.  Tensors that interleave are taken as given.
 */
typedef struct attend_tensor {
    void *data;
    attend_dtype dtype;
    int64_t size[4];
    int64_t stride[4];
} attend_tensor;

/* A view of data without gaps, laid out as (b, h, l, d). */
static inline attend_view attend_view_dense(const void *data, attend_dtype dtype,
                                            int64_t b, int64_t h, int64_t l, int64_t d)
{
    attend_view view;

    view.data = data;
    view.dtype = dtype;
    view.size[0] = b;
    view.size[1] = h;
    view.size[2] = l;
    view.size[3] = d;
    view.stride[0] = h * l * d;
    view.stride[1] = l * d;
    view.stride[2] = d;
    view.stride[3] = 1;
    return view;
}

/* The same laid out as (b, l, h, d), as a projection leaves it; the axes stay b, h, l, d.
 */
static inline attend_view attend_view_dense_blhd(const void *data, attend_dtype dtype,
                                                 int64_t b, int64_t l, int64_t h,
                                                 int64_t d)
{
    attend_view view = attend_view_dense(data, dtype, b, h, l, d);

    view.stride[1] = d;
    view.stride[2] = h * d;
    return view;
}

/* The same two layouts, for an output. */
static inline attend_tensor attend_tensor_dense(void *data, attend_dtype dtype, int64_t b,
                                                int64_t h, int64_t l, int64_t d)
{
    attend_tensor tensor;

    tensor.data = data;
    tensor.dtype = dtype;
    tensor.size[0] = b;
    tensor.size[1] = h;
    tensor.size[2] = l;
    tensor.size[3] = d;
    tensor.stride[0] = h * l * d;
    tensor.stride[1] = l * d;
    tensor.stride[2] = d;
    tensor.stride[3] = 1;
    return tensor;
}

static inline attend_tensor attend_tensor_dense_blhd(void *data, attend_dtype dtype,
                                                     int64_t b, int64_t l, int64_t h,
                                                     int64_t d)
{
    attend_tensor tensor = attend_tensor_dense(data, dtype, b, h, l, d);

    tensor.stride[1] = d;
    tensor.stride[2] = h * d;
    return tensor;
}

/* A view of an output, to read it as an input. */
static inline attend_view attend_view_of(const attend_tensor *tensor)
{
    attend_view view;

    view.data = tensor->data;
    view.dtype = tensor->dtype;
    for (int axis = 0; axis < 4; axis++) {
        view.size[axis] = tensor->size[axis];
        view.stride[axis] = tensor->stride[axis];
    }
    return view;
}

/* ---- context ----------------------------------------------------------- */

/*
 * A context holds threads, kernel set and scratch.  Create once, call many
 * times, one caller at a time: a call while another runs on the same context, a
 * hook's included, is EBUSY.  Different contexts may run at once.  A call whose
 * shapes fit the scratch of an earlier one allocates nothing.
 *
 * Its threads are started when a call first has work for them, spin for some
 * microseconds after a call and then sleep, and end with the context.  If the
 * system refuses a thread, calls make do with fewer.  A child of fork() may use or
 * destroy a context that no thread was using at the time, and has threads of its own.
 */
typedef struct attend_context attend_context;

/*
 * A pool that a host lends: call body(arg, w) once for every w in 0 .. n-1, in
 * any order, at once or in turn, and return when all have returned.
 */
typedef void (*attend_parallel_for)(void *user, int n, void (*body)(void *arg, int w),
                                    void *arg);
/* Memory of `size` > 0 bytes aligned to `alignment` (a power of two), or NULL. */
typedef void *(*attend_alloc)(void *user, size_t alignment, size_t size);
typedef void (*attend_free)(void *user, void *memory);
/*
 * Called between pieces of work with how many of `total` are done, from any worker
 * but never from two at once, and not for every piece.
 */
typedef void (*attend_progress)(void *user, int64_t done, int64_t total);

/*
 * What the bits of a row may depend on, in O, LSE, weights and statistics alike.
 *
 * SAME: its own inputs, the rule, d, dv and the kernel set, and nothing else.  Not on
 * threads, batch, heads, nq, strides, or whether weights or statistics are asked for: a
 * token decoded alone has the bits of the same token in a prefill.
 *
 * FAST: also on the number of rows that share a key/value head: few rows may sum their
 * scores in another order, where that reads K faster.  The same call still has the same
 * bits for any number of threads.  No kernel set of the CPU makes use of it yet: every
 * order that was tried for few rows was matched by that of SAME.
 *
 * On a GPU, FAST allows the kernels of its own: a row alone may have other bits than
 * among others (docs/CUDA.md).
 *
 * Both stay within the bound of docs/NUMERICS.md.
 */
typedef enum attend_order { ATTEND_ORDER_SAME = 0, ATTEND_ORDER_FAST = 1 } attend_order;

/* Start from attend_options_default(). */
typedef struct attend_options {
    size_t struct_size;
    /*
     * The caller's included.  0: OMP_NUM_THREADS, else every CPU this process may use,
     * by its affinity mask and the CPU quota of its control group.
     */
    int threads;
    const char *isa;    /* NULL: the variable ATTEND_ISA, else the best that runs here */
    attend_alloc alloc; /* both or neither; NULL: the C library's */
    attend_free free;
    void *alloc_user;
    attend_parallel_for parallel_for; /* NULL: threads of the context's own */
    void *parallel_user;
    attend_progress progress; /* NULL: none */
    void *progress_user;
    int64_t order; /* an attend_order */
    /*
     * What computes: NULL for the CPU; "cuda" or "cuda:N" for a GPU, by its primary
     * context.  isa, threads, parallel_for, progress and cancelled have meaning for the
     * CPU only.  docs/CUDA.md.
     */
    const char *device;
    void *stream; /* a CUstream or cudaStream_t; NULL: the default stream */
    /*
     * 1: tensors of a device's context, and all else that calls point at, lie in host
     * memory; a call copies them in and out and returns when it is done.
     */
    int64_t host_tensors;
    /*
     * Polled between pieces of work, from any worker but never from two at once; NULL:
     * never.  If it returns another value than 0, the call ends with ECANCELLED once the
     * pieces under way are done.  Its outputs are then unspecified: some elements have
     * been written, others not.  Inputs and the context are as before.
     */
    int (*cancelled)(void *user);
    void *cancel_user;
} attend_options;

static inline attend_options attend_options_default(void)
{
    attend_options options;

    options.struct_size = sizeof options;
    options.threads = 0;
    options.isa = NULL;
    options.alloc = NULL;
    options.free = NULL;
    options.alloc_user = NULL;
    options.parallel_for = NULL;
    options.parallel_user = NULL;
    options.progress = NULL;
    options.progress_user = NULL;
    options.order = ATTEND_ORDER_SAME;
    options.device = NULL;
    options.stream = NULL;
    options.host_tensors = 0;
    options.cancelled = NULL;
    options.cancel_user = NULL;
    return options;
}

/*
 * `options` may be NULL for the defaults.  On success *ctx is the caller's, who
 * gives it to attend_context_destroy(); on failure *ctx is NULL.  An isa that
 * this build does not have is EINVAL, one that this machine cannot run
 * EUNSUPPORTED; there is no silent fallback.  `err` may be NULL, here and below.
 */
ATTEND_API attend_status attend_context_create(attend_context **ctx,
                                               const attend_options *options,
                                               attend_error *err);
/* NULL is allowed. */
ATTEND_API void attend_context_destroy(attend_context *ctx);
/* The name of the kernel set, or "cuda"; "unknown" for NULL.  Never freed. */
ATTEND_API const char *attend_context_isa(const attend_context *ctx);
/*
 * Threads that calls use at most, the caller's included: what options asked for, less
 * what the system has refused.  0 for NULL.
 */
ATTEND_API int attend_context_threads(const attend_context *ctx);

/*
 * Where the tensors of a context live, and all that its rules and requests point at; HOST
 * for NULL.
 */
typedef enum attend_memory {
    ATTEND_MEMORY_HOST = 0,
    ATTEND_MEMORY_CUDA = 1 /* memory that the GPU of the context can read and write */
} attend_memory;
ATTEND_API attend_memory attend_context_memory(const attend_context *ctx);

/* ---- devices ------------------------------------------------------------- */

/*
 * Calls of a context whose tensors are in device memory are queued on its stream.  They
 * return errors of the launch; an error of the device comes from a later call or from
 * attend_context_wait().  A call whose shapes fit the workspace of an earlier one, or
 * that of the caller, allocates nothing and waits for nothing, so a CUDA graph can
 * capture it.
 */

/* Calls from now on go to `stream`; the caller orders them after earlier ones. */
ATTEND_API attend_status attend_context_set_stream(attend_context *ctx, void *stream,
                                                   attend_error *err);
/* Returns when everything queued is done; at once for the CPU. */
ATTEND_API attend_status attend_context_wait(attend_context *ctx, attend_error *err);
/*
 * Lends device memory, aligned to 256 bytes, in place of the context's own until the
 * next call of this function; NULL returns to the context's own.  A call that needs more
 * fails with ENOMEM.
 */
ATTEND_API attend_status attend_context_set_workspace(attend_context *ctx, void *memory,
                                                      size_t size, attend_error *err);
/*
 * The devices of this machine, or why there is none, into `text` as
 * attend_cpu_features() does.
 */
ATTEND_API size_t attend_devices(char *text, size_t size);

/* ---- what this build and this machine have ----------------------------- */

/* Filled by attend_isa_get().  Start from attend_isa_default(). */
typedef struct attend_isa {
    size_t struct_size;
    const char *name;  /* what attend_options.isa takes */
    const char *needs; /* CPU features, separated by spaces; "" for none */
    int64_t runs;      /* 1 if this machine has them and the system allows them */
} attend_isa;

static inline attend_isa attend_isa_default(void)
{
    attend_isa isa;

    isa.struct_size = sizeof isa;
    isa.name = NULL;
    isa.needs = NULL;
    isa.runs = 0;
    return isa;
}

/* Kernel sets of this build, best first; `ref`, the definition in double, last. */
ATTEND_API int attend_isa_count(void);
/* EINVAL unless 0 <= index < attend_isa_count(), and for a struct_size that is too small.
 */
ATTEND_API attend_status attend_isa_get(int index, attend_isa *isa);
/*
 * Names of the CPU features that the kernel sets ask for and this machine has,
 * separated by spaces, into `text` of `size` bytes, cut if it does not fit and
 * always terminated (if size > 0).  `text` may be NULL.  Returns the length needed
 * without the terminator.
 */
ATTEND_API size_t attend_cpu_features(char *text, size_t size);

/* ---- attention --------------------------------------------------------- */

/*
 * The causal rule gives row i a position and hides the keys after it.
 * OFFSET reads attend_rule.causal_offset[b].
 */
typedef enum attend_causal {
    ATTEND_CAUSAL_NONE = 0,         /* position(i) = i, nothing hidden */
    ATTEND_CAUSAL_TOP_LEFT = 1,     /* position(i) = i */
    ATTEND_CAUSAL_BOTTOM_RIGHT = 2, /* position(i) = i + nk - nq, nk of the tensor */
    ATTEND_CAUSAL_OFFSET = 3        /* position(i) = i + causal_offset[b] */
} attend_causal;

/* What the scores are and who sees whom.  Start from attend_rule_default(). */
typedef struct attend_rule {
    size_t struct_size;
    int scale_is_set; /* 0: scale = 1 / sqrt(d), 1 for d = 0 */
    double scale;     /* any finite value, zero and negative included */
    double softcap;   /* 0: none; else finite and positive */
    attend_causal causal;
    const int64_t *causal_offset; /* [nb], -2^60 .. 2^60; read for CAUSAL_OFFSET only */
    /* position(i) - window_left <= j <= position(i) + window_right is seen; -1: open. */
    int64_t window_left, window_right;
    const int64_t *key_lengths; /* [nb], each 0 .. nk: row i sees j < it; NULL: nk */
    /* Each axis of (nb, hq, nq, nk), or 1 for an axis it is broadcast over. */
    attend_view mask; /* ATTEND_BOOL, true = seen; data NULL: none */
    attend_view bias; /* any floating dtype; data NULL: none */
    /*
     * [hq] slopes, each finite; NULL: none.  The term is computed from an anchor, the
     * last key (the first for a negative slope) that causal rule, window and key length
     * leave to the row, masked or not, and LSE is corrected: its rounding error grows
     * with |alibi| times the larger of a key's distances from the anchor and from
     * position(i).
     */
    const double *alibi;
    /* [hq] logits: exp(sink) joins the denominator; finite, or -inf for none; NULL: none
     */
    const double *sinks;
    /*
     * Added to every position, -2^60 .. 2^60: queries first_query .. of a longer
     * sequence. With BOTTOM_RIGHT, nq is that of the call: a call with some of the
     * queries of a sequence uses OFFSET.
     */
    int64_t first_query;
} attend_rule;

static inline attend_rule attend_rule_default(void)
{
    const attend_view none = {NULL, ATTEND_F32, {0, 0, 0, 0}, {0, 0, 0, 0}};
    attend_rule rule;

    rule.struct_size = sizeof rule;
    rule.scale_is_set = 0;
    rule.scale = 0.0;
    rule.softcap = 0.0;
    rule.causal = ATTEND_CAUSAL_NONE;
    rule.causal_offset = NULL;
    rule.window_left = -1;
    rule.window_right = -1;
    rule.key_lengths = NULL;
    rule.mask = none;
    rule.bias = none;
    rule.alibi = NULL;
    rule.sinks = NULL;
    rule.first_query = 0;
    return rule;
}

/* A request for statistics: attend/stats.h. */
typedef struct attend_stats attend_stats;

/* More elements of weights than this need attend_io.force_weights: 1 GiB of f32. */
#define ATTEND_WEIGHTS_MAX ((int64_t)1 << 28)

/* Start from attend_io_default(); an output whose data is NULL is not wanted. */
typedef struct attend_io {
    size_t struct_size;
    /* q (nb, hq, nq, d), k (nb, hkv, nk, d), v (nb, hkv, nk, dv); one dtype. */
    attend_view q, k, v;
    attend_tensor out; /* (nb, hq, nq, dv), of q's dtype or f32; always wanted */
    /*
     * lse (nb, hq, nq, 1): ln of the sum of exp(score), the sink's included, in
     * natural units.  weights (nb, hq, nq, nk): P.  Both f32, f64 for f64 inputs.
     */
    attend_tensor lse, weights;
    int force_weights;
    const attend_stats *stats; /* NULL: none */
} attend_io;

static inline attend_io attend_io_default(void)
{
    const attend_view no_view = {NULL, ATTEND_F32, {0, 0, 0, 0}, {0, 0, 0, 0}};
    const attend_tensor no_tensor = {NULL, ATTEND_F32, {0, 0, 0, 0}, {0, 0, 0, 0}};
    attend_io io;

    io.struct_size = sizeof io;
    io.q = no_view;
    io.k = no_view;
    io.v = no_view;
    io.out = no_tensor;
    io.lse = no_tensor;
    io.weights = no_tensor;
    io.force_weights = 0;
    io.stats = NULL;
    return io;
}

/*
 * Compute the outputs.  `rule` may be NULL for plain attention.  On failure no output
 * element has been written, except after ECANCELLED and errors of a device.
 */
ATTEND_API attend_status attend_forward(attend_context *ctx, const attend_rule *rule,
                                        const attend_io *io, attend_error *err);
/*
 * Bytes of workspace that this call would use: device memory for a device, the context's
 * scratch for the CPU.
 */
ATTEND_API attend_status attend_forward_workspace(attend_context *ctx,
                                                  const attend_rule *rule,
                                                  const attend_io *io, size_t *bytes,
                                                  attend_error *err);

/* ---- parts -------------------------------------------------------------- */

/* Attention over a part of the keys, as attend_forward() gave it. */
typedef struct attend_part {
    attend_view out; /* (nb, hq, nq, dv), any floating dtype */
    attend_view lse; /* (nb, hq, nq, 1), f32 or f64 */
} attend_part;

/*
 * Join parts that split the keys of one problem: O = sum_p w_p O_p with
 * w_p = exp(lse_p - lse), in the order given and in double.  A part with lse = -inf has
 * no influence.  `lse` may be NULL or have data NULL.  Parts and outputs may differ
 * in dtype.  Keep parts in f32 or f64: parts in bf16 or f16 have been rounded once each.
 *
 * The rule of each part counts keys from the part's own key 0.  For positions in the
 * sequence use ATTEND_CAUSAL_OFFSET with the row's position less the part's first key.
 * Give sinks to one part only: the lse of every part that has them includes exp(sink).
 * examples/merge_parts.c does both.
 *
 * In place: `out` may be the very tensor of a part (data, dtype and strides the same),
 * and `lse` that part's or another's.  Outputs may overlap parts in no other way.
 *
 * Runs in the caller's thread and allocates nothing; any number of threads may call it
 * at once.
 */
ATTEND_API attend_status attend_merge(const attend_part *parts, int64_t count,
                                      const attend_tensor *out, const attend_tensor *lse,
                                      attend_error *err);
/*
 * The same on the threads and the kernel set of a context, to the same bits: any context
 * of the CPU, or with host_tensors, gives those of attend_merge().  With tensors in
 * device memory, of which 24 parts at most, the last bit may differ.
 */
ATTEND_API attend_status attend_merge_with(attend_context *ctx, const attend_part *parts,
                                           int64_t count, const attend_tensor *out,
                                           const attend_tensor *lse, attend_error *err);

/* ---- partials ----------------------------------------------------------- */

/*
 * Keys are summed in splits of so many, counted from key 0 of the sequence, which combine
 * in a binary tree over their index in the whole sequence: 2 n with 2 n + 1, those again,
 * and so on.  So shards of the keys can be computed apart, by any number of calls or
 * machines, and combined to the very bits of one call over all keys.
 */
#define ATTEND_SPLIT_KEYS 1024

/*
 * What a shard of the keys leaves to be combined.  Of each row, a record has m, the
 * largest score, l, the sum of exp(score - m), and dv sums of exp(score - m) v; of no key
 * -inf, 0 and zeros.  With ALiBi, m is that of scores without the shift that attend_rule
 * tells of.  Start from attend_partials_default().  It is passed in arrays, so it never
 * grows.
 */
typedef struct attend_partials {
    size_t struct_size;
    int64_t first_key; /* index in the sequence of the shard's key 0: a multiple of
                          ATTEND_SPLIT_KEYS */
    int64_t keys;      /* nk of io.k and io.v: whole splits, or up to the end; or 0 */
    int64_t all_keys;  /* of the sequence; 0: the shard ends it */
    /*
     * 0: a record for each split, in order.  1: one for each of the largest subtrees that
     * lie in the shard, in order: no more than 1 + 2 log2 of its splits.
     */
    int64_t reduce;
    /*
     * (nb, hq, nq, records * (dv + 2)), f32, f64 for f64 inputs; stride[3] is 1.  May
     * have data NULL where there is nothing.
     */
    attend_tensor data;
} attend_partials;

static inline attend_partials attend_partials_default(void)
{
    const attend_tensor none = {NULL, ATTEND_F32, {0, 0, 0, 0}, {0, 0, 0, 0}};
    attend_partials partials;

    partials.struct_size = sizeof partials;
    partials.first_key = 0;
    partials.keys = 0;
    partials.all_keys = 0;
    partials.reduce = 0;
    partials.data = none;
    return partials;
}

/* Records of a shard; -1 if first_key is not in whole splits, or a number is negative. */
ATTEND_API int64_t attend_partials_records(int64_t first_key, int64_t keys,
                                           int64_t reduce);

/*
 * Compute the partials of a shard.  io has q and the shard's k and v; its outputs are to
 * be unset, but for io.stats of a shard that has one record: stats.raw gets the raw sums
 * of its keys, counted in the sequence, stats.classes is [nb][keys], and the other
 * tensors say what to sum, without being written.  `rule` is that of the whole sequence:
 * position, window, key lengths (each up to all_keys), bottom-right alignment and ALiBi
 * count its keys.  Only mask and bias have the shard's columns, (nb, hq, nq, keys). Sinks
 * have no influence here.  Failures as in attend_forward().
 */
ATTEND_API attend_status attend_forward_partials(attend_context *ctx,
                                                 const attend_rule *rule,
                                                 const attend_io *io,
                                                 const attend_partials *partials,
                                                 attend_error *err);

/*
 * Combine the partials of shards of one sequence, in any order, and end the rows.  `rule`
 * is that of the calls that made them; its mask and bias are not looked at.  all_keys of
 * all parts is the same.  No split may be in two shards; one in none counts as not seen.
 * `out` (nb, hq, nq, dv) and `lse`, which may be NULL or have data NULL, are as in
 * attend_io, f32 partials standing for inputs of out's dtype.
 *
 * The bits are those of attend_forward() over all keys, if all calls use the same kernel
 * set.  Partials of different sets combine too: then, and always with `ref`, the result
 * lies within the bound.
 */
ATTEND_API attend_status attend_combine(attend_context *ctx, const attend_rule *rule,
                                        const attend_partials *parts, int64_t count,
                                        const attend_tensor *out,
                                        const attend_tensor *lse, attend_error *err);

/*
 * The same without ending the rows: `to` gets the records of all its keys from those of
 * shards that lie in it.  to->reduce is 1 and to->data is set.  Nothing seen where no
 * shard has a split.  In place: to->data may be that of a part with the same records.
 */
ATTEND_API attend_status attend_reduce(attend_context *ctx, const attend_partials *parts,
                                       int64_t count, const attend_partials *to,
                                       attend_error *err);

#ifdef __cplusplus
}
#endif

#endif
