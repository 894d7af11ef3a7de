/* SPDX-License-Identifier: MIT */
#include "check/bound.h"

#include <math.h>

struct check_model check_model_of(const struct check_problem *p, int is_ref)
{
    const int in_double = is_ref || p->dtype == ATTEND_F64;
    /* Keys of a block, whose weights one sum takes. */
    const double block = p->dtype == ATTEND_BF16 ? 256.0 : 128.0;
    const double nk = (double)p->nk, blocks = block + 8.0 * ceil(nk / 128.0) + 16.0;
    const double flush = in_double ? 0x1p-1022 : 0x1p-126;

    return (struct check_model){
        .u = in_double ? 0x1p-53 : 0x1p-24,
        .c = in_double ? fmax(blocks, nk + 16.0) : blocks,
        .flush = flush,
        .p_round = p->dtype == ATTEND_BF16 && !is_ref ? 0x1p-8 : 0.0,
        /* Instructions for bf16 flush subnormal products. */
        .product = p->dtype == ATTEND_BF16 ? flush
                   : in_double             ? 0x1p-1074
                                           : 0x1p-149,
        .slack = in_double ? 2.0 : 1.0,
        .d = (double)p->d,
        .out_dtype = p->out_dtype,
        .lse_dtype = check_tensor_dtype(p, CHECK_LSE),
    };
}

double check_bound_row_max(double m, double shift)
{
    return fmax(fabs(m), fabs(m - shift));
}

double check_bound_score(const struct check_model *model, double a, double m, double tiny)
{
    const double u = model->u;

    return (model->d + 8.0) * u * a + 4.0 * u * (a + fabs(m)) + (6.0 + model->c) * u +
           model->flush * tiny;
}

double check_bound_excess(double p, double log_p, double e)
{
    return e < 0.5 ? p * (e + e * e) : exp(log_p + e);
}

double check_bound_least(double p, double e)
{
    return e < 0.5 ? p * (1.0 - e) : p * exp(-e);
}

double check_bound_out(const struct check_model *model, double total, double least,
                       double spread, double mean, double largest, double out, int64_t nk)
{
    const double ratio = (spread + total * fabs(out)) / least;
    const double rounding = model->p_round * mean * (1.0 + total) / least;
    const double hull = 2.0 * largest * (1.0 + model->c * model->u + model->p_round);
    const double inner = model->slack * fmin(ratio + rounding, hull);

    return inner + check_unit(model->out_dtype) * (fabs(out) + inner) +
           check_smallest(model->out_dtype) + (double)(nk + 2) * model->product;
}

double check_bound_lse(const struct check_model *model, double total, double least,
                       double lse)
{
    const double inner = fmax(log1p(total), -log(least));

    return model->slack * (inner + 2.0 * model->u * (1.0 + fabs(lse))) +
           check_unit(model->lse_dtype) * fabs(lse) + check_smallest(model->lse_dtype);
}

double check_bound_weight(const struct check_model *model, double total, double least,
                          double excess, double weight)
{
    const double inner =
        fmin((excess + total * weight) / least, 1.0 + model->c * model->u);

    return model->slack * inner + check_unit(model->lse_dtype) * (weight + inner) +
           check_smallest(model->lse_dtype);
}
