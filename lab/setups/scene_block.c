/* SPDX-License-Identifier: MIT */
#include "lab/setups/scene_plan.h"

#include <math.h>
#include <string.h>

#include "lab/measure/random.h"

/* k -> k / |k|; only what a projected key has left of 0 can be 0 itself. */
static void normalise(const struct lab_plan *plan, void *k, int64_t rows)
{
    for (int64_t r = 0; r < rows; r++) {
        double square = 0;
        for (int64_t j = 0; j < plan->d; j++) {
            const double x = lab_get(k, plan->dtype, r * plan->d + j);
            square += x * x;
        }
        const double factor = square > 0 ? 1 / sqrt(square) : 0;
        for (int64_t j = 0; j < plan->d; j++)
            lab_put(k, plan->dtype, r * plan->d + j,
                    factor * lab_get(k, plan->dtype, r * plan->d + j));
    }
}

/* Isotropic noise, or zeros, in every entry of the keys of a block. */
static void draw_isotropic(const struct lab_plan *plan, const struct lab_scene_room *room,
                           int64_t trial, int64_t trials)
{
    const int64_t each = plan->sets * plan->nk * plan->d, entries = trials * each;
    const float sd = (float)sqrt(plan->scene->alpha);

    if (plan->scene->alpha == 0) {
        memset(room->k, 0, (size_t)entries * attend_dtype_size(plan->dtype));
        return;
    }
    float *const normals =
        plan->form == LAB_DRAWN
            ? room->k
            : room->normals + plan->block * plan->sets * (plan->noisy + 1);
    lab_random_noise(plan->seed, 2 * plan->stream, (uint64_t)(trial * each), sd, normals,
                     entries);
    if (plan->form != LAB_DRAWN)
        for (int64_t x = 0; x < entries; x++)
            ((double *)room->k)[x] = (double)normals[x];
}

/* Adds the means and the noise of magnitude to the isotropic noise. */
static void draw_keys(const struct lab_plan *plan, const struct lab_scene_room *room,
                      int64_t trial, int64_t trials)
{
    const int64_t w = plan->scene->wanted, sets = trials * plan->sets;
    const double sigma = sqrt(plan->scene->sigma2);
    const double part = plan->form == LAB_PROJECTED ? 1 / sqrt((double)(plan->n - w)) : 1;

    draw_isotropic(plan, room, trial, trials);
    lab_random_normals(plan->seed, 2 * plan->stream + 1,
                       (uint64_t)(trial * plan->sets * plan->noisy), room->normals,
                       sets * plan->noisy);
    for (int64_t s = 0; s < sets; s++)
        for (int64_t i = 0; i < plan->nk; i++) {
            const int64_t column = plan->form != LAB_DRAWN && i > w ? w : i;
            const int64_t at = (s * plan->nk + i) * plan->d + column;
            const double noise =
                i < plan->noisy ? sigma * (double)room->normals[s * plan->noisy + i] : 0;
            const double gamma =
                (i < w ? 1 : part) * (1 + noise) + lab_get(room->k, plan->dtype, at);
            lab_put(room->k, plan->dtype, at, gamma);
            if (i < w && s % plan->sets == 0)
                room->gamma[s / plan->sets * w + i] = gamma;
        }
    if (plan->scene->unit_keys && plan->form == LAB_PROJECTED) {
        /* alpha is 0: the direction is +-mu, of which 1 / sqrt(n - w) shows. */
        for (int64_t r = 0; r < sets * plan->nk; r++) {
            double *const x = (double *)room->k + r * plan->d;
            const int64_t i = r % plan->nk < w ? r % plan->nk : w;
            x[i] = copysign(i < w ? 1 : part, x[i]);
        }
    } else if (plan->scene->unit_keys) {
        normalise(plan, room->k, sets * plan->nk);
    }
}

static attend_status attend_block(const struct lab_plan *plan, struct lab_worker *worker,
                                  const struct lab_scene_room *room, int64_t trials)
{
    const int64_t heads = plan->scene->heads, nk = plan->nk, d = plan->d, dv = plan->dv;
    const int64_t each = nk * d;
    attend_io io = attend_io_default();

    io.q = (attend_view){plan->q, plan->dtype, {trials, heads, 1, d}, {0, d, d, 1}};
    io.k = (attend_view){room->k,
                         plan->dtype,
                         {trials, plan->sets, nk, d},
                         {plan->sets * each, each, d, 1}};
    io.v =
        (attend_view){plan->v, plan->dtype, {trials, plan->sets, nk, dv}, {0, 0, dv, 1}};
    io.out = (attend_tensor){
        room->out, plan->dtype, {trials, heads, 1, dv}, {heads * dv, dv, dv, 1}};
    if (plan->form != LAB_COLLAPSED && !plan->scene->plain)
        io.weights = (attend_tensor){
            room->weights, plan->dtype, {trials, heads, 1, nk}, {heads * nk, nk, nk, 1}};
    return attend_forward(worker->ctx, &plan->rule, &io, &worker->err);
}

/* Squares of the weights of the unwanted keys, and of their coefficients in c. */
static void add_squares(const struct lab_plan *plan, const struct lab_scene_room *room,
                        int64_t trial, struct lab_outcome *outcome)
{
    const int64_t heads = plan->scene->heads, w = plan->scene->wanted, nk = plan->nk;
    const double rest = (double)(plan->n - w), averaged = (double)plan->averaged;
    double others = 0;

    outcome->others_squared = 0;
    if (plan->form == LAB_COLLAPSED) {
        for (int64_t h = 0; h < heads; h++) {
            const double weight = outcome->others[h];
            outcome->squares[h] = rest > 0 ? weight * weight / rest : 0;
            others += h < plan->averaged ? weight / averaged : 0;
        }
        outcome->others_squared = rest > 0 ? others * others / rest : 0;
        return;
    }
    for (int64_t h = 0; h < heads; h++)
        outcome->squares[h] = 0;
    for (int64_t i = w; i < nk; i++) {
        double coefficient = 0;
        for (int64_t h = 0; h < heads; h++) {
            const double weight =
                lab_get(room->weights, plan->dtype, (trial * heads + h) * nk + i);
            outcome->squares[h] += weight * weight;
            coefficient += h < plan->averaged ? weight / averaged : 0;
        }
        outcome->others_squared += coefficient * coefficient;
    }
}

/* Without them, in the place of what is not computed. */
static void skip_squares(const struct lab_plan *plan, struct lab_outcome *outcome)
{
    outcome->others_squared = NAN;
    for (int h = 0; h < plan->scene->heads; h++)
        outcome->squares[h] = NAN;
}

static void add_scores(const struct lab_plan *plan, const struct lab_scene_room *room,
                       int64_t trial, struct lab_outcome *outcome)
{
    for (int64_t h = 0; h < plan->scene->heads; h++) {
        const int64_t set = trial * plan->sets + (plan->sets > 1 ? h : 0);
        for (int64_t i = 0; i < plan->scene->wanted; i++) {
            double score = 0;
            for (int64_t c = 0; c < plan->d; c++)
                score +=
                    lab_get(plan->q, plan->dtype, h * plan->d + c) *
                    lab_get(room->k, plan->dtype, (set * plan->nk + i) * plan->d + c);
            outcome->score[h][i] = plan->scene->tau * score;
        }
    }
}

static void observe_block(const struct lab_plan *plan, const struct lab_scene_room *room,
                          int64_t trials)
{
    const int64_t heads = plan->scene->heads, w = plan->scene->wanted;
    const double averaged = (double)plan->averaged;
    double values[LAB_TRIAL_VALUES_MAX];
    struct lab_outcome outcome;

    for (int64_t t = 0; t < trials; t++) {
        for (int64_t i = 0; i < w; i++) {
            outcome.coefficient[i] = 0;
            outcome.gamma[i] = room->gamma[t * w + i];
        }
        for (int64_t h = 0; h < heads; h++) {
            const int64_t row = (t * heads + h) * plan->dv;
            for (int64_t i = 0; i < w; i++) {
                outcome.weight[h][i] = lab_get(room->out, plan->dtype, row + i);
                if (h < plan->averaged)
                    outcome.coefficient[i] += outcome.weight[h][i] / averaged;
            }
            outcome.others[h] = lab_get(room->out, plan->dtype, row + w);
        }
        if (plan->scene->plain)
            skip_squares(plan, &outcome);
        else
            add_squares(plan, room, t, &outcome);
        if (plan->scene->scores)
            add_scores(plan, room, t, &outcome);
        plan->observe(plan->arg, &outcome, values);
        for (int c = 0; c < plan->count; c++)
            room->values[c * plan->block + t] = values[c];
    }
}

attend_status lab_scene_block(const struct lab_plan *plan, struct lab_worker *worker,
                              const struct lab_scene_room *room, int64_t first,
                              int64_t trials)
{
    draw_keys(plan, room, first, trials);
    const attend_status status = attend_block(plan, worker, room, trials);
    if (status == ATTEND_OK)
        observe_block(plan, room, trials);
    return status;
}
