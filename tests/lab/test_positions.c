/* SPDX-License-Identifier: MIT */
/*
 * Sinusoids, rotation, and refusals of the laboratory's functions, with their exact
 * messages.
 */
#include "support/problems.h"

#include <limits.h>

#include "attend/layer.h"

/* Under the address sanitizer malloc() returns NULL for huge sizes, as without it. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

TEST(rotation_is_the_complex_product)
{
    double x[2][6] = {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}};
    const attend_tensor rows = {x, ATTEND_F64, {1, 1, 2, 6}, {0, 0, 6, 1}};
    const int64_t positions[2] = {0, 5};

    CHECK(attend_layer_rotate(ATTEND_LAYER_ROTARY_PAIRS, 100.0, positions, &rows, NULL) ==
              ATTEND_OK,
          "refused");
    for (int c = 0; c < 6; c++)
        CHECK(x[0][c] == 1.0 + c, "position 0 rotated column %d to %g", c, x[0][c]);
    for (int i = 0; i < 3; i++) {
        const double angle = 5.0 * pow(100.0, -2.0 * i / 6.0);
        const double re = 1.0 + 2 * i, im = 2.0 + 2 * i;
        CHECK(fabs(x[1][2 * i] - (re * cos(angle) - im * sin(angle))) < 1e-14, "re");
        CHECK(fabs(x[1][2 * i + 1] - (re * sin(angle) + im * cos(angle))) < 1e-14, "im");
    }
    double y[6] = {1, 3, 5, 2, 4, 6};
    const attend_tensor half = {y, ATTEND_F64, {1, 1, 1, 6}, {0, 0, 6, 1}};
    CHECK(attend_layer_rotate(ATTEND_LAYER_ROTARY_HALVES, 100.0, &positions[1], &half,
                              NULL) == ATTEND_OK,
          "refused");
    for (int i = 0; i < 3; i++)
        CHECK(y[i] == x[1][2 * i] && y[i + 3] == x[1][2 * i + 1], "pair %d", i);
}

TEST(sinusoids_are_the_exercise_s)
{
    static double phi[711][4];
    static float phi32[711][4];
    const int64_t far[1] = {84823};
    double near[4], distance = 0.0;

    CHECK(attend_layer_sinusoids(ATTEND_F64, 711, 4, 10000.0, NULL, phi, NULL) ==
                  ATTEND_OK &&
              attend_layer_sinusoids(ATTEND_F32, 711, 4, 10000.0, NULL, phi32, NULL) ==
                  ATTEND_OK,
          "refused");
    for (int t = 0; t < 711; t++)
        for (int c = 0; c < 4; c++) {
            const double angle = c < 2 ? t : t / 100.0;
            const double value = c % 2 == 0 ? sin(angle) : cos(angle);
            CHECK(fabs(phi[t][c] - value) < 1e-12, "%d %d: %g", t, c, phi[t][c]);
            CHECK(phi32[t][c] == (float)phi[t][c], "%d %d", t, c);
        }
    distance = hypot(phi[710][0] - phi[0][0], phi[710][1] - phi[0][1]);
    CHECK(fabs(distance - 6.0e-5) < 0.05e-5, "710: %g", distance);
    CHECK(attend_layer_sinusoids(ATTEND_F64, 1, 4, 10000.0, far, near, NULL) == ATTEND_OK,
          "refused");
    distance = hypot(hypot(near[0], near[1] - 1), hypot(near[2], near[3] - 1));
    CHECK(fabs(distance - 1.6e-3) < 0.05e-3, "84823: %g", distance);
}

/* ---- refusals ------------------------------------------------------------ */

static const double one[64] = {1.0};
static double out[64];

static attend_layer_self fine_self(void)
{
    attend_layer_self self = attend_layer_self_default();

    self.t = 2;
    self.e = self.hq = self.hkv = 2;
    self.d = 2;
    self.x = self.wq = self.wk = self.wv = self.wo = one;
    self.out = out;
    return self;
}

struct refusal {
    attend_layer_self self;
    attend_status status;
    const char *words;
};

static void check_refusal(attend_context *ctx, const struct refusal *r)
{
    attend_error err = {.status = ATTEND_OK, .message = ""};

    for (int i = 0; i < 64; i++)
        out[i] = 42.0;
    const attend_status status = attend_layer_self_attention(ctx, NULL, &r->self, &err);
    CHECK(status == r->status && err.status == r->status, "%s: %s", r->words,
          attend_status_name(status));
    CHECK(strstr(err.message, r->words) != NULL, "'%s' lacks '%s'", err.message,
          r->words);
    for (int i = 0; i < 64; i++)
        CHECK(out[i] == 42.0, "%s: out[%d] was written", r->words, i);
}

#define REFUSED(wanted, text, change)                                                    \
    do {                                                                                 \
        struct refusal r = {fine_self(), wanted, text};                                  \
        change;                                                                          \
        check_refusal(ctx, &r);                                                          \
    } while (0)

TEST(self_attention_names_what_is_wrong)
{
    auto_context const ctx = open_context(NULL);
    double space[4];

    const attend_layer_self fine = fine_self();
    CHECK(attend_layer_self_attention(ctx, NULL, &fine, NULL) == ATTEND_OK, "refused");
    REFUSED(ATTEND_EINVAL, "struct_size (3)", r.self.struct_size = 3);
    REFUSED(ATTEND_EINVAL, "dtype (bf16)", r.self.dtype = ATTEND_BF16);
    REFUSED(ATTEND_EINVAL, "nb (-1)", r.self.nb = -1);
    REFUSED(ATTEND_EINVAL, "t (-2)", r.self.t = -2);
    REFUSED(ATTEND_EINVAL, "e (0)", r.self.e = 0);
    REFUSED(ATTEND_EINVAL, "hq (0)", r.self.hq = 0);
    REFUSED(ATTEND_EINVAL, "hkv (-3)", r.self.hkv = -3);
    REFUSED(ATTEND_EINVAL, "d (0)", r.self.d = 0);
    REFUSED(ATTEND_EINVAL, "hq (3) is not a multiple of hkv (2)", r.self.hq = 3);
    REFUSED(ATTEND_EINVAL, "x is NULL", r.self.x = NULL);
    REFUSED(ATTEND_EINVAL, "wq is NULL", r.self.wq = NULL);
    REFUSED(ATTEND_EINVAL, "wk is NULL", r.self.wk = NULL);
    REFUSED(ATTEND_EINVAL, "wv is NULL", r.self.wv = NULL);
    REFUSED(ATTEND_EINVAL, "out is NULL", r.self.out = NULL);
    REFUSED(ATTEND_EINVAL, "bo is given", (r.self.wo = NULL, r.self.bo = one));
    REFUSED(ATTEND_EINVAL, "rotary (7)", r.self.rotary = (attend_layer_rotary)7);
    REFUSED(ATTEND_EINVAL, "d (1) must be even",
            (r.self.d = 1, r.self.rotary = ATTEND_LAYER_ROTARY_PAIRS));
    REFUSED(ATTEND_EINVAL, "base (1)",
            (r.self.rotary_base = 1.0, r.self.rotary = ATTEND_LAYER_ROTARY_PAIRS));
    REFUSED(ATTEND_EINVAL, "base (nan)",
            (r.self.rotary_base = NAN, r.self.rotary = ATTEND_LAYER_ROTARY_HALVES));
    REFUSED(
        ATTEND_EINVAL, "workspace_size (32) is below the 256",
        (r.self.workspace = space, r.self.workspace_size = sizeof space, r.self.d = 2));
    REFUSED(ATTEND_EUNSUPPORTED, "t (4294967296)", r.self.t = (int64_t)1 << 32);
    REFUSED(ATTEND_EUNSUPPORTED, "nb t (4294967296)", r.self.nb = r.self.t = 65536);
    REFUSED(ATTEND_ENOMEM, "out of memory for a workspace",
            (r.self.t = INT_MAX, r.self.d = 1 << 20));
}

/* A struct of a later version is accepted if its unknown fields are 0. */
TEST(a_larger_struct_is_accepted_with_a_tail_of_zeros)
{
    struct {
        attend_layer_self known;
        int64_t later;
    } self = {fine_self(), 0};
    auto_context const ctx = open_context(NULL);

    self.known.struct_size = sizeof self;
    CHECK_OK(attend_layer_self_attention, ctx, NULL, &self.known);
    self.later = 1;
    CHECK_FAILS(ATTEND_EUNSUPPORTED, "self has byte ", attend_layer_self_attention, ctx,
                NULL, &self.known);
}

/* The engine refuses after the projections are computed: their memory must not leak. */
TEST(a_rule_the_engine_refuses_is_refused)
{
    auto_context const ctx = open_context(NULL);
    attend_rule rule = attend_rule_default();
    const attend_layer_self self = fine_self();

    rule.softcap = -1.0;
    out[0] = 42.0;
    CHECK_FAILS(ATTEND_EINVAL, "softcap", attend_layer_self_attention, ctx, &rule, &self);
    CHECK(out[0] == 42.0, "out was written");
}

TEST(no_tokens_are_no_error)
{
    auto_context const ctx = open_context(NULL);
    attend_layer_self self = fine_self();

    self.t = 0;
    self.x = NULL;
    CHECK(attend_layer_self_attention(ctx, NULL, &self, NULL) == ATTEND_OK, "refused");
}

TEST(feed_forward_and_layer_name_what_is_wrong)
{
    auto_context const ctx = open_context(NULL);
    const attend_layer_self self = fine_self();
    attend_layer_feed feed = attend_layer_feed_default();
    double z[8];

    feed.rows = 2;
    feed.e = 2;
    feed.w1 = feed.w2 = one;
    feed.x = out;
    feed.out = z;
    CHECK_FAILS(ATTEND_EINVAL, "f (0)", attend_layer_feed_forward, &feed);
    feed.f = 3;
    CHECK_OK(attend_layer_forward, ctx, NULL, &self, &feed);
    feed.rows = 3;
    CHECK_FAILS(ATTEND_EINVAL, "feed (3 rows of 2)", attend_layer_forward, ctx, NULL,
                &self, &feed);
    feed.x = z;
    CHECK_FAILS(ATTEND_EINVAL, "feed.x is not self.out", attend_layer_forward, ctx, NULL,
                &self, &feed);
    feed.w2 = NULL;
    CHECK_FAILS(ATTEND_EINVAL, "w2 is NULL", attend_layer_feed_forward, &feed);
}

TEST(positions_name_what_is_wrong)
{

    CHECK_FAILS(ATTEND_EINVAL, "d (3) must be even", attend_layer_sinusoids, ATTEND_F64,
                2, 3, 1e4, NULL, out);
    CHECK_FAILS(ATTEND_EINVAL, "dtype (f16)", attend_layer_sinusoids, ATTEND_F16, 2, 4,
                1e4, NULL, out);
    CHECK_FAILS(ATTEND_EINVAL, "base (inf)", attend_layer_sinusoids, ATTEND_F64, 2, 4,
                INFINITY, NULL, out);
    CHECK_FAILS(ATTEND_EINVAL, "phi is NULL", attend_layer_sinusoids, ATTEND_F64, 2, 4,
                1e4, NULL, NULL);
}
