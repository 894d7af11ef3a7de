/* SPDX-License-Identifier: MIT */
#include "check/dense_stats.h"

#include <math.h>

/* Numbers beyond this are not checked. */
#define LIMIT 0x1p100

/* The keys of a row that count, one element each, with their bounds. */
struct keys {
    const struct check_problem *p;
    const struct check_model *model;
    struct check_expect *expect;
    int which;   /* model */
    double sums; /* r u */
    int64_t n, row, top;
    int64_t position, b, g; /* of the query; batch and key head */
    double m, log_l;
    double *key, *score, *weight, *log_weight;
    double *error, *apart, *moved; /* e_j, x_j and T_j */
    double *norm, *away;           /* |v| and |v - c| */
    double *f;                     /* for a mean */
};

enum { ARRAYS = 10 };

int64_t check_stats_room(int64_t nk) { return ARRAYS * nk; }

static void place_arrays(struct keys *k, double *room)
{
    double **const arrays[ARRAYS] = {&k->key,   &k->score, &k->weight, &k->log_weight,
                                     &k->error, &k->apart, &k->moved,  &k->norm,
                                     &k->away,  &k->f};

    for (int a = 0; a < ARRAYS; a++)
        *arrays[a] = room + a * k->p->nk;
}

/* ---- weights and what may become of them ---------------------------------- */

static void take_keys(struct keys *k, const struct check_row *scores)
{
    k->m = -INFINITY;
    for (int64_t at = 0; at < scores->n; at++)
        k->m = fmax(k->m, scores->score[at]);
    const double m = check_bound_row_max(k->m, scores->shift);
    for (int64_t at = 0; at < scores->n; at++) {
        if (scores->score[at] == -INFINITY)
            continue;
        if (scores->score[at] == k->m && (k->n == 0 || k->score[k->top] < k->m))
            k->top = k->n;
        k->key[k->n] = (double)scores->key[at];
        k->score[k->n] = scores->score[at];
        k->error[k->n++] =
            check_bound_score(k->model, scores->size[at], m, scores->tiny[at]);
    }
}

static void weigh(struct keys *k)
{
    double rest = 0.0;

    for (int64_t j = 0; j < k->n; j++)
        rest += j == k->top ? 0.0 : exp(k->score[j] - k->m);
    k->log_l = log1p(rest);
    for (int64_t j = 0; j < k->n; j++) {
        k->log_weight[j] = k->score[j] - k->m - k->log_l;
        k->weight[j] = exp(k->log_weight[j]);
    }
}

static void move_weights(struct keys *k)
{
    double total = 0.0, least = 0.0;

    for (int64_t j = 0; j < k->n; j++) {
        const double x = j == k->top ? 0.0 : k->error[j] + k->error[k->top];
        k->apart[j] = x;
        k->moved[j] = j == k->top
                          ? 0.0
                          : check_bound_excess(k->weight[j], k->log_weight[j], x) +
                                fmin(k->model->flush, exp(k->log_weight[j] + x));
        total += k->moved[j];
        least += check_bound_least(k->weight[j], x);
    }
    for (int64_t j = 0; j < k->n; j++)
        k->moved[j] = (k->moved[j] + total * k->weight[j]) / least;
}

/* ---- results -------------------------------------------------------------- */

struct judged {
    double value, bound;
};

static void put(const struct keys *k, struct check_values *to, int64_t at,
                struct judged result)
{
    const attend_dtype dtype = k->p->stats.dtype;
    const double inner = k->model->slack * result.bound;

    if (to->value == NULL)
        return;
    to->value[at] = result.value;
    to->bound[k->which][at] =
        result.bound < 0.0 || isnan(inner) ||
                (isfinite(result.value) && fabs(result.value) + inner > LIMIT)
            ? -1.0
            : inner + check_unit(dtype) * (fabs(result.value) + inner) +
                  check_smallest(dtype);
}

/* The column of statistic `stat`, if it is asked for. */
static void put_stat(const struct keys *k, attend_stat stat, struct judged result)
{
    const struct check_request *const stats = &k->p->stats;

    for (int c = 0; c < stats->columns; c++)
        if (stats->column[c] == stat)
            put(k, &k->expect->rows, k->row * stats->columns + c, result);
}

/* sum p f, f known to `share` of itself besides. */
static struct judged mean(const struct keys *k, double share)
{
    double value = 0.0, moved = 0.0;

    for (int64_t j = 0; j < k->n; j++)
        value += k->weight[j] * k->f[j];
    for (int64_t j = 0; j < k->n; j++)
        moved += k->moved[j] * fabs(k->f[j] - value);
    return (struct judged){value, moved + (4.0 * k->sums + share * k->model->u) *
                                              (fabs(value) + moved)};
}

/* ---- the statistics -------------------------------------------------------- */

static struct judged entropy(const struct keys *k)
{
    double value = 0.0, moved = 0.0;

    for (int64_t j = 0; j < k->n; j++)
        value -= k->weight[j] * k->log_weight[j];
    for (int64_t j = 0; j < k->n; j++) {
        const double weight = k->weight[j], by = k->moved[j];
        moved += by * fabs(-k->log_weight[j] - value);
        moved += k->apart[j] < 0.5 && weight > 0.0 ? by / weight * by
                                                   : (weight + by) * (k->apart[j] + 1.0);
    }
    return (struct judged){value, moved + 4.0 * k->sums * (value + moved)};
}

static struct judged participation(const struct keys *k)
{
    double squares = 0.0, moved = 0.0;

    for (int64_t j = 0; j < k->n; j++) {
        squares += k->weight[j] * k->weight[j];
        moved += k->moved[j] * (2.0 * k->weight[j] + k->moved[j]);
    }
    return (struct judged){
        1.0 / squares,
        (moved < squares ? moved / (squares - moved) / squares : (double)k->n) +
            4.0 * k->sums * (1.0 / squares)};
}

static struct judged score_variance(const struct keys *k)
{
    double value = 0.0, centre = 0.0, about_max = 0.0, moved = 0.0, shift = 0.0;

    for (int64_t j = 0; j < k->n; j++)
        centre += k->weight[j] * (k->score[j] - k->m);
    for (int64_t j = 0; j < k->n; j++) {
        const double s = k->score[j] - k->m, y = s - centre, by = k->moved[j];
        const double x = k->apart[j];
        value += k->weight[j] * y * y;
        about_max += k->weight[j] * s * s;
        moved += by * y * y + (k->weight[j] + by) * x * (2.0 * fabs(y) + x);
        shift += by * fabs(y);
    }
    return (struct judged){value,
                           moved + shift * shift + 4.0 * k->sums * (about_max + moved)};
}

static void expect_weights(const struct keys *k)
{
    const struct judged h = entropy(k);
    struct judged keys = {.value = exp(h.value)}, lse = {.value = k->m + k->log_l};
    double total = 0.0, least = 0.0;

    for (int64_t j = 0; j < k->n; j++) {
        total += check_bound_excess(k->weight[j], k->log_weight[j], k->error[j]);
        least += check_bound_least(k->weight[j], k->error[j]);
    }
    lse.bound =
        fmax(log1p(total), -log(least)) + 2.0 * k->model->u * (1.0 + fabs(lse.value));
    keys.bound = keys.value * (expm1(h.bound) + k->sums);
    put_stat(k, ATTEND_STAT_LSE, lse);
    put_stat(k, ATTEND_STAT_ENTROPY, h);
    put_stat(k, ATTEND_STAT_KEYS_EFF, keys);
    put_stat(k, ATTEND_STAT_N_EFF, participation(k));
    put_stat(k, ATTEND_STAT_SCORE_VARIANCE, score_variance(k));
}

static void expect_raw(const struct keys *k)
{
    const double n = (double)k->n;
    struct judged average = {0}, variance = {0};
    double size = 0.0, largest = 0.0;

    for (int64_t j = 0; j < k->n; j++) {
        average.value += k->score[j] / n;
        average.bound += k->error[j] / n;
        size += fabs(k->score[j]) / n;
        largest = fmax(largest, fabs(k->score[j]));
    }
    average.bound += 2.0 * k->sums * size;
    for (int64_t j = 0; j < k->n; j++) {
        const double y = k->score[j] - average.value, z = k->error[j] + average.bound;
        variance.value += y * y / n;
        variance.bound += (2.0 * fabs(y) + z) * z / n;
    }
    variance.bound += 4.0 * k->sums * (variance.value + variance.bound);
    if (largest * largest > LIMIT)
        average.bound = variance.bound = -1.0;
    put_stat(k, ATTEND_STAT_RAW_MEAN, average);
    put_stat(k, ATTEND_STAT_RAW_VARIANCE, variance);
}

/* ---- order ------------------------------------------------------------------ */

/* The `count` largest of centre_j + sign by_j, largest first, -inf past the last. */
static void largest_of(int64_t n, const double *centre, const double *by, double sign,
                       int count, double *largest)
{
    for (int x = 0; x < count; x++)
        largest[x] = -INFINITY;
    for (int64_t j = 0; j < n; j++) {
        double value = centre[j] + (sign == 0.0 ? 0.0 : sign * by[j]);
        for (int x = 0; x < count; x++)
            if (value > largest[x]) {
                const double below = largest[x];
                largest[x] = value;
                value = below;
            }
    }
}

/* The `count` largest of numbers known to +-by. */
static void rank(const struct keys *k, const double *numbers, const double *by, int count,
                 struct judged *results)
{
    double middle[ATTEND_TOP_MAX], low[ATTEND_TOP_MAX], high[ATTEND_TOP_MAX];

    largest_of(k->n, numbers, by, 0.0, count, middle);
    largest_of(k->n, numbers, by, -1.0, count, low);
    largest_of(k->n, numbers, by, 1.0, count, high);
    for (int x = 0; x < count; x++)
        results[x] =
            (struct judged){middle[x], fmax(high[x] - middle[x], middle[x] - low[x])};
}

/* Whether element i goes before element j: of equal scores the earlier first. */
static int goes_before(const struct keys *k, int64_t i, int64_t j)
{
    return k->score[i] > k->score[j] || (k->score[i] == k->score[j] && i < j);
}

/* The first of the elements that `last` goes before, of all for -1; -1: none. */
static int64_t next_element(const struct keys *k, int64_t last)
{
    int64_t next = -1;

    for (int64_t j = 0; j < k->n; j++)
        if ((last < 0 || goes_before(k, last, j)) &&
            (next < 0 || goes_before(k, j, next)))
            next = j;
    return next;
}

static int stands_clear(const struct keys *k, int64_t element)
{
    for (int64_t j = 0; j < k->n; j++)
        if (j != element &&
            !(fabs(k->score[j] - k->score[element]) > k->error[j] + k->error[element]))
            return 0;
    return 1;
}

static void expect_names(const struct keys *k)
{
    struct check_values *const names = &k->expect->top_keys;
    int64_t element = -1;

    for (int x = 0; x < k->p->stats.top; x++) {
        const int64_t at = k->row * k->p->stats.top + x;
        element = x < k->n ? next_element(k, element) : -1;
        names->value[at] = element < 0 ? -1.0 : k->key[element];
        names->bound[k->which][at] = element < 0 || stands_clear(k, element) ? 0.0 : -1.0;
    }
}

static void expect_order(const struct keys *k)
{
    const int named = k->p->stats.top;
    struct judged score[2], weight[ATTEND_TOP_MAX] = {{0}};
    struct judged margin = {.value = INFINITY};

    rank(k, k->score, k->error, k->n > 1 ? 2 : 1, score);
    rank(k, k->weight, k->moved, named > 1 ? named : 1, weight);
    put_stat(k, ATTEND_STAT_MAX, score[0]);
    if (k->n > 1)
        margin = (struct judged){score[0].value - score[1].value,
                                 score[0].bound + score[1].bound};
    put_stat(k, ATTEND_STAT_MARGIN, margin);
    for (int x = 0; x < ATTEND_TOP_MAX; x++)
        weight[x].bound += 4.0 * k->sums * weight[x].value;
    put_stat(k, ATTEND_STAT_TOP_WEIGHT, weight[0]);
    for (int x = 0; x < named; x++)
        put(k, &k->expect->top_weights, k->row * named + x,
            x < k->n ? weight[x] : (struct judged){0});
    expect_names(k);
}

/* ---- places -------------------------------------------------------------------- */

/* Mass of the keys from .. end - 1. */
static struct judged mass(const struct keys *k, double from, double end)
{
    for (int64_t j = 0; j < k->n; j++)
        k->f[j] = k->key[j] >= from && k->key[j] < end;
    return mean(k, 0.0);
}

static double distance(const struct keys *k, int64_t j)
{
    return fabs((double)k->position - k->key[j]);
}

static void expect_places(const struct keys *k)
{
    const double position = (double)k->position;

    put_stat(k, ATTEND_STAT_SINK1, mass(k, 0.0, 1.0));
    put_stat(k, ATTEND_STAT_SINK4, mass(k, 0.0, 4.0));
    put_stat(k, ATTEND_STAT_SELF, mass(k, position, position + 1.0));
    put_stat(k, ATTEND_STAT_PREVIOUS, mass(k, position - 1.0, position));
    put_stat(k, ATTEND_STAT_SECOND_PREVIOUS, mass(k, position - 2.0, position - 1.0));
    for (int64_t j = 0; j < k->n; j++)
        k->f[j] = distance(k, j);
    put_stat(k, ATTEND_STAT_DISTANCE, mean(k, 0.0));
    for (int64_t j = 0; j < k->n; j++)
        k->f[j] = log1p(distance(k, j));
    put_stat(k, ATTEND_STAT_LOG_DISTANCE, mean(k, 0.0));
}

static void expect_shares(const struct keys *k)
{
    const struct check_request *const stats = &k->p->stats;

    for (int x = 0; x < stats->bins; x++) {
        const double low = exp2(x), high = x == stats->bins - 1 ? INFINITY : 2.0 * low;
        for (int64_t j = 0; j < k->n; j++)
            k->f[j] = 1.0 + distance(k, j) >= low && 1.0 + distance(k, j) < high;
        put(k, &k->expect->distances, k->row * stats->bins + x, mean(k, 0.0));
    }
    for (int x = 0; x < stats->class_count; x++) {
        for (int64_t j = 0; j < k->n; j++)
            k->f[j] = stats->classes[k->b * k->p->nk + (int64_t)k->key[j]] == x;
        put(k, &k->expect->class_mass, k->row * stats->class_count + x, mean(k, 0.0));
    }
}

/* ---- values -------------------------------------------------------------------- */

static const double *value_of(const struct keys *k, int64_t key)
{
    return k->p->v + ((k->b * k->p->hkv + k->g) * k->p->nk + key) * k->p->dv;
}

/*
 * 0 if the values of the row can be judged, NaN if the result must not be a number, -1 if
 * nothing is claimed.
 */
static double judge_values(const struct keys *k, const struct check_row *scores)
{
    double verdict = 0.0;

    for (int64_t at = 0; at < scores->n; at++) {
        const double *const v = value_of(k, scores->key[at]);
        for (int64_t c = 0; c < k->p->dv; c++) {
            if (!isfinite(v[c]) && scores->score[at] != -INFINITY)
                return NAN;
            if (!(v[c] * v[c] * (double)(k->p->dv + 1) < LIMIT / 0x1p20))
                verdict = -1.0;
        }
    }
    return verdict;
}

/* Of a norm whose squares underflow. */
static double underflow(const struct keys *k)
{
    return sqrt((double)k->p->dv * k->model->flush);
}

/* Fills |v| and |v - c|; |c| and the bound of its error. */
static struct judged centre(const struct keys *k)
{
    struct judged squares = {0};

    for (int64_t j = 0; j < k->n; j++)
        k->norm[j] = k->away[j] = 0.0;
    for (int64_t c = 0; c < k->p->dv; c++) {
        double sum = 0.0, size = 0.0, moved = 0.0;
        for (int64_t j = 0; j < k->n; j++) {
            const double v = value_of(k, (int64_t)k->key[j])[c];
            sum += k->weight[j] * v;
            size += k->weight[j] * fabs(v);
        }
        for (int64_t j = 0; j < k->n; j++) {
            const double v = value_of(k, (int64_t)k->key[j])[c];
            k->norm[j] += v * v;
            k->away[j] += (v - sum) * (v - sum);
            moved += k->moved[j] * fabs(v - sum);
        }
        moved += (4.0 * k->sums + k->model->p_round) * (size + moved) +
                 (double)(k->n + 2) * k->model->product;
        squares.value += sum * sum;
        squares.bound += moved * moved;
    }
    for (int64_t j = 0; j < k->n; j++) {
        k->norm[j] = sqrt(k->norm[j]);
        k->away[j] = sqrt(k->away[j]);
    }
    return (struct judged){sqrt(squares.value), sqrt(squares.bound) + underflow(k)};
}

/* sum p^2 g |v - c|^2 with g = 1, or g = s^2 and s known to +-e. */
static struct judged noise(const struct keys *k, const struct judged *c, int of_scores)
{
    const struct check_model *const model = k->model;
    const double dc = c->bound, dv = (double)k->p->dv;
    struct judged result = {0};
    int beyond = 0;

    for (int64_t j = 0; j < k->n; j++) {
        const double by = k->moved[j], most = k->weight[j] + by;
        const double score = of_scores ? k->score[j] : 1.0, s = fabs(score);
        const double e = of_scores ? k->error[j] : 0.0;
        const double away = k->away[j], reach = k->norm[j] + c->value + dc;
        const double moves = k->weight[j] * away * score;
        const double s2 = most * (s + e) * most * (s + e);
        result.value += moves * moves;
        result.bound +=
            by * (k->weight[j] + most) * s * s * away * away +
            most * most * e * (2.0 * s + e) * away * away + s2 * dc * (2.0 * away + dc) +
            s2 * reach * reach * (4.0 * k->sums + 4.0 * dv * model->u) +
            2.0 * model->p_round * s2 * k->norm[j] * (c->value + dc) +
            fmin(model->flush, s2) * reach * reach + (dv + 2.0) * model->flush;
        beyond |= s2 * reach * reach > LIMIT || s2 > LIMIT;
    }
    if (beyond)
        result.bound = -1.0;
    return result;
}

static struct judged cancellation(const struct judged *c, const struct judged *norm)
{
    const double share = norm->value > 0.0 ? c->value / norm->value : 0.0;
    const double least = norm->value - norm->bound;

    return (struct judged){share,
                           least > 0.0 ? (c->bound + share * norm->bound) / least : 1.0};
}

static void expect_values(const struct keys *k, int64_t h, int64_t i,
                          const struct check_row *scores)
{
    const struct check_problem *const p = k->p;
    const double *const q = p->q + ((k->b * p->hq + h) * p->nq + i) * p->d;
    const double verdict = judge_values(k, scores), scale = check_scale(p);
    struct judged norm, key_noise, magnitude_noise, share;
    double query = 0.0, square = 0.0;

    const struct judged c = centre(k);
    for (int64_t j = 0; j < k->n; j++)
        k->f[j] = k->norm[j];
    norm = mean(k, (double)p->dv + 4.0);
    norm.bound += underflow(k);
    share = cancellation(&c, &norm);
    key_noise = noise(k, &c, 0);
    magnitude_noise = noise(k, &c, 1);
    for (int64_t x = 0; x < p->d; x++) {
        square += q[x] * q[x];
        query += scale * scale * q[x] * q[x];
    }
    if (!(square <= LIMIT)) /* a scale of 0 would make it 0 * Inf */
        key_noise.bound = -1.0;
    else if (key_noise.bound >= 0.0)
        key_noise.bound = query * (key_noise.bound +
                                   ((double)p->d + 8.0) * k->model->u * key_noise.value);
    key_noise.value *= query;
    const struct judged results[] = {norm, share, key_noise, magnitude_noise};
    for (int x = 0; x < 4; x++)
        put_stat(k, (attend_stat)(ATTEND_STAT_VALUE_NORM + x),
                 verdict == 0.0 ? results[x]
                                : (struct judged){NAN, isnan(verdict) ? 0.0 : -1.0});
}

/* ---- rows ----------------------------------------------------------------------- */

/* A row without keys has stated values; one that cannot be judged, or holds NaN. */
static void expect_nothing(const struct keys *k, enum check_row_kind kind)
{
    const struct check_request *const stats = &k->p->stats;
    const double value = kind == CHECK_ROW_EMPTY ? 0.0 : NAN;
    const double bound = kind == CHECK_ROW_OUTSIDE ? -1.0 : 0.0;
    struct check_values *const rows = &k->expect->rows;

    for (int t = CHECK_ROWS - CHECK_OUT; t < CHECK_OUTPUTS; t++) {
        int64_t size[4];
        check_tensor_shape(k->p, check_output_shape(t), size);
        check_values_fill(&k->expect->of[t], k->row * size[3], size[3],
                          t == CHECK_TOP_KEYS ? -1.0 : value, bound);
    }
    for (int c = 0; c < stats->columns; c++) {
        const int64_t at = k->row * stats->columns + c;
        const attend_stat stat = stats->column[c];
        if (kind == CHECK_ROW_EMPTY &&
            (stat == ATTEND_STAT_MAX || stat == ATTEND_STAT_LSE))
            rows->value[at] = -INFINITY;
        if (kind == CHECK_ROW_POISONED && stat == ATTEND_STAT_KEYS)
            rows->bound[0][at] = rows->bound[1][at] = -1.0;
    }
}

static int wants_values(const struct check_request *stats)
{
    for (int c = 0; c < stats->columns; c++)
        if (stats->column[c] >= ATTEND_STAT_VALUE_NORM &&
            stats->column[c] <= ATTEND_STAT_MAGNITUDE_NOISE)
            return 1;
    return 0;
}

void check_dense_stats(const struct check_problem *p, const struct check_model *models,
                       int64_t b, int64_t h, int64_t i, const struct check_row *scores,
                       double *room, struct check_expect *expect)
{
    struct keys k = {.p = p,
                     .expect = expect,
                     .row = (b * p->hq + h) * p->nq + i,
                     .position = check_position(p, b, i),
                     .b = b,
                     .g = h / (p->hq / p->hkv)};

    if (p->stats.columns + p->stats.top + p->stats.bins + p->stats.class_count == 0)
        return;
    place_arrays(&k, room);
    for (k.which = 0; k.which < CHECK_MODELS; k.which++) {
        k.model = &models[k.which];
        k.sums = (6.0 + k.model->c) * k.model->u;
        k.n = k.top = 0;
        if (scores->kind == CHECK_ROW_ORDINARY)
            take_keys(&k, scores);
        if (k.n == 0) {
            expect_nothing(&k, scores->kind == CHECK_ROW_ORDINARY ? CHECK_ROW_EMPTY
                                                                  : scores->kind);
            return;
        }
        weigh(&k);
        move_weights(&k);
        put_stat(&k, ATTEND_STAT_KEYS, (struct judged){.value = (double)k.n});
        expect_weights(&k);
        expect_raw(&k);
        expect_order(&k);
        expect_places(&k);
        expect_shares(&k);
        if (wants_values(&p->stats))
            expect_values(&k, h, i, scores);
    }
}
