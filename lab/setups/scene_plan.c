/* SPDX-License-Identifier: MIT */
#include "lab/setups/scene_plan.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Most trials of a block, and most entries of its keys: they stay in the second cache. */
enum { BLOCK_MAX = 256, BLOCK_ENTRIES = 1 << 16 };

static int64_t noisy_keys(const struct lab_scene *scene)
{
    if (scene->sigma2 == 0)
        return 0;
    switch (scene->noisy) {
    case LAB_NOISY_NONE:
        return 0;
    case LAB_NOISY_A:
        return 1;
    case LAB_NOISY_WANTED:
        return scene->wanted;
    case LAB_NOISY_ALL:
        break;
    }
    return scene->n;
}

static enum lab_form choose_form(const struct lab_scene *scene, int64_t d)
{
    int sees_rest = 0;

    for (int h = 0; h < scene->heads; h++)
        sees_rest |= scene->rest_query[h] != 0;
    if (scene->alpha > 0)
        return d <= LAB_ENTRIES_MAX / scene->n ? LAB_DRAWN : LAB_PROJECTED;
    return sees_rest && noisy_keys(scene) > scene->wanted ? LAB_PROJECTED : LAB_COLLAPSED;
}

/*
 * Coordinates of a query: along mu_0 .. mu_{wanted-1}, then along the unwanted means
 * one by one (LAB_DRAWN), along their normalised sum (LAB_PROJECTED), or as what a single
 * one of them sees (LAB_COLLAPSED).
 */
static void fill_queries(struct lab_plan *plan)
{
    const struct lab_scene *const scene = plan->scene;
    const int64_t w = scene->wanted;
    const double rest = (double)(scene->n - w);
    const double size = plan->form == LAB_PROJECTED ? sqrt(rest) : 1;

    for (int64_t h = 0; h < scene->heads; h++) {
        for (int64_t i = 0; i < w; i++)
            lab_put(plan->q, plan->dtype, h * plan->d + i, scene->query[h][i]);
        const int64_t end = plan->form == LAB_DRAWN ? scene->n : plan->d;
        for (int64_t i = w; i < end; i++)
            lab_put(plan->q, plan->dtype, h * plan->d + i, size * scene->rest_query[h]);
    }
}

/* v_i is unit vector i for wanted keys and unit vector `wanted` for all the others. */
static void fill_values(struct lab_plan *plan)
{
    const int64_t w = plan->scene->wanted;

    for (int64_t i = 0; i < plan->nk; i++)
        lab_put(plan->v, plan->dtype, i * plan->dv + (i < w ? i : w), 1);
    if (plan->form == LAB_COLLAPSED && plan->nk > w)
        lab_put(plan->bias, plan->dtype, w, log((double)(plan->n - w)));
}

int lab_plan_open(struct lab_plan *plan, struct lab_session *session)
{
    const struct lab_scene *const scene = plan->scene;
    const int64_t w = scene->wanted, d = scene->d > 0 ? scene->d : scene->n;

    assert(scene->n >= w && w > 0 && w <= LAB_WANTED_MAX && d >= scene->n);
    assert(scene->heads > 0 && scene->heads <= LAB_HEADS_MAX);
    plan->form = choose_form(scene, d);
    if (plan->form == LAB_PROJECTED && scene->unit_keys && scene->alpha > 0)
        return lab_misuse(session,
                          "--n: %lld keys of unit norm with alpha above 0 need all n d "
                          "entries, of which %d at most are drawn",
                          (long long)scene->n, (int)LAB_ENTRIES_MAX);
    plan->n = scene->n;
    plan->nk = plan->form == LAB_COLLAPSED && scene->n > w ? w + 1 : scene->n;
    plan->d = plan->form == LAB_DRAWN ? d : w + 1;
    plan->dv = (int)w + 1;
    plan->averaged = scene->averaged > 0 ? scene->averaged : scene->heads;
    plan->sets = scene->independent_noise ? scene->heads : 1;
    plan->noisy = noisy_keys(scene);
    if (plan->form == LAB_COLLAPSED && plan->noisy > w)
        plan->noisy = w; /* what the others carry, no query sees */
    plan->dtype = plan->form == LAB_DRAWN ? ATTEND_F32 : ATTEND_F64;
    plan->block = BLOCK_ENTRIES / (plan->sets * plan->nk * plan->d);
    plan->block = plan->block < 1 ? 1 : plan->block > BLOCK_MAX ? BLOCK_MAX : plan->block;

    const size_t size = attend_dtype_size(plan->dtype);
    plan->q = calloc((size_t)(scene->heads * plan->d), size);
    plan->v = calloc((size_t)(plan->nk * plan->dv), size);
    plan->bias = calloc((size_t)plan->nk, size);
    if (!plan->q || !plan->v || !plan->bias)
        return lab_fail(session, "out of memory for %lld keys", (long long)plan->nk);
    fill_queries(plan);
    fill_values(plan);
    plan->rule = attend_rule_default();
    plan->rule.scale_is_set = 1;
    plan->rule.scale = scene->tau;
    plan->rule.softcap = scene->softcap;
    if (plan->form == LAB_COLLAPSED)
        plan->rule.bias =
            (attend_view){plan->bias, plan->dtype, {1, 1, 1, plan->nk}, {0, 0, 0, 1}};
    return 0;
}

void lab_plan_close(struct lab_plan *plan)
{
    free(plan->q);
    free(plan->v);
    free(plan->bias);
}

/* The parts of the scratch, in numbers, in the order of struct lab_scene_room. */
enum { KEYS, OUT, WEIGHTS, NORMALS, VALUES, GAMMA, PARTS };

static void part_sizes(const struct lab_plan *plan, size_t size[PARTS])
{
    const size_t block = (size_t)plan->block, sets = block * (size_t)plan->sets;
    const size_t rows = block * (size_t)plan->scene->heads;

    size[KEYS] = sets * (size_t)(plan->nk * plan->d);
    size[OUT] = rows * (size_t)plan->dv;
    size[WEIGHTS] = rows * (size_t)plan->nk;
    size[NORMALS] =
        sets * (size_t)(plan->noisy + 1) +
        (plan->form == LAB_PROJECTED && plan->scene->alpha > 0 ? size[KEYS] : 0);
    size[VALUES] = (size_t)plan->count * block;
    size[GAMMA] = block * (size_t)plan->scene->wanted;
}

size_t lab_scene_room_size(const struct lab_plan *plan)
{
    size_t size[PARTS], sum = 0;

    part_sizes(plan, size);
    for (int x = 0; x < PARTS; x++)
        sum += size[x];
    return sum;
}

struct lab_scene_room lab_scene_room(const struct lab_plan *plan, double *scratch)
{
    size_t size[PARTS];
    double *part[PARTS + 1] = {scratch};

    part_sizes(plan, size);
    for (int x = 0; x < PARTS; x++)
        part[x + 1] = part[x] + size[x];
    return (struct lab_scene_room){.k = part[KEYS],
                                   .out = part[OUT],
                                   .weights = part[WEIGHTS],
                                   .normals = (float *)part[NORMALS],
                                   .values = part[VALUES],
                                   .gamma = part[GAMMA]};
}
