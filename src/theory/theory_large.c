/* SPDX-License-Identifier: MIT */
/* Many keys: dispersion, collisions, random logits, the entropy floor (T20 - T23). */
#include <math.h>

#include "attend/theory.h"
#include "theory/score_law.h"

double attend_theory_dispersion_bound(double n, double range)
{
    return range >= 0.0 ? attend_theory_copy_weight(n, range) : NAN;
}

double attend_theory_dispersion_range_needed(double n, double weight)
{
    if (!(n >= 2.0 && weight >= 1.0 / n && weight <= 1.0))
        return NAN;
    return fmax(0.0, log(n - 1.0) + attend_theory_logit(weight));
}

double attend_theory_collision_probability(double d, double m)
{
    if (!(d >= 2.0 && m >= 1.0))
        return NAN;
    return 0.5 * attend_theory_beta(0.5 * (d - 1.0), 0.5, 1.0 - 1.0 / m);
}

double attend_theory_collision_size(double d, double m)
{
    return 1.0 / attend_theory_collision_probability(d, m);
}

static int is_random(double n, double S)
{
    return n >= 1.0 && n <= 1e15 && S >= 0.0 && S <= 1000.0;
}

double attend_theory_random_sum_squares(double n, double S)
{
    const struct attendi_theory_score_kind kind = attendi_theory_plain_kind(n, 0.0, S);
    double mean, second;

    if (!is_random(n, S) || attendi_theory_score_moments(&kind, 1, &mean, &second) != 0)
        return NAN;
    return n * second;
}

double attend_theory_random_entropy(double n, double S)
{
    const struct attendi_theory_score_kind kind = attendi_theory_plain_kind(n, 0.0, S);

    if (n == 1.0 || S == 0.0)
        return is_random(n, S) ? log(n) : NAN;
    return is_random(n, S) ? attendi_theory_score_entropy(&kind) : NAN;
}

double attend_theory_freezing_spread(double n)
{
    return n >= 1.0 ? sqrt(2.0 * log(n)) : NAN;
}

double attend_theory_random_entropy_limit(double n, double S)
{
    return n >= 1.0 && S >= 0.0 ? fmax(0.0, log(n) - 0.5 * S * S) : NAN;
}

double attend_theory_random_keys_limit(double n, double S)
{
    return n >= 1.0 && S >= 0.0 && S * S <= 0.5 * log(n) ? n * exp(-S * S) : NAN;
}

double attend_theory_random_sum_squares_limit(double n, double S)
{
    const double frozen = attend_theory_freezing_spread(n);

    return S >= frozen && S > 0.0 ? 1.0 - frozen / S : NAN;
}

double attend_theory_entropy_floor(double n, double r)
{
    double gap, rivals;

    if (n == 1.0 && r == 0.0)
        return 0.0;
    if (!(n >= 2.0 && isfinite(n) && r >= 0.0))
        return NAN;
    if (isinf(r))
        return 0.0;
    gap = r * sqrt(n / (n - 1.0));
    rivals = (n - 1.0) * exp(-gap);
    return log1p(rivals) + gap * (rivals / (1.0 + rivals));
}
