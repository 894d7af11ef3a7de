/* SPDX-License-Identifier: MIT */
/* Questions 2 and 3g: order, positions, variants. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/grade/probing.h"
#include "lab/measure/random.h"
#include "lab/sheets/world.h"

enum { T = LAB_WORLD_TOKENS, F = LAB_WORLD_FEATURES, DIMENSIONS = 4 };

/* Tokens X, what attention makes of them, and the same of the permuted tokens P X. */
struct tokens {
    struct lab_world_tokens sequence;
    double moved[T * F];
    struct lab_world_self self, self_moved;
};

/* Rows of a matrix in the order of the permutation. */
static void permute_rows(const double *permutation, const double *x, double *y)
{
    for (int t = 0; t < T; t++)
        for (int u = 0; u < T; u++)
            if (permutation[t * T + u] > 0)
                memcpy(y + t * F, x + u * F, F * sizeof *x);
}

static int attend_to(const struct lab_exercise *exercise, struct tokens *tokens)
{
    return lab_world_self(exercise, &tokens->sequence, tokens->sequence.x,
                          &tokens->self) ||
                   lab_world_self(exercise, &tokens->sequence, tokens->moved,
                                  &tokens->self_moved)
               ? -1
               : 0;
}

static int open_tokens(const struct lab_asked *asked, const struct lab_world *world,
                       struct tokens *tokens)
{
    const struct lab_exercise exercise = lab_world_exercise(asked, world);
    memset(tokens, 0, sizeof *tokens);
    lab_world_tokens(&exercise, &tokens->sequence);
    permute_rows(tokens->sequence.permutation, tokens->sequence.x, tokens->moved);
    return attend_to(&exercise, tokens);
}

static void bind_tokens(const struct lab_asked *asked, const struct lab_world *world,
                        struct lab_letters *letters)
{
    struct tokens tokens;
    open_tokens(asked, world, &tokens);
    lab_letters_matrix(letters, "X", T, F, tokens.sequence.x);
    lab_letters_matrix(letters, "P", T, T, tokens.sequence.permutation);
    lab_letters_matrix(letters, "Pi", T, T, tokens.sequence.permutation);
    lab_letters_matrix(letters, "S", T, T, tokens.self.scores);
    lab_letters_matrix(letters, "A", T, T, tokens.self.weights);
    lab_letters_matrix(letters, "Y", T, F, tokens.self.out);
}

static void compare(const struct lab_asked *asked, const struct lab_world *world,
                    int columns, const double *computed, struct lab_found *found)
{
    struct lab_letters letters = {0};
    struct lab_value claimed;
    bind_tokens(asked, world, &letters);
    if (!lab_asked_value(asked, 0, &letters, T, columns, &claimed, found))
        lab_found_distance(found, lab_distance(claimed.x, computed, T * columns));
}

static int read_moved(const struct lab_asked *asked, const struct lab_world *world,
                      struct lab_found *found)
{
    struct tokens tokens;
    if (open_tokens(asked, world, &tokens))
        return -1;
    compare(asked, world, F, tokens.moved, found);
    return 0;
}

static int read_moved_scores(const struct lab_asked *asked, const struct lab_world *world,
                             struct lab_found *found)
{
    struct tokens tokens;
    if (open_tokens(asked, world, &tokens))
        return -1;
    compare(asked, world, T, tokens.self_moved.scores, found);
    return 0;
}

static int read_moved_weights(const struct lab_asked *asked,
                              const struct lab_world *world, struct lab_found *found)
{
    struct tokens tokens;
    if (open_tokens(asked, world, &tokens))
        return -1;
    compare(asked, world, T, tokens.self_moved.weights, found);
    return 0;
}

static int read_moved_output(const struct lab_asked *asked, const struct lab_world *world,
                             struct lab_found *found)
{
    struct tokens tokens;
    if (open_tokens(asked, world, &tokens))
        return -1;
    compare(asked, world, F, tokens.self_moved.out, found);
    return 0;
}

/* How far the outputs of permuted tokens are from permuted outputs. */
static double defect_of(const struct tokens *tokens)
{
    double wanted[T * F];
    permute_rows(tokens->sequence.permutation, tokens->self.out, wanted);
    return lab_distance(tokens->self_moved.out, wanted, T * F);
}

/* Choices: ignored, kept. */
static int read_order(const struct lab_asked *asked, const struct lab_world *world,
                      struct lab_found *found)
{
    struct tokens tokens;
    if (open_tokens(asked, world, &tokens))
        return -1;
    const double defect = defect_of(&tokens);
    *found = (struct lab_found){
        .computed = defect, .claimed = NAN, .error = (defect > 1e-9) != asked->choice[0]};
    return 0;
}

static void sinusoids(double t, int d, double *phi)
{
    for (int i = 0; i < d; i++) {
        const double angle = t * pow(10000, -(double)(i - i % 2) / d);
        phi[i] = i % 2 ? cos(angle) : sin(angle);
    }
}

/* Choices: yes, no: whether positions make the order matter. */
static int read_positions(const struct lab_asked *asked, const struct lab_world *world,
                          struct lab_found *found)
{
    const struct lab_exercise exercise = lab_world_exercise(asked, world);
    struct tokens tokens;
    double phi[F];
    if (open_tokens(asked, world, &tokens))
        return -1;
    for (int t = 0; t < T; t++) {
        sinusoids(t, F, phi);
        for (int c = 0; c < F; c++) {
            tokens.sequence.x[t * F + c] += phi[c];
            tokens.moved[t * F + c] += phi[c];
        }
    }
    if (attend_to(&exercise, &tokens))
        return -1;
    const double defect = defect_of(&tokens);
    *found = (struct lab_found){
        .computed = defect, .claimed = NAN, .error = (defect > 1e-9) == asked->choice[0]};
    return 0;
}

static void bind_positions(const struct lab_asked *asked, const struct lab_world *world,
                           struct lab_letters *letters)
{
    (void)asked;
    lab_letters_number(letters, "t", 3 + 7.0 * world->number);
    lab_letters_number(letters, "u", 40 - 2.0 * world->number);
    lab_letters_number(letters, "omega_1", 1);
    lab_letters_number(letters, "omega_2", pow(10000, -2.0 / DIMENSIONS));
    lab_letters_number(letters, "d", DIMENSIONS);
}

static int read_sinusoids(const struct lab_asked *asked, const struct lab_world *world,
                          struct lab_found *found)
{
    double phi_t[DIMENSIONS], phi_u[DIMENSIONS], computed, claimed;
    sinusoids(3 + 7.0 * world->number, DIMENSIONS, phi_t);
    sinusoids(40 - 2.0 * world->number, DIMENSIONS, phi_u);
    if (lab_engine_score(asked->exercise, DIMENSIONS, phi_t, phi_u, &computed))
        return -1;
    if (!lab_asked_number(asked, 0, world, &claimed, found))
        lab_found_number(found, computed, claimed);
    return 0;
}

/*
 * Choices: never, after-the-longest-period, yes.  The nearest pair of positions whose
 * offset is below `last`, by trying all: two embeddings are equal where the distance is
 * 0.
 */
static int read_same(const struct lab_asked *asked, const struct lab_world *world,
                     struct lab_found *found)
{
    const int longest = 629; /* 2 pi / omega_2 at four dimensions */
    const int first = asked->choice[0] == 1 ? longest : 1;
    const int last = 20000 + 1000 * world->number;
    double nearest = INFINITY, first_phi[DIMENSIONS], phi[DIMENSIONS];
    sinusoids(0, DIMENSIONS, first_phi);
    for (int t = first; t < last; t++) {
        sinusoids(t, DIMENSIONS, phi);
        nearest = fmin(nearest, lab_distance(phi, first_phi, DIMENSIONS));
    }
    *found = (struct lab_found){.computed = nearest,
                                .claimed = NAN,
                                .error = (nearest > 1e-9) != (asked->choice[0] == 0)};
    return 0;
}

static void rotate(const double *from, double angle, double *to)
{
    to[0] = from[0] * cos(angle) - from[1] * sin(angle);
    to[1] = from[0] * sin(angle) + from[1] * cos(angle);
}

static int rotary_score(const struct lab_asked *asked, double t, double u, double *score)
{
    const double q[] = {0.6, -1.1}, k[] = {0.9, 0.4};
    double q_t[2], k_u[2];
    rotate(q, t, q_t);
    rotate(k, u, k_u);
    return lab_engine_score(asked->exercise, 2, k_u, q_t, score);
}

/* Choices: difference, each, none: what of the positions a rotated score depends on. */
static int read_rotary(const struct lab_asked *asked, const struct lab_world *world,
                       struct lab_found *found)
{
    const double t = 3 + world->number, u = 11;
    double score, shifted, moved;
    if (rotary_score(asked, t, u, &score) ||
        rotary_score(asked, t + 5, u + 5, &shifted) ||
        rotary_score(asked, t + 5, u, &moved))
        return -1;
    const int is =
        !lab_same_number(score, shifted) ? 1 : lab_same_number(score, moved) * 2;
    *found = (struct lab_found){
        .computed = shifted, .claimed = score, .error = is != asked->choice[0]};
    return 0;
}

static void bind_variants(const struct lab_asked *asked, const struct lab_world *world,
                          struct lab_letters *letters)
{
    (void)asked;
    lab_letters_number(letters, "n", (double)world->n);
    lab_letters_number(letters, "m", 3 + world->number);
    lab_letters_number(letters, "d", 64);
}

/* The mean weight of a key at each of n places, by scores that do not see it. */
static int read_synthesizer(const struct lab_asked *asked, const struct lab_world *world,
                            struct lab_found *found)
{
    enum { SYNTHESIZER_STREAM = 943 };
    double *const scores = malloc((size_t)world->n * 2 * sizeof *scores);
    double claimed, sum = 0;
    int status = scores ? 0 : -1;
    for (int64_t i = 0; !status && i < world->n; i++) {
        float normal;
        lab_random_normals(asked->exercise->seed, SYNTHESIZER_STREAM, (uint64_t)i,
                           &normal, 1);
        scores[i] = 3 * (double)normal;
    }
    if (!status)
        status = lab_exercise_softmax_scores(asked->exercise, world->n, scores,
                                             scores + world->n);
    for (int64_t i = 0; !status && i < world->n; i++)
        sum += scores[world->n + i] / (double)world->n;
    free(scores);
    if (!status && !lab_asked_number(asked, 0, world, &claimed, found))
        lab_found_number(found, sum, claimed);
    return status;
}

/* m latents read n tokens, and n tokens read m latents. */
static int read_bottleneck(const struct lab_asked *asked, const struct lab_world *world,
                           struct lab_found *found)
{
    double scores = 0, claimed;
    for (int latent = 0; latent < 3 + world->number; latent++)
        for (int64_t token = 0; token < world->n; token++)
            scores += 2;
    if (!lab_asked_number(asked, 0, world, &claimed, found))
        lab_found_number(found, scores, claimed);
    return 0;
}

const struct lab_probing lab_probe_moved = {
    .bind = bind_tokens,
    .read = read_moved,
    .alone = 1,
};
const struct lab_probing lab_probe_moved_scores = {
    .bind = bind_tokens,
    .read = read_moved_scores,
    .alone = 1,
};
const struct lab_probing lab_probe_moved_weights = {
    .bind = bind_tokens,
    .read = read_moved_weights,
    .alone = 1,
};
const struct lab_probing lab_probe_moved_output = {
    .bind = bind_tokens,
    .read = read_moved_output,
    .alone = 1,
};
const struct lab_probing lab_probe_order = {
    .bind = bind_tokens,
    .read = read_order,
    .measures = "outputs of permuted tokens off the permuted outputs by",
    .alone = 1,
};
const struct lab_probing lab_probe_positions = {
    .bind = bind_tokens,
    .read = read_positions,
    .measures = "outputs of permuted tokens off the permuted outputs by",
    .alone = 1,
};
const struct lab_probing lab_probe_sinusoids = {
    .bind = bind_positions,
    .read = read_sinusoids,
    .alone = 1,
    .number = 1,
};
const struct lab_probing lab_probe_positions_same = {
    .bind = bind_positions,
    .read = read_same,
    .measures = "nearest embeddings at distance",
    .alone = 1,
};
const struct lab_probing lab_probe_rotary = {
    .bind = bind_positions,
    .read = read_rotary,
    .measures = "score at shifted positions",
    .against = "before",
    .alone = 1,
};
const struct lab_probing lab_probe_synthesizer = {
    .bind = bind_variants,
    .read = read_synthesizer,
    .number = 1,
};
const struct lab_probing lab_probe_bottleneck = {
    .bind = bind_variants,
    .read = read_bottleneck,
    .number = 1,
};
