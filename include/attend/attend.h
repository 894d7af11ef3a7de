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
 * Row i sees the keys that causal rule, window, key lengths and boolean mask allow
 * together.  Hidden keys and values, NaN and Inf included, influence no bit of any
 * output.  A row that sees no key, or whose scores are all -inf, yields O = 0 and as LSE
 * the sink logit or, without one, -inf.  A score of +inf or NaN yields NaN.  In any other
 * row, NaN in a visible V yields NaN in that column of O.  Inf yields Inf, or NaN if it
 * meets an opposite Inf or has weight 0: a score of -inf, or exp(score - largest) below
 * 2^-126 (2^-1022 for f64 and the set `ref`, which computes in double), where `largest`
 * includes the sink logit.
 *
 * Results are bitwise identical for any number of threads, any batch and heads around a
 * row, and any strides of the same values; see attend_order.  A result that is NaN is NaN
 * in every such call; sign and payload of a NaN may differ.
 *
 * On the CPU, calls compute in the default floating-point environment (round to nearest,
 * denormals, no traps) on every thread and restore the thread's own.  Hooks of the host
 * may be called in the default environment.
 *
 * The library prints nothing, never aborts and keeps no global state.
 *
 * Structs that may grow start with struct_size, which their _default() function sets.
 * Fields that an older header lacks have their defaults; a struct of a newer header is
 * accepted if fields that this library lacks are 0: docs/ARCHITECTURE.md.
 *
 * Sizes: nb batches, hq query heads, hkv key/value heads, nq queries, nk keys, d columns
 * of Q and K, dv columns of V.  attend/stats.h has statistics of the attention
 * distribution, attend/layer.h self-attention with projections, attend/theory.h closed
 * forms.
 */
#ifndef ATTEND_ATTEND_H
#define ATTEND_ATTEND_H

#include <stddef.h>
#include <stdint.h>

#include "attend/fields.h"

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
    ATTEND_ETOOBIG = 4,      /* weights exceed ATTEND_WEIGHTS_MAX, and force_weights is
                                0 */
    /* 5 is reserved. */
    ATTEND_ECOMM = 6,      /* communication between ranks failed: attend/mpi.h */
    ATTEND_ECANCELLED = 7, /* attend_options.cancelled ended the call */
    ATTEND_EBUSY = 8       /* the context is in use by another call; nothing was done */
} attend_status;

/* Enums have the size of int: -fshort-enums changes the layout of the structs below. */
typedef char attend_enums_are_int[sizeof(attend_status) == sizeof(int) ? 1 : -1];

/*
 * Filled by a call that fails, untouched by one that succeeds.  `field` is set where an
 * argument is refused; the message then begins with attend_field_name(field), in
 * attend_forward_many() after "problem x: ".  Up to 0.1 the message filled the struct,
 * and such a library does not set the last two.
 */
typedef struct attend_error {
    attend_status status;
    char message[244];    /* one line, cut if too long, without newline, always
                             terminated */
    attend_field field;   /* attend/fields.h; 0: no argument is wrong */
    attend_member member; /* dtype, size and so on of the field; 0: the field itself */
} attend_error;

/* "ATTEND_OK" and so on; "unknown status" for any other number. */
ATTEND_API const char *attend_status_name(attend_status status);
/* "q", "options.threads" and so on; "" for 0 and numbers that this library lacks. */
ATTEND_API const char *attend_field_name(attend_field field);

/* ---- tensors ----------------------------------------------------------- */

typedef enum attend_dtype {
    ATTEND_F64 = 1,
    ATTEND_F32 = 2,
    ATTEND_F16 = 3,
    ATTEND_BF16 = 4,
    ATTEND_BOOL = 5 /* one byte; 0 is false, anything else true */
} attend_dtype;

/* Bytes per element; 0 for any other number. */
ATTEND_API size_t attend_dtype_size(attend_dtype dtype);
/* "f64", "f32", "f16", "bf16", "bool"; "unknown" for any other number. */
ATTEND_API const char *attend_dtype_name(attend_dtype dtype);

/*
 * A strided view of the caller's memory, with axes in the order b, h, l, d: element (b,
 * h, l, d) is data[b*stride[0] + h*stride[1] + l*stride[2] + d*stride[3]].  Strides count
 * elements and may be 0 or negative.  `data` is aligned to the size of an element, and
 * may be NULL when a size is 0; strides then have no effect.  Nothing outside the view
 * is read.
 */
typedef struct attend_view {
    const void *data;
    attend_dtype dtype;
    int64_t size[4];
    int64_t stride[4];
} attend_view;

/*
 * The same for an output.  No two elements may share an address, and outputs must not
 * overlap inputs or each other.  EINVAL if that is certain: two axes whose strides meet,
 * more elements than addresses, a tensor whose first, lowest or highest element lies in
 * another.  Tensors that interleave are not checked further.
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

/*
 * The same in memory order (b, l, h, d), the output of a projection; axes remain b, h, l,
 * d.
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

/* Elements first .. first + count - 1 of an axis. */
static inline attend_view attend_view_slice(attend_view view, int axis, int64_t first,
                                            int64_t count)
{
    if (view.data)
        view.data = (const char *)view.data +
                    first * view.stride[axis] * (int64_t)attend_dtype_size(view.dtype);
    view.size[axis] = count;
    return view;
}

static inline attend_tensor attend_tensor_slice(attend_tensor tensor, int axis,
                                                int64_t first, int64_t count)
{
    if (tensor.data)
        tensor.data = (char *)tensor.data + first * tensor.stride[axis] *
                                                (int64_t)attend_dtype_size(tensor.dtype);
    tensor.size[axis] = count;
    return tensor;
}

/* The first `length` rows of a cache of (b, h, capacity, d) without gaps. */
static inline attend_view attend_view_cache(const void *data, attend_dtype dtype,
                                            int64_t b, int64_t h, int64_t length,
                                            int64_t capacity, int64_t d)
{
    return attend_view_slice(attend_view_dense(data, dtype, b, h, capacity, d), 2, 0,
                             length);
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
 * A context has threads, a kernel set and scratch memory.  One call at a time: a call
 * while another runs on the same context, also one from a hook, is EBUSY.  Different
 * contexts may run concurrently.  A call whose shapes fit the scratch of an earlier one
 * allocates nothing.
 *
 * Threads, named "attend-1" and so on, start when a call first has work for them, spin
 * for some microseconds after a call, then sleep, and end with the context.  If a thread
 * cannot be created, the context runs with fewer.  After fork(), the child may use or
 * destroy any idle context; it starts its own threads.
 */
typedef struct attend_context attend_context;

/*
 * A parallel loop of the host: calls body(arg, w) once for every w in 0 .. n-1, in any
 * order, concurrently or not, and returns when all have returned.
 */
typedef void (*attend_parallel_for)(void *user, int n, void (*body)(void *arg, int w),
                                    void *arg);
/* Memory of `size` > 0 bytes aligned to `alignment` (a power of two), or NULL. */
typedef void *(*attend_alloc)(void *user, size_t alignment, size_t size);
typedef void (*attend_free)(void *user, void *memory);
/*
 * Called between pieces of work with the number of `total` that are done, by one worker
 * at a time, not for every piece.
 */
typedef void (*attend_progress)(void *user, int64_t done, int64_t total);

/*
 * The dependence of a row's bits, in O, LSE, weights and statistics.
 *
 * SAME: the row's inputs, the rule, d, dv and the kernel set only.  Not threads, batch,
 * heads, nq, strides, or requests for weights or statistics: a token decoded alone has
 * the bits of the same token in a prefill.
 *
 * FAST: also the number of rows that share a key/value head.  The same call has the same
 * bits for any number of threads.  The CPU backend currently ignores FAST.
 *
 * On a GPU, FAST selects the tensor-core kernels: a row computed alone may differ bitwise
 * from the same row in a larger call (docs/CUDA.md).
 *
 * Both stay within the bound of docs/NUMERICS.md.
 */
typedef enum attend_order { ATTEND_ORDER_SAME = 0, ATTEND_ORDER_FAST = 1 } attend_order;

/* Start from attend_options_default(). */
typedef struct attend_options {
    size_t struct_size;
    /*
     * Number of threads, with the caller's, 0 .. 4096. 0: OMP_NUM_THREADS, else all CPUs
     * of this process, by its affinity mask and the CPU quota of its control group.
     */
    int threads;
    const char *isa;    /* not kept; NULL: the variable ATTEND_ISA, else the best that
                           runs here */
    attend_alloc alloc; /* both or neither; NULL: those of the C library */
    attend_free free;
    void *alloc_user;
    attend_parallel_for parallel_for; /* NULL: the context's own threads */
    void *parallel_user;
    attend_progress progress; /* NULL: none */
    void *progress_user;
    int64_t order; /* an attend_order */
    /*
     * The device: NULL for the CPU; "cuda" or "cuda:N" for a GPU, by its primary context
     * (docs/CUDA.md). isa, threads, parallel_for, progress and cancelled apply to the CPU
     * only.
     */
    const char *device;
    void *stream; /* a CUstream or cudaStream_t; NULL: the default stream */
    /*
     * 1: tensors and all arrays of a GPU's context are in host memory; a call copies them
     * in and out and returns when it is done.
     */
    int64_t host_tensors;
    /*
     * Polled between pieces of work, by one worker at a time; NULL: never.  If it returns
     * a value other than 0, the call ends with ECANCELLED once the running pieces are
     * done.  Its outputs are then unspecified: some elements have been written, others
     * not.  The context remains usable.
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
 * `options` NULL: the defaults.  On success the caller owns *ctx and passes it to
 * attend_context_destroy(); on failure *ctx is NULL.  An isa that is not in this build is
 * EINVAL, one that this machine cannot run EUNSUPPORTED; there is no silent fallback.
 * `err` may be NULL, here and below.
 */
ATTEND_API attend_status attend_context_create(attend_context **ctx,
                                               const attend_options *options,
                                               attend_error *err);
/* NULL is allowed. */
ATTEND_API void attend_context_destroy(attend_context *ctx);
/* The name of the kernel set, or "cuda"; "unknown" for NULL.  A static string. */
ATTEND_API const char *attend_context_isa(const attend_context *ctx);
/*
 * Maximum number of threads of a call, with the caller's: that of the options, minus
 * threads that could not be created. 0 for NULL.
 */
ATTEND_API int attend_context_threads(const attend_context *ctx);

/*
 * The memory of a context's tensors and of all arrays of its rules and requests; HOST for
 * NULL.
 */
typedef enum attend_memory {
    ATTEND_MEMORY_HOST = 0,
    ATTEND_MEMORY_CUDA = 1 /* memory that the GPU of the context can read and write */
} attend_memory;
ATTEND_API attend_memory attend_context_memory(const attend_context *ctx);

/* ---- devices ------------------------------------------------------------- */

/*
 * Calls with tensors in device memory are queued on the context's stream and return
 * launch errors; a later call or attend_context_wait() returns an error of the device.  A
 * call whose shapes fit the workspace of an earlier one, or that of the caller, allocates
 * nothing and does not synchronize, so a CUDA graph can capture it.
 */

/* Later calls are queued on `stream`; the caller orders them after earlier ones. */
ATTEND_API attend_status attend_context_set_stream(attend_context *ctx, void *stream,
                                                   attend_error *err);
/* Waits for all queued calls; returns at once for the CPU. */
ATTEND_API attend_status attend_context_wait(attend_context *ctx, attend_error *err);
/*
 * Sets memory as workspace until the next call of this function: for a GPU device memory
 * aligned to 256 bytes, for the CPU memory aligned to 64.  NULL: the context's own.  A
 * call that needs more fails with ENOMEM, names the bytes that it needs, and writes
 * nothing.  The list of attend_forward_many() is in memory of the context in any case.
 */
ATTEND_API attend_status attend_context_set_workspace(attend_context *ctx, void *memory,
                                                      size_t size, attend_error *err);
/*
 * Writes the devices of this machine, or the reason why there is none, to `text`, like
 * attend_cpu_features().
 */
ATTEND_API size_t attend_devices(char *text, size_t size);

/* ---- what this build and this machine have ----------------------------- */

/* Filled by attend_isa_get().  Start from attend_isa_default(). */
typedef struct attend_isa {
    size_t struct_size;
    const char *name;  /* a value of attend_options.isa */
    const char *needs; /* CPU features, separated by spaces; "" for none */
    int64_t runs;      /* 1 if this machine has them and the system enables them */
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

/*
 * Number of kernel sets of this build, best first; the last is `ref`, the definition in
 * double.
 */
ATTEND_API int attend_isa_count(void);
/* EINVAL unless 0 <= index < attend_isa_count(), or if struct_size is too small. */
ATTEND_API attend_status attend_isa_get(int index, attend_isa *isa);
/*
 * Writes the names of the CPU features that kernel sets need and this machine has,
 * separated by spaces, to `text` of `size` bytes, cut if necessary and always terminated
 * (if size > 0).  `text` may be NULL.  Returns the full length without the terminator.
 */
ATTEND_API size_t attend_cpu_features(char *text, size_t size);

/* ---- attention --------------------------------------------------------- */

/*
 * The causal rule gives row i a position and hides the keys after it.
 * OFFSET reads attend_rule.causal_offset[b].
 */
typedef enum attend_causal {
    ATTEND_CAUSAL_NONE = 0,         /* position(i) = i; hides nothing by itself */
    ATTEND_CAUSAL_TOP_LEFT = 1,     /* position(i) = i */
    ATTEND_CAUSAL_BOTTOM_RIGHT = 2, /* position(i) = i + nk - nq, nk of the tensor */
    ATTEND_CAUSAL_OFFSET = 3        /* position(i) = i + causal_offset[b] */
} attend_causal;

/* Scores and visibility.  Start from attend_rule_default(). */
typedef struct attend_rule {
    size_t struct_size;
    int scale_is_set; /* 0: scale = 1 / sqrt(d), 1 for d = 0 */
    double scale;     /* any finite value, zero and negative included */
    double softcap;   /* 0: none; else finite and positive */
    attend_causal causal;
    const int64_t *causal_offset; /* [nb], -2^60 .. 2^60; read for CAUSAL_OFFSET only */
    /*
     * Visible: position(i) - window_left <= j <= position(i) + window_right; -1: no
     * limit.
     */
    int64_t window_left, window_right;
    const int64_t *key_lengths; /* [nb], each 0 .. nk: keys from there on are hidden;
                                   NULL: nk */
    /* Each size is that of (nb, hq, nq, nk), or 1: broadcast. */
    attend_view mask; /* ATTEND_BOOL, true: visible; data NULL: none */
    attend_view bias; /* any floating dtype; data NULL: none */
    /*
     * [hq] slopes, each finite; NULL: none.  The rounding error of LSE grows with |alibi|
     * times the larger of a key's distances from position(i) and from the last key
     * (first, for a negative slope) that causal rule, window and key length allow:
     * docs/NUMERICS.md.
     */
    const double *alibi;
    /* [hq] logits: exp(sink) joins the denominator; finite, or -inf for none; NULL: none
     */
    const double *sinks;
    /*
     * Added to every position, -2^60 .. 2^60: the call has queries first_query .. of a
     * longer sequence.  BOTTOM_RIGHT uses the call's nq; a call with some of the queries
     * of a sequence should use OFFSET.
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

/* Elements of weights above which attend_io.force_weights is required: 1 GiB of f32. */
#define ATTEND_WEIGHTS_MAX ((int64_t)1 << 28)

/* Start from attend_io_default(); an output whose data is NULL is not computed. */
typedef struct attend_io {
    size_t struct_size;
    /*
     * q (nb, hq, nq, d), k (nb, hkv, nk, d), v (nb, hkv, nk, dv).  Each is f32, f16 or
     * bf16, or all are f64.  If their dtypes differ, 16-bit elements are widened and the
     * arithmetic is that of f32; GPUs and ranks take one dtype.
     */
    attend_view q, k, v;
    attend_tensor out; /* (nb, hq, nq, dv), q's dtype or f32; required */
    /*
     * lse (nb, hq, nq, 1): ln of the sum of exp(score), with the sink's. weights (nb, hq,
     * nq, nk): P.  Both f32, f64 for f64 inputs.
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
 * Computes the outputs.  `rule` NULL: plain attention.  On failure no output element has
 * been written, except after ECANCELLED and errors of a device.
 */
ATTEND_API attend_status attend_forward(attend_context *ctx, const attend_rule *rule,
                                        const attend_io *io, attend_error *err);
/*
 * Computes `count` problems, each as attend_forward(ctx, rules[x], ios[x]) would and with
 * the same bits, in one parallel loop: sequences of different lengths, packed into one
 * tensor or in allocations of their own, prefill beside decoding.  `rules` NULL: plain
 * attention.  No output may overlap an input or output of another problem, which is not
 * checked.  Messages begin with "problem x: ".  All problems are validated before the
 * first output is written.
 */
ATTEND_API attend_status attend_forward_many(attend_context *ctx, int64_t count,
                                             const attend_rule *const *rules,
                                             const attend_io *const *ios,
                                             attend_error *err);
/*
 * Bytes of workspace of this call: device memory for a GPU, the context's scratch for the
 * CPU.
 */
ATTEND_API attend_status attend_forward_workspace(attend_context *ctx,
                                                  const attend_rule *rule,
                                                  const attend_io *io, size_t *bytes,
                                                  attend_error *err);

/* ---- parts -------------------------------------------------------------- */

/* The result of attend_forward() over a part of the keys. */
typedef struct attend_part {
    attend_view out; /* (nb, hq, nq, dv), any floating dtype */
    attend_view lse; /* (nb, hq, nq, 1), f32 or f64 */
} attend_part;

/*
 * Merges parts that split the keys of one problem: O = sum_p w_p O_p with w_p = exp(lse_p
 * - lse), in the given order and in double.  A part with lse = -inf has no influence.
 * `lse` may be NULL or have data NULL.  Parts and outputs may differ in dtype; parts in
 * f32 or f64 avoid a rounding of each part.
 *
 * The rule of each part counts keys from the part's own key 0.  For positions in the
 * sequence use ATTEND_CAUSAL_OFFSET with the row's position minus the part's first key.
 * Set sinks for one part only: the lse of every part that has them includes exp(sink).
 * examples/merge_parts.c does both.
 *
 * In place: `out` may be the tensor of a part (same data, dtype and strides), and `lse`
 * that of the same or another part.  Outputs must not overlap parts otherwise.
 *
 * Runs in the caller's thread and allocates nothing; any number of threads may call it at
 * once.
 */
ATTEND_API attend_status attend_merge(const attend_part *parts, int64_t count,
                                      const attend_tensor *out, const attend_tensor *lse,
                                      attend_error *err);
/*
 * The same on the threads and kernel set of a context.  Contexts of the CPU, and with
 * host_tensors, have the bits of attend_merge().  With tensors in device memory there are
 * at most 24 parts, and the last bit may differ.
 */
ATTEND_API attend_status attend_merge_with(attend_context *ctx, const attend_part *parts,
                                           int64_t count, const attend_tensor *out,
                                           const attend_tensor *lse, attend_error *err);

/* ---- partials ----------------------------------------------------------- */

/*
 * Keys are summed in splits of ATTEND_SPLIT_KEYS, counted from key 0 of the sequence,
 * which combine in a binary tree over their index: 2 n with 2 n + 1, and so on.  Shards
 * of the keys, computed by any number of calls or machines, combine to the bits of one
 * call over all keys.
 */
#define ATTEND_SPLIT_KEYS 1024

/*
 * Split-KV partials of a shard of the keys.  A record of a row has m, the largest score,
 * l, the sum of exp(score - m), and dv sums of exp(score - m) v; without visible keys
 * (-inf, 0, 0 ...).  With ALiBi, m is relative to a shift common to the row.  Start from
 * attend_partials_default().  Passed in arrays, so it never grows.
 */
typedef struct attend_partials {
    size_t struct_size;
    int64_t first_key; /* index in the sequence of the shard's key 0: a multiple of
                          ATTEND_SPLIT_KEYS */
    int64_t keys;      /* nk of io.k and io.v: 0, whole splits, or up to the sequence's
                          end */
    int64_t all_keys;  /* keys of the sequence; 0: the shard ends it */
    /*
     * 0: a record for each split, in order. 1: a record for each of the largest subtrees
     * in the shard, in order: at most 1 + 2 log2 of the number of splits.
     */
    int64_t reduce;
    /*
     * (nb, hq, nq, records * (dv + 2)), f32, f64 for f64 inputs; stride[3] is 1. data may
     * be NULL without records.
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

/*
 * Number of records of a shard; -1 if first_key is not a multiple of ATTEND_SPLIT_KEYS,
 * or a number is negative.
 */
ATTEND_API int64_t attend_partials_records(int64_t first_key, int64_t keys,
                                           int64_t reduce);

/*
 * Computes the partials of a shard. io has q and the shard's k and v; its outputs must be
 * unset, except io.stats for a shard with one record: stats.raw receives the raw sums,
 * with keys counted in the sequence, stats.classes is [nb][keys], and the other tensors
 * select the sums and are not written.  `rule` is that of the whole sequence: position,
 * window, key lengths (up to all_keys), bottom-right alignment and ALiBi count its keys.
 * Only mask and bias have the shard's columns, (nb, hq, nq, keys).  Sinks have no
 * influence here.  Failures as in attend_forward().
 */
ATTEND_API attend_status attend_forward_partials(attend_context *ctx,
                                                 const attend_rule *rule,
                                                 const attend_io *io,
                                                 const attend_partials *partials,
                                                 attend_error *err);

/*
 * Combines the partials of shards of one sequence, in any order, and finalizes O and LSE.
 * `rule` is that of the calls that made them; its mask and bias are ignored. all_keys is
 * the same for all parts.  No split may be in two shards; splits in no shard count as not
 * seen.  `out` (nb, hq, nq, dv) and `lse`, which may be NULL or have data NULL, are as in
 * attend_io; with f32 partials, out may be f32, f16 or bf16.
 *
 * The bits are those of attend_forward() over all keys if all calls use the same kernel
 * set.  With different sets, and always with `ref`, the result is within the error bound.
 */
ATTEND_API attend_status attend_combine(attend_context *ctx, const attend_rule *rule,
                                        const attend_partials *parts, int64_t count,
                                        const attend_tensor *out,
                                        const attend_tensor *lse, attend_error *err);

/*
 * The same without finalizing: writes the records of `to` from those of shards that lie
 * in it. to->reduce is 1 and to->data is set.  Splits in no shard count as not seen.  In
 * place: to->data may be that of a part with the same records.
 */
ATTEND_API attend_status attend_reduce(attend_context *ctx, const attend_partials *parts,
                                       int64_t count, const attend_partials *to,
                                       attend_error *err);

#ifdef __cplusplus
}
#endif

#endif
