/* SPDX-License-Identifier: MIT */
/* The laboratory's random numbers, moments and histograms. */
#include "support/tensors.h"
#include "support/test.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measure/moments.h"
#include "lab/measure/random.h"

enum { MANY = 1 << 22 };

static float *normals;

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static double normal_cdf(double x) { return 0.5 * erfc(-x / sqrt(2)); }

/* Central moments of a normal: 0, 1, 0, 3; their standard errors from moments 2, 4, 6, 8.
 */
TEST(normals_have_the_moments_of_a_normal)
{
    double power[5] = {0};

    for (int i = 0; i < MANY; i++) {
        const double x = (double)normals[i];
        power[1] += x;
        power[2] += x * x;
        power[3] += x * x * x;
        power[4] += x * x * x * x;
    }
    const double expected[5] = {1, 0, 1, 0, 3}, variance[5] = {0, 1, 2, 15, 96};
    for (int k = 1; k <= 4; k++) {
        const double z = (power[k] / MANY - expected[k]) / sqrt(variance[k] / MANY);
        CHECK(fabs(z) < 4, "moment %d is %.7f, z = %.2f", k, power[k] / MANY, z);
    }
}

/* sqrt(N) times the greatest distance exceeds 1.95 with a probability of 1e-3. */
TEST(normals_follow_the_distribution)
{
    const int64_t asked = test_count(MANY / 8);
    const int count = asked < MANY ? (int)asked : MANY;
    auto_free float *const sorted = malloc((size_t)count * sizeof *sorted);
    double distance = 0;

    memcpy(sorted, normals, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    for (int i = 0; i < count; i++) {
        const double p = normal_cdf((double)sorted[i]);
        distance = fmax(distance, fmax(fabs(p - (double)i / count),
                                       fabs(p - (double)(i + 1) / count)));
    }
    CHECK(distance * sqrt(count) < 1.95, "distance %.3g", distance);
}

TEST(tails_are_full)
{
    for (double at = 2; at <= 5; at += 0.5) {
        const double expected = MANY * 2 * normal_cdf(-at);
        int seen = 0;
        for (int i = 0; i < MANY; i++)
            seen += fabs((double)normals[i]) > at;
        CHECK(fabs(seen - expected) < 4 * sqrt(expected) + 1, "beyond %g: %d of %.1f", at,
              seen, expected);
    }
}

/* Neighbours within a pair, within a group and between groups, and their squares. */
TEST(normals_are_uncorrelated)
{
    static const int lags[] = {1, 2, 15, 16, 17, 31, 32, 48, 63, 64, 65, 128, 4096};

    for (unsigned l = 0; l < sizeof lags / sizeof lags[0]; l++) {
        double sum = 0, squares = 0;
        const int count = MANY - lags[l];
        for (int i = 0; i < count; i++) {
            const double x = (double)normals[i], y = (double)normals[i + lags[l]];
            sum += x * y;
            squares += (x * x - 1) * (y * y - 1);
        }
        const double z = sum / sqrt(count), z2 = squares / (2 * sqrt(count));
        CHECK(fabs(z) < 4 && fabs(z2) < 4, "lag %d: z = %.2f, of squares %.2f", lags[l],
              z, z2);
    }
}

static double correlation_z(uint64_t seed, uint64_t stream, uint64_t first)
{
    enum { COUNT = 1 << 18 };
    static float other[COUNT];
    double sum = 0;

    lab_random_normals(seed, stream, first, other, COUNT);
    for (int i = 0; i < COUNT; i++)
        sum += (double)normals[i] * (double)other[i];
    return sum / sqrt(COUNT);
}

TEST(streams_and_seeds_are_independent)
{
    const struct {
        uint64_t seed, stream, first;
    } others[] = {{1, 1, 0},
                  {1, 2, 0},
                  {1, UINT64_C(1) << 32, 0},
                  {2, 0, 0},
                  {0, 0, 0},
                  {UINT64_C(1) << 32 | 1, 0, 0},
                  {1, 0, 1 << 24},
                  {1, 0, UINT64_C(1) << 40}};

    for (unsigned o = 0; o < sizeof others / sizeof others[0]; o++) {
        const double z = correlation_z(others[o].seed, others[o].stream, others[o].first);
        CHECK(fabs(z) < 4, "case %u: z = %.2f", o, z);
    }
    CHECK(correlation_z(1, 0, 0) > 400, "the same stream is the same");
}

TEST(any_piece_of_a_stream_is_the_same)
{
    static const int64_t pieces[][2] = {{0, 1},    {1, 1},    {63, 2},  {64, 64},
                                        {5, 1000}, {127, 65}, {100, 0}, {640, 6400}};
    float part[6400];

    for (unsigned p = 0; p < sizeof pieces / sizeof pieces[0]; p++) {
        lab_random_normals(1, 0, (uint64_t)pieces[p][0], part, pieces[p][1]);
        CHECK(
            !memcmp(part, normals + pieces[p][0], (size_t)pieces[p][1] * sizeof part[0]),
            "from %d on", (int)pieces[p][0]);
    }
}

/*
 * The bits are the same on every machine and compiler, for any vector width: a sum over
 * the first 2^16 normals of seed 1, stream 0.
 */
TEST(numbers_are_the_same_everywhere)
{
    uint32_t hash = 0;

    for (int i = 0; i < 1 << 16; i++) {
        uint32_t bits;
        memcpy(&bits, &normals[i], sizeof bits);
        hash = hash * 31 + bits;
    }
    CHECK(hash == 0x787b82ea, "%08x by %s", hash, lab_random_isa());
}

TEST(noise_is_scaled_normals)
{
    float part[200];

    lab_random_noise(1, 0, 0, 0.25f, part, 200);
    for (int i = 0; i < 200; i++)
        CHECK(fabsf(part[i] - 0.25f * normals[i]) <= 1e-6f * fabsf(part[i]), "%d", i);
}

TEST(words_are_uniform)
{
    enum { WORDS = 1 << 20 };
    auto_free uint32_t *const words = malloc(WORDS * sizeof *words);
    uint32_t again[70];

    lab_random_words(7, 3, 0, words, WORDS);
    double chi2 = 0;
    for (int bit = 0; bit < 32; bit++) {
        int64_t ones = 0;
        for (int i = 0; i < WORDS; i++)
            ones += words[i] >> bit & 1;
        const double z = ((double)ones - WORDS / 2.0) / sqrt(WORDS / 4.0);
        chi2 += z * z;
    }
    /* 32 degrees of freedom: mean 32, standard deviation 8. */
    CHECK(fabs(chi2 - 32) < 4 * 8, "chi-squared %.1f", chi2);
    lab_random_words(7, 3, 13, again, 70);
    CHECK(!memcmp(again, words + 13, sizeof again), "a piece differs");
}

/* ---- moments ------------------------------------------------------------ */

static int is_near(double x, double y) { return fabs(x - y) <= 1e-12 * fmax(1, fabs(y)); }

TEST(moments_are_those_of_the_definition)
{
    enum { COUNT = 1000 };
    double values[COUNT], mean = 0, m[5] = {0};
    struct lab_moments one = {.count = 0};

    for (int i = 0; i < COUNT; i++) {
        values[i] = 100 + (double)normals[i] * (double)normals[i];
        mean += values[i] / COUNT;
        lab_moments_add(&one, values[i]);
    }
    for (int i = 0; i < COUNT; i++)
        for (int k = 2; k <= 4; k++)
            m[k] += pow(values[i] - mean, k);
    struct lab_moments parts = lab_moments_of(values, 317);
    const struct lab_moments rest = lab_moments_of(values + 317, COUNT - 317);
    lab_moments_join(&parts, &rest);
    const struct lab_moments *const both[] = {&one, &parts};
    for (int b = 0; b < 2; b++) {
        CHECK(both[b]->count == COUNT, "%d", (int)both[b]->count);
        CHECK(is_near(both[b]->mean, mean) && is_near(both[b]->m2, m[2]) &&
                  is_near(both[b]->m3, m[3]) && is_near(both[b]->m4, m[4]),
              "%d: %.17g %.17g %.17g", b, both[b]->m2, both[b]->m3, both[b]->m4);
        const double s2 = m[2] / COUNT;
        CHECK(is_near(lab_moments_mean_se(both[b]), sqrt(s2 / COUNT)), "mean");
        CHECK(is_near(lab_moments_variance_se(both[b]),
                      sqrt((m[4] / COUNT - s2 * s2 * (COUNT - 3) / (COUNT - 1)) / COUNT)),
              "variance");
    }
}

TEST(equal_values_have_no_variance)
{
    double values[77];

    for (int i = 0; i < 77; i++)
        values[i] = 0.1;
    struct lab_moments moments = lab_moments_of(values, 77);
    const struct lab_moments more = lab_moments_of(values, 30);
    lab_moments_join(&moments, &more);
    CHECK(moments.m2 == 0 && moments.mean == 0.1, "%g", moments.m2);
    CHECK(lab_moments_mean_se(&moments) == 0 && lab_moments_variance_se(&moments) == 0,
          "se");
}

TEST(nan_leaves_a_value_out)
{
    const double values[] = {NAN, 1, NAN, 3, NAN};
    const struct lab_moments moments = lab_moments_of(values, 5);
    const struct lab_moments none = lab_moments_of(values, 1);

    CHECK(moments.count == 2 && moments.mean == 2 && moments.m2 == 2, "%g", moments.mean);
    CHECK(none.count == 0 && isnan(lab_moments_variance(&none)), "none");
}

/* ---- few events ----------------------------------------------------------- */

static int is_close(double x, double y) { return fabs(x - y) <= 1e-10 * fabs(y); }

/* Quantiles of the beta distribution, from another program. */
TEST(intervals_of_probabilities_are_clopper_and_pearsons)
{
    static const struct {
        int64_t events, trials;
        double low, high;
    } cases[] = {
        {0, 100, 0, 0.09841505533990413},
        {1, 100, 3.167173836199309e-07, 0.12247774170157577},
        {3, 200000, 2.9167683892615784e-07, 8.64866757231997e-05},
        {24, 5000, 0.001832586335446543, 0.010006161973370342},
        {100, 100, 0.9015849446600959, 1},
        {99, 100, 0.8775222582984242, 0.9999996832826163},
        {7, 20, 0.04946218218473401, 0.7865953191130497},
        {2000000, 4000000, 0.49899987606284274, 0.5010001239371573},
    };

    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const struct lab_interval i =
            lab_interval_probability(cases[c].events, cases[c].trials);
        CHECK(is_close(i.low, cases[c].low) && is_close(i.high, cases[c].high),
              "%lld of %lld: %.17g, %.17g", (long long)cases[c].events,
              (long long)cases[c].trials, i.low, i.high);
    }
}

TEST(intervals_of_means_are_chernoffs)
{
    const struct lab_interval none = lab_interval_mean(0, 100);
    const struct lab_interval all = lab_interval_mean(1, 20);
    const struct lab_interval few = lab_interval_mean(0.001, 1000);
    const struct lab_interval some = lab_interval_mean(0.3, 50);

    CHECK(none.low == 0 && is_close(none.high, 1 - pow(LAB_MISS / 2, 0.01)), "%.17g",
          none.high);
    CHECK(all.high == 1 && is_close(all.low, pow(LAB_MISS / 2, 0.05)), "%.17g", all.low);
    CHECK(is_close(few.low, 1.1657163499381015e-08) &&
              is_close(few.high, 0.013908476749554375),
          "%.17g %.17g", few.low, few.high);
    CHECK(is_close(some.low, 0.07934088047061799) &&
              is_close(some.high, 0.6180386124594924),
          "%.17g %.17g", some.low, some.high);
}

/* The probability that the interval misses the true value, summed over all outcomes. */
TEST(intervals_of_probabilities_miss_as_seldom_as_they_say)
{
    enum { TRIALS = 60 };

    for (int x = 1; x < 40; x++) {
        const double p = x / 40.0;
        double missed = 0;
        for (int k = 0; k <= TRIALS; k++) {
            const struct lab_interval i = lab_interval_probability(k, TRIALS);
            const double ways =
                lgamma(TRIALS + 1.0) - lgamma(k + 1.0) - lgamma(TRIALS - k + 1.0);
            if (p < i.low || p > i.high)
                missed += exp(ways + k * log(p) + (TRIALS - k) * log1p(-p));
        }
        CHECK(missed <= LAB_MISS, "p = %g: %g", p, missed);
    }
}

TEST(few_events_are_rare_and_judged_by_an_interval)
{
    const struct lab_moments many = {.count = 10000, .mean = 0.0025};
    const struct lab_moments few = {.count = 10000, .mean = 0.0024};
    const struct lab_moments none = {.count = 10000, .mean = 0};
    const struct lab_estimate some = lab_estimate_probability(&few);

    CHECK(!lab_estimate_probability(&many).rare, "25 of 10000");
    CHECK(some.rare && some.low > 0 && some.low < 0.0024 && some.high > 0.0024, "24");
    CHECK(is_near(some.se, sqrt(0.0024 * 0.9976 / 10000)), "se of the sample");
    const struct lab_estimate seen = lab_estimate_probability(&none);
    CHECK(seen.rare && seen.low == 0 && seen.high > 1e-3 && seen.se == 0, "none seen");
}

TEST(means_that_rest_on_few_trials_are_rare)
{
    double values[1000] = {0};

    for (int i = 0; i < 1000; i++)
        values[i] = i < 20 ? 1 : 1e-6 * i;
    struct lab_moments moments = lab_moments_of(values, 1000);
    struct lab_estimate mean = lab_estimate_mean_within(&moments, 0, 1);
    struct lab_estimate variance = lab_estimate_variance_within(&moments, 0, 1);
    CHECK(lab_moments_events(&moments) < 22, "%g", lab_moments_events(&moments));
    CHECK(mean.rare && mean.low < 0.02 && mean.high > 0.021, "%g %g", mean.low,
          mean.high);
    CHECK(variance.rare && variance.low < 0.019 && variance.high > 0.02, "%g %g",
          variance.low, variance.high);
    for (int i = 0; i < 1000; i++)
        values[i] = i % 2;
    moments = lab_moments_of(values, 1000);
    CHECK(!lab_estimate_mean_within(&moments, 0, 1).rare, "a coin");
    /*
     * All observations equal: certain in the middle of the range, uncertain at its ends.
     */
    for (int i = 0; i < 1000; i++)
        values[i] = 0.5;
    moments = lab_moments_of(values, 1000);
    moments.sure = 1;
    CHECK(!lab_estimate_mean_within(&moments, 0, 1).rare, "sure");
    moments.sure = 0;
    CHECK(lab_estimate_mean_within(&moments, 0, 1).rare, "two heads at different ends");
    for (int i = 0; i < 1000; i++)
        values[i] = 1;
    moments = lab_moments_of(values, 1000);
    mean = lab_estimate_mean_within(&moments, 0, 1);
    CHECK(mean.rare && mean.low > 0.98 && mean.high == 1, "%g", mean.low);
    mean = lab_estimate_mean_within(&moments, -1, 1);
    CHECK(mean.rare && mean.low > 0.97 && mean.high == 1, "%g", mean.low);
}

/* The variance of 0s and 1s at 1/2 has no first-order error, only N^-1. */
TEST(variances_are_unbiased_with_their_exact_error)
{
    const double values[] = {0, 1, 0, 1, 1, 0, 1, 0};
    const struct lab_moments moments = lab_moments_of(values, 8);
    const struct lab_estimate variance = lab_estimate_variance(&moments);

    CHECK(is_near(variance.value, 2.0 / 7), "%g", variance.value);
    CHECK(is_near(variance.se, sqrt((1.0 / 16 - 5.0 / 7 / 16) / 8)), "%g", variance.se);
}

TEST(histograms_count)
{
    struct lab_histogram histogram = {.lo = 0, .hi = 64}, other = histogram;
    double area = 0;

    for (int i = 0; i < 64; i++)
        lab_histogram_add(&histogram, i + 0.5);
    lab_histogram_add(&other, -1);
    lab_histogram_add(&other, 64);
    lab_histogram_add(&other, NAN);
    lab_histogram_join(&histogram, &other);
    CHECK(histogram.count == 66 && histogram.bin[0] == 2 && histogram.bin[63] == 2,
          "bins");
    for (int b = 0; b < LAB_BINS; b++)
        area += lab_histogram_density(&histogram, b);
    CHECK(is_near(area, 1), "%g", area);
}

BEFORE_ALL
{
    normals = test_memory(MANY * sizeof *normals);
    lab_random_normals(1, 0, 0, normals, MANY);
}
AFTER_ALL { free(normals); }
