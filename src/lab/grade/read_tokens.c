/* SPDX-License-Identifier: MIT */
/* Questions 2 and 3g: order, positions, variants. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/grade/probing.h"
#include "lab/measure/random.h"

enum { T = LAB_EXERCISE_TOKENS, DIMENSIONS = 4 };

/* Tokens X, what attention makes of them, and the same of the permuted tokens P X. */
struct tokens {
    struct lab_sequence sequence;
    lab_square moved, permutation;
    lab_square scores, weights, out;
    lab_square moved_scores, moved_weights, moved_out;
};

static int open_tokens(const struct lab_asked *asked, const struct lab_world *world,
                       struct tokens *tokens)
{
    const struct lab_exercise exercise = lab_world_exercise(asked, world);
    struct lab_sequence *const sequence = &tokens->sequence;
    lab_exercise_sequence(&exercise, sequence);
    lab_permute(sequence->order, 0, sequence->x, tokens->moved);
    memset(tokens->permutation, 0, sizeof tokens->permutation);
    for (int r = 0; r < T; r++)
        tokens->permutation[r][sequence->order[r]] = 1;
    return lab_exercise_self(&exercise, sequence, sequence->x, tokens->scores,
                             tokens->weights, tokens->out) ||
                   lab_exercise_self(&exercise, sequence, tokens->moved,
                                     tokens->moved_scores, tokens->moved_weights,
                                     tokens->moved_out)
               ? -1
               : 0;
}

static void bind_tokens(const struct lab_asked *asked, const struct lab_world *world,
                        struct lab_letters *letters)
{
    struct tokens tokens;
    memset(&tokens, 0, sizeof tokens);
    open_tokens(asked, world, &tokens);
    lab_letters_matrix(letters, "X", T, T, &tokens.sequence.x[0][0]);
    lab_letters_matrix(letters, "P", T, T, &tokens.permutation[0][0]);
    lab_letters_matrix(letters, "Pi", T, T, &tokens.permutation[0][0]);
    lab_letters_matrix(letters, "S", T, T, &tokens.scores[0][0]);
    lab_letters_matrix(letters, "A", T, T, &tokens.weights[0][0]);
    lab_letters_matrix(letters, "Y", T, T, &tokens.out[0][0]);
}

static int read_square(const struct lab_asked *asked, const struct lab_world *world,
                       lab_square computed, struct lab_found *found)
{
    struct lab_letters letters = {0};
    struct lab_value claimed;
    bind_tokens(asked, world, &letters);
    if (!lab_asked_value(asked, 0, &letters, T, T, &claimed, found))
        lab_found_distance(found, lab_distance(claimed.x, &computed[0][0], T * T));
    return 0;
}

static int read_moved(const struct lab_asked *asked, const struct lab_world *world,
                      struct lab_found *found)
{
    struct tokens tokens;
    return open_tokens(asked, world, &tokens) ||
                   read_square(asked, world, tokens.moved, found)
               ? -1
               : 0;
}

static int read_moved_scores(const struct lab_asked *asked, const struct lab_world *world,
                             struct lab_found *found)
{
    struct tokens tokens;
    return open_tokens(asked, world, &tokens) ||
                   read_square(asked, world, tokens.moved_scores, found)
               ? -1
               : 0;
}

static int read_moved_weights(const struct lab_asked *asked,
                              const struct lab_world *world, struct lab_found *found)
{
    struct tokens tokens;
    return open_tokens(asked, world, &tokens) ||
                   read_square(asked, world, tokens.moved_weights, found)
               ? -1
               : 0;
}

static int read_moved_output(const struct lab_asked *asked, const struct lab_world *world,
                             struct lab_found *found)
{
    struct tokens tokens;
    return open_tokens(asked, world, &tokens) ||
                   read_square(asked, world, tokens.moved_out, found)
               ? -1
               : 0;
}

/* How far the outputs of permuted tokens are from permuted outputs. */
static int defect_of(const struct lab_exercise *exercise, struct lab_sequence *sequence,
                     lab_square x, lab_square moved, double *defect)
{
    lab_square out, out_moved, wanted;
    if (lab_exercise_self(exercise, sequence, x, NULL, NULL, out) ||
        lab_exercise_self(exercise, sequence, moved, NULL, NULL, out_moved))
        return -1;
    lab_permute(sequence->order, 0, out, wanted);
    *defect = lab_square_distance(out_moved, wanted);
    return 0;
}

/* Choices: ignored, kept. */
static int read_order(const struct lab_asked *asked, const struct lab_world *world,
                      struct lab_found *found)
{
    const struct lab_exercise exercise = lab_world_exercise(asked, world);
    struct tokens tokens;
    double defect;
    if (open_tokens(asked, world, &tokens) ||
        defect_of(&exercise, &tokens.sequence, tokens.sequence.x, tokens.moved, &defect))
        return -1;
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
    double defect, phi[T];
    if (open_tokens(asked, world, &tokens))
        return -1;
    for (int t = 0; t < T; t++) {
        sinusoids(t, T, phi);
        for (int c = 0; c < T; c++) {
            tokens.sequence.x[t][c] += phi[c];
            tokens.moved[t][c] += phi[c];
        }
    }
    if (defect_of(&exercise, &tokens.sequence, tokens.sequence.x, tokens.moved, &defect))
        return -1;
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
