/* SPDX-License-Identifier: MIT */
/* Letters of single rows, of answers about two keys, of positions and of variants. */
#include <math.h>
#include <stdlib.h>

#include "lab/judge/scope.h"
#include "lab/measure/random.h"

enum { SCORE_STREAM = 942, PLACE_STREAM = 943 };

/* ---- a row of random scores -------------------------------------------------- */

/* `reached`: the weights of two scores that are 1000 apart. */
struct row_room {
    double n, score, exp_sum, weight, sum, least, most, reached[2];
};

#define ROW(name, field) LAB_LETTER(row_room, name, LAB_NEEDS_WORLD, 1, 1, field)

/* Key i is the first. */
static const struct lab_place row_letters[] = {
    ROW("s_i", score),   ROW("Z", exp_sum),           ROW("n", n),
    ROW("p_i", weight),  ROW("sum_p", sum),           ROW("p_least", least),
    ROW("p_most", most), ROW("p_behind", reached[1]), ROW("p_ahead", reached[0]),
};

/* Scores of n keys, `spread` times the normal numbers from `first`, and their weights. */
static double *draw_row(const struct lab_point *point, uint64_t stream, uint64_t first,
                        double spread)
{
    double *const scores = malloc(2 * (size_t)point->n * sizeof *scores);
    for (int64_t i = 0; scores && i < point->n; i++) {
        float normal;
        lab_random_normals(point->exercise->seed, stream, first + (uint64_t)i, &normal,
                           1);
        scores[i] = spread * (double)normal;
    }
    if (scores && !lab_exercise_softmax_scores(point->exercise, point->n, scores,
                                               scores + point->n))
        return scores;
    free(scores);
    return NULL;
}

static int open_row(struct lab_scope *scope)
{
    static const double apart[2] = {1000, 0};
    const struct lab_point *const point = scope->point;
    struct row_room *const row = scope->room;
    double *const scores =
        draw_row(point, SCORE_STREAM, 4096 * (uint64_t)point->number, point->scale);
    if (!scores)
        return -1;
    *row = (struct row_room){.n = (double)point->n,
                             .score = scores[0],
                             .weight = scores[point->n],
                             .least = INFINITY,
                             .most = -INFINITY};
    for (int64_t i = 0; i < point->n; i++) {
        const double weight = scores[point->n + i];
        row->exp_sum += exp(scores[i]);
        row->sum += weight;
        row->least = fmin(row->least, weight);
        row->most = fmax(row->most, weight);
    }
    free(scores);
    return lab_exercise_softmax_scores(point->exercise, 2, apart, row->reached);
}

const struct lab_letters lab_letters_row =
    LAB_LETTERS(row_letters, 3, row_room, open_row, NULL);

/* ---- one score that leads ---------------------------------------------------- */

struct copy_room {
    double n, gap, j, weight, v_j[2], v_o[2], output[2];
};

#define COPY(name, rows, field)                                                          \
    LAB_LETTER(copy_room, name, LAB_NEEDS_WORLD, rows, 1, field)

static const struct lab_place copy_letters[] = {
    COPY("D", 1, gap),      COPY("n", 1, n),     COPY("j", 1, j),
    COPY("p_j", 1, weight), COPY("v_j", 2, v_j), COPY("v_o", 2, v_o),
    COPY("c", 2, output),
};

/* v_o is the mean of the other values, of length 1 / sqrt(n - 1). */
static int open_copy(struct lab_scope *scope)
{
    const struct lab_point *const point = scope->point;
    const double root = sqrt((double)point->n - 1), query[LAB_SPACE] = {point->scale};
    struct lab_draws draws = {0};
    const int status = lab_world_heads_at(point, 1, 1, query, &draws);
    if (!status) {
        const struct lab_head *const head = &draws.draw->head[0];
        *(struct copy_room *)scope->room = (struct copy_room){
            .n = (double)point->n,
            .gap = point->scale,
            .j = 2,
            .weight = head->output[0],
            .v_j = {1},
            .v_o = {0, 1 / root},
            .output = {head->output[0], (head->output[1] + head->rest) / root},
        };
    }
    free(draws.draw);
    return status;
}

/* D and n alone, and all but c. */
const struct lab_letters lab_letters_gap =
                             LAB_LETTERS(copy_letters, 2, copy_room, open_copy, NULL),
                         lab_letters_copy =
                             LAB_LETTERS(copy_letters, 6, copy_room, open_copy, NULL);

/* ---- two keys, as answers write them ----------------------------------------- */

struct pair_room {
    double scale, n, eps, alpha, gamma, gamma_b, sigma, sigma2;
    double m, other_alpha, d; /* letters of other questions, which must not help here */
    double a[4], b[4], others[3];
};

#define PAIR(name, rows, field)                                                          \
    LAB_LETTER(pair_room, name, LAB_NEEDS_WORLD, rows, 1, field)
#define SCALES                                                                           \
    PAIR("C", 1, scale), PAIR("beta", 1, scale), PAIR("C_1", 1, scale),                  \
        PAIR("C_2", 1, scale), PAIR("C1", 1, scale), PAIR("C2", 1, scale),               \
        PAIR("n", 1, n), PAIR("eps", 1, eps)

static const struct lab_place pair_letters[] = {
    SCALES,
    PAIR("c", 1, scale),
    PAIR("k_a", 3, a),
    PAIR("k_b", 3, b),
    PAIR("k_o", 3, others),
    PAIR("m", 1, m),
    PAIR("alpha", 1, other_alpha),
    PAIR("d", 1, d),
    PAIR("d_k", 1, d),
};
/* The values live in R^4, so that a mean in place of a value does not fit. */
static const struct lab_place noise_letters[] = {
    SCALES,
    PAIR("mu_a", 3, a),
    PAIR("mu_b", 3, b),
    PAIR("m_a", 3, a),
    PAIR("m_b", 3, b),
    PAIR("v_a", 4, a),
    PAIR("v_b", 4, b),
    PAIR("alpha", 1, alpha),
    PAIR("gamma", 1, gamma),
    PAIR("gamma_b", 1, gamma_b),
    PAIR("sigma", 1, sigma),
    PAIR("sigma2", 1, sigma2),
    PAIR("d", 1, d),
    PAIR("d_k", 1, d),
};

static int open_pair(struct lab_scope *scope)
{
    const struct lab_point *const point = scope->point;
    *(struct pair_room *)scope->room = (struct pair_room){
        .scale = point->scale,
        .n = (double)point->n,
        .eps = point->eps,
        .alpha = point->alpha,
        .gamma = point->gamma,
        .gamma_b = 0.9 + 0.07 * point->number,
        .sigma2 = point->exercise->sigma2,
        .sigma = sqrt(point->exercise->sigma2),
        .m = 5,
        .other_alpha = 0.37,
        .d = 64,
        .a = {1},
        .b = {0, 1},
        .others = {0, 0, 1},
    };
    return 0;
}

const struct lab_letters lab_letters_pair =
                             LAB_LETTERS(pair_letters, 16, pair_room, open_pair, NULL),
                         lab_letters_noise =
                             LAB_LETTERS(noise_letters, 21, pair_room, open_pair, NULL);

/* ---- positions and variants -------------------------------------------------- */

enum { POSITION_D = 4, LONGEST = 629 /* 2 pi / omega_2 at four features */ };
enum {
    NEEDS_DOT = LAB_NEEDS_SELF,
    NEEDS_NEAREST = LAB_NEEDS_SHARE,
    NEEDS_ROTATED = LAB_NEEDS_RIVAL,
    NEEDS_PLACE = LAB_NEEDS_SOFTMAX
};

/* `nearest` to position 0 from 1 on, and from the longest period on. */
struct number_room {
    double t, u, omega[2], n, m, positions_d, d;
    double dot, nearest, nearest_later, rotated, shifted, moved, place, through;
};

#define NUMBER(name, needs, field) LAB_LETTER(number_room, name, needs, 1, 1, field)

static const struct lab_place position_letters[] = {
    NUMBER("t", 0, t),
    NUMBER("u", 0, u),
    NUMBER("omega_1", 0, omega[0]),
    NUMBER("omega_2", 0, omega[1]),
    NUMBER("d", 0, positions_d),
    NUMBER("phi_dot", NEEDS_DOT, dot),
    NUMBER("nearest", NEEDS_NEAREST, nearest),
    NUMBER("nearest_later", NEEDS_NEAREST, nearest_later),
    NUMBER("r", NEEDS_ROTATED, rotated),
    NUMBER("r_shifted", NEEDS_ROTATED, shifted),
    NUMBER("r_moved", NEEDS_ROTATED, moved),
};
static const struct lab_place variant_letters[] = {
    NUMBER("n", 0, n),
    NUMBER("m", 0, m),
    NUMBER("d", 0, d),
    NUMBER("p_place", NEEDS_PLACE, place),
    NUMBER("scores", 0, through),
};

/* Two positions that differ from world to world; m latents read n tokens and back. */
static int open_numbers(struct lab_scope *scope)
{
    const struct lab_point *const point = scope->point;
    const double m = 3 + point->number;
    *(struct number_room *)scope->room = (struct number_room){
        .t = 3 + 7.0 * point->number,
        .u = 40 - 2.0 * point->number,
        .omega = {1, pow(10000, -2.0 / POSITION_D)},
        .n = (double)point->n,
        .m = m,
        .positions_d = POSITION_D,
        .d = 64,
        .through = (double)point->n * m + m * (double)point->n,
    };
    return 0;
}

void lab_sinusoids(double t, int d, double *phi)
{
    for (int i = 0; i < d; i++) {
        const double angle = t * pow(10000, -(double)(i - i % 2) / d);
        phi[i] = i % 2 ? cos(angle) : sin(angle);
    }
}

static int fill_dot(const struct lab_point *point, struct number_room *room)
{
    double phi_t[POSITION_D], phi_u[POSITION_D];
    lab_sinusoids(room->t, POSITION_D, phi_t);
    lab_sinusoids(room->u, POSITION_D, phi_u);
    return lab_exercise_scores(point->exercise, 1, POSITION_D, phi_u, phi_t,
                               point->exercise->tau, &room->dot);
}

/* By trying all positions: two embeddings are equal where the distance is 0. */
static void fill_nearest(const struct lab_point *point, struct number_room *room)
{
    const int last = 20000 + 1000 * point->number;
    double first_phi[POSITION_D], phi[POSITION_D];
    lab_sinusoids(0, POSITION_D, first_phi);
    room->nearest = room->nearest_later = INFINITY;
    for (int t = 1; t < last; t++) {
        double sum = 0;
        lab_sinusoids(t, POSITION_D, phi);
        for (int i = 0; i < POSITION_D; i++)
            sum += (phi[i] - first_phi[i]) * (phi[i] - first_phi[i]);
        room->nearest = fmin(room->nearest, sqrt(sum));
        if (t >= LONGEST)
            room->nearest_later = fmin(room->nearest_later, sqrt(sum));
    }
}

static void rotate(const double *from, double angle, double *to)
{
    to[0] = from[0] * cos(angle) - from[1] * sin(angle);
    to[1] = from[0] * sin(angle) + from[1] * cos(angle);
}

static int rotary_score(const struct lab_point *point, double t, double u, double *score)
{
    const double q[] = {0.6, -1.1}, k[] = {0.9, 0.4};
    double q_t[2], k_u[2];
    rotate(q, t, q_t);
    rotate(k, u, k_u);
    return lab_exercise_scores(point->exercise, 1, 2, q_t, k_u, point->exercise->tau,
                               score);
}

/* At two positions, at both shifted by 5, and at one of them shifted. */
static int fill_rotary(const struct lab_point *point, struct number_room *room)
{
    const double t = 3 + point->number, u = 11;
    return rotary_score(point, t, u, &room->rotated) ||
                   rotary_score(point, t + 5, u + 5, &room->shifted) ||
                   rotary_score(point, t + 5, u, &room->moved)
               ? -1
               : 0;
}

/* The mean weight of a key at each of n places, by scores that do not see it. */
static int fill_place(const struct lab_point *point, struct number_room *room)
{
    double *const scores = draw_row(point, PLACE_STREAM, 0, 3);
    if (!scores)
        return -1;
    for (int64_t i = 0; i < point->n; i++)
        room->place += scores[point->n + i] / (double)point->n;
    free(scores);
    return 0;
}

static int fill_numbers(struct lab_scope *scope, unsigned needs)
{
    const struct lab_point *const point = scope->point;
    struct number_room *const room = scope->room;
    int status = needs & NEEDS_DOT ? fill_dot(point, room) : 0;
    if (needs & NEEDS_NEAREST)
        fill_nearest(point, room);
    if (!status && needs & NEEDS_ROTATED)
        status = fill_rotary(point, room);
    if (!status && needs & NEEDS_PLACE)
        status = fill_place(point, room);
    return status;
}

const struct lab_letters lab_letters_positions =
                             LAB_LETTERS(position_letters, 5, number_room, open_numbers,
                                         fill_numbers),
                         lab_letters_variants = LAB_LETTERS(
                             variant_letters, 3, number_room, open_numbers, fill_numbers);
