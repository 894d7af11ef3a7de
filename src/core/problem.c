/* SPDX-License-Identifier: MIT */
#include "core/problem.h"

#include <math.h>

#include "base/base.h"
#include "base/error.h"
#include "base/published.h"
#include "core/inspect_request.h"
#include "core/operands.h"
#include "core/shard.h"
#include "core/tensor.h"

/*
 * Maximum of d, dv and the heads of a group.  The scratch of a worker, counted in size_t,
 * has at most 2^15 bytes for each of these if size_t has 32 bits, else 2^22.
 */
#if SIZE_MAX > UINT32_MAX
#define WIDTH_LIMIT SIZE_LIMIT
#else
#define WIDTH_LIMIT ((int64_t)1 << 16)
#endif

/* The stride of an axis of one element has no effect: sets it to 0. */
static void drop_idle_strides(attend_view *view)
{
    for (int a = 0; a < 4; a++)
        if (view->size[a] == 1)
            view->stride[a] = 0;
    attendi_drop_empty_strides(view->size, view->stride);
}

static attend_status check_rows(const char *name, const int64_t size[4],
                                attend_error *err)
{
    int64_t rows;

    if (__builtin_mul_overflow(size[0], size[1], &rows) ||
        __builtin_mul_overflow(rows, size[2], &rows) || rows > POSITION_MAX)
        return attendi_fail(err, ATTEND_EINVAL,
                            "%s.size (%lld, %lld, %lld) has too many rows", name,
                            LL(size[0]), LL(size[1]), LL(size[2]));
    return ATTEND_OK;
}

/* A view with the values of the _default() functions. */
static bool is_unset(const attend_view *view)
{
    return !view->data && view->size[0] == 0 && view->size[1] == 0 &&
           view->size[2] == 0 && view->size[3] == 0;
}

static attend_status check_inputs(struct problem *p, const attend_io *io,
                                  attend_error *err)
{
    const struct {
        const char *name;
        const attend_view *view;
    } input[] = {{"q", &io->q}, {"k", &io->k}, {"v", &io->v}};

    if (is_unset(&io->q) && is_unset(&io->k))
        return attendi_fail(err, ATTEND_EINVAL, "q and k are not set: NULL, of size 0");
    for (size_t x = 0; x < ARRAY_LEN(input); x++) {
        const attend_view *v = input[x].view;
        TRY(attendi_view_check(input[x].name, v, err));
        if (!attendi_is_float(v->dtype))
            return attendi_fail(err, ATTEND_EINVAL,
                                "%s.dtype (%s) is not a floating dtype", input[x].name,
                                attend_dtype_name(v->dtype));
        if (v->dtype != io->q.dtype &&
            (v->dtype == ATTEND_F64 || io->q.dtype == ATTEND_F64))
            return attendi_fail(err, ATTEND_EINVAL,
                                "%s.dtype (%s) differs from q.dtype (%s): f64 does not "
                                "mix",
                                input[x].name, attend_dtype_name(v->dtype),
                                attend_dtype_name(io->q.dtype));
        if (v->size[0] != io->q.size[0])
            return attendi_fail(err, ATTEND_EINVAL,
                                "%s.size[0] (nb, %lld) differs from q's (%lld)",
                                input[x].name, LL(v->size[0]), LL(io->q.size[0]));
    }
    if (io->k.size[3] != io->q.size[3])
        return attendi_fail(err, ATTEND_EINVAL,
                            "k.size[3] (d, %lld) differs from q's (%lld)",
                            LL(io->k.size[3]), LL(io->q.size[3]));
    if (io->v.size[1] != io->k.size[1])
        return attendi_fail(err, ATTEND_EINVAL,
                            "v.size[1] (hkv, %lld) differs from k's (%lld)",
                            LL(io->v.size[1]), LL(io->k.size[1]));
    if (io->v.size[2] != io->k.size[2])
        return attendi_fail(err, ATTEND_EINVAL,
                            "v.size[2] (nk, %lld) differs from k's (%lld)",
                            LL(io->v.size[2]), LL(io->k.size[2]));
    int64_t heads;
    if (__builtin_mul_overflow(io->k.size[0], io->k.size[1], &heads))
        return attendi_fail(err, ATTEND_EINVAL, "k.size (%lld, %lld) has too many heads",
                            LL(io->k.size[0]), LL(io->k.size[1]));
    TRY(check_rows("q", io->q.size, err));
    p->nb = io->q.size[0];
    p->hq = io->q.size[1];
    p->nq = io->q.size[2];
    p->d = io->q.size[3];
    p->hkv = io->k.size[1];
    p->nk = io->k.size[2];
    p->dv = io->v.size[3];
    p->all_keys = p->nk;
    p->dtype = io->k.dtype == io->q.dtype && io->v.dtype == io->q.dtype ? io->q.dtype
                                                                        : ATTEND_F32;
    if (p->hkv == 0 ? p->hq != 0 : p->hq % p->hkv != 0)
        return attendi_fail(err, ATTEND_EINVAL,
                            "hq (%lld) is not a multiple of hkv (%lld)", LL(p->hq),
                            LL(p->hkv));
    p->group = p->hkv == 0 ? 0 : p->hq / p->hkv;
    if (max_i64(max_i64(p->d, p->dv), p->group) > WIDTH_LIMIT)
        return attendi_fail(err, ATTEND_EINVAL,
                            "d (%lld), dv (%lld) or hq / hkv (%lld) is above %lld",
                            LL(p->d), LL(p->dv), LL(p->group), LL(WIDTH_LIMIT));
    p->q = io->q;
    p->k = io->k;
    p->v = io->v;
    drop_idle_strides(&p->q);
    drop_idle_strides(&p->k);
    drop_idle_strides(&p->v);
    return ATTEND_OK;
}

static attend_status check_outputs(struct problem *p, const attend_io *io,
                                   attend_error *err)
{
    const struct {
        const char *name;
        const attend_tensor *tensor;
        int64_t size[4];
    } output[] = {{"out", &io->out, {p->nb, p->hq, p->nq, p->dv}},
                  {"lse", &io->lse, {p->nb, p->hq, p->nq, 1}},
                  {"weights", &io->weights, {p->nb, p->hq, p->nq, p->nk}}};

    for (size_t x = 0; x < ARRAY_LEN(output); x++) {
        const attend_tensor *t = output[x].tensor;

        if (x > 0 && !t->data)
            continue;
        TRY(attendi_tensor_check(output[x].name, t, output[x].size, err));
        if (x > 0)
            TRY(attendi_dtype_check(output[x].name, t->dtype,
                                    attendi_wide_dtype(p->dtype), err));
    }
    if (io->out.dtype != p->q.dtype && io->out.dtype != ATTEND_F32)
        return attendi_fail(err, ATTEND_EINVAL, "out.dtype (%s) must be %s%s",
                            attend_dtype_name(io->out.dtype),
                            attend_dtype_name(p->q.dtype),
                            p->q.dtype == ATTEND_F32 ? "" : " or f32");
    if (io->weights.data && !io->force_weights) {
        int64_t count = p->nb;

        if (__builtin_mul_overflow(count, p->hq, &count) ||
            __builtin_mul_overflow(count, p->nq, &count) ||
            __builtin_mul_overflow(count, p->nk, &count) || count > ATTEND_WEIGHTS_MAX)
            return attendi_fail(
                err, ATTEND_ETOOBIG,
                "weights of (%lld, %lld, %lld, %lld) exceed %lld elements; "
                "set force_weights to compute them",
                LL(p->nb), LL(p->hq), LL(p->nq), LL(p->nk), LL(ATTEND_WEIGHTS_MAX));
    }
    p->out = io->out;
    p->lse = io->lse;
    p->weights = io->weights;
    attendi_drop_empty_strides(p->out.size, p->out.stride);
    attendi_drop_empty_strides(p->lse.size, p->lse.stride);
    attendi_drop_empty_strides(p->weights.size, p->weights.stride);
    return ATTEND_OK;
}

/* A mask or bias: sizes equal to the scores' or 1, which becomes stride 0. */
static attend_status check_broadcast(const struct problem *p, const char *name,
                                     const attend_view *from, attend_view *to,
                                     attend_error *err)
{
    static const char *const axis[] = {"nb", "hq", "nq", "nk"};
    const int64_t full[4] = {p->nb, p->hq, p->nq, p->nk};

    *to = *from;
    if (!from->data)
        return ATTEND_OK;
    TRY(attendi_view_check(name, from, err));
    for (int a = 0; a < 4; a++) {
        if (from->size[a] != full[a] && from->size[a] != 1)
            return attendi_fail(err, ATTEND_EINVAL,
                                "%s.size[%d] (%lld) is neither %s (%lld) nor 1", name, a,
                                LL(from->size[a]), axis[a], LL(full[a]));
        if (from->size[a] == 1)
            to->stride[a] = 0;
        to->size[a] = full[a];
    }
    attendi_drop_empty_strides(to->size, to->stride);
    return ATTEND_OK;
}

static attend_status check_window(const char *name, int64_t window, attend_error *err)
{
    if (window < -1)
        return attendi_fail(err, ATTEND_EINVAL, "%s (%lld) is below -1", name,
                            LL(window));
    return ATTEND_OK;
}

static attend_status check_causal(const struct problem *p, const attend_rule *rule,
                                  attend_error *err)
{
    if ((int)rule->causal < ATTEND_CAUSAL_NONE ||
        (int)rule->causal > ATTEND_CAUSAL_OFFSET)
        return attendi_fail(err, ATTEND_EINVAL, "causal (%d) is not a causal rule",
                            (int)rule->causal);
    if (rule->causal == ATTEND_CAUSAL_OFFSET && !rule->causal_offset && p->nb > 0)
        return attendi_fail(err, ATTEND_EINVAL, "causal_offset is NULL");
    return ATTEND_OK;
}

/* The arrays have elements of 8 bytes. */
static attend_status check_arrays(const attend_rule *rule, attend_error *err)
{
    if ((((uintptr_t)rule->causal_offset | (uintptr_t)rule->key_lengths |
          (uintptr_t)rule->alibi | (uintptr_t)rule->sinks) &
         7) == 0)
        return ATTEND_OK;
    TRY(attendi_array_check("causal_offset", rule->causal_offset, 8, err));
    TRY(attendi_array_check("key_lengths", rule->key_lengths, 8, err));
    TRY(attendi_array_check("alibi", rule->alibi, 8, err));
    return attendi_array_check("sinks", rule->sinks, 8, err);
}

static attend_status check_rule(struct problem *p, const attend_rule *rule,
                                attend_error *err)
{
    if (rule->scale_is_set && !isfinite(rule->scale))
        return attendi_fail(err, ATTEND_EINVAL, "scale (%g) is not finite", rule->scale);
    if (!(rule->softcap >= 0.0) || !isfinite(rule->softcap))
        return attendi_fail(err, ATTEND_EINVAL,
                            "softcap (%g) is not a finite number >= 0", rule->softcap);
    TRY(check_causal(p, rule, err));
    if (rule->first_query < -POSITION_MAX || rule->first_query > POSITION_MAX)
        return attendi_fail(err, ATTEND_EINVAL,
                            "first_query (%lld) is outside %lld..%lld",
                            LL(rule->first_query), LL(-POSITION_MAX), LL(POSITION_MAX));
    TRY(check_window("window_left", rule->window_left, err));
    TRY(check_window("window_right", rule->window_right, err));
    TRY(check_arrays(rule, err));
    TRY(check_broadcast(p, "mask", &rule->mask, &p->mask, err));
    TRY(check_broadcast(p, "bias", &rule->bias, &p->bias, err));
    if (rule->mask.data && rule->mask.dtype != ATTEND_BOOL)
        return attendi_fail(err, ATTEND_EINVAL, "mask.dtype (%s) must be bool",
                            attend_dtype_name(rule->mask.dtype));
    if (rule->bias.data && !attendi_is_float(rule->bias.dtype))
        return attendi_fail(err, ATTEND_EINVAL, "bias.dtype (%s) is not a floating dtype",
                            attend_dtype_name(rule->bias.dtype));
    p->scale = rule->scale_is_set ? rule->scale
               : p->d == 0        ? 1.0
                                  : 1.0 / sqrt((double)p->d);
    p->softcap = rule->softcap;
    p->causal = rule->causal;
    p->causal_offset = rule->causal_offset;
    p->first_query = rule->first_query;
    p->window_left = min_i64(rule->window_left, WINDOW_MAX);
    p->window_right = min_i64(rule->window_right, WINDOW_MAX);
    p->key_lengths = rule->key_lengths;
    p->alibi = rule->alibi;
    p->sinks = rule->sinks;
    return ATTEND_OK;
}

/* ---- memory -------------------------------------------------------------- */

void attendi_problem_add_inputs(const struct problem *p, struct operands *all)
{
    const bool has_offset = p->causal == ATTEND_CAUSAL_OFFSET;

    attendi_add_input(all, "q", &p->q);
    attendi_add_input(all, "k", &p->k);
    attendi_add_input(all, "v", &p->v);
    attendi_add_input(all, "mask", &p->mask);
    attendi_add_input(all, "bias", &p->bias);
    attendi_add_input_array(all, "causal_offset", p->causal_offset,
                            has_offset ? p->nb : 0, sizeof *p->causal_offset);
    attendi_add_input_array(all, "key_lengths", p->key_lengths, p->nb,
                            sizeof *p->key_lengths);
    attendi_add_input_array(all, "alibi", p->alibi, p->hq, sizeof *p->alibi);
    attendi_add_input_array(all, "sinks", p->sinks, p->hq, sizeof *p->sinks);
}

/* Checks that no output of the call overlaps another operand. */
static attend_status check_memory(const struct problem *p, attend_error *err)
{
    struct operands all;

    all.count = 0;
    attendi_problem_add_inputs(p, &all);
    attendi_add_output(&all, "out", &p->out);
    attendi_add_output(&all, "lse", &p->lse);
    attendi_add_output(&all, "weights", &p->weights);
    attendi_add_output(&all, "partials.data", &p->records);
    if (p->stats.needs)
        attendi_stats_add_operands(p, &all);
    return attendi_operands_check(&all, err);
}

/* ---- values --------------------------------------------------------------- */

static attend_status check_batches(const struct problem *p, attend_error *err)
{
    for (int64_t b = 0; p->causal == ATTEND_CAUSAL_OFFSET && b < p->nb; b++)
        if (p->causal_offset[b] < -POSITION_MAX || p->causal_offset[b] > POSITION_MAX)
            return attendi_fail(
                err, ATTEND_EINVAL, "causal_offset[%lld] (%lld) is outside %lld..%lld",
                LL(b), LL(p->causal_offset[b]), LL(-POSITION_MAX), LL(POSITION_MAX));
    for (int64_t b = 0; p->key_lengths && b < p->nb; b++)
        if (p->key_lengths[b] < 0 || p->key_lengths[b] > p->all_keys)
            return attendi_fail(err, ATTEND_EINVAL,
                                "key_lengths[%lld] (%lld) is outside 0..%lld (nk)", LL(b),
                                LL(p->key_lengths[b]), LL(p->all_keys));
    return ATTEND_OK;
}

static attend_status check_heads(const struct problem *p, attend_error *err)
{
    for (int64_t h = 0; p->alibi && h < p->hq; h++)
        if (!isfinite(p->alibi[h]))
            return attendi_fail(err, ATTEND_EINVAL, "alibi[%lld] (%g) is not finite",
                                LL(h), p->alibi[h]);
    for (int64_t h = 0; p->sinks && h < p->hq; h++)
        if (!(p->sinks[h] < INFINITY))
            return attendi_fail(err, ATTEND_EINVAL,
                                "sinks[%lld] (%g) is neither finite nor -inf", LL(h),
                                p->sinks[h]);
    return ATTEND_OK;
}

static attend_status check_classes(const struct problem *p, attend_error *err)
{
    const struct stats *const s = &p->stats;

    for (int64_t x = 0; s->classes && x < p->nb * p->nk; x++)
        if (s->classes[x] < -1 || s->classes[x] >= s->class_count)
            return attendi_fail(err, ATTEND_EINVAL,
                                "stats.classes[%lld] (%d) is outside -1..%d", LL(x),
                                (int)s->classes[x], s->class_count - 1);
    return ATTEND_OK;
}

attend_status attendi_problem_check_host(const struct problem *p, attend_error *err)
{
    TRY(check_batches(p, err));
    TRY(check_heads(p, err));
    TRY(check_classes(p, err));
    return p->inspection ? attendi_inspect_check_host(p, err) : ATTEND_OK;
}

/* ---- the whole ---------------------------------------------------------- */

/* Reads the caller's structs and validates the inputs. */
static attend_status begin(struct problem *p, const attend_rule *given_rule,
                           attend_rule *rule, const attend_io *given_io, attend_io *io,
                           attend_error *err)
{
    *p = (struct problem){0};
    if (!given_io)
        return attendi_fail(err, ATTEND_EINVAL, "io is NULL");
    TRY(attendi_io_read(given_io, io, err));
    TRY(attendi_rule_read(given_rule, rule, err));
    return check_inputs(p, io, err);
}

attend_status attendi_problem_init(struct problem *p, const attend_rule *given_rule,
                                   const attend_io *given_io, attend_error *err)
{
    attend_rule rule;
    attend_io io;

    TRY(begin(p, given_rule, &rule, given_io, &io, err));
    TRY(check_outputs(p, &io, err));
    TRY(check_rule(p, &rule, err));
    TRY(attendi_stats_init(p, io.stats, err));
    return check_memory(p, err);
}

attend_status attendi_problem_init_keys(struct problem *p, const attend_rule *given,
                                        const attend_view *q, const attend_view *k,
                                        attend_error *err)
{
    attend_rule rule;
    attend_io io = attend_io_default();

    io.q = *q;
    io.k = *k;
    io.v = *k; /* empty: valid wherever k is */
    io.v.size[3] = 0;
    *p = (struct problem){0};
    TRY(attendi_rule_read(given, &rule, err));
    TRY(check_inputs(p, &io, err));
    return check_rule(p, &rule, err);
}

static attend_status check_no_outputs(const attend_io *io, attend_error *err)
{
    const struct {
        const char *name;
        const void *data;
    } output[] = {{"out.data", io->out.data},
                  {"lse.data", io->lse.data},
                  {"weights.data", io->weights.data}};

    for (size_t x = 0; x < ARRAY_LEN(output); x++)
        if (output[x].data)
            return attendi_fail(err, ATTEND_EINVAL,
                                "%s is set, but partials are the only output",
                                output[x].name);
    return ATTEND_OK;
}

/*
 * Validates the raw sums of a shard, which has one record; they are its only statistics.
 */
static attend_status read_sums(struct problem *p, const attend_stats *request,
                               attend_error *err)
{
    if (!request)
        return ATTEND_OK;
    TRY(attendi_stats_init(p, request, err));
    if (!p->stats.raw.data)
        return attendi_fail(
            err, ATTEND_EINVAL,
            "stats.raw.data is NULL, but raw sums are the only statistics "
            "of a shard");
    if (p->stats.summaries)
        return attendi_fail(err, ATTEND_EINVAL,
                            "stats.summaries is set, but a shard has no whole rows");
    if (p->shard->records != 1)
        return attendi_fail(err, ATTEND_EINVAL,
                            "stats is set, but the shard has %lld records, not 1",
                            LL(p->shard->records));
    return ATTEND_OK;
}

static attend_status read_shard(struct problem *p, struct shard *shard,
                                const attend_partials *partials, attend_error *err)
{
    const int64_t out[4] = {p->nb, p->hq, p->nq, p->dv};

    if (!partials)
        return attendi_fail(err, ATTEND_EINVAL, "partials is NULL");
    TRY(attendi_shard_init(shard, "partials", partials, err));
    if (shard->keys != p->nk)
        return attendi_fail(err, ATTEND_EINVAL,
                            "partials.keys (%lld) differs from k.size[2] (nk, %lld)",
                            LL(shard->keys), LL(p->nk));
    p->shard = shard;
    p->first_key = shard->first_key;
    p->all_keys = shard->all_keys;
    p->records = partials->data;
    return attendi_records_check(shard, "partials", &partials->data, out,
                                 attendi_wide_dtype(p->dtype), err);
}

attend_status attendi_problem_init_shard(struct problem *p, struct shard *shard,
                                         const attend_rule *given_rule,
                                         const attend_io *given_io,
                                         const attend_partials *partials,
                                         attend_error *err)
{
    attend_rule rule;
    attend_io io;

    TRY(begin(p, given_rule, &rule, given_io, &io, err));
    TRY(check_no_outputs(&io, err));
    TRY(read_shard(p, shard, partials, err));
    TRY(check_rule(p, &rule, err));
    TRY(read_sums(p, io.stats, err));
    return check_memory(p, err);
}

/* A list has the rows of one head, or of all heads if these have one row each. */
static void list_rows(struct problem *p)
{
    p->group = p->nq == 1 ? p->hq : 1;
    p->hkv = p->group == 0 ? 0 : p->hq / p->group;
}

attend_status attendi_problem_init_rows(struct problem *p, const attend_rule *rule,
                                        attend_dtype records, int64_t all_keys,
                                        const attend_tensor *out,
                                        const attend_tensor *lse, attend_error *err)
{
    attend_rule rows;
    attend_io io = attend_io_default();

    TRY(attendi_rule_read(rule, &rows, err));
    rows.mask = rows.bias = attend_rule_default().mask;
    if (!out)
        return attendi_fail(err, ATTEND_EINVAL, "out is NULL");
    io.out = *out;
    if (lse)
        io.lse = *lse;
    const bool narrow = out->dtype == ATTEND_F16 || out->dtype == ATTEND_BF16;
    *p =
        (struct problem){.nb = out->size[0],
                         .hq = out->size[1],
                         .nq = out->size[2],
                         .dv = out->size[3],
                         .all_keys = all_keys,
                         .dtype = records == ATTEND_F32 && narrow ? out->dtype : records};
    p->q.dtype = p->dtype; /* as of queries, for the check of O */
    TRY(check_outputs(p, &io, err));
    TRY(check_rows("out", out->size, err));
    TRY(check_rule(p, &rows, err));
    list_rows(p);
    return check_memory(p, err);
}

void attendi_problem_init_records(struct problem *p, const struct shard *shard,
                                  const attend_tensor *data, attend_dtype dtype)
{
    *p = (struct problem){.nb = data->size[0],
                          .hq = data->size[1],
                          .nq = data->size[2],
                          .dv = data->size[3] / shard->records - 2,
                          .first_key = shard->first_key,
                          .all_keys = shard->all_keys,
                          .dtype = dtype,
                          .shard = shard,
                          .records = *data};
    p->out.size[0] = p->nb;
    p->out.size[1] = p->hq;
    p->out.size[2] = p->nq;
    p->out.size[3] = p->dv;
    list_rows(p);
}
