/* SPDX-License-Identifier: MIT */
/* The letters of each question, and what they stand for at a point. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "lab/grade/probing.h"

_Static_assert(sizeof(struct lab_moved_tokens) <= LAB_LETTERS_ROOM, "the largest room");

#define COUNT(places) (int)(sizeof(places) / sizeof(places)[0])
/* The last `hidden` letters are the judge's alone. */
#define TOPIC(places, hidden, type, function)                                            \
    {                                                                                    \
        (places), COUNT(places) - (hidden), COUNT(places), sizeof(type), (function)      \
    }

int lab_letters_bind(struct lab_letters *letters, const struct lab_topic *topic,
                     const struct lab_point *point)
{
    memset(letters->room, 0, topic->size);
    letters->count = topic->count;
    lab_place_letters(topic->place, topic->all, letters->room, letters->letter);
    return topic->fill(point, letters->room);
}

/* ---- 1a --------------------------------------------------------------------------- */

#define ROW(name, field) LAB_LETTER(lab_random_row, name, 0, 1, 1, field)

/* Key i is the first. */
static const struct lab_place row_letters[] = {
    ROW("s_i", score),  ROW("Z", exp_sum), ROW("n", n),
    ROW("p_i", weight), ROW("sum_p", sum),
};

static int fill_row(const struct lab_point *point, void *room)
{
    return lab_random_row(point, room);
}

const struct lab_topic lab_letters_softmax =
    TOPIC(row_letters, 2, struct lab_random_row, fill_row);

struct copy_room {
    double n, gap, j, weight, v_j[2], v_o[2], output[2];
};

#define COPY(name, rows, field) LAB_LETTER(copy_room, name, 0, rows, 1, field)

static const struct lab_place copy_letters[] = {
    COPY("D", 1, gap),      COPY("n", 1, n),     COPY("j", 1, j),
    COPY("p_j", 1, weight), COPY("v_j", 2, v_j), COPY("v_o", 2, v_o),
    COPY("c", 2, output),
};

/* v_o is the mean of the other values, of length 1 / sqrt(n - 1). */
static int fill_copy(const struct lab_point *point, void *to)
{
    const double root = sqrt((double)point->n - 1);
    struct copy_room *const room = to;
    struct lab_pair_weights p;
    if (lab_exercise_pair(point->exercise, point->n, 1,
                          (struct lab_pair_query){.a = point->scale}, &p))
        return -1;
    *room = (struct copy_room){.n = (double)point->n,
                               .gap = point->scale,
                               .j = 2,
                               .weight = p.a,
                               .v_j = {1},
                               .v_o = {0, 1 / root},
                               .output = {p.a, (p.b + p.others) / root}};
    return 0;
}

/* D and n alone, and all but c. */
const struct lab_topic lab_letters_gap =
    TOPIC(copy_letters, 5, struct copy_room, fill_copy);
const struct lab_topic lab_letters_copy =
    TOPIC(copy_letters, 1, struct copy_room, fill_copy);

/* ---- 1b-i ------------------------------------------------------------------------- */

enum { D = LAB_WORLD_D, M = LAB_WORLD_M, P = LAB_WORLD_P };

struct basis_room {
    struct lab_world_basis basis;
    double unit[D][D], s[D], coordinates[M], d, m, p;
};

#define BASIS(name, rows, columns, field)                                                \
    LAB_LETTER(basis_room, name, 0, rows, columns, field)

static const struct lab_place basis_letters[] = {
    BASIS("A", D, M, basis.a),    BASIS("B", D, P, basis.b),
    BASIS("I", D, D, unit),       BASIS("c", M, 1, basis.c),
    BASIS("c_b", P, 1, basis.e),  BASIS("v_a", D, 1, basis.va),
    BASIS("v_b", D, 1, basis.vb), BASIS("s", D, 1, s),
    BASIS("d", 1, 1, d),          BASIS("m", 1, 1, m),
    BASIS("p", 1, 1, p),          BASIS("A^T s", M, 1, coordinates),
};

static int fill_basis(const struct lab_point *point, void *to)
{
    struct basis_room *const room = to;
    const struct lab_exercise exercise = lab_point_exercise(point);
    lab_world_basis(&exercise, &room->basis);
    for (int i = 0; i < D; i++) {
        room->unit[i][i] = 1;
        room->s[i] = room->basis.va[i] + room->basis.vb[i];
    }
    for (int i = 0; i < M; i++)
        for (int r = 0; r < D; r++)
            room->coordinates[i] += room->basis.a[r][i] * room->s[r];
    room->d = D;
    room->m = M;
    room->p = P;
    return 0;
}

const struct lab_topic lab_letters_basis =
    TOPIC(basis_letters, 1, struct basis_room, fill_basis);

/* ---- 1b-ii to 1e ------------------------------------------------------------------ */

struct pair_room {
    double scale, n, eps, alpha, gamma, gamma_b, sigma, sigma2;
    double m, other_alpha, d; /* letters of other questions, which must not help here */
    double a[4], b[4], others[3];
};

#define PAIR(name, rows, field) LAB_LETTER(pair_room, name, 0, rows, 1, field)
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

static int fill_pair(const struct lab_point *point, void *to)
{
    struct pair_room *const room = to;
    *room = (struct pair_room){.m = 5, .other_alpha = 0.37, .d = 64};
    room->scale = point->scale;
    room->n = (double)point->n;
    room->eps = point->eps;
    room->alpha = point->alpha;
    room->gamma = point->gamma;
    room->gamma_b = 0.9 + 0.07 * point->number;
    room->sigma2 = point->exercise->sigma2;
    room->sigma = sqrt(room->sigma2);
    room->a[0] = room->b[1] = room->others[2] = 1;
    return 0;
}

const struct lab_topic lab_letters_pair =
    TOPIC(pair_letters, 0, struct pair_room, fill_pair);
const struct lab_topic lab_letters_noise =
    TOPIC(noise_letters, 0, struct pair_room, fill_pair);

/* ---- 2 and 3g --------------------------------------------------------------------- */

enum { T = LAB_WORLD_TOKENS, F = LAB_WORLD_FEATURES };

#define TOKENS(name, columns, field)                                                     \
    LAB_LETTER(lab_moved_tokens, name, 0, T, columns, field)

static const struct lab_place token_letters[] = {
    TOKENS("X", F, sequence.x),
    TOKENS("P", T, sequence.permutation),
    TOKENS("Pi", T, sequence.permutation),
    TOKENS("S", T, self.scores),
    TOKENS("A", T, self.weights),
    TOKENS("Y", F, self.out),
    TOKENS("X_moved", F, moved),
    TOKENS("S_moved", T, self_moved.scores),
    TOKENS("A_moved", T, self_moved.weights),
    TOKENS("Y_moved", F, self_moved.out),
};

static int fill_tokens(const struct lab_point *point, void *room)
{
    return lab_moved_tokens(point, room);
}

const struct lab_topic lab_letters_tokens =
    TOPIC(token_letters, 4, struct lab_moved_tokens, fill_tokens);

struct number_room {
    double t, u, omega_1, omega_2, n, m, positions_d, d;
};

#define NUMBER(name, field) LAB_LETTER(number_room, name, 0, 1, 1, field)

static const struct lab_place position_letters[] = {
    NUMBER("t", t), NUMBER("u", u), NUMBER("omega_1", omega_1),
    NUMBER("omega_2", omega_2), NUMBER("d", positions_d)};
static const struct lab_place variant_letters[] = {NUMBER("n", n), NUMBER("m", m),
                                                   NUMBER("d", d)};

static int fill_numbers(const struct lab_point *point, void *to)
{
    *(struct number_room *)to = (struct number_room){
        .t = lab_position_t(point),
        .u = lab_position_u(point),
        .omega_1 = 1,
        .omega_2 = pow(10000, -2.0 / LAB_POSITION_D),
        .n = (double)point->n,
        .m = 3 + point->number,
        .positions_d = LAB_POSITION_D,
        .d = 64,
    };
    return 0;
}

const struct lab_topic lab_letters_positions =
    TOPIC(position_letters, 0, struct number_room, fill_numbers);
const struct lab_topic lab_letters_variants =
    TOPIC(variant_letters, 0, struct number_room, fill_numbers);
