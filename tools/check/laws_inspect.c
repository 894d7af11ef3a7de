/* SPDX-License-Identifier: MIT */
/*
 * The inspection: column masses against the columns of the dense P.
 *
 * Each P = exp(s - lse) with the exact lse is off by less than the weight of a forward
 * pass may be, whose sum over the row errs as well.  A column sums at most 64 of them in
 * the arithmetic's own numbers before it goes on in double, where it has nq.
 */
#include <math.h>
#include <stdlib.h>

#include "check/bound.h"
#include "check/check.h"

/* Mass of key j of head (b, h), and its bound; below 0: not checked. */
static void expect_column(const struct check_problem *p,
                          const struct check_expect *expect, int model, int64_t head,
                          int64_t j, double *mass, double *bound)
{
    const struct check_model m = check_model_of(p, model == CHECK_REF);
    const double terms = m.u == 0x1p-53 ? 64.0 + (double)p->nq : 64.0;

    *mass = *bound = 0.0;
    for (int64_t i = 0; i < p->nq; i++) {
        const int64_t at = (head * p->nq + i) * p->nk + j;
        const double off = expect->weights.bound[model][at];

        *mass += expect->weights.value[at];
        /* A bound of 1 or more claims nothing of the weight, nor of its column. */
        *bound = *bound < 0.0 || off >= 1.0 ? -1.0 : *bound + off;
    }
    if (isnan(*mass))
        *bound = 0.0;
    else if (*bound >= 0.0)
        *bound += (terms * m.u + check_unit(m.lse_dtype)) * (*mass + *bound);
}

/* Compares the columns of `got`, in `dtype`. */
static void compare_columns(const struct check_problem *p,
                            const struct check_expect *expect, int model, const void *got,
                            attend_dtype dtype, struct check_worst *worst)
{
    for (int64_t at = 0; at < p->nb * p->hq * p->nk; at++) {
        const double value = check_load(got, dtype, at);
        double mass, bound;

        expect_column(p, expect, model, at / p->nk, at % p->nk, &mass, &bound);
        if (check_is_worse(worst, check_ratio(value, mass, bound)))
            check_say(worst, "head %lld key %lld: got %.9g want %.9g +- %.3g",
                      (long long)(at / p->nk), (long long)(at % p->nk), value, mass,
                      bound);
    }
}

static void inspect_on_set(struct check_run *run, struct check_set *set,
                           const struct check_problem *p,
                           const struct check_expect *expect)
{
    const attend_dtype dtype = check_tensor_dtype(p, CHECK_WEIGHTS);
    const int64_t columns = p->nb * p->hq * p->nk;
    void *const mass = check_memory((size_t)columns, sizeof(double));
    attend_inspection inspection = attend_inspection_default();
    attend_error error;
    struct check_worst worst = {0};

    check_tick(run);
    check_place(&run->blocks, p);
    inspection.q = run->blocks.io.q;
    inspection.k = run->blocks.io.k;
    inspection.lse =
        attend_view_dense(expect->lse.value, ATTEND_F64, p->nb, p->hq, p->nq, 1);
    inspection.column_mass = attend_tensor_dense(mass, dtype, p->nb, p->hq, 1, p->nk);
    if (attend_inspect(set->ctx, &run->blocks.rule, &inspection, &error) != ATTEND_OK) {
        check_note(set, INFINITY, p, error.message);
    } else {
        compare_columns(p, expect, set->model, mass, dtype, &worst);
        check_note(set, worst.ratio, p, worst.where);
    }
    free(mass);
}

void check_law_inspect(struct check_run *run, struct check_case *c)
{
    struct check_problem *const p = &c->p;

    check_drop_stats(p);
    p->wants_weights = 1;
    struct check_expect expect = check_dense(p);
    for (int s = 0; s < run->count; s++)
        inspect_on_set(run, &run->sets[s], p, &expect);
    check_expect_free(&expect);
}
