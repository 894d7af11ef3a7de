/* SPDX-License-Identifier: MIT */
/* The worlds that an answer is tried in, and the verdict of all together. */
#include <math.h>
#include <string.h>

#include "lab/grade/probing.h"
#include "lab/measure/random.h"

enum { FIXED = 8, STREAM = 941 };

#define EXACT                                                                            \
    1e-11 /* error of an answer that is exact: rounding, and no constant added */

static const int64_t fixed_n[FIXED] = {2, 2, 3, 3, 10, 10, 1000, 1000};
static const double fixed_scale[FIXED] = {0.5, 10, 2, 50, 0.5, 10, 2, 50};
static const double fixed_gamma[FIXED] = {0.5, 1, 1.5, 0.8, -0.6, 0.5, 1, -1.2};
static const double fixed_eps[FIXED] = {0.1, 0.01, 0.1, 0.001, 0.1, 0.01, 0.1, 0.001};

static double between(double low, double high, uint32_t word)
{
    return low + (high - low) * ((double)word + 0.5) / 4294967296.0;
}

/* The first are the same for all answers, the others are drawn from the seed. */
void lab_probe_world(const struct lab_asked *asked, int number, struct lab_point *point)
{
    const struct lab_probing *const probing = asked->part->probing;
    uint32_t word[6];

    *point = (struct lab_point){
        .gamma = 1, .eps = 0.01, .number = number, .exercise = asked->exercise};
    if (number < FIXED) {
        point->n = fixed_n[number];
        point->scale = fixed_scale[number];
        point->gamma = fixed_gamma[number];
        point->eps = fixed_eps[number];
        point->alpha = number % 2 ? 1e-4 : 0;
    } else {
        lab_random_words(asked->exercise->seed, STREAM, 6 * (uint64_t)number, word, 6);
        point->n = 2 + (int64_t)between(0, 60, word[0]);
        point->scale = exp(between(log(0.3), log(20), word[1]));
        point->gamma = between(-0.5, 2.5, word[2]);
        point->eps = exp(between(log(1e-4), log(0.3), word[3]));
        point->alpha = word[4] % 3 ? exp(between(log(1e-5), log(1e-2), word[5])) : 0;
    }
    if (lab_queries_use_alpha(asked))
        point->alpha = fmax(point->alpha, 1e-6);
    else if (!(probing->vary & LAB_VARY_ALPHA))
        point->alpha = 0;
    if (!(probing->vary & LAB_VARY_GAMMA))
        point->gamma = 1;
    if (probing->pairless && point->n < 3)
        point->n = 3;
}

static int compare(const struct lab_asked *asked, const struct lab_point *point,
                   struct lab_finding *found)
{
    if (lab_asked_judge(asked, point, found))
        return -1;
    if (*found->why || !(found->error >= 0))
        found->error = INFINITY;
    return 0;
}

/* The numbers of a counterexample, which must differ as printed. */
static double difference_in(const struct lab_finding *found)
{
    const double off =
        isnan(found->claimed) ? found->error : fabs(found->computed - found->claimed);
    return found->error < EXACT ? 0 : isnan(off) || *found->why ? INFINITY : off;
}

/* ---- limits ------------------------------------------------------------------------ */

struct trial {
    const struct lab_asked *asked;
    struct lab_probe_result *result;
};

/* Of worlds that differ only in a quantity that goes to its limit, one is enough. */
static int start_at(void *arg, int x, unsigned free, struct lab_point *from)
{
    const struct trial *const trial = arg;
    lab_probe_world(trial->asked, x, from);
    if (lab_is_constant(trial->asked) && from->n > LAB_CONSTANT_N)
        from->n = LAB_CONSTANT_N;
    return !(free & LAB_FREE_SCALE && x < FIXED && x % 2);
}

/* The larger of C and the length of the query that the part is about. */
static double length_at(void *arg, const struct lab_point *point)
{
    const struct lab_asked *const asked = ((const struct trial *)arg)->asked;
    const struct lab_asked *const own = asked->part->probing->query ? asked : asked->own;
    struct lab_pair_query query;
    struct lab_finding ignored = {0};
    if (!own || lab_asked_query(own, 0, point, &query, &ignored))
        return point->scale;
    const double others = query.rest * sqrt((double)point->n - 2);
    return fmax(point->scale, hypot(hypot(query.a, query.b), others));
}

static int errors_at(void *arg, const struct lab_point *point, struct lab_errors *errors)
{
    const struct trial *const trial = arg;
    struct lab_probe_result *const result = trial->result;
    if (compare(trial->asked, point, &result->found_last))
        return -1;
    result->last = *point;
    *errors = (struct lab_errors){.worst = result->found_last.error};
    return 0;
}

/* Queries may depend on alpha, or on the weight eps that they leave to the others. */
static unsigned free_of(const struct lab_asked *asked)
{
    const unsigned free = asked->part->probing->claim.free;
    if (!lab_is_constant(asked))
        return free;
    return (free & ~(unsigned)LAB_FREE_SCALE) |
           (lab_queries_use_eps(asked) ? LAB_FREE_EPS : 0) |
           (lab_queries_use_alpha(asked) ? LAB_FREE_ALPHA : 0);
}

/* The smallest set of quantities whose limit makes the claim right. */
static int try_limits(const struct lab_asked *asked, struct lab_probe_result *result)
{
    static const double nearer[] = {1e5, 250, 25};
    const struct lab_claim *const claim = &asked->part->probing->claim;
    struct trial trial = {asked, result};
    const int is_bounded = lab_is_constant(asked);
    struct lab_way way = {.free = free_of(asked),
                          .starts = LAB_PROBES,
                          .every = is_bounded,
                          .ends = 1,
                          .far = {claim->far},
                          .stride = 4,
                          .alpha = 1e-7,
                          .arg = &trial,
                          .start = start_at,
                          .length = length_at,
                          .errors = errors_at};
    for (size_t x = 0; x < sizeof nearer / sizeof nearer[0]; x++)
        if (nearer[x] < claim->far)
            way.far[way.ends++] = nearer[x];
    if (!way.free && !is_bounded)
        return 0;
    if (lab_find_limit(&way, &result->limit))
        return -1;
    if (is_bounded && !result->limit.needs && result->limit.residual < LAB_SMALL) {
        result->mark = LAB_MARK_LIMIT;
        return 0;
    }
    if (result->limit.needs)
        result->mark = LAB_MARK_LIMIT;
    /* An error that remains in the limit is better evidence than one far from it. */
    else if (way.free & ~(unsigned)LAB_FREE_EVENT && !is_bounded &&
             difference_in(&result->found_last) > LAB_VANISHED) {
        result->worst = result->last;
        result->found = result->found_last;
    }
    return 0;
}

int lab_probe_exact(const struct lab_asked *asked)
{
    for (int x = 0; x < LAB_PROBES; x++) {
        struct lab_point point;
        struct lab_finding found;
        lab_probe_world(asked, x, &point);
        if (compare(asked, &point, &found))
            return -1;
        if (!(found.error < EXACT))
            return 0;
    }
    return 1;
}

int lab_probe(const struct lab_asked *asked, struct lab_probe_result *result)
{
    memset(result, 0, sizeof *result);
    result->mark = LAB_MARK_RIGHT;
    int senseless = 0;
    for (int x = 0; x < LAB_PROBES; x++) {
        struct lab_point point;
        struct lab_finding found;
        lab_probe_world(asked, x, &point);
        if (compare(asked, &point, &found))
            return -1;
        result->at[result->probes++] = found;
        if (x == 0 || difference_in(&found) > difference_in(&result->found)) {
            result->worst = point;
            result->found = found;
        }
        senseless += *found.why != 0;
        if (!(found.error < EXACT))
            result->mark = LAB_MARK_WRONG;
    }
    if (result->mark == LAB_MARK_RIGHT &&
        lab_is_exact_by_rounding(asked, &result->by_rounding))
        return -1;
    if (result->by_rounding)
        result->mark = LAB_MARK_LIMIT;
    /* Shapes are the same in every world. */
    if (result->mark == LAB_MARK_RIGHT || senseless == LAB_PROBES)
        return 0;
    return try_limits(asked, result);
}

/* The point's, or 1 of a word whose query has none. */
static double scale_of(const struct lab_asked *asked, const struct lab_point *point)
{
    const struct lab_asked_claim *const claim = &asked->claim[asked->choice[0]];
    const int is_unscaled = asked->part->probing->word[asked->choice[0]].query &&
                            !lab_uses_scale(&claim->parsed.query[0].formula);
    return is_unscaled ? 1 : point->scale;
}

void lab_world_words(const struct lab_asked *asked, const struct lab_point *point,
                     struct lab_text *text)
{
    const struct lab_probing *const probing = asked->part->probing;
    if (probing->alone)
        lab_text_add(text, "case %d of %d", point->number + 1, LAB_PROBES);
    else
        lab_text_add(text, "n = %lld", (long long)point->n);
    if (probing->claim.grows && !lab_is_constant(asked))
        lab_text_add(text, ", %s = %.4g", probing->claim.grows, scale_of(asked, point));
    if (probing->vary & LAB_VARY_GAMMA)
        lab_text_add(text, ", gamma = %.4g", point->gamma);
    if (probing->vary & LAB_VARY_EPS)
        lab_text_add(text, ", eps = %.4g", point->eps);
    if (probing->vary & LAB_VARY_ALPHA)
        lab_text_add(text, ", alpha = %.4g", point->alpha);
}
