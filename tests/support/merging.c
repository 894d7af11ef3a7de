/* SPDX-License-Identifier: MIT */
#include "merging.h"

merge_case merge_make(shape n, int64_t count, attend_dtype part, attend_dtype lse,
                      attend_dtype out, double spread, uint64_t seed)
{
    merge_case m = {.p = {.n = n}, .count = count};
    uint64_t state = seed;

    for (int64_t p = 0; p < count; p++) {
        m.parts[p].out = own_view(&m.p, part, n.nb, n.hq, n.nq, n.dv);
        m.parts[p].lse = own_view(&m.p, lse, n.nb, n.hq, n.nq, 1);
        fill_normal(&m.parts[p].out, random_bits(&state));
        for (int64_t at = 0; at < n.nb * n.hq * n.nq; at++)
            check_store((void *)(uintptr_t)m.parts[p].lse.data, lse, at,
                        spread * (2.0 * random_unit(&state) - 1.0));
    }
    m.p.io.out = own_tensor(&m.p, out, n.nb, n.hq, n.nq, n.dv);
    m.p.io.lse = own_tensor(&m.p, lse, n.nb, n.hq, n.nq, 1);
    problem_poison(&m.p);
    return m;
}

void merge_free(merge_case *m) { problem_free(&m->p); }

static int is_near(const char *what, double got, double want, double tolerance)
{
    if (near_or_same(got, want, tolerance))
        return 1;
    test_fail(__FILE__, __LINE__, what, "got %.17g, want %.17g", got, want);
    return 0;
}

/* The formula of the header for a row, without parts with lse = -inf. */
static int row_is_close(const merge_case *m, int64_t b, int64_t h, int64_t i, double u)
{
    const attend_io *const io = &m->p.io;
    long double lse[MERGE_PARTS_MAX], most = -INFINITY, sum = 0.0L;

    for (int64_t p = 0; p < m->count; p++) {
        lse[p] = view_get(&m->parts[p].lse, b, h, i, 0);
        most = fmaxl(most, lse[p]);
    }
    for (int64_t p = 0; p < m->count && most != -INFINITY; p++)
        sum += expl(lse[p] - most);
    const double whole = most == -INFINITY ? -INFINITY : (double)(most + logl(sum));
    if (!is_near("lse", tensor_get(&io->lse, b, h, i, 0), whole,
                 check_unit(io->lse.dtype) * fabs(whole) + (double)m->count * 4.0 * u))
        return 0;
    for (int64_t c = 0; c < m->p.n.dv; c++) {
        long double want = 0.0L, error = 0.0L;
        for (int64_t p = 0; p < m->count; p++) {
            const long double t = lse[p] - most, weight = expl(t) / sum;
            const long double o = view_get(&m->parts[p].out, b, h, i, c);
            if (lse[p] == -INFINITY)
                continue;
            want += weight * o;
            error += weight * fabsl(o) * (fabsl(t) + 9.0L + 2.0L * m->count) * u;
        }
        if (!is_near("out", tensor_get(&io->out, b, h, i, c), (double)want,
                     check_unit(io->out.dtype) * fabs((double)want) + (double)error +
                         check_smallest(io->out.dtype)))
            return 0;
    }
    return 1;
}

int merge_is_close(const merge_case *m, attend_dtype arithmetic)
{
    for (int64_t b = 0; b < m->p.n.nb; b++)
        for (int64_t h = 0; h < m->p.n.hq; h++)
            for (int64_t i = 0; i < m->p.n.nq; i++)
                if (!row_is_close(m, b, h, i, unit_of(arithmetic)))
                    return 0;
    return 1;
}
