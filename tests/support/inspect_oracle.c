/* SPDX-License-Identifier: MIT */
#include "inspect_oracle.h"

/* ---- rules ---------------------------------------------------------------- */

void random_mask(problem *p, uint64_t *random, int64_t rows)
{
    problem_mask(p, p->n.nb, 1, rows, p->n.nk);
    for (int64_t b = 0; b < p->n.nb; b++)
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < p->n.nk; j++) /* row 1 and key 2 are hidden */
                view_set(&p->rule.mask, b, 0, i, j,
                         random_unit(random) < 0.7 && (i != 1 || rows == 1) && j != 2);
}

static double *per_head(problem *p, double first, double step)
{
    double *const values = problem_own(p, (size_t)p->n.hq * sizeof *values);

    for (int64_t h = 0; h < p->n.hq; h++)
        values[h] = first + step * (double)h;
    return values;
}

static void random_bias(problem *p, uint64_t *random)
{
    problem_bias(p, ATTEND_F16, 1, p->n.hq, p->n.nq, p->n.nk);
    for (int64_t h = 0; h < p->n.hq; h++)
        for (int64_t i = 0; i < p->n.nq; i++)
            for (int64_t j = 0; j < p->n.nk; j++)
                view_set(&p->rule.bias, 0, h, i, j,
                         random_unit(random) < 0.1 ? -INFINITY : random_normal(random));
}

static void set_rule(problem *p, rule_kind kind, uint64_t seed)
{
    const int all = kind == RULE_ALL;
    uint64_t random = seed;

    if (kind == RULE_CAUSAL)
        p->rule.causal = ATTEND_CAUSAL_TOP_LEFT;
    if (kind == RULE_BOTTOM_RIGHT)
        p->rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
    if (kind == RULE_OFFSET || all) {
        int64_t *const offset = problem_own(p, (size_t)p->n.nb * sizeof *offset);
        for (int64_t b = 0; b < p->n.nb; b++)
            offset[b] = b == 0 ? 3 : -5;
        p->rule.causal = ATTEND_CAUSAL_OFFSET;
        p->rule.causal_offset = offset;
    }
    if (kind == RULE_WINDOW || all) {
        p->rule.window_left = p->n.nk / 3;
        p->rule.window_right = 4;
    }
    if (kind == RULE_LENGTHS || all)
        problem_key_lengths(p)[0] = p->n.nk - p->n.nk / 4;
    if (kind == RULE_MASK || all)
        random_mask(p, &random, p->n.nq);
    if (kind == RULE_MASK_OF_KEYS)
        random_mask(p, &random, 1);
    if (kind == RULE_BIAS || all)
        random_bias(p, &random);
    if (kind == RULE_ALIBI || all)
        p->rule.alibi = per_head(p, -0.25, 0.375);
    if (kind == RULE_SINKS || all)
        p->rule.sinks = per_head(p, 1.5, -2.0);
    if (kind == RULE_SOFTCAP || all)
        p->rule.softcap = 1.25;
    if (kind == RULE_SCALE || all) {
        p->rule.scale_is_set = 1;
        p->rule.scale = -0.7;
    }
}

/* ---- requests ------------------------------------------------------------- */

void ask_lse(ask *a, int with_sink)
{
    auto_check_problem dense = dense_problem(&a->p);
    auto_check_row row = check_row_create(a->p.n.nk);

    a->want.lse = own_view(&a->p, ATTEND_F64, a->p.n.nb, a->p.n.hq, a->p.n.nq, 1);
    for (int64_t b = 0; b < a->p.n.nb; b++)
        for (int64_t h = 0; h < a->p.n.hq; h++)
            for (int64_t i = 0; i < a->p.n.nq; i++) {
                check_row_score(&dense, b, h, i, &row);
                check_row_weigh(&row, with_sink && dense.sinks != NULL ? dense.sinks[h]
                                                                       : -INFINITY);
                view_set(&a->want.lse, b, h, i, 0, row.lse);
            }
}

void ask_pooled(ask *a, int64_t block)
{
    const shape n = a->p.n;

    a->want.pooled = own_tensor(&a->p, dtype_of_lse(a->p.dtype), n.nb, n.hq,
                                (n.nq - 1) / block + 1, (n.nk - 1) / block + 1);
    a->want.pooled_block = block;
}

void ask_zoom(ask *a, int64_t i, int64_t rows, int64_t j, int64_t columns)
{
    a->want.zoom =
        own_tensor(&a->p, dtype_of_lse(a->p.dtype), a->p.n.nb, a->p.n.hq, rows, columns);
    a->want.zoom_query = i;
    a->want.zoom_key = j;
}

void ask_columns(ask *a, int64_t last)
{
    const shape n = a->p.n;

    a->want.column_mass =
        own_tensor(&a->p, dtype_of_lse(a->p.dtype), n.nb, n.hq, 1, n.nk);
    a->want.column_max = own_tensor(&a->p, dtype_of_lse(a->p.dtype), n.nb, n.hq, 1, n.nk);
    a->want.column_last =
        own_tensor(&a->p, dtype_of_lse(a->p.dtype), n.nb, n.hq, 1, n.nk);
    a->want.last_queries = last;
}

void ask_probes(ask *a, int64_t count, uint64_t seed)
{
    attend_probe *const probes = problem_own(&a->p, (size_t)count * sizeof *probes);
    const shape n = a->p.n;

    for (int64_t x = 0; x < count; x++)
        probes[x] = (attend_probe){(int64_t)(random_bits(&seed) % (uint64_t)n.nb),
                                   (int64_t)(random_bits(&seed) % (uint64_t)n.hq),
                                   (int64_t)(random_bits(&seed) % (uint64_t)n.nq),
                                   (int64_t)(random_bits(&seed) % (uint64_t)n.nk)};
    a->want.probes = probes;
    a->want.probe_count = count;
    a->want.probe_weights = problem_own(&a->p, (size_t)count * sizeof(double));
}

ask ask_make(shape n, attend_dtype dtype, rule_kind kind, uint64_t seed)
{
    ask a = {.p = problem_make(n, dtype, seed), .want = attend_inspection_default()};

    set_rule(&a.p, kind, seed + 17);
    a.want.q = a.p.io.q;
    a.want.k = a.p.io.k;
    ask_lse(&a, 1);
    return a;
}

void ask_free(ask *a) { problem_free(&a->p); }

void ask_everything(ask *a, int64_t block)
{
    const shape n = a->p.n;

    ask_columns(a, (n.nq + 2) / 3);
    ask_pooled(a, block);
    ask_zoom(a, n.nq / 5, n.nq / 2, n.nk / 7, n.nk / 2);
    ask_probes(a, 300, 5);
}

attend_tensor *ask_output(attend_inspection *want, int at)
{
    attend_tensor *const outputs[ASK_OUTPUTS] = {&want->column_mass, &want->column_max,
                                                 &want->column_last, &want->pooled,
                                                 &want->zoom};

    return outputs[at];
}

const char *const output_names[ASK_OUTPUTS + 1] = {
    "column_mass", "column_max", "column_last", "pooled", "zoom", "probes"};

/* Output `at`, the last being the weights of the probes. */
static attend_tensor answer(ask *a, int at)
{
    if (at < ASK_OUTPUTS)
        return *ask_output(&a->want, at);
    return attend_tensor_dense(a->want.probes == NULL ? NULL : a->want.probe_weights,
                               ATTEND_F64, 1, 1, 1, a->want.probe_count);
}

void ask_poison(ask *a)
{
    for (int at = 0; at <= ASK_OUTPUTS; at++) {
        const attend_tensor output = answer(a, at);
        poison(&output);
    }
}

int ask_run(ask *a, attend_context *ctx)
{
    ask_poison(a);
    return IS_OK(attend_inspect, ctx, &a->p.rule, &a->want);
}

/* ---- P, densely ----------------------------------------------------------- */

static int64_t map_at(const ask *a, int64_t b, int64_t h, int64_t i, int64_t j)
{
    return ((b * a->p.n.hq + h) * a->p.n.nq + i) * a->p.n.nk + j;
}

/* One row, from its scores. */
static void map_row(const ask *a, const struct check_problem *dense, int64_t b, int64_t h,
                    int64_t i, const struct check_row *row, const dense_map *map)
{
    const double lse = view_get(&a->want.lse, b, h, i, 0);

    for (int64_t j = 0; j < a->p.n.nk; j++)
        map->p[map_at(a, b, h, i, j)] = map->error[map_at(a, b, h, i, j)] = 0.0;
    for (int64_t at = 0; at < row->n && lse != -INFINITY; at++) {
        const int64_t m = map_at(a, b, h, i, row->key[at]);
        map->p[m] = exp(row->score[at] - lse);
        if (map->p[m] != 0)
            map->error[m] =
                2 * ((double)a->p.n.d + 8) * score_magnitude(dense, b, h, i, row, at) +
                4 * fabs(lse) + 16;
    }
}

dense_map map_make(const ask *a)
{
    const shape n = a->p.n;
    const size_t size = (size_t)(n.nb * n.hq * n.nq * n.nk) * sizeof(double);
    const dense_map map = {test_memory(size), test_memory(size)};
    auto_check_problem dense = dense_problem(&a->p);
    auto_check_row row = check_row_create(n.nk);

    for (int64_t b = 0; b < n.nb; b++)
        for (int64_t h = 0; h < n.hq; h++)
            for (int64_t i = 0; i < n.nq; i++) {
                check_row_score(&dense, b, h, i, &row);
                map_row(a, &dense, b, h, i, &row, &map);
            }
    return map;
}

void map_free(dense_map *map)
{
    free(map->p);
    free(map->error);
}

/* The sum of P over a rectangle, its largest element, and the tolerance of each. */
typedef struct dense_sum {
    double sum, sum_error, max, max_error;
} dense_sum;

static dense_sum sum_of(const ask *a, const dense_map *map, int64_t b, int64_t h,
                        const int64_t rows[2], const int64_t columns[2])
{
    const double u = unit_of(a->p.dtype);
    const double flush = a->p.dtype == ATTEND_F64 ? 0x1p-1022 : 0x1p-126;
    dense_sum s = {0, 0, 0, 0};

    for (int64_t i = rows[0]; i < rows[1] && i < a->p.n.nq; i++)
        for (int64_t j = columns[0]; j < columns[1] && j < a->p.n.nk; j++) {
            const int64_t at = map_at(a, b, h, i, j);
            const double error = map->error[at] * u;
            const double off =
                map->p[at] == 0 ? 0 : map->p[at] * (error + error * error) + flush;
            s.sum += map->p[at];
            s.sum_error += off;
            s.max = isnan(map->p[at]) || isnan(s.max) ? NAN : fmax(s.max, map->p[at]);
            s.max_error = fmax(s.max_error, off);
        }
    /*
     * A sum in the arithmetic's type has at most 128 keys, or 8 * 4 tiles of 3 vectors,
     * before it continues in double.  In double some sums have all terms.
     */
    const double terms = (double)((rows[1] - rows[0]) * (columns[1] - columns[0])) *
                         (a->p.dtype == ATTEND_F64 ? 2 : 0);
    s.sum_error += (160 + terms) * u * s.sum;
    s.max_error += u * s.max;
    return s;
}

int agrees(const char *what, double got, double want, double error, int64_t b, int64_t h,
           int64_t i, int64_t j)
{
    if (near_or_same(got, want, error))
        return 1;
    test_fail(__FILE__, __LINE__, "the same as the dense evaluation",
              "%s (b %lld h %lld, %lld %lld): got %.9g, want %.9g +- %.3g", what,
              (long long)b, (long long)h, (long long)i, (long long)j, got, want, error);
    return 0;
}

/* Output `at` of one head over its rectangles; [rows] by [columns] elements of it. */
static int head_agrees(ask *a, const dense_map *map, int at, int64_t b, int64_t h)
{
    const attend_inspection *const w = &a->want;
    const attend_tensor *const t = ask_output(&a->want, at);
    const int64_t block = w->pooled_block, nq = a->p.n.nq;

    for (int64_t i = 0; i < t->size[2]; i++)
        for (int64_t j = 0; j < t->size[3]; j++) {
            int64_t rows[2] = {0, nq}, columns[2] = {j, j + 1};
            if (at == 2)
                rows[0] = nq - w->last_queries;
            if (at == 3) {
                rows[0] = i * block, rows[1] = rows[0] + block;
                columns[0] = j * block, columns[1] = columns[0] + block;
            }
            if (at == 4) {
                rows[0] = w->zoom_query + i, rows[1] = rows[0] + 1;
                columns[0] += w->zoom_key, columns[1] += w->zoom_key;
            }
            const dense_sum s = sum_of(a, map, b, h, rows, columns);
            if (!agrees(output_names[at], tensor_get(t, b, h, i, j),
                        at == 1 ? s.max : s.sum, at == 1 ? s.max_error : s.sum_error, b,
                        h, i, j))
                return 0;
        }
    return 1;
}

int probes_agree(const ask *a, const dense_map *map)
{
    for (int64_t x = 0; a->want.probes != NULL && x < a->want.probe_count; x++) {
        const attend_probe at = a->want.probes[x];
        const int64_t m = map_at(a, at.b, at.h, at.i, at.j);
        if (!agrees("probe", a->want.probe_weights[x], map->p[m],
                    map->p[m] * map->error[m] * 0x1p-53, at.b, at.h, at.i, at.j))
            return 0;
    }
    return 1;
}

int ask_agrees(ask *a, const dense_map *map)
{
    for (int at = 0; at < ASK_OUTPUTS; at++)
        for (int64_t b = 0; b < a->p.n.nb; b++)
            for (int64_t h = 0; h < a->p.n.hq; h++)
                if (ask_output(&a->want, at)->data != NULL &&
                    !head_agrees(a, map, at, b, h))
                    return 0;
    return probes_agree(a, map);
}

int ask_check(ask *a, attend_context *ctx)
{
    auto_map map = map_make(a);
    const int right = ask_run(a, ctx) && ask_agrees(a, &map);

    return right;
}

/* ---- the same bits -------------------------------------------------------- */

answers answers_copy(ask *a)
{
    answers copy;

    for (int at = 0; at <= ASK_OUTPUTS; at++) {
        const attend_tensor output = answer(a, at);
        copy.bits[at] = copy_bits(&output);
    }
    return copy;
}

void answers_free(answers *copy)
{
    for (int at = 0; at <= ASK_OUTPUTS; at++)
        free(copy->bits[at]);
}

int answers_are_same(ask *a, const answers *want)
{
    for (int at = 0; at <= ASK_OUTPUTS; at++) {
        const attend_tensor output = answer(a, at);
        if (!same_bits(&output, want->bits[at], output_names[at]))
            return 0;
    }
    return 1;
}

int answers_are_poisoned(ask *a)
{
    for (int at = 0; at <= ASK_OUTPUTS; at++) {
        const attend_tensor output = answer(a, at);
        if (!is_poisoned(&output))
            return 0;
    }
    return 1;
}
