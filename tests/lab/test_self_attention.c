/* SPDX-License-Identifier: MIT */
/* The laboratory's self-attention against the definition, and its laws. */
#include "support/problems.h"

#include "naive_self.h"

static const struct layer_shape shapes[] = {
    {1, 7, 8, 1, 1, 8, 0, -1, -1, 0, 0, 0, 0},
    {1, 5, 6, 1, 1, 4, 0, -1, -1, 0, 0, 1, 1},
    {2, 33, 16, 4, 4, 4, 0, -1, -1, 0, 1, 0, 0},
    {2, 19, 24, 6, 2, 8, 1, -1, -1, 0, 1, 0, 0},
    {3, 21, 10, 4, 1, 6, 0, 3, 2, 0, 0, 0, 0},
    {1, 40, 12, 4, 2, 8, 1, 5, -1, 1, 1, 0, 0},
    {2, 17, 16, 2, 1, 10, 0, -1, -1, 1, 0, 0, 0},
    {2, 17, 16, 2, 1, 10, 1, -1, -1, 2, 1, 1, 1},
    {1, 1, 3, 3, 3, 2, 1, 0, 0, 2, 1, 0, 0},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const attend_dtype dtypes[] = {ATTEND_F64, ATTEND_F32};

TEST(agrees_with_the_definition)
{
    double worst[2] = {0, 0};

    for (int x = 0; x < 2 * SHAPES; x++) {
        auto_layer l = layer_make(shapes[x / 2], dtypes[x % 2], 100 + (uint64_t)x);
        const attend_rule rule = layer_rule(&l);
        const attend_layer_self self = layer_self(&l, NULL);
        layer_define(&l);
        auto_free double *const out = layer_attend(&rule, &self);
        for (int64_t i = 0; i < l.s.nb * l.s.t * l.width; i++) {
            const double share = fabs(out[i] - l.out[i]) / l.bound[i];
            if (!(share <= worst[x % 2]))
                worst[x % 2] = share;
        }
        CHECK(worst[x % 2] <= 1.0, "shape %d, %s: %g of what is allowed", x / 2,
              attend_dtype_name(dtypes[x % 2]), worst[x % 2]);
    }
    printf("  worst %.3f of what is allowed in f64, %.3f in f32\n", worst[0], worst[1]);
}

TEST(gives_weights_and_lse)
{
    auto_layer l = layer_make(shapes[5], ATTEND_F64, 7);
    const int64_t rows = l.s.nb * l.s.hq * l.s.t, count = rows * l.s.t;
    const attend_rule rule = layer_rule(&l);
    attend_layer_self self = layer_self(&l, NULL);

    layer_define(&l);
    self.lse = check_memory((size_t)rows, sizeof(double));
    self.weights = check_memory((size_t)count, sizeof(double));
    free(layer_attend(&rule, &self));
    const double lse = largest_difference(self.lse, l.lse, rows);
    const double weights = largest_difference(self.weights, l.weights, count);
    free(self.lse);
    free(self.weights);
    CHECK(lse < 1e-12, "lse off by %g", lse);
    CHECK(weights < 1e-12, "weights off by %g", weights);
}

/* ---- the exercise's layer ------------------------------------------------ */

enum { F = 11 };

static attend_layer_feed feed_of(const struct layer *l, const struct array *w1,
                                 const struct array *b1, const struct array *w2,
                                 const struct array *b2)
{
    attend_layer_feed feed = attend_layer_feed_default();

    feed.dtype = l->dtype;
    feed.rows = l->s.nb * l->s.t;
    feed.e = l->width;
    feed.f = F;
    feed.w1 = w1->data;
    feed.b1 = b1->data;
    feed.w2 = w2->data;
    feed.b2 = b2->data;
    return feed;
}

static void array_free(struct array *a)
{
    free(a->value);
    free(a->data);
}
#define auto_array FREED(array_free) struct array

TEST(layer_is_attention_then_feed_forward)
{
    for (int x = 0; x < 2; x++) {
        auto_layer l = layer_make(shapes[3], dtypes[x], 21);
        const int64_t e = l.width, rows = l.s.nb * l.s.t;
        auto_array w1 = array_make(e * F, 0.3, l.dtype), b1 = array_make(F, 1, l.dtype);
        auto_array w2 = array_make(F * e, 0.3, l.dtype), b2 = array_make(e, 1, l.dtype);
        auto_array h = array_make(rows * e, 0, l.dtype);
        auto_array z = array_make(rows * e, 0, l.dtype);
        const attend_rule rule = layer_rule(&l);
        const attend_layer_self self = layer_self(&l, h.data);
        attend_layer_feed feed = feed_of(&l, &w1, &b1, &w2, &b2);
        attend_error err = {.status = ATTEND_OK, .message = ""};
        double off = 0.0;

        feed.x = h.data;
        feed.out = z.data;
        char little[8] = {0};
        feed.workspace = little;
        feed.workspace_size = sizeof little;
        CHECK(attend_layer_forward(layer_ctx, &rule, &self, &feed, &err) ==
                      ATTEND_EINVAL &&
                  check_load(h.data, l.dtype, 0) == 0,
              "refused before anything is written: %s", err.message);
        feed.workspace = NULL;
        const attend_status status =
            attend_layer_forward(layer_ctx, &rule, &self, &feed, &err);
        for (int64_t r = 0; r < rows && status == ATTEND_OK; r++)
            for (int64_t c = 0; c < e; c++) {
                double sum = b2.value[c];
                for (int f = 0; f < F; f++) {
                    double inner = b1.value[f];
                    for (int64_t y = 0; y < e; y++)
                        inner +=
                            check_load(h.data, l.dtype, r * e + y) * w1.value[y * F + f];
                    sum += fmax(inner, 0.0) * w2.value[f * e + c];
                }
                off = fmax(off, fabs(check_load(z.data, l.dtype, r * e + c) - sum));
            }
        /* At most 36 terms below 10 in size. */
        const double allowed = 36.0 * 10.0 * unit_of(l.dtype);
        CHECK(status == ATTEND_OK, "%s", err.message);
        CHECK(off <= allowed, "%s: off by %g of %g", attend_dtype_name(dtypes[x]), off,
              allowed);
    }
}

TEST(relu_cuts_at_zero_and_keeps_nan)
{
    const float x[3] = {-2.0F, 3.0F, NAN}, one = 1.0F;
    float out[3];
    attend_layer_feed feed = attend_layer_feed_default();

    feed.dtype = ATTEND_F32;
    feed.rows = 3;
    feed.e = feed.f = 1;
    feed.x = x;
    feed.w1 = feed.w2 = &one;
    feed.out = out;
    CHECK_OK(attend_layer_feed_forward, &feed);
    CHECK(out[0] == 0.0F && out[1] == 3.0F && isnan(out[2]), "%g %g %g", (double)out[0],
          (double)out[1], (double)out[2]);
}

/* ---- laws ---------------------------------------------------------------- */

/* Row r of `to` is row order[r] of `from`, in every batch. */
static void move_rows(const double *from, int64_t nb, int64_t t, int64_t width,
                      const int64_t *order, double *to)
{
    for (int64_t b = 0; b < nb; b++)
        for (int64_t r = 0; r < t; r++)
            memcpy(to + (b * t + r) * width, from + (b * t + order[r]) * width,
                   (size_t)width * sizeof *to);
}

static void shuffle(int64_t *order, int64_t t)
{
    for (int64_t r = 0; r < t; r++)
        order[r] = r;
    for (int64_t r = t - 1; r > 0; r--) {
        const int64_t s = (int64_t)(layer_uniform() * (double)(r + 1));
        const int64_t keep = order[r];
        order[r] = order[s];
        order[s] = keep;
    }
}

/* max|Att(PX) - P Att(X)|, with the mask not permuted. */
static double permutation_defect(struct layer_shape s, attend_dtype dtype)
{
    auto_layer l = layer_make(s, dtype, 31);
    const int64_t count = s.nb * s.t * l.width;
    const attend_rule rule = layer_rule(&l);
    const attend_layer_self self = layer_self(&l, NULL);
    auto_free double *const moved = check_memory((size_t)count, sizeof *moved);
    auto_free double *const x = check_memory((size_t)l.in[X].count, sizeof *x);
    int64_t order[64];

    shuffle(order, s.t);
    auto_free double *const plain = layer_attend(&rule, &self);
    move_rows(plain, s.nb, s.t, l.width, order, moved);
    memcpy(x, l.in[X].value, (size_t)l.in[X].count * sizeof *x);
    move_rows(x, s.nb, s.t, s.e, order, l.in[X].value);
    array_store(&l.in[X], dtype);
    auto_free double *const permuted = layer_attend(&rule, &self);
    const double defect = largest_difference(permuted, moved, count);
    return defect;
}

TEST(permuted_tokens_give_permuted_rows)
{
    struct layer_shape s = shapes[2];
    const double defect = permutation_defect(s, ATTEND_F64);
    const double defect32 = permutation_defect(s, ATTEND_F32);

    CHECK(defect < 1e-13, "f64: %g", defect);
    CHECK(defect32 < 1e-5, "f32: %g", defect32);
    s.unscaled = 1;
    CHECK(permutation_defect(s, ATTEND_F64) < 1e-13, "unscaled");
    s.causal = ATTEND_CAUSAL_TOP_LEFT;
    CHECK(permutation_defect(s, ATTEND_F64) > 0.1, "a causal mask knows the order");
    s.causal = ATTEND_CAUSAL_NONE;
    s.left = s.right = 2;
    CHECK(permutation_defect(s, ATTEND_F64) > 0.1, "a window knows the order");
    s.left = s.right = -1;
    s.rotary = ATTEND_LAYER_ROTARY_PAIRS;
    CHECK(permutation_defect(s, ATTEND_F64) > 0.1, "rotary positions know the order");
}

TEST(common_key_shift_changes_nothing)
{
    struct layer_shape s = shapes[3];
    auto_layer l = layer_make(s, ATTEND_F64, 41);
    const int64_t count = s.nb * s.t * l.width;
    const attend_rule rule = layer_rule(&l);
    const attend_layer_self self = layer_self(&l, NULL);
    auto_free double *const before = layer_attend(&rule, &self);

    for (int64_t c = 0; c < l.in[BK].count; c++)
        l.in[BK].value[c] += 3.0 + (double)c;
    array_store(&l.in[BK], l.dtype);
    auto_free double *const after = layer_attend(&rule, &self);
    const double keys = largest_difference(before, after, count);
    for (int64_t c = 0; c < l.in[BQ].count; c++)
        l.in[BQ].value[c] += 3.0;
    array_store(&l.in[BQ], l.dtype);
    auto_free double *const other = layer_attend(&rule, &self);
    const double queries = largest_difference(before, other, count);
    CHECK(keys < 1e-12, "moved by %g", keys);
    CHECK(queries > 0.01, "a shift of the queries moved it by %g only", queries);
}

/* W -> W R for every head of W, R the reflection I - 2 u u^T / |u|^2. */
static void reflect_heads(struct array *w, int64_t e, int64_t heads, int64_t d,
                          const double *u)
{
    double norm2 = 0.0;

    for (int64_t c = 0; c < d; c++)
        norm2 += u[c] * u[c];
    for (int64_t r = 0; r < e * heads; r++) {
        double *const row = w->value + r * d;
        double along = 0.0;
        for (int64_t c = 0; c < d; c++)
            along += row[c] * u[c];
        for (int64_t c = 0; c < d; c++)
            row[c] -= 2.0 * along / norm2 * u[c];
    }
}

TEST(orthogonal_change_of_both_projections_changes_nothing)
{
    struct layer_shape s = shapes[4];
    auto_layer l = layer_make(s, ATTEND_F64, 51);
    const int64_t count = s.nb * s.t * l.width;
    const attend_rule rule = layer_rule(&l);
    const attend_layer_self self = layer_self(&l, NULL);
    auto_free double *const before = layer_attend(&rule, &self);
    double u[16];

    for (int64_t c = 0; c < s.d; c++)
        u[c] = layer_normal();
    reflect_heads(&l.in[WQ], s.e, s.hq, s.d, u);
    array_store(&l.in[WQ], l.dtype);
    auto_free double *const one = layer_attend(&rule, &self);
    reflect_heads(&l.in[WK], s.e, s.hkv, s.d, u);
    array_store(&l.in[WK], l.dtype);
    auto_free double *const both = layer_attend(&rule, &self);
    const double off_one = largest_difference(before, one, count);
    const double off_both = largest_difference(before, both, count);
    CHECK(off_both < 1e-13, "both: %g", off_both);
    CHECK(off_one > 0.01, "one alone: %g", off_one);
}

static double rotary_defect(int64_t shift, int64_t stretch, attend_layer_rotary rotary)
{
    struct layer_shape s = shapes[6];
    s.rotary = rotary;
    auto_layer l = layer_make(s, ATTEND_F64, 61);
    const attend_rule rule = layer_rule(&l);
    attend_layer_self self = layer_self(&l, NULL);
    int64_t positions[64];

    for (int64_t i = 0; i < s.t; i++)
        positions[i] = stretch * i + shift;
    auto_free double *const plain = layer_attend(&rule, &self);
    self.positions = positions;
    auto_free double *const moved = layer_attend(&rule, &self);
    const double defect = largest_difference(plain, moved, s.nb * s.t * l.width);
    return defect;
}

TEST(rotary_scores_depend_on_differences_of_positions)
{
    for (int r = ATTEND_LAYER_ROTARY_PAIRS; r <= ATTEND_LAYER_ROTARY_HALVES; r++) {
        const attend_layer_rotary rotary = (attend_layer_rotary)r;
        /* sin and cos of angles near 1000 carry 1000 u. */
        CHECK(rotary_defect(1000, 1, rotary) < 1e-11, "shift: %g",
              rotary_defect(1000, 1, rotary));
        CHECK(rotary_defect(0, 2, rotary) > 0.01, "stretch: %g",
              rotary_defect(0, 2, rotary));
    }
}

TEST(threads_and_workspace_change_no_bit)
{
    auto_layer l = layer_make(shapes[5], ATTEND_F32, 71);
    const int64_t count = l.s.nb * l.s.t * l.width;
    const attend_rule rule = layer_rule(&l);
    attend_layer_self self = layer_self(&l, NULL);
    attend_options options = attend_options_default();
    attend_context *const shared = layer_ctx;
    auto_free double *const plain = layer_attend(&rule, &self);

    options.threads = 3;
    const attend_status made = attend_context_create(&layer_ctx, &options, NULL);
    const attend_status sized =
        attend_layer_self_workspace(&self, &self.workspace_size, NULL);
    /* Freed memory that is not zero: the call must initialise its workspace. */
    self.workspace = check_memory(self.workspace_size, 1);
    memset(self.workspace, 0xff, self.workspace_size);
    auto_free double *const other = made == ATTEND_OK ? layer_attend(&rule, &self) : NULL;
    const int same =
        other != NULL && memcmp(plain, other, (size_t)count * sizeof *plain) == 0;
    attend_context_destroy(layer_ctx);
    layer_ctx = shared;
    free(self.workspace);
    CHECK(sized == ATTEND_OK, "no size");
    CHECK(same, "three threads and a workspace give other bits");
}

/* The struct ends after one field, so that a sanitizer finds reads past it. */
TEST(small_structs_and_none)
{
    size_t *const small = check_memory(1, sizeof *small), bytes;

    *small = sizeof *small;
    CHECK_FAILS(ATTEND_EINVAL, "self.struct_size (8)", attend_layer_self_workspace,
                (const void *)small, &bytes);
    CHECK_FAILS(ATTEND_EINVAL, "feed.struct_size (8)", attend_layer_feed_forward,
                (const void *)small);
    CHECK_FAILS(ATTEND_EINVAL, "self is NULL", attend_layer_self_attention, layer_ctx,
                NULL, NULL);
    CHECK_FAILS(ATTEND_EINVAL, "feed is NULL", attend_layer_feed_forward, NULL);
    free(small);
}

BEFORE_ALL { layer_ctx = open_context(NULL); }
AFTER_ALL { attend_context_destroy(layer_ctx); }
