/* SPDX-License-Identifier: MIT */
/* Questions 2 and 3g: order, positions, variants. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/exercise/world.h"
#include "lab/grade/probing.h"
#include "lab/measure/random.h"

enum { T = LAB_WORLD_TOKENS, F = LAB_WORLD_FEATURES, DIMENSIONS = LAB_POSITION_D };

/* Rows of a matrix in the order of the permutation. */
static void permute_rows(const double *permutation, const double *x, double *y)
{
    for (int t = 0; t < T; t++)
        for (int u = 0; u < T; u++)
            if (permutation[t * T + u] > 0)
                memcpy(y + t * F, x + u * F, F * sizeof *x);
}

static int attend_to(const struct lab_exercise *exercise, struct lab_moved_tokens *tokens)
{
    return lab_world_self(exercise, &tokens->sequence, tokens->sequence.x,
                          &tokens->self) ||
                   lab_world_self(exercise, &tokens->sequence, tokens->moved,
                                  &tokens->self_moved)
               ? -1
               : 0;
}

int lab_moved_tokens(const struct lab_point *point, struct lab_moved_tokens *tokens)
{
    const struct lab_exercise exercise = lab_point_exercise(point);
    memset(tokens, 0, sizeof *tokens);
    lab_world_tokens(&exercise, &tokens->sequence);
    permute_rows(tokens->sequence.permutation, tokens->sequence.x, tokens->moved);
    return attend_to(&exercise, tokens);
}

/* How far the outputs of permuted tokens are from permuted outputs. */
static double defect_of(const struct lab_moved_tokens *tokens)
{
    double wanted[T * F];
    permute_rows(tokens->sequence.permutation, tokens->self.out, wanted);
    return lab_distance(tokens->self_moved.out, wanted, T * F);
}

/* Choices: ignored, kept. */
static int compare_order(struct lab_probe *probe)
{
    struct lab_moved_tokens tokens;
    if (lab_moved_tokens(probe->point, &tokens))
        return -1;
    const double defect = defect_of(&tokens);
    probe->found = lab_found_choice(probe, defect > 1e-9, defect, NAN);
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
static int compare_positions(struct lab_probe *probe)
{
    const struct lab_exercise exercise = lab_point_exercise(probe->point);
    struct lab_moved_tokens tokens;
    double phi[F];
    if (lab_moved_tokens(probe->point, &tokens))
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
    probe->found = lab_found_choice(probe, !(defect > 1e-9), defect, NAN);
    return 0;
}

double lab_position_t(const struct lab_point *point) { return 3 + 7.0 * point->number; }
double lab_position_u(const struct lab_point *point) { return 40 - 2.0 * point->number; }

static int compute_sinusoids(struct lab_probe *probe)
{
    double phi_t[DIMENSIONS], phi_u[DIMENSIONS];
    sinusoids(lab_position_t(probe->point), DIMENSIONS, phi_t);
    sinusoids(lab_position_u(probe->point), DIMENSIONS, phi_u);
    return lab_exercise_scores(probe->point->exercise, 1, DIMENSIONS, phi_u, phi_t,
                               probe->point->exercise->tau, probe->to.number);
}

/*
 * Choices: never, after-the-longest-period, yes.  The nearest pair of positions whose
 * offset is below `last`, by trying all: two embeddings are equal where the distance is
 * 0.
 */
static int compare_same(struct lab_probe *probe)
{
    const int longest = 629; /* 2 pi / omega_2 at four dimensions */
    const int first = probe->asked->choice[0] == 1 ? longest : 1;
    const int last = 20000 + 1000 * probe->point->number;
    double nearest = INFINITY, first_phi[DIMENSIONS], phi[DIMENSIONS];
    sinusoids(0, DIMENSIONS, first_phi);
    for (int t = first; t < last; t++) {
        sinusoids(t, DIMENSIONS, phi);
        nearest = fmin(nearest, lab_distance(phi, first_phi, DIMENSIONS));
    }
    probe->found =
        (struct lab_finding){.computed = nearest,
                             .claimed = NAN,
                             .error = (nearest > 1e-9) != (probe->asked->choice[0] == 0)};
    return 0;
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

/* Choices: difference, each, none: what of the positions a rotated score depends on. */
static int compare_rotary(struct lab_probe *probe)
{
    const double t = 3 + probe->point->number, u = 11;
    double score, shifted, moved;
    if (rotary_score(probe->point, t, u, &score) ||
        rotary_score(probe->point, t + 5, u + 5, &shifted) ||
        rotary_score(probe->point, t + 5, u, &moved))
        return -1;
    const int is =
        !lab_same_number(score, shifted) ? 1 : lab_same_number(score, moved) * 2;
    probe->found = lab_found_choice(probe, is, shifted, score);
    return 0;
}

/* The mean weight of a key at each of n places, by scores that do not see it. */
static int compute_synthesizer(struct lab_probe *probe)
{
    enum { SYNTHESIZER_STREAM = 943 };
    const struct lab_point *const point = probe->point;
    double *const scores = malloc((size_t)point->n * 2 * sizeof *scores);
    double sum = 0;
    int status = scores ? 0 : -1;
    for (int64_t i = 0; !status && i < point->n; i++) {
        float normal;
        lab_random_normals(point->exercise->seed, SYNTHESIZER_STREAM, (uint64_t)i,
                           &normal, 1);
        scores[i] = 3 * (double)normal;
    }
    if (!status)
        status = lab_exercise_softmax_scores(point->exercise, point->n, scores,
                                             scores + point->n);
    for (int64_t i = 0; !status && i < point->n; i++)
        sum += scores[point->n + i] / (double)point->n;
    free(scores);
    probe->to.number[0] = sum;
    return status;
}

/* m latents read n tokens, and n tokens read m latents. */
static int compute_bottleneck(struct lab_probe *probe)
{
    for (int latent = 0; latent < 3 + probe->point->number; latent++)
        for (int64_t token = 0; token < probe->point->n; token++)
            probe->to.number[0] += 2;
    return 0;
}

const struct lab_part lab_parts_tokens[LAB_PARTS_TOKENS] = {
    {LAB_ASKS("2a-i", "moved",
              "the tokens (rows of X) in the order of the permutation P"),
     .hint = "Rows are moved by a factor on the left.", .points = 1, .texts = 1,
     .solution = {"P X"},
     LAB_JUDGED(.letters = &lab_letters_tokens, .computed = "X_moved", .alone = 1)},
    {LAB_ASKS("2a-i", "scores", "the scores of P X, in the scores S of X"),
     .hint = "S = Q K^T/sqrt(d), and P moves the rows of both Q and K.", .points = 2,
     .texts = 1, .solution = {"P S P^T"},
     LAB_JUDGED(.letters = &lab_letters_tokens, .computed = "S_moved", .alone = 1)},
    {LAB_ASKS("2a-i", "weights", "the weights of P X, in the weights A of X"),
     .hint = "Softmax by rows commutes with permutations of rows and of columns.",
     .points = 1, .texts = 1, .solution = {"P A P^T"},
     LAB_JUDGED(.letters = &lab_letters_tokens, .computed = "A_moved", .alone = 1)},
    {LAB_ASKS("2a-i", "output", "the output of P X, in the output Y of X"),
     .hint = "P^T P = I.", .points = 2, .texts = 1, .solution = {"P Y"},
     LAB_JUDGED(.letters = &lab_letters_tokens, .computed = "Y_moved", .alone = 1)},
    {LAB_ASKS("2a-ii", "order", "what attention without positions makes of the order"),
     .hint = "Every word gets the same output wherever it stands.", .points = 1,
     .texts = 1, .choices = "ignored|kept", .solution = {"ignored"},
     LAB_JUDGED(.letters = &lab_letters_tokens, .compute = compare_order,
                .measures = "outputs of permuted tokens off the permuted outputs by",
                .alone = 1)},
    {LAB_ASKS("2b-i", "helps", "whether X + Phi makes the order matter"),
     .hint = "The same word at another place is then another row.", .points = 1,
     .texts = 1, .choices = "yes|no", .solution = {"yes"},
     LAB_JUDGED(.letters = &lab_letters_tokens, .compute = compare_positions,
                .measures = "outputs of permuted tokens off the permuted outputs by",
                .alone = 1)},
    {LAB_ASKS("2b-i", "dot",
              "phi_t^T phi_u for d = 4, with frequencies omega_1 and omega_2"),
     .hint = "sin x sin y + cos x cos y = cos(x - y).", .points = 1, .texts = 1,
     .solution = {"cos(omega_1 (t-u)) + cos(omega_2 (t-u))"},
     LAB_JUDGED(.letters = &lab_letters_positions, .claims = LAB_CLAIMS_NUMBERS,
                .compute = compute_sinusoids, .alone = 1, .number = 1)},
    {LAB_ASKS("2b-ii", "same", "whether two positions can share an embedding"),
     .hint = "The first pair turns by 1 radian a step, and 2 pi is irrational.",
     .points = 1, .texts = 1, .choices = "never|after-the-longest-period|yes",
     .solution = {"never"},
     LAB_JUDGED(.letters = &lab_letters_positions, .compute = compare_same,
                .measures = "nearest embeddings at distance", .alone = 1)},
    {LAB_ASKS("3g", "rotary", "what of two positions a score under RoPE depends on"),
     .hint = "R_t^T R_u is the rotation by u - t.", .points = 1, .texts = 1,
     .choices = "difference|each|none", .solution = {"difference"},
     LAB_JUDGED(.letters = &lab_letters_positions, .compute = compare_rotary,
                .measures = "score at shifted positions", .against = "before",
                .alone = 1)},
    {LAB_ASKS(
         "3g", "synthesizer",
         "mean weight of a wanted key at a random one of n places, scores blind to keys"),
     .hint = "The weights of all places add up to 1.", .points = 1, .texts = 1,
     .solution = {"1/n"},
     LAB_JUDGED(.letters = &lab_letters_variants, .claims = LAB_CLAIMS_NUMBERS,
                .compute = compute_synthesizer, .number = 1)},
    {LAB_ASKS("3g", "bottleneck", "scores of n tokens through m latents and back"),
     .hint = "m latents read n tokens, then n tokens read m latents.", .points = 1,
     .texts = 1, .solution = {"2 n m"},
     LAB_JUDGED(.letters = &lab_letters_variants, .claims = LAB_CLAIMS_NUMBERS,
                .compute = compute_bottleneck, .number = 1)},
};
