/* SPDX-License-Identifier: MIT */
/* Letters of keys, heads and their laws. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measure/frames.h"
#include "lab/measure/random.h"
#include "lab/judge/scope.h"

enum { S = LAB_SPACE };

struct keys_room {
    double scale, n, alpha, m, high;
    double mean[S][S], value[S][S], sigma[S][S * S]; /* of a, b and another key */
    double query[LAB_HEADS][S];
    struct lab_draw draw; /* the one put in */
    double output[S], off, other;
    struct lab_spread spread;
    double still, rival;
    double deviation, share_deviation;
    double gamma_mean, gamma_variance, gamma_b_mean, gamma_b_variance, inside, closer,
        shorter, lowered;
    double score_variance[2], isotropic_variance, drawn_variance[3];
    double at_half[S], at_three_halves[S];
    double weight_sum, definition, output_off, first_off, masked;
    double eps, sigma_a, count, weight_mean, to_average, rival_to_average, correlation;
    double above, lose;
};

#define ROOM(name, needs, rows, field) LAB_LETTER(keys_room, name, needs, rows, 1, field)
#define MATRIX(name, needs, field) LAB_LETTER(keys_room, name, needs, S, S, field)

static const struct lab_place letters[] = {
    /* First, so that a claim may call its scale c. */
    ROOM("scale", 0, 1, scale),
    ROOM("C", 0, 1, scale),
    ROOM("beta", 0, 1, scale),
    ROOM("r", 0, 1, scale),
    ROOM("n", 0, 1, n),
    ROOM("d", 0, 1, n),
    ROOM("m", 0, 1, m),
    ROOM("high", 0, 1, high),
    ROOM("alpha", 0, 1, alpha),
    MATRIX("I", 0, value),
    ROOM("v_a", 0, S, value[0]),
    ROOM("v_b", 0, S, value[1]),
    ROOM("v_i", 0, S, value[2]),
    ROOM("mu_a", LAB_NEEDS_WORLD, S, mean[0]),
    ROOM("mu_b", LAB_NEEDS_WORLD, S, mean[1]),
    ROOM("mu_i", LAB_NEEDS_WORLD, S, mean[2]),
    ROOM("m_a", LAB_NEEDS_WORLD, S, mean[0]),
    ROOM("m_b", LAB_NEEDS_WORLD, S, mean[1]),
    MATRIX("Sigma_a", LAB_NEEDS_WORLD, sigma[0]),
    MATRIX("Sigma_b", LAB_NEEDS_WORLD, sigma[1]),
    MATRIX("Sigma_i", LAB_NEEDS_WORLD, sigma[2]),
    MATRIX("Sigma_j", LAB_NEEDS_WORLD, sigma[2]),
    ROOM("VarS_a", LAB_NEEDS_WORLD, 1, score_variance[0]),
    ROOM("VarS_b", LAB_NEEDS_WORLD, 1, score_variance[1]),
    ROOM("VarS_i", LAB_NEEDS_WORLD, 1, isotropic_variance),
    ROOM("eps", 0, 1, eps),
    ROOM("gamma", LAB_NEEDS_GAMMA, 1, draw.gamma),
    ROOM("eps_a", LAB_NEEDS_GAMMA, 1, draw.gamma),
    ROOM("eps_b", LAB_NEEDS_GAMMA, 1, draw.gamma_b),
    ROOM("k_a", LAB_NEEDS_KEYS, S, draw.key[0]),
    ROOM("k_b", LAB_NEEDS_KEYS, S, draw.key[1]),
    ROOM("k_i", LAB_NEEDS_KEYS, S, draw.key[2]),
    ROOM("s_a", LAB_NEEDS_HEADS, 1, draw.head[0].score[0]),
    ROOM("s_b", LAB_NEEDS_HEADS, 1, draw.head[0].score[1]),
    ROOM("s_i", LAB_NEEDS_HEADS, 1, draw.head[0].score[2]),
    ROOM("alpha_a", LAB_NEEDS_HEADS, 1, draw.head[0].output[0]),
    ROOM("alpha_b", LAB_NEEDS_HEADS, 1, draw.head[0].output[1]),
    ROOM("alpha_2b", LAB_NEEDS_HEADS, 1, draw.head[1].output[1]),
    ROOM("rest", LAB_NEEDS_HEADS, 1, draw.head[0].rest),
    ROOM("alpha_o", LAB_NEEDS_HEADS, 1, other),
    ROOM("alpha_i", LAB_NEEDS_HEADS, S, draw.head[0].output),
    MATRIX("N_i", 0, value), /* N_i alpha_i is the sum */
    ROOM("c_1", LAB_NEEDS_HEADS, S, draw.head[0].output),
    ROOM("c_2", LAB_NEEDS_HEADS, S, draw.head[1].output),
    ROOM("c", LAB_NEEDS_HEADS, S, output),
    ROOM("off", LAB_NEEDS_HEADS, 1, off),
    ROOM("P_above", LAB_NEEDS_HEADS, 1, above),
    ROOM("E_gamma", LAB_NEEDS_SHARE, 1, gamma_mean),
    ROOM("Var_gamma", LAB_NEEDS_SHARE, 1, gamma_variance),
    ROOM("E_gamma_b", LAB_NEEDS_SHARE, 1, gamma_b_mean),
    ROOM("Var_gamma_b", LAB_NEEDS_SHARE, 1, gamma_b_variance),
    ROOM("P_inside", LAB_NEEDS_SHARE, 1, inside),
    ROOM("P_closer", LAB_NEEDS_LAW, 1, closer),
    ROOM("P_shorter", LAB_NEEDS_LAW, 1, shorter),
    ROOM("P_lowered", LAB_NEEDS_LAW, 1, lowered),
    ROOM("V_1", LAB_NEEDS_LAW, 1, spread.head[0]),
    ROOM("V_2", LAB_NEEDS_LAW, 1, spread.head[1]),
    ROOM("V_c", LAB_NEEDS_LAW, 1, spread.mean),
    ROOM("Cov_12", LAB_NEEDS_LAW, 1, spread.cross),
    ROOM("D_1", LAB_NEEDS_LAW, 1, deviation),
    ROOM("D_share", LAB_NEEDS_LAW, 1, share_deviation),
    ROOM("Var_s_a", LAB_NEEDS_LAW, 1, drawn_variance[0]),
    ROOM("Var_s_b", LAB_NEEDS_LAW, 1, drawn_variance[1]),
    ROOM("Var_s_2b", LAB_NEEDS_LAW, 1, drawn_variance[2]),
    ROOM("E_alpha_a", LAB_NEEDS_LAW, 1, weight_mean),
    ROOM("E_c", LAB_NEEDS_LAW, 1, to_average),
    ROOM("R_12", LAB_NEEDS_LAW, 1, correlation),
    ROOM("draws", LAB_NEEDS_LAW, 1, count),
    ROOM("P_lose", LAB_NEEDS_LOSE, 1, lose),
    ROOM("V_still", LAB_NEEDS_STILL, 1, still),
    ROOM("V_one", LAB_NEEDS_RIVAL, 1, rival),
    ROOM("E_one", LAB_NEEDS_RIVAL, 1, rival_to_average),
    ROOM("c_short", LAB_NEEDS_ENDS, S, at_half),
    ROOM("c_long", LAB_NEEDS_ENDS, S, at_three_halves),
    ROOM("sum_p", LAB_NEEDS_SOFTMAX, 1, weight_sum),
    ROOM("off_p", LAB_NEEDS_SOFTMAX, 1, definition),
    ROOM("off_c", LAB_NEEDS_SOFTMAX, 1, output_off),
    ROOM("off_c_m", LAB_NEEDS_SOFTMAX, 1, first_off),
    ROOM("p_masked", LAB_NEEDS_SOFTMAX, 1, masked),
};

static void set_covariances(struct keys_room *room, const struct lab_point *point)
{
    const double along[S] = {point->exercise->sigma2, point->exercise->sigma2_b, 0};
    const double alpha = lab_point_alpha(point);
    for (int i = 0; i < S; i++)
        for (int r = 0; r < S; r++)
            for (int c = 0; c < S; c++)
                room->sigma[i][r * S + c] =
                    (r == c ? alpha : 0) + along[i] * room->mean[i][r] * room->mean[i][c];
}

static int open_keys(struct lab_scope *scope)
{
    const struct lab_point *const point = scope->point;
    const char *const grows = scope->claim->grows;
    struct keys_room *const room = scope->room;
    room->scale = point->scale;
    room->n = (double)point->n;
    room->alpha = point->alpha;
    room->m = LAB_WORLD_M;
    room->high = LAB_HIGH;
    room->eps = point->eps;
    room->sigma_a = sqrt(point->exercise->sigma2);
    lab_world_means(point->exercise, room->mean);
    for (int i = 0; i < S; i++)
        room->value[i][i] = 1;
    memcpy(room->draw.key, room->mean, sizeof room->mean);
    set_covariances(room, point);
    if (grows && !strcmp(grows, "c"))
        scope->letter[0].name = grows;
    return 0;
}

/* ---- queries ------------------------------------------------------------------ */

static int evaluate_query(struct lab_scope *scope, const struct lab_given *given,
                          double *query)
{
    static const char *const scales[] = {"C", "beta", "r", "c"};
    struct lab_value value;
    double unit = scope->point->exercise->unit;

    if (lab_scope_value(scope, given->text, &given->formula, &value))
        return LAB_ILL_FORMED;
    if (value.rows != S || value.columns != 1) {
        snprintf(scope->why, LAB_WHY, "%s is %d x %d, no query", given->text, value.rows,
                 value.columns);
        return LAB_ILL_FORMED;
    }
    for (int i = 0; i < 4; i++)
        if (lab_expression_uses(&given->formula, scales[i]))
            unit = 1;
    for (int i = 0; i < S; i++)
        query[i] = unit * value.x[i];
    return 0;
}

/* q^T Sigma q for a key with this variance along its mean. */
static double score_variance(const struct keys_room *room, const struct lab_point *point,
                             const double *mean, double sigma2)
{
    const double tau = lab_point_tau(point), *const q = room->query[0];
    const double along = lab_dot(q, mean, S);
    return tau * tau *
           (lab_point_alpha(point) * lab_dot(q, q, S) + sigma2 * along * along);
}

static int fill_queries(struct lab_scope *scope)
{
    const struct lab_point *const point = scope->point;
    struct keys_room *const room = scope->room;
    if (scope->put && scope->put->heads)
        memcpy(room->query, scope->put->query, sizeof room->query);
    for (int h = 0; h < LAB_HEADS; h++)
        if (scope->parsed->query[h].text &&
            evaluate_query(scope, &scope->parsed->query[h], room->query[h]))
            return LAB_ILL_FORMED;
    room->score_variance[0] =
        score_variance(room, point, room->mean[0], point->exercise->sigma2);
    room->score_variance[1] =
        score_variance(room, point, room->mean[1], point->exercise->sigma2_b);
    room->isotropic_variance = score_variance(room, point, room->mean[2], 0);
    return 0;
}

/* ---- draws and their laws -------------------------------------------------------- */

static int heads_of(const struct lab_scope *scope)
{
    const struct lab_claim *const claim = scope->claim;
    if (scope->put && scope->put->heads)
        return scope->put->heads;
    return claim->query[1] ? 2 : claim->query[0] ? 1 : 0;
}

static double squared_to_average(const double *output)
{
    const double a = output[0] - 0.5, b = output[1] - 0.5;
    return a * a + b * b + output[2] * output[2];
}

static void mean_output(const struct lab_draw *draw, int heads, double *output)
{
    for (int i = 0; i < S; i++) {
        output[i] = 0;
        for (int h = 0; h < heads; h++)
            output[i] += draw->head[h].output[i] / heads;
    }
}

/* Root mean square distance of the mean of the heads from the average. */
static double distance_to_average(const struct lab_draws *draws, int heads)
{
    double sum = 0, output[S];
    for (int64_t x = 0; x < draws->count; x++) {
        mean_output(&draws->draw[x], heads, output);
        sum += draws->draw[x].weight * squared_to_average(output);
    }
    return sqrt(sum);
}

static void fill_shares(struct keys_room *room, const struct lab_draws *draws)
{
    const size_t gamma = offsetof(struct lab_draw, gamma);
    const size_t gamma_b = offsetof(struct lab_draw, gamma_b);
    for (int64_t x = 0; x < draws->count; x++) {
        const struct lab_draw *const draw = &draws->draw[x];
        const double *const score = draw->head[0].score;
        const int longer_a = fabs(draw->gamma) > fabs(draw->gamma_b);
        room->gamma_mean += draw->weight * draw->gamma;
        room->gamma_b_mean += draw->weight * draw->gamma_b;
        room->inside += draw->gamma >= 0.5 && draw->gamma <= 1.5 ? draw->weight : 0;
        /* Scores decide who is nearer also where both weights round to 0 or 1. */
        room->closer += score[0] > score[1] ? draw->weight : 0;
        room->shorter += longer_a != (score[0] > score[1]) ? draw->weight : 0;
        room->lowered +=
            draw->head[1].output[0] < (1 - LAB_ROUNDING) * draw->head[0].output[0]
                ? draw->weight
                : 0;
    }
    room->gamma_variance = lab_draws_covariance(draws, gamma, gamma);
    room->gamma_b_variance = lab_draws_covariance(draws, gamma_b, gamma_b);
}

/* Standard deviation of alpha_a / (alpha_a + alpha_b) in head 1. */
static double deviation_of_share(const struct lab_draws *draws)
{
    double mean = 0, square = 0;
    for (int64_t x = 0; x < draws->count; x++) {
        const double *const score = draws->draw[x].head[0].score;
        const double share = 1 / (1 + exp(score[1] - score[0]));
        mean += draws->draw[x].weight * share;
        square += draws->draw[x].weight * share * share;
    }
    return sqrt(fmax(0, square - mean * mean));
}

static void fill_law(struct keys_room *room, const struct lab_draws *draws, int heads)
{
    room->spread = lab_draws_spread(draws, heads);
    room->deviation =
        sqrt(lab_draws_covariance(draws, LAB_DRAW_OUTPUT(0, 0), LAB_DRAW_OUTPUT(0, 0)));
    const size_t s_a = LAB_DRAW_SCORE(0, 0), s_b = LAB_DRAW_SCORE(0, 1),
                 s_2b = LAB_DRAW_SCORE(1, 1);
    room->drawn_variance[0] = lab_draws_covariance(draws, s_a, s_a);
    room->drawn_variance[1] = lab_draws_covariance(draws, s_b, s_b);
    room->drawn_variance[2] = lab_draws_covariance(draws, s_2b, s_2b);
    const double both = room->spread.head[0] * room->spread.head[1];
    room->correlation = both > 1e-36 ? room->spread.cross / sqrt(both) : 0;
    room->count = (double)draws->count;
    room->to_average = distance_to_average(draws, heads);
    for (int64_t x = 0; x < draws->count; x++)
        room->weight_mean += draws->draw[x].weight * draws->draw[x].head[0].output[0];
    room->share_deviation = deviation_of_share(draws);
}

/* The variance of head 1 with another query or without magnitude noise. */
static int one_head_variance(const struct lab_point *point, int magnitude,
                             const double *query, double *variance, double *to_average)
{
    struct lab_draws draws = {0};
    const int status = lab_world_heads(point, magnitude, 1, query, &draws);
    if (!status) {
        *variance = lab_draws_trace(&draws, 0, 0);
        *to_average = distance_to_average(&draws, 1);
    }
    free(draws.draw);
    return status;
}

static int output_at(const struct lab_point *point, double gamma, const double *query,
                     double *output)
{
    struct lab_draws draws = {0};
    const int status = lab_world_heads_at(point, gamma, 1, query, &draws);
    if (!status)
        memcpy(output, draws.draw->head[0].output, S * sizeof *output);
    free(draws.draw);
    return status;
}

/* A point whose keys have no isotropic noise. */
static struct lab_point without_noise(const struct lab_point *point)
{
    return (struct lab_point){.n = point->n, .scale = 1, .exercise = point->exercise};
}

/* P(alpha_a < 1/2), by the gamma at which it is 1/2, for a weight that grows with it. */
static int fill_lose(struct keys_room *room, const struct lab_point *point)
{
    const struct lab_point still = without_noise(point);
    double low = -60, high = 60, output[S];
    for (int step = 0; step < 80; step++) {
        const double gamma = (low + high) / 2;
        if (output_at(&still, gamma, room->query[0], output))
            return -1;
        *(output[0] < 0.5 ? &low : &high) = gamma;
    }
    const double z = ((low + high) / 2 - 1) / room->sigma_a;
    const double negative =
        point->given_positive ? 0.5 * erfc(1 / room->sigma_a / sqrt(2)) : 0;
    room->lose = fmax(0, 0.5 * erfc(-z / sqrt(2)) - negative) / (1 - negative);
    return 0;
}

/* Leaves the draws whose gamma is in the range, of total weight 1: 0, or -1. */
static int keep_range(struct lab_draws *draws, const struct lab_range *range)
{
    double sum = 0;
    int64_t count = 0;
    for (int64_t x = 0; x < draws->count; x++) {
        const struct lab_draw *const draw = &draws->draw[x];
        if (!(draw->gamma > range->from && draw->gamma < range->to))
            continue;
        sum += draw->weight;
        draws->draw[count++] = *draw;
    }
    for (int64_t x = 0; x < count; x++)
        draws->draw[x].weight /= sum;
    draws->count = count;
    return count ? 0 : -1;
}

static int fill_draws(struct lab_scope *scope, int heads)
{
    const struct lab_claim *const claim = scope->claim;
    const double *const query = ((struct keys_room *)scope->room)->query[0];
    const struct lab_point still = without_noise(scope->point);
    if (claim->range.on && claim->range.from >= claim->range.to)
        return lab_world_heads_at(&still, claim->range.from, heads, query, &scope->draws);
    if (claim->keys == LAB_KEYS_DRAWN) {
        const int status =
            lab_world_heads(scope->point, claim->magnitude, heads, query, &scope->draws);
        return status || !claim->range.on ? status
                                          : keep_range(&scope->draws, &claim->range);
    }
    return lab_world_heads_at(&still,
                              claim->keys == LAB_KEYS_GAMMA ? scope->point->gamma : 1,
                              heads, query, &scope->draws);
}

/* Scores, weights and values of a row of n keys. */
struct row {
    double *score, *weight, *value, *key;
    float *normal;
};

static int attend_row(const struct lab_point *point, const struct row *row, double *out)
{
    const double query = 0;
    return lab_exercise_forward(point->exercise,
                                (struct lab_problem){.nk = point->n,
                                                     .d = 1,
                                                     .dv = 1,
                                                     .q = &query,
                                                     .k = row->key,
                                                     .v = row->value,
                                                     .bias = row->score,
                                                     .scale = lab_point_tau(point),
                                                     .out = out,
                                                     .weights = row->weight});
}

/* Against exp(s_i) / sum exp(s_j), 0 <= p_i <= 1, sum p_i v_i and its first m terms. */
static void compare_row(struct keys_room *room, const struct row *row, int64_t n,
                        double out)
{
    double sum = 0, top = -INFINITY, product = 0, first = 0;
    for (int64_t i = 0; i < n; i++)
        top = fmax(top, row->score[i]);
    for (int64_t i = 0; i < n; i++)
        sum += exp(row->score[i] - top);
    for (int64_t i = 0; i < n; i++) {
        const double weight = row->weight[i];
        const double off = fabs(weight - exp(row->score[i] - top) / sum);
        room->definition = fmax(room->definition, off);
        room->weight_sum += weight < 0 || weight > 1 + LAB_ROUNDING ? NAN : weight;
        product += weight * row->value[i];
        first += i < LAB_WORLD_M ? weight * row->value[i] : 0;
    }
    room->output_off = fabs(product - out);
    room->first_off = fabs(first - out);
}

/* A row of scores from N(0, scale^2), and one in which only the first key is seen. */
static int fill_softmax(struct keys_room *room, const struct lab_point *point)
{
    enum { STREAM = 921 };
    const int64_t n = point->n;
    double *const memory = calloc(4 * (size_t)n, sizeof *memory), out;
    const struct row row = {memory, memory + n, memory + 2 * n, memory + 3 * n,
                            malloc(2 * (size_t)n * sizeof *row.normal)};
    int status = memory && row.normal ? 0 : -1;

    if (!status)
        lab_random_normals(point->exercise->seed, STREAM, 0, row.normal, 2 * n);
    for (int64_t i = 0; i < n && !status; i++) {
        row.score[i] = point->scale * (double)row.normal[i];
        row.value[i] = (double)row.normal[n + i];
    }
    if (!status)
        status = attend_row(point, &row, &out);
    if (!status)
        compare_row(room, &row, n, out);
    for (int64_t i = 0; i < n && !status; i++)
        row.score[i] = i ? -INFINITY : 0;
    if (!status)
        status = attend_row(point, &row, &out);
    if (!status)
        room->masked = row.weight[0];
    free(memory);
    free(row.normal);
    return status;
}

static int fill_keys(struct lab_scope *scope, unsigned needs)
{
    const struct lab_claim *const claim = scope->claim;
    const struct lab_point *const point = scope->point;
    const unsigned engine = LAB_NEEDS_HEADS | LAB_NEEDS_LAW;
    struct keys_room *const room = scope->room;
    const int heads = needs & engine ? heads_of(scope) : 0;
    double rival[S], ignored;
    int status = fill_queries(scope);

    if (!status && needs & (LAB_NEEDS_EACH | LAB_NEEDS_SHARE | LAB_NEEDS_LAW))
        status = fill_draws(scope, heads);
    if (!status && needs & (LAB_NEEDS_SHARE | LAB_NEEDS_LAW))
        fill_shares(room, &scope->draws);
    if (!status && needs & LAB_NEEDS_LAW)
        fill_law(room, &scope->draws, heads);
    if (!status && needs & LAB_NEEDS_STILL)
        status = one_head_variance(point, 0, room->query[0], &room->still, &ignored);
    if (!status && needs & LAB_NEEDS_RIVAL)
        status = evaluate_query(scope, &scope->parsed->rival, rival);
    if (!status && needs & LAB_NEEDS_RIVAL)
        status = one_head_variance(point, claim->magnitude, rival, &room->rival,
                                   &room->rival_to_average);
    if (!status && needs & LAB_NEEDS_ENDS)
        status = output_at(point, 0.5, room->query[0], room->at_half);
    if (!status && needs & LAB_NEEDS_ENDS)
        status = output_at(point, 1.5, room->query[0], room->at_three_halves);
    if (!status && needs & LAB_NEEDS_SOFTMAX)
        status = fill_softmax(room, point);
    if (!status && needs & LAB_NEEDS_LOSE)
        status = fill_lose(room, point);
    return status;
}

const struct lab_letters lab_letters_keys =
    LAB_LETTERS(letters, 0, keys_room, open_keys, fill_keys);

/* Distance from the nearest point of the segment between v_a and v_b. */
static double off_segment(const double *output)
{
    const double along = fmin(1, fmax(0, (output[0] - output[1] + 1) / 2));
    const double a = output[0] - along, b = output[1] - (1 - along);
    return sqrt(a * a + b * b + output[2] * output[2]);
}

/* P(gamma a > b) for gamma ~ N(1, sigma^2). */
static double probability_above(double a, double b, double sigma)
{
    if (a == 0)
        return b < 0;
    const double z = (1 - b / a) / sigma;
    return 0.5 * erfc((a > 0 ? -z : z) / sqrt(2));
}

void lab_scope_draw(struct lab_scope *scope, int64_t x)
{
    struct keys_room *const room = scope->room;
    const double *const score = room->draw.head[0].score;
    room->draw = scope->draws.draw[x];
    mean_output(&room->draw, heads_of(scope), room->output);
    room->above = probability_above(score[0], score[1], room->sigma_a);
    /* One other key: there is none at n = 2, where its weight would be this. */
    const struct lab_head *const head = &room->draw.head[0];
    const int base = head->output[1] > head->output[0];
    room->other = scope->point->n > 2 ? head->rest / ((double)scope->point->n - 2)
                                      : head->output[base] * exp(score[2] - score[base]);
    room->off = off_segment(room->draw.head[0].output);
}
