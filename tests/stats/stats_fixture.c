/* SPDX-License-Identifier: MIT */
#include "stats_fixture.h"

const attend_stat every_stat[ATTEND_STAT_COUNT] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21};

void ask_stats(problem *p, attend_stats *stats, int top, int bins, int classes)
{
    const shape n = p->n;

    *stats = attend_stats_default();
    stats->columns = every_stat;
    stats->rows = own_tensor(p, ATTEND_F64, n.nb, n.hq, n.nq, ATTEND_STAT_COUNT);
    if (top > 0) {
        stats->top_weights = own_tensor(p, ATTEND_F64, n.nb, n.hq, n.nq, top);
        stats->top_keys =
            problem_own(p, (size_t)(n.nb * n.hq * n.nq * top) * sizeof(int64_t));
    }
    if (bins > 0)
        stats->distances = own_tensor(p, ATTEND_F64, n.nb, n.hq, n.nq, bins);
    if (classes > 0) {
        int32_t *const of_keys = problem_own(p, (size_t)(n.nb * n.nk) * sizeof *of_keys);
        stats->class_mass = own_tensor(p, ATTEND_F64, n.nb, n.hq, n.nq, classes);
        for (int64_t j = 0; j < n.nb * n.nk; j++)
            of_keys[j] = (int32_t)(j % (classes + 1)) - 1;
        stats->classes = of_keys;
    }
    p->io.stats = stats;
}

attend_stats *own_stats(problem *p, int top, int bins, int classes)
{
    attend_stats *const stats = problem_own(p, sizeof *stats);

    ask_stats(p, stats, top, bins, classes);
    return stats;
}

static void poison_stats(const attend_stats *stats)
{
    poison(&stats->rows);
    poison(&stats->top_weights);
    poison(&stats->distances);
    poison(&stats->class_mass);
    poison(&stats->raw);
}

wanted wanted_make(shape n, int top, int bins, int classes)
{
    wanted w = {.store = {.n = n}};

    ask_stats(&w.store, &w.request, top, bins, classes);
    w.store.io.stats = NULL; /* the struct moves */
    w.request.raw = own_tensor(&w.store, ATTEND_F64, n.nb, n.hq, n.nq,
                               attend_stats_raw_size(&w.request, n.dv));
    poison_stats(&w.request);
    return w;
}

void wanted_free(wanted *w) { problem_free(&w->store); }

int run_stats(problem *p, attend_context *ctx)
{
    p->io.weights.data = NULL;
    poison_stats(p->io.stats);
    return problem_run(p, ctx);
}

double stat_of(const problem *p, attend_stat stat, int64_t b, int64_t h, int64_t i)
{
    return tensor_get(&p->io.stats->rows, b, h, i, stat);
}

problem problem_of_score(attend_dtype dtype, int64_t nq, int64_t nk, double score)
{
    problem p = problem_make((shape){1, 1, 1, nq, nk, 1, 3}, dtype, 5);

    p.rule.scale_is_set = 1;
    p.rule.scale = 1.0;
    fill_value(&p.io.q, 1.0);
    fill_value(&p.io.k, score);
    return p;
}

problem problem_of_scores(attend_dtype dtype, int64_t nq, int64_t nk,
                          const double *scores)
{
    problem p = problem_of_score(dtype, nq, nk, 0.0);

    for (int64_t j = 0; j < nk; j++)
        view_set(&p.io.k, 0, 0, j, 0, scores[j]);
    return p;
}

problem problem_even(shape n, attend_dtype dtype)
{
    problem p = problem_make(n, dtype, 6);

    fill_value(&p.io.q, 0.0);
    return p;
}

int is_near(double got, double want, double share)
{
    return fabs(got - want) <= share * fabs(want);
}

int64_t floats_apart(double a, double b)
{
    const float x = (float)a, y = (float)b;
    int32_t i, j;

    memcpy(&i, &x, sizeof i);
    memcpy(&j, &y, sizeof j);
    return llabs((long long)i - (long long)j);
}

int run_on_every_set(attend_context **ctx, const char **isa)
{
    const char *set;

    if (isa == NULL)
        isa = &set;
    for (int index = 0; (*isa = next_set(&index)) != NULL;) {
        *ctx = open_set(*isa, 2);
        if (*ctx == NULL)
            return 1;
        printf("%s\n", *isa);
        test_run_all();
        attend_context_destroy(*ctx);
    }
    return split_finish();
}
