# SPDX-License-Identifier: MIT
# mypy: disable-error-code="overload-overlap"
# Written by scripts/theory_bindings.py from include/attend/theory.h: change that.
"""Closed forms: what softmax attention does to keys that carry noise.

The model: n keys k_i with orthonormal means mu_i, orthonormal values v_i; a and b are the
two wanted items.  A query q gives the scores s_i = tau <q, k_i>, the weights
p = softmax(s) and the output c = sum p_i v_i.  Keys are independent,
k_i ~ N(mu_i, alpha I + sigma2_i mu_i mu_i^T), and gamma_i = <mu_i, k_i>.  C or beta is
the scale of a query, `leak` the weight outside the wanted set.  T1 .. T26 are the results
of docs/THEORY.md.

Functions of numbers broadcast over arrays.  Numbers outside the domain give NaN; arrays
that do not go together raise ValueError.

>>> from attend import theory
>>> theory.copy_weight(2, 0.0)
0.5
>>> theory.copy_weight([2, 3, 5], 0.0).tolist()
[0.5, 0.3333333333333333, 0.2]
>>> theory.weight_modes(theory.law_pair(1.0, 1.0, 0.0))
(0.5,)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from ._theory_arrays import (
    copy_weight_gaps, extract_orthonormal, extract_projector, extract_oblique, weighted_query,
    query_for_scores, weight_modes, heads, best_scale_one, best_scale_two, delta_covariance,
    delta_bias, delta_jacobian, value_noise, entropy, entropy_slope, permute_rows, permute_columns,
    sinusoid, sinusoid_nearest,
)
from ._theory_library import A, B, REST, Format, Law, Output, Query, Scene, call, form

if TYPE_CHECKING:
    from ._theory_library import Array, Numbers

__all__ = [
    "A", "B", "Format", "Law", "Output", "Query", "REST", "Scene", "average_leak",
    "average_scale_needed", "average_weight", "best_heads", "best_scale_one", "best_scale_two",
    "beta", "bimodal_scale", "collision_probability", "collision_size", "copy_error",
    "copy_error_bound", "copy_gap_needed", "copy_weight", "copy_weight_gaps",
    "copy_weight_lower_bound", "copy_weight_upper_bound", "crossover_scale", "delta_bias",
    "delta_covariance", "delta_jacobian", "dispersion_bound", "dispersion_range_needed", "entropy",
    "entropy_floor", "entropy_slope", "extract_error", "extract_oblique", "extract_orthonormal",
    "extract_projector", "freezing_spread", "gap_sum_exact", "gap_underflow", "gap_weight_exact",
    "groups_mse_first_order", "groups_mse_flips", "groups_mse_positive", "head", "head_cdf",
    "head_loses", "heads", "heads_covariance", "law_given_positive", "law_one_head", "law_pair",
    "law_two_heads", "logistic", "logit", "mse_one", "mse_two", "normal_cdf", "normal_quantile",
    "one_head_limit", "permute_columns", "permute_rows", "query_for_scores", "random_entropy",
    "random_entropy_limit", "random_keys_limit", "random_sum_squares", "random_sum_squares_limit",
    "scene_exercise", "score_correlation", "score_covariance", "score_gap_variance", "sinusoid",
    "sinusoid_distance", "sinusoid_dot", "sinusoid_nearest", "spread_for_variance",
    "suppression_norm", "suppression_query", "swap_probability", "two_heads_limit", "unit_keys",
    "unit_keys_limit", "value_noise", "weight_abs_deviation", "weight_abs_deviation_arctan",
    "weight_cdf", "weight_density", "weight_mean", "weight_mean_probit", "weight_modes",
    "weight_outside", "weight_quantile", "weight_variance", "weight_variance_arcsin",
    "weight_variance_large", "weight_variance_small", "weighted_leak", "weighted_query",
    "weighted_scale_needed", "window_alpha_limit", "window_alpha_max", "window_limit",
    "window_scale_limit", "window_scale_max", "window_scale_min",
]


@overload
def logistic(x: float) -> float: ...
@overload
def logistic(x: Numbers) -> Array: ...
def logistic(x: Any) -> Any:
    """1 / (1 + e^-x), without overflow, for every x."""
    return form("logistic", "dd", x)


@overload
def logit(p: float) -> float: ...
@overload
def logit(p: Numbers) -> Array: ...
def logit(p: Any) -> Any:
    """ln(p / (1 - p)); -inf at 0, +inf at 1.  0 <= p <= 1."""
    return form("logit", "dd", p)


@overload
def normal_cdf(x: float) -> float: ...
@overload
def normal_cdf(x: Numbers) -> Array: ...
def normal_cdf(x: Any) -> Any:
    """The standard normal distribution: P(Z <= x), for every x."""
    return form("normal_cdf", "dd", x)


@overload
def normal_quantile(p: float) -> float: ...
@overload
def normal_quantile(p: Numbers) -> Array: ...
def normal_quantile(p: Any) -> Any:
    """Inverse of normal_cdf; -inf at 0, +inf at 1.  0 <= p <= 1."""
    return form("normal_quantile", "dd", p)


@overload
def beta(a: float, b: float, x: float) -> float: ...
@overload
def beta(a: Numbers, b: Numbers, x: Numbers) -> Array: ...
def beta(a: Any, b: Any, x: Any) -> Any:
    """Regularised incomplete beta function I_x(a, b).  a, b > 0, 0 <= x <= 1."""
    return form("beta", "dddd", a, b, x)


@overload
def copy_weight(n: float, gap: float) -> float: ...
@overload
def copy_weight(n: Numbers, gap: Numbers) -> Array: ...
def copy_weight(n: Any, gap: Any) -> Any:
    """Weight of a key that leads each of the n - 1 others by `gap`, +-inf too.  n >= 1."""
    return form("copy_weight", "ddd", n, gap)


@overload
def copy_weight_lower_bound(n: float, gap: float) -> float: ...
@overload
def copy_weight_lower_bound(n: Numbers, gap: Numbers) -> Array: ...
def copy_weight_lower_bound(n: Any, gap: Any) -> Any:
    """Lower bound on the weight when `gap` is the smallest of the n - 1 gaps.  n >= 2."""
    return form("copy_weight_lower_bound", "ddd", n, gap)


@overload
def copy_weight_upper_bound(n: float, gap: float) -> float: ...
@overload
def copy_weight_upper_bound(n: Numbers, gap: Numbers) -> Array: ...
def copy_weight_upper_bound(n: Any, gap: Any) -> Any:
    """Upper bound on the weight when `gap` is the smallest of the n - 1 gaps.  n >= 2."""
    return form("copy_weight_upper_bound", "ddd", n, gap)


@overload
def copy_gap_needed(n: float, eps: float) -> float: ...
@overload
def copy_gap_needed(n: Numbers, eps: Numbers) -> Array: ...
def copy_gap_needed(n: Any, eps: Any) -> Any:
    """Smallest common gap whose weight is 1 - eps: ln((n-1)(1-eps)/eps); -inf for n = 1.
    0 < eps < 1
    """
    return form("copy_gap_needed", "ddd", n, eps)


@overload
def copy_error_bound(weight: float, largest_distance: float) -> float: ...
@overload
def copy_error_bound(weight: Numbers, largest_distance: Numbers) -> Array: ...
def copy_error_bound(weight: Any, largest_distance: Any) -> Any:
    """Bound on |c - v_j|: (1 - weight) * the largest |v_i - v_j|.  0 <= weight <= 1."""
    return form("copy_error_bound", "ddd", weight, largest_distance)


@overload
def copy_error(n: float, gap: float) -> float: ...
@overload
def copy_error(n: Numbers, gap: Numbers) -> Array: ...
def copy_error(n: Any, gap: Any) -> Any:
    """|c - v_j| for orthonormal values and equal gaps: (1 - p_j) sqrt(1 + 1/(n-1)).
    n >= 2
    """
    return form("copy_error", "ddd", n, gap)


@overload
def gap_sum_exact(n: float, format: Format) -> float: ...
@overload
def gap_sum_exact(n: Numbers, format: Format) -> Array: ...
def gap_sum_exact(n: Any, format: Any) -> Any:
    """Gap above which 1 + (n-1) e^-gap rounds to 1 in this format.  n >= 2."""
    return form("gap_sum_exact", "ddf", n, format)


@overload
def gap_weight_exact(n: float, format: Format) -> float: ...
@overload
def gap_weight_exact(n: Numbers, format: Format) -> Array: ...
def gap_weight_exact(n: Any, format: Any) -> Any:
    """Gap above which the correctly rounded weight is 1 in this format.  n >= 2."""
    return form("gap_weight_exact", "ddf", n, format)


def gap_underflow(format: Format, flush: bool = False) -> float:
    """Gap above which e^-gap rounds to 0 in this format, or with `flush` is flushed to it."""
    found: float = call("gap_underflow", "dfb", format, flush)
    return found


@overload
def extract_error(n: float, beta: float) -> float: ...
@overload
def extract_error(n: Numbers, beta: Numbers) -> Array: ...
def extract_error(n: Any, beta: Any) -> Any:
    """|2 M c - v_a| / |v_a| when c is the average of a and b at query scale beta (score
    beta) and M removes every other value: |2 p_a - 1|, which is the leak.  n >= 2.
    """
    return form("extract_error", "ddd", n, beta)


@overload
def average_weight(n: float, m: float, beta: float) -> float: ...
@overload
def average_weight(n: Numbers, m: Numbers, beta: Numbers) -> Array: ...
def average_weight(n: Any, m: Any, beta: Any) -> Any:
    """Weight of one of m keys of score beta beside n - m of score 0.

    1 <= m <= n, any beta, +-inf too.
    """
    return form("average_weight", "dddd", n, m, beta)


@overload
def average_leak(n: float, m: float, beta: float) -> float: ...
@overload
def average_leak(n: Numbers, m: Numbers, beta: Numbers) -> Array: ...
def average_leak(n: Any, m: Any, beta: Any) -> Any:
    """Weight outside m keys of score beta, beside n - m of score 0.

    1 <= m <= n, any beta, +-inf too.
    """
    return form("average_leak", "dddd", n, m, beta)


@overload
def average_scale_needed(n: float, m: float, eps: float, tau: float) -> float: ...
@overload
def average_scale_needed(n: Numbers, m: Numbers, eps: Numbers, tau: Numbers) -> Array: ...
def average_scale_needed(n: Any, m: Any, eps: Any, tau: Any) -> Any:
    """Smallest query scale with leak <= eps, when scores are tau times products: divided by
    tau, so tau = 1/sqrt(d) multiplies it by sqrt(d).  0 < eps < 1, tau > 0; -inf for
    n = m, where every scale will do.
    """
    return form("average_scale_needed", "ddddd", n, m, eps, tau)


@overload
def weighted_leak(n: float, m: float, beta: float) -> float: ...
@overload
def weighted_leak(n: Numbers, m: Numbers, beta: Numbers) -> Array: ...
def weighted_leak(n: Any, m: Any, beta: Any) -> Any:
    """Leak of a weighted_query: (n-m) / (e^beta + n - m)."""
    return form("weighted_leak", "dddd", n, m, beta)


@overload
def weighted_scale_needed(n: float, m: float, eps: float, tau: float) -> float: ...
@overload
def weighted_scale_needed(n: Numbers, m: Numbers, eps: Numbers, tau: Numbers) -> Array: ...
def weighted_scale_needed(n: Any, m: Any, eps: Any, tau: Any) -> Any:
    """Smallest beta / tau of a weighted_query with leak <= eps."""
    return form("weighted_scale_needed", "ddddd", n, m, eps, tau)


def law_one_head(n: float, C: float, sigma2: float) -> Law:
    """q = C (mu_a + mu_b), alpha = 0, only key a of magnitude noise sigma2: law of p_a among
    all n keys.  n >= 2, sigma2 >= 0, finite C.
    """
    found: Law = call("law_one_head", "Lddd", n, C, sigma2)
    return found


def law_pair(C: float, sigma2: float, alpha: float) -> Law:
    """Law of p_a / (p_a + p_b) for q = C (mu_a + mu_b), any n, alpha >= 0.

    Y ~ N(0, C^2 (4 alpha + sigma2)).  At n = 2 this is p_a itself.
    """
    found: Law = call("law_pair", "Lddd", C, sigma2, alpha)
    return found


def law_two_heads(n: float, C: float, sigma2: float) -> Law:
    """q = C mu_a: law of p_a, Y ~ N(C - ln(n-1), C^2 sigma2).  n >= 2, sigma2 >= 0."""
    found: Law = call("law_two_heads", "Lddd", n, C, sigma2)
    return found


def law_given_positive(law: Law, sigma2: float) -> Law:
    """The same law given gamma_a > 0, for law_one_head and law_two_heads with C > 0 and
    this sigma2 > 0: floor = mean - sd / sqrt(sigma2).
    """
    found: Law = call("law_given_positive", "LLd", law, sigma2)
    return found


def weight_mean(law: Law) -> float:
    """E w, by quadrature.  sd >= 0."""
    found: float = call("weight_mean", "dL", law)
    return found


def weight_variance(law: Law) -> float:
    """Var w, by quadrature.  sd >= 0."""
    found: float = call("weight_variance", "dL", law)
    return found


def weight_abs_deviation(law: Law) -> float:
    """E|w - 1/2|, by quadrature.  sd >= 0."""
    found: float = call("weight_abs_deviation", "dL", law)
    return found


@overload
def weight_cdf(law: Law, x: float) -> float: ...
@overload
def weight_cdf(law: Law, x: Numbers) -> Array: ...
def weight_cdf(law: Any, x: Any) -> Any:
    """P(w <= x).  0 <= x <= 1."""
    return form("weight_cdf", "dLd", law, x)


@overload
def weight_quantile(law: Law, probability: float) -> float: ...
@overload
def weight_quantile(law: Law, probability: Numbers) -> Array: ...
def weight_quantile(law: Any, probability: Any) -> Any:
    """Inverse of weight_cdf.  0 <= probability <= 1."""
    return form("weight_quantile", "dLd", law, probability)


@overload
def weight_density(law: Law, w: float) -> float: ...
@overload
def weight_density(law: Law, w: Numbers) -> Array: ...
def weight_density(law: Any, w: Any) -> Any:
    """Density at 0 <= w <= 1; 0 at the ends.  sd > 0."""
    return form("weight_density", "dLd", law, w)


@overload
def weight_outside(law: Law, delta: float) -> float: ...
@overload
def weight_outside(law: Law, delta: Numbers) -> Array: ...
def weight_outside(law: Any, delta: Any) -> Any:
    """P(w < delta or w > 1 - delta).  0 < delta <= 1/2."""
    return form("weight_outside", "dLd", law, delta)


@overload
def bimodal_scale(n: float, sigma2: float) -> float: ...
@overload
def bimodal_scale(n: Numbers, sigma2: Numbers) -> Array: ...
def bimodal_scale(n: Any, sigma2: Any) -> Any:
    """The C above which law_one_head(n, C, sigma2) has two modes: sqrt(2 / sigma2) at n = 2.
    n >= 2, sigma2 > 0.
    """
    return form("bimodal_scale", "ddd", n, sigma2)


@overload
def weight_variance_small(T: float) -> float: ...
@overload
def weight_variance_small(T: Numbers) -> Array: ...
def weight_variance_small(T: Any) -> Any:
    """Var w for mean 0 and small T = sd: T^2 / 16."""
    return form("weight_variance_small", "dd", T)


@overload
def weight_variance_large(T: float) -> float: ...
@overload
def weight_variance_large(T: Numbers) -> Array: ...
def weight_variance_large(T: Any) -> Any:
    """Var w for mean 0 and large T = sd: two terms in 1/T."""
    return form("weight_variance_large", "dd", T)


@overload
def weight_variance_arcsin(T: float) -> float: ...
@overload
def weight_variance_arcsin(T: Numbers) -> Array: ...
def weight_variance_arcsin(T: Any) -> Any:
    """Var w for mean 0 and T = sd >= 0, by an arcsine: within 6.2%."""
    return form("weight_variance_arcsin", "dd", T)


@overload
def weight_abs_deviation_arctan(T: float) -> float: ...
@overload
def weight_abs_deviation_arctan(T: Numbers) -> Array: ...
def weight_abs_deviation_arctan(T: Any) -> Any:
    """E|w - 1/2| for mean 0 and T = sd >= 0, by an arctangent: within 2.8%."""
    return form("weight_abs_deviation_arctan", "dd", T)


def weight_mean_probit(law: Law) -> float:
    """E logistic(Y), any mean, by Phi(l mean / sqrt(1 + l^2 sd^2)), l^2 = pi/8."""
    found: float = call("weight_mean_probit", "dL", law)
    return found


@overload
def spread_for_variance(variance: float) -> float: ...
@overload
def spread_for_variance(variance: Numbers) -> Array: ...
def spread_for_variance(variance: Any) -> Any:
    """The T with weight_variance(0, T) = variance.  0 <= variance < 1/4."""
    return form("spread_for_variance", "dd", variance)


@overload
def swap_probability(margin: float, sd: float) -> float: ...
@overload
def swap_probability(margin: Numbers, sd: Numbers) -> Array: ...
def swap_probability(margin: Any, sd: Any) -> Any:
    """Two scores `margin` >= 0 apart, each with independent noise of standard deviation
    sd >= 0: probability that they change places.  NaN where both are 0.
    """
    return form("swap_probability", "ddd", margin, sd)


@overload
def window_scale_min(n: float, eps: float) -> float: ...
@overload
def window_scale_min(n: Numbers, eps: Numbers) -> Array: ...
def window_scale_min(n: Any, eps: Any) -> Any:
    """Smallest C of q = C (mu_a + mu_b) with leak <= eps; -inf for n = 2."""
    return form("window_scale_min", "ddd", n, eps)


@overload
def window_scale_max(alpha: float, sigma2: float, variance: float) -> float: ...
@overload
def window_scale_max(alpha: Numbers, sigma2: Numbers, variance: Numbers) -> Array: ...
def window_scale_max(alpha: Any, sigma2: Any, variance: Any) -> Any:
    """Largest C at this noise for which Var p_a/(p_a+p_b) <= variance.

    +inf where there is no noise.  0 < variance < 1/4, alpha, sigma2 >= 0.
    """
    return form("window_scale_max", "dddd", alpha, sigma2, variance)


@overload
def window_alpha_max(C: float, sigma2: float, variance: float) -> float: ...
@overload
def window_alpha_max(C: Numbers, sigma2: Numbers, variance: Numbers) -> Array: ...
def window_alpha_max(C: Any, sigma2: Any, variance: Any) -> Any:
    """Largest alpha at this C for which Var p_a/(p_a+p_b) <= variance.

    0 where sigma2 alone exceeds it.  0 < variance < 1/4, sigma2 >= 0, C > 0.
    """
    return form("window_alpha_max", "dddd", C, sigma2, variance)


@overload
def window_scale_limit(alpha: float) -> float: ...
@overload
def window_scale_limit(alpha: Numbers) -> Array: ...
def window_scale_limit(alpha: Any) -> Any:
    """The rule of thumb C << 1/(2 sqrt alpha).  alpha >= 0."""
    return form("window_scale_limit", "dd", alpha)


@overload
def window_alpha_limit(n: float, eps: float) -> float: ...
@overload
def window_alpha_limit(n: Numbers, eps: Numbers) -> Array: ...
def window_alpha_limit(n: Any, eps: Any) -> Any:
    """The rule of thumb alpha << 1/(4 ln^2(n / 2 eps)).  n > 2 eps."""
    return form("window_alpha_limit", "ddd", n, eps)


def scene_exercise(n: float, sigma2: float, positive: bool = False) -> Scene:
    """The exercise: tau 1, alpha 0, only key a noisy, no softcap."""
    found: Scene = call("scene_exercise", "Sddb", n, sigma2, positive)
    return found


def head(scene: Scene, query: Query) -> Output:
    """One head.  Exact for every scene with score standard deviations up to 2000, and beyond
    where heads() says so for alpha = 0; all fields NaN otherwise.
    """
    found: Output = call("head", "OSQ", scene, query)
    return found


def heads_covariance(scene: Scene, q1: Query, q2: Query) -> float:
    """E <c1 - E c1, c2 - E c2> of two heads; where heads() is exact, NaN otherwise."""
    found: float = call("heads_covariance", "dSQQ", scene, q1, q2)
    return found


@overload
def head_cdf(scene: Scene, query: Query, x: float) -> float: ...
@overload
def head_cdf(scene: Scene, query: Query, x: Numbers) -> Array: ...
def head_cdf(scene: Any, query: Any, x: Any) -> Any:
    """P(p_a <= x) in one head, 0 <= x <= 1; x = 1/2 is "head 1 loses".  alpha = 0, and
    sigma2[REST] = 0 or query.rest = 0; NaN otherwise.
    """
    return form("head_cdf", "dSQd", scene, query, x)


def score_covariance(scene: Scene, q1: Query, q2: Query, key: int) -> float:
    """Cov of s_i in head 1 and head 2, i of kind `key` (A, B or REST); no softcap."""
    found: float = call("score_covariance", "dSQQi", scene, q1, q2, key)
    return found


def score_correlation(scene: Scene, q1: Query, q2: Query, key: int) -> float:
    """Correlation of s_i in head 1 and head 2, i of kind `key`; NaN where a score is sure."""
    found: float = call("score_correlation", "dSQQi", scene, q1, q2, key)
    return found


def score_gap_variance(scene: Scene, query: Query, x: int, y: int) -> float:
    """Var(s_x - s_y) for two different keys of kinds x and y (A, B or REST)."""
    found: float = call("score_gap_variance", "dSQii", scene, query, x, y)
    return found


def one_head_limit(sigma2: float, positive: bool = False) -> Output:
    """C -> inf of q = C (mu_a + mu_b) in the exercise; sigma2 >= 0."""
    found: Output = call("one_head_limit", "Odb", sigma2, positive)
    return found


def two_heads_limit(n: float, sigma2: float, positive: bool = False) -> Output:
    """C -> inf of the heads C mu_a and C mu_b in the exercise; sigma2 >= 0."""
    found: Output = call("two_heads_limit", "Oddb", n, sigma2, positive)
    return found


def window_limit(n: float, alpha: float, sigma2: float) -> Output:
    """C -> inf of q = C (mu_a + mu_b) at fixed noise: alpha on every key, sigma2 on key a.
    The key of the largest score takes all, so that mean[i] is its probability (T8).
    alpha = 0: one_head_limit.  n >= 2.
    """
    found: Output = call("window_limit", "Oddd", n, alpha, sigma2)
    return found


@overload
def mse_one(n: float, C: float, sigma2: float, positive: bool = False) -> float: ...
@overload
def mse_one(n: Numbers, C: Numbers, sigma2: Numbers, positive: bool = False) -> Array: ...
def mse_one(n: Any, C: Any, sigma2: Any, positive: bool = False) -> Any:
    """Mean squared error of one head in the exercise, C >= 0 or +inf."""
    return form("mse_one", "ddddb", n, C, sigma2, positive)


@overload
def mse_two(n: float, C: float, sigma2: float, positive: bool = False) -> float: ...
@overload
def mse_two(n: Numbers, C: Numbers, sigma2: Numbers, positive: bool = False) -> Array: ...
def mse_two(n: Any, C: Any, sigma2: Any, positive: bool = False) -> Any:
    """Mean squared error of two heads in the exercise, C >= 0 or +inf."""
    return form("mse_two", "ddddb", n, C, sigma2, positive)


@overload
def head_loses(n: float, C: float, sigma2: float, positive: bool = False) -> float: ...
@overload
def head_loses(n: Numbers, C: Numbers, sigma2: Numbers, positive: bool = False) -> Array: ...
def head_loses(n: Any, C: Any, sigma2: Any, positive: bool = False) -> Any:
    """P(head 1 loses) = P(w1 < 1/2), q1 = C mu_a, C > 0 or inf: Phi((ln(n-1)/C - 1)/sigma)."""
    return form("head_loses", "ddddb", n, C, sigma2, positive)


@overload
def crossover_scale(n: float, sigma2: float, positive: bool = False) -> float: ...
@overload
def crossover_scale(n: Numbers, sigma2: Numbers, positive: bool = False) -> Array: ...
def crossover_scale(n: Any, sigma2: Any, positive: bool = False) -> Any:
    """Two heads have the smaller mse for every C in (result, 1000]; 0 when for every C > 0.
    NaN when not even at 1000.  n >= 3, sigma2 > 0.
    """
    return form("crossover_scale", "dddb", n, sigma2, positive)


def unit_keys(scene: Scene, query: Query) -> Output:
    """One head on keys k_i / |k_i| (QK-norm).  alpha = 0, else NaN: k_i becomes mu_i times
    the sign of gamma_i.
    """
    found: Output = call("unit_keys", "OSQ", scene, query)
    return found


def unit_keys_limit(sigma2: float, positive: bool = False) -> Output:
    """Limit of unit_keys for q = C (mu_a + mu_b), only key a noisy: variance p (1 - p) / 4."""
    found: Output = call("unit_keys_limit", "Odb", sigma2, positive)
    return found


def suppression_query(B: float) -> Query:
    """q = -B sum of the others: Query(0, 0, -B)."""
    found: Query = call("suppression_query", "Qd", B)
    return found


@overload
def suppression_norm(n: float, B: float) -> float: ...
@overload
def suppression_norm(n: Numbers, B: Numbers) -> Array: ...
def suppression_norm(n: Any, B: Any) -> Any:
    """|q| of a suppression_query: B sqrt(n - 2)."""
    return form("suppression_norm", "ddd", n, B)


@overload
def groups_mse_positive(m: float, h: float) -> float: ...
@overload
def groups_mse_positive(m: Numbers, h: Numbers) -> Array: ...
def groups_mse_positive(m: Any, h: Any) -> Any:
    """Error of h heads for m targets given every gamma > 0, C -> inf: 1/h - 1/m.

    h divides m, else NaN.
    """
    return form("groups_mse_positive", "ddd", m, h)


@overload
def groups_mse_flips(m: float, h: float, n: float, sigma2: float) -> float: ...
@overload
def groups_mse_flips(m: Numbers, h: Numbers, n: Numbers, sigma2: Numbers) -> Array: ...
def groups_mse_flips(m: Any, h: Any, n: Any, sigma2: Any) -> Any:
    """Error of h heads for m of n keys with sign flips, C -> inf.

    Every target has magnitude noise sigma2 > 0; h heads of m/h targets each.  h divides m,
    else NaN.
    """
    return form("groups_mse_flips", "ddddd", m, h, n, sigma2)


@overload
def groups_mse_first_order(m: float, n: float, sigma2: float) -> float: ...
@overload
def groups_mse_first_order(m: Numbers, n: Numbers, sigma2: Numbers) -> Array: ...
def groups_mse_first_order(m: Any, n: Any, sigma2: Any) -> Any:
    """groups_mse_flips at h = m to first order in 1 - p: ((1-p)/m)(1 + 1/(n-1))."""
    return form("groups_mse_first_order", "dddd", m, n, sigma2)


@overload
def best_heads(m: float, n: float, sigma2: float) -> float: ...
@overload
def best_heads(m: Numbers, n: Numbers, sigma2: Numbers) -> Array: ...
def best_heads(m: Any, n: Any, sigma2: Any) -> Any:
    """The divisor h of m <= 1e6 with the least groups_mse_flips."""
    return form("best_heads", "dddd", m, n, sigma2)


@overload
def dispersion_bound(n: float, range: float) -> float: ...
@overload
def dispersion_bound(n: Numbers, range: Numbers) -> Array: ...
def dispersion_bound(n: Any, range: Any) -> Any:
    """Largest weight that n logits within `range` >= 0 of each other allow.  n >= 1."""
    return form("dispersion_bound", "ddd", n, range)


@overload
def dispersion_range_needed(n: float, weight: float) -> float: ...
@overload
def dispersion_range_needed(n: Numbers, weight: Numbers) -> Array: ...
def dispersion_range_needed(n: Any, weight: Any) -> Any:
    """The range that allows `weight`, 1/n <= weight <= 1, for one of n >= 2 keys."""
    return form("dispersion_range_needed", "ddd", n, weight)


@overload
def collision_probability(d: float, m: float) -> float: ...
@overload
def collision_probability(d: Numbers, m: Numbers) -> Array: ...
def collision_probability(d: Any, m: Any) -> Any:
    """P(<k, u> > 1/sqrt(m)) for a random unit vector k and a fixed one u in d dimensions: a
    key beats m orthonormal targets.  0 for m = 1, 1/2 for m = inf.  d >= 2, m >= 1.
    """
    return form("collision_probability", "ddd", d, m)


@overload
def collision_size(d: float, m: float) -> float: ...
@overload
def collision_size(d: Numbers, m: Numbers) -> Array: ...
def collision_size(d: Any, m: Any) -> Any:
    """1 / collision_probability(d, m)."""
    return form("collision_size", "ddd", d, m)


@overload
def random_entropy(n: float, S: float) -> float: ...
@overload
def random_entropy(n: Numbers, S: Numbers) -> Array: ...
def random_entropy(n: Any, S: Any) -> Any:
    """Mean entropy of the softmax of n independent logits N(0, S^2), by quadrature.

    1 <= n <= 1e15, 0 <= S <= 1000.
    """
    return form("random_entropy", "ddd", n, S)


@overload
def random_sum_squares(n: float, S: float) -> float: ...
@overload
def random_sum_squares(n: Numbers, S: Numbers) -> Array: ...
def random_sum_squares(n: Any, S: Any) -> Any:
    """Mean of sum p^2 of the softmax of n independent logits N(0, S^2), by quadrature.

    1 <= n <= 1e15, 0 <= S <= 1000.
    """
    return form("random_sum_squares", "ddd", n, S)


@overload
def random_entropy_limit(n: float, S: float) -> float: ...
@overload
def random_entropy_limit(n: Numbers, S: Numbers) -> Array: ...
def random_entropy_limit(n: Any, S: Any) -> Any:
    """random_entropy for large n, to leading order in ln n: ln n - S^2/2, 0 if frozen."""
    return form("random_entropy_limit", "ddd", n, S)


@overload
def random_keys_limit(n: float, S: float) -> float: ...
@overload
def random_keys_limit(n: Numbers, S: Numbers) -> Array: ...
def random_keys_limit(n: Any, S: Any) -> Any:
    """Effective keys for large n: n e^-S^2 for S^2 < (ln n)/2, NaN above."""
    return form("random_keys_limit", "ddd", n, S)


@overload
def random_sum_squares_limit(n: float, S: float) -> float: ...
@overload
def random_sum_squares_limit(n: Numbers, S: Numbers) -> Array: ...
def random_sum_squares_limit(n: Any, S: Any) -> Any:
    """Frozen, S > sqrt(2 ln n): E sum p^2 = 1 - sqrt(2 ln n)/S; NaN below."""
    return form("random_sum_squares_limit", "ddd", n, S)


@overload
def freezing_spread(n: float) -> float: ...
@overload
def freezing_spread(n: Numbers) -> Array: ...
def freezing_spread(n: Any) -> Any:
    """The spread sqrt(2 ln n) of logits above which one of n keys holds all weight."""
    return form("freezing_spread", "dd", n)


@overload
def entropy_floor(n: float, r: float) -> float: ...
@overload
def entropy_floor(n: Numbers, r: Numbers) -> Array: ...
def entropy_floor(n: Any, r: Any) -> Any:
    """Least entropy of n keys whose centred logits have norm r >= 0, attained by one spike.
    n >= 2, or n = 1 and r = 0.
    """
    return form("entropy_floor", "ddd", n, r)


@overload
def sinusoid_dot(d: int, offset: float) -> float: ...
@overload
def sinusoid_dot(d: Numbers, offset: Numbers) -> Array: ...
def sinusoid_dot(d: Any, offset: Any) -> Any:
    """<phi_t, phi_t'> for t' - t = offset."""
    return form("sinusoid_dot", "dld", d, offset)


@overload
def sinusoid_distance(d: int, offset: float) -> float: ...
@overload
def sinusoid_distance(d: Numbers, offset: Numbers) -> Array: ...
def sinusoid_distance(d: Any, offset: Any) -> Any:
    """|phi_t - phi_t'| for t' - t = offset."""
    return form("sinusoid_distance", "dld", d, offset)
