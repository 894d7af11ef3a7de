/* SPDX-License-Identifier: MIT */
/*
 * Attention problems for tests of the public API: tensors filled from a seed, a
 * dense evaluation in double written from the header's formula alone, and the
 * comparison of the two.  It shares no code with the library, so that the set
 * `ref` is tested as well.
 */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include "tensors.h"
#include "test.h"

typedef struct shape {
    int64_t nb, hq, hkv, nq, nk, d, dv;
} shape;

/* How far from the dense value a result may lie. */
typedef enum closeness {
    /* For unit-normal q, k, v and the default scale: type_error() of max |V|. */
    CLOSE_NORMAL,
    /* For any inputs: the rounding of the scores, R u (d + 8), comes on top. */
    CLOSE_DERIVED
} closeness;

typedef struct problem {
    shape n;
    attend_dtype dtype;
    attend_rule rule;
    attend_io io;
    closeness close;
    void *owned[64];
    int owned_count;
} problem;

static inline void *problem_own(problem *p, size_t size)
{
    if (p->owned_count == (int)(sizeof p->owned / sizeof p->owned[0])) {
        fprintf(stderr, "a problem owns too many blocks\n");
        exit(2);
    }
    return p->owned[p->owned_count++] = test_memory(size);
}

static inline void problem_free(problem *p)
{
    while (p->owned_count > 0)
        free(p->owned[--p->owned_count]);
}

/* ---- making a problem ---------------------------------------------------- */

static inline attend_view own_view(problem *p, attend_dtype dtype, int64_t s0, int64_t s1,
                                   int64_t s2, int64_t s3)
{
    attend_view view = view_of(NULL, dtype, s0, s1, s2, s3);

    view.data = problem_own(p, bytes_of(view.size, dtype));
    return view;
}

static inline attend_tensor own_tensor(problem *p, attend_dtype dtype, int64_t s0,
                                       int64_t s1, int64_t s2, int64_t s3)
{
    attend_tensor tensor = tensor_of(NULL, dtype, s0, s1, s2, s3);

    tensor.data = problem_own(p, bytes_of(tensor.size, dtype));
    return tensor;
}

/* Unit-normal q, k, v in contiguous memory; out, lse and weights are wanted. */
static inline problem problem_make(shape n, attend_dtype dtype, uint64_t seed)
{
    problem p = {.n = n,
                 .dtype = dtype,
                 .rule = attend_rule_default(),
                 .io = attend_io_default(),
                 .close = CLOSE_NORMAL};
    const attend_dtype wide = dtype == ATTEND_F64 ? ATTEND_F64 : ATTEND_F32;

    p.io.q = own_view(&p, dtype, n.nb, n.hq, n.nq, n.d);
    p.io.k = own_view(&p, dtype, n.nb, n.hkv, n.nk, n.d);
    p.io.v = own_view(&p, dtype, n.nb, n.hkv, n.nk, n.dv);
    fill_normal(&p.io.q, seed * 3 + 1);
    fill_normal(&p.io.k, seed * 3 + 2);
    fill_normal(&p.io.v, seed * 3 + 3);
    p.io.out = own_tensor(&p, dtype, n.nb, n.hq, n.nq, n.dv);
    p.io.lse = own_tensor(&p, wide, n.nb, n.hq, n.nq, 1);
    p.io.weights = own_tensor(&p, wide, n.nb, n.hq, n.nq, n.nk);
    return p;
}

/* A mask that hides nothing yet; every size is the full axis or 1. */
static inline void problem_mask(problem *p, int64_t s0, int64_t s1, int64_t s2,
                                int64_t s3)
{
    p->rule.mask = own_view(p, ATTEND_BOOL, s0, s1, s2, s3);
    fill_value(&p->rule.mask, 1.0);
}

/* A bias of zeros. */
static inline void problem_bias(problem *p, attend_dtype dtype, int64_t s0, int64_t s1,
                                int64_t s2, int64_t s3)
{
    p->rule.bias = own_view(p, dtype, s0, s1, s2, s3);
    fill_value(&p->rule.bias, 0.0);
}

static inline int64_t *problem_key_lengths(problem *p)
{
    int64_t *const lengths = problem_own(p, (size_t)p->n.nb * sizeof *lengths);

    for (int64_t b = 0; b < p->n.nb; b++)
        lengths[b] = p->n.nk;
    p->rule.key_lengths = lengths;
    return lengths;
}

/* Whether ATTEND_SPLIT makes splits small. */
static inline int splits_are_forced(void)
{
    const char *const keys = getenv("ATTEND_SPLIT");

    return keys != NULL && *keys != '\0';
}

/* The largest split that ATTEND_SPLIT=128 makes, and problems of more keys so far. */
enum { FORCED_SPLIT = 256 };
static int64_t problems_of_splits;

/* Poisons the outputs, which must be contiguous, and runs; 0 on a failure. */
static inline int problem_run(const problem *p, attend_context *ctx)
{
    attend_error err = {.status = ATTEND_OK};

    problems_of_splits += p->n.nk > FORCED_SPLIT;

    poison(&p->io.out);
    poison(&p->io.lse);
    poison(&p->io.weights);
    const attend_status status = attend_forward(ctx, &p->rule, &p->io, &err);
    if (status == ATTEND_OK)
        return 1;
    test_fail(__FILE__, __LINE__, "status == ATTEND_OK", "%s: %s",
              attend_status_name(status), err.message);
    return 0;
}

/* ---- the definition, densely --------------------------------------------- */

static inline int64_t position_of(const problem *p, int64_t b, int64_t i)
{
    switch (p->rule.causal) {
    case ATTEND_CAUSAL_BOTTOM_RIGHT:
        return i + p->n.nk - p->n.nq;
    case ATTEND_CAUSAL_OFFSET:
        return i + p->rule.causal_offset[b];
    default:
        return i;
    }
}

static inline double broadcast_get(const attend_view *view, int64_t b, int64_t h,
                                   int64_t i, int64_t j)
{
    return view_get(view, view->size[0] == 1 ? 0 : b, view->size[1] == 1 ? 0 : h,
                    view->size[2] == 1 ? 0 : i, view->size[3] == 1 ? 0 : j);
}

static inline int sees(const problem *p, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const attend_rule *const rule = &p->rule;
    const int64_t position = position_of(p, b, i);

    if (rule->causal != ATTEND_CAUSAL_NONE && j > position)
        return 0;
    if (rule->window_left >= 0 && j < position - rule->window_left)
        return 0;
    if (rule->window_right >= 0 && j > position + rule->window_right)
        return 0;
    if (rule->key_lengths != NULL && j >= rule->key_lengths[b])
        return 0;
    return rule->mask.data == NULL || broadcast_get(&rule->mask, b, h, i, j) != 0.0;
}

typedef struct score {
    double value;
    double magnitude; /* the sum of the absolute values it is made of */
} score;

static inline score score_of(const problem *p, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const attend_rule *const rule = &p->rule;
    const int64_t g = h / (p->n.hq / p->n.hkv);
    const double root = p->n.d > 0 ? 1.0 / sqrt((double)p->n.d) : 1.0;
    const double scale = rule->scale_is_set ? rule->scale : root;
    score s = {0.0, 0.0};

    for (int64_t c = 0; c < p->n.d; c++) {
        const double product =
            view_get(&p->io.q, b, h, i, c) * view_get(&p->io.k, b, g, j, c);
        s.value += product;
        s.magnitude += fabs(product);
    }
    s.value *= scale;
    s.magnitude *= fabs(scale);
    if (rule->softcap > 0.0)
        s.value = rule->softcap * tanh(s.value / rule->softcap);
    if (rule->bias.data != NULL) {
        const double bias = broadcast_get(&rule->bias, b, h, i, j);
        s.value += bias;
        s.magnitude += isfinite(bias) ? fabs(bias) : 0.0;
    }
    if (rule->alibi != NULL) {
        const double term = rule->alibi[h] * (double)(j - position_of(p, b, i));
        s.value += term;
        s.magnitude += fabs(term);
    }
    return s;
}

/* One row.  Weights are meaningful unless lse is NaN. */
typedef struct dense_row {
    double *weights, *out, *absolute; /* absolute: sum_j P |V| per channel */
    double lse, magnitude, value_max;
} dense_row;

static inline void dense_weights(const problem *p, int64_t b, int64_t h, int64_t i,
                                 dense_row *row)
{
    const double sink = p->rule.sinks != NULL ? p->rule.sinks[h] : -INFINITY;
    double m = sink, sum = 0.0;
    int invalid = 0;

    row->magnitude = 0.0;
    for (int64_t j = 0; j < p->n.nk; j++) {
        score s = {-INFINITY, 0.0};
        if (sees(p, b, h, i, j))
            s = score_of(p, b, h, i, j);
        invalid |= isnan(s.value) || s.value == INFINITY;
        row->weights[j] = s.value;
        m = fmax(m, s.value);
        row->magnitude = fmax(row->magnitude, s.magnitude);
    }
    for (int64_t j = 0; j < p->n.nk; j++) {
        row->weights[j] = row->weights[j] > -INFINITY ? exp(row->weights[j] - m) : 0.0;
        sum += row->weights[j];
    }
    if (sink > -INFINITY)
        sum += exp(sink - m);
    for (int64_t j = 0; j < p->n.nk; j++)
        row->weights[j] = sum > 0 ? row->weights[j] / sum : 0.0;
    row->lse = invalid ? NAN : sum > 0 ? m + log(sum) : -INFINITY;
}

static inline void dense_evaluate(const problem *p, int64_t b, int64_t h, int64_t i,
                                  dense_row *row)
{
    const int64_t g = h / (p->n.hq / p->n.hkv);

    dense_weights(p, b, h, i, row);
    row->value_max = 0.0;
    for (int64_t c = 0; c < p->n.dv; c++)
        row->out[c] = row->absolute[c] = 0.0;
    for (int64_t j = 0; j < p->n.nk; j++) {
        if (!sees(p, b, h, i, j))
            continue;
        for (int64_t c = 0; c < p->n.dv; c++) {
            const double v = view_get(&p->io.v, b, g, j, c);
            row->out[c] += row->weights[j] * v;
            row->absolute[c] += row->weights[j] * fabs(v);
            row->value_max = fmax(row->value_max, fabs(v));
        }
    }
    for (int64_t c = 0; c < p->n.dv && isnan(row->lse); c++)
        row->out[c] = NAN;
}

/* ---- comparing ----------------------------------------------------------- */

static inline double unit_of(attend_dtype dtype)
{
    return dtype == ATTEND_F64 ? 0x1p-53 : 0x1p-24;
}

/* Rounding of P and of the output, relative to max |V|. */
static inline double type_error(attend_dtype dtype)
{
    return dtype == ATTEND_F64   ? 1e-12
           : dtype == ATTEND_F32 ? 2e-6
           : dtype == ATTEND_F16 ? 0x1p-9
                                 : 0x1p-7;
}

/* Relative error of a weight that the rounding of its score can make. */
static inline double score_error(const problem *p, const dense_row *row)
{
    const double u = unit_of(p->dtype);

    if (p->close == CLOSE_NORMAL)
        return 0.0;
    return ((double)p->n.nk + 16.0 + 2.0 * ((double)p->n.d + 8.0) * row->magnitude) * u;
}

static inline int near_or_same(double got, double want, double tolerance)
{
    if (isnan(want))
        return isnan(got);
    if (isinf(want))
        return got == want;
    return fabs(got - want) <= tolerance;
}

static inline int row_is_close(const problem *p, int64_t b, int64_t h, int64_t i,
                               const dense_row *row)
{
    const double scores = score_error(p, row), type = type_error(p->dtype);
    const attend_io *const io = &p->io;
    const char *what = "out";
    double got = 0.0, want = 0.0, tolerance = 0.0;
    int64_t at = 0;

    for (int64_t c = 0; c < p->n.dv; c++) {
        got = tensor_get(&io->out, b, h, i, c), want = row->out[c], at = c;
        tolerance = type * row->value_max + scores * row->absolute[c];
        if (!near_or_same(got, want, tolerance))
            goto differs;
    }
    if (io->lse.data != NULL) {
        what = "lse";
        got = tensor_get(&io->lse, b, h, i, 0), want = row->lse, at = 0;
        tolerance = (p->dtype == ATTEND_F64 ? 1e-12 : 2e-6) * (1.0 + fabs(want)) + scores;
        if (!near_or_same(got, want, tolerance))
            goto differs;
    }
    for (int64_t j = 0; io->weights.data != NULL && j < p->n.nk; j++) {
        what = "weights";
        got = tensor_get(&io->weights, b, h, i, j), want = row->weights[j], at = j;
        tolerance = (type + scores) * want;
        if (p->dtype != ATTEND_F64 && tolerance < 1e-7)
            tolerance = 1e-7;
        if (sees(p, b, h, i, j) ? !isnan(row->lse) && !near_or_same(got, want, tolerance)
                                : got != 0.0)
            goto differs;
    }
    return 1;
differs:
    test_fail(__FILE__, __LINE__, "the same as the dense evaluation",
              "%s %s (b %lld h %lld i %lld, at %lld) of nb %lld hq %lld hkv %lld nq %lld "
              "nk %lld d %lld dv %lld: got %.9g, want %.9g, tolerance %.3g",
              attend_dtype_name(p->dtype), what, (long long)b, (long long)h, (long long)i,
              (long long)at, (long long)p->n.nb, (long long)p->n.hq, (long long)p->n.hkv,
              (long long)p->n.nq, (long long)p->n.nk, (long long)p->n.d,
              (long long)p->n.dv, got, want, tolerance);
    return 0;
}

/* Compares every row with the dense evaluation; reports the first that differs. */
static inline int problem_is_close(const problem *p)
{
    dense_row row = {.weights = test_memory((size_t)p->n.nk * sizeof(double)),
                     .out = test_memory((size_t)p->n.dv * sizeof(double)),
                     .absolute = test_memory((size_t)p->n.dv * sizeof(double))};
    int same = 1;

    for (int64_t b = 0; b < p->n.nb; b++)
        for (int64_t h = 0; h < p->n.hq; h++)
            for (int64_t i = 0; i < p->n.nq && same; i++) {
                dense_evaluate(p, b, h, i, &row);
                same = row_is_close(p, b, h, i, &row);
            }
    free(row.weights);
    free(row.out);
    free(row.absolute);
    return same;
}

static inline int problem_check(const problem *p, attend_context *ctx)
{
    return problem_run(p, ctx) && problem_is_close(p);
}

/* ---- the same bits ------------------------------------------------------- */

/* A copy of the outputs of a run. */
typedef struct result {
    void *out, *lse, *weights;
} result;

static inline result result_copy(const problem *p)
{
    return (result){copy_bits(&p->io.out), copy_bits(&p->io.lse),
                    copy_bits(&p->io.weights)};
}

static inline void result_free(result *r)
{
    free(r->out);
    free(r->lse);
    free(r->weights);
}

static inline int same_bits(const attend_tensor *tensor, const void *bits,
                            const char *what)
{
    const size_t width = attend_dtype_size(tensor->dtype);
    const char *const got = tensor->data, *const want = bits;

    for (int64_t at = 0; got != NULL && want != NULL && at < count_of(tensor->size);
         at++) {
        if (memcmp(got + (size_t)at * width, want + (size_t)at * width, width) == 0)
            continue;
        test_fail(__FILE__, __LINE__, "the same bits",
                  "%s at %lld: got %.17g, want %.17g", what, (long long)at,
                  load_element(got, tensor->dtype, at),
                  load_element(want, tensor->dtype, at));
        return 0;
    }
    return 1;
}

/* Compares what both have; reports the first difference. */
static inline int result_is_same(const problem *p, const result *r)
{
    return same_bits(&p->io.out, r->out, "out") && same_bits(&p->io.lse, r->lse, "lse") &&
           same_bits(&p->io.weights, r->weights, "weights");
}

/* ---- every kernel set ---------------------------------------------------- */

/* A context for the set `name`, or NULL after a reported failure. */
static inline attend_context *open_set(const char *name, int threads)
{
    attend_options options = attend_options_default();
    attend_context *ctx = NULL;
    attend_error err = {.status = ATTEND_OK};

    options.isa = name;
    options.threads = threads;
    if (attend_context_create(&ctx, &options, &err) != ATTEND_OK)
        test_fail(__FILE__, __LINE__, "the context opens", "%s: %s", name, err.message);
    return ctx;
}

/* Runs `body` with a context of every kernel set that runs on this machine. */
static inline void for_each_set(void (*body)(attend_context *ctx), int threads)
{
    for (int index = 0; index < attend_isa_count(); index++) {
        attend_isa isa = attend_isa_default();
        if (attend_isa_get(index, &isa) != ATTEND_OK || !isa.runs)
            continue;
        const int failed_before = test_state.failed_now;
        attend_context *const ctx = open_set(isa.name, threads);
        if (ctx == NULL)
            continue;
        test_state.failed_now = 0;
        body(ctx);
        if (test_state.failed_now)
            printf("  ^ on the kernel set %s\n", isa.name);
        test_state.failed_now |= failed_before;
        attend_context_destroy(ctx);
    }
}

/* ---- forced splits ------------------------------------------------------- */

static inline void some_problems_have_splits(void)
{
    CHECK(problems_of_splits > 0, "none has more than %d keys", FORCED_SPLIT);
}

/*
 * test_finish() for a program that also runs under ATTEND_SPLIT, where it fails if no
 * problem took the path.
 */
static inline int split_finish(void)
{
    if (splits_are_forced())
        RUN(some_problems_have_splits);
    return test_finish();
}

#endif
