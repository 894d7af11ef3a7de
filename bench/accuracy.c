/* SPDX-License-Identifier: MIT */
/*
 * Error of every kernel set, and of a naive implementation (float scores in memory, expf,
 * float sums), against the definition in double.  Unit-normal inputs, one head, 48
 * queries, d = dv, f32 output, eight draws pooled, in units of 1e-7 max|V|.
 * docs/NUMERICS.md quotes the table.
 */
#include <attend/attend.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NQ = 48, NK_MAX = 16384, D_MAX = 128, DRAWS = 8, SETS_MAX = 15 };

/* Inputs as floats and in the dtype of the problem, and three outputs. */
static float q[NQ * D_MAX], k[NK_MAX * D_MAX], v[NK_MAX * D_MAX];
static uint32_t stored[3][NK_MAX * D_MAX];
static float exact[NQ * D_MAX], got[NQ * D_MAX], weights[NK_MAX];

static uint64_t state = 1;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

/*
 * A normally distributed number that is exact in `dtype`: the float is truncated to the
 * fraction of `dtype`, whose bits are stored.  Halves are not subnormal.
 */
static float normal(attend_dtype dtype, void *to, int64_t at)
{
    const double x = sqrt(-2.0 * log(uniform())) * cos(6.283185307179586 * uniform());
    float y = (float)(fabs(x) < 0x1p-10 ? copysign(0x1p-10, x) : x);
    uint32_t bits;

    memcpy(&bits, &y, sizeof bits);
    if (dtype == ATTEND_BF16) {
        bits &= 0xffff0000u;
        ((uint16_t *)to)[at] = (uint16_t)(bits >> 16);
    } else if (dtype == ATTEND_F16) {
        bits &= 0xffffe000u;
        const uint32_t magnitude = ((bits & 0x7fffffffu) - (112u << 23)) >> 13;
        ((uint16_t *)to)[at] = (uint16_t)((bits >> 16 & 0x8000u) | magnitude);
    } else {
        ((uint32_t *)to)[at] = bits;
    }
    memcpy(&y, &bits, sizeof y);
    return y;
}

static void naive(int64_t nk, int64_t d)
{
    const float scale = 1.0f / sqrtf((float)d);

    for (int64_t i = 0; i < NQ; i++) {
        float m = -INFINITY, l = 0.0f;

        for (int64_t j = 0; j < nk; j++) {
            weights[j] = 0.0f;
            for (int64_t c = 0; c < d; c++)
                weights[j] += q[i * d + c] * k[j * d + c];
            weights[j] *= scale;
            m = fmaxf(m, weights[j]);
        }
        for (int64_t j = 0; j < nk; j++)
            l += weights[j] = expf(weights[j] - m);
        for (int64_t c = 0; c < d; c++) {
            got[i * d + c] = 0.0f;
            for (int64_t j = 0; j < nk; j++)
                got[i * d + c] += weights[j] / l * v[j * d + c];
        }
    }
}

static void forward(const char *isa, attend_dtype dtype, int64_t nk, int64_t d,
                    float *out)
{
    attend_options options = attend_options_default();
    attend_io io = attend_io_default();
    attend_error err;
    attend_context *ctx;

    options.isa = isa;
    io.q = attend_view_dense(stored[0], dtype, 1, 1, NQ, d);
    io.k = attend_view_dense(stored[1], dtype, 1, 1, nk, d);
    io.v = attend_view_dense(stored[2], dtype, 1, 1, nk, d);
    io.out = attend_tensor_dense(out, ATTEND_F32, 1, 1, NQ, d);
    if (attend_context_create(&ctx, &options, &err) != ATTEND_OK ||
        attend_forward(ctx, NULL, &io, &err) != ATTEND_OK) {
        fprintf(stderr, "accuracy: %s\n", err.message);
        exit(1);
    }
    attend_context_destroy(ctx);
}

/* Errors of one implementation, pooled over draws; first the naive one, then the sets. */
struct errors {
    char who[16];
    double sum, worst;
    int64_t count;
};

static void add_errors(struct errors *e, const char *who, int64_t count, double unit)
{
    snprintf(e->who, sizeof e->who, "%s", who);
    for (int64_t x = 0; x < count; x++) {
        const double error = fabs((double)got[x] - (double)exact[x]) / unit;

        e->sum += error * error;
        e->worst = fmax(e->worst, error);
    }
    e->count += count;
}

static void draw(attend_dtype dtype, int64_t nk, int64_t d, struct errors *errors)
{
    double largest = 0.0;

    for (int64_t x = 0; x < NQ * d; x++)
        q[x] = normal(dtype, stored[0], x);
    for (int64_t x = 0; x < nk * d; x++) {
        k[x] = normal(dtype, stored[1], x);
        v[x] = normal(dtype, stored[2], x);
        largest = fmax(largest, fabs((double)v[x]));
    }
    forward("ref", dtype, nk, d, exact);
    naive(nk, d);
    add_errors(errors++, "naive float", NQ * d, 1e-7 * largest);
    for (int index = 0; index < attend_isa_count(); index++) {
        attend_isa isa = attend_isa_default();

        attend_isa_get(index, &isa);
        if (!isa.runs || strcmp(isa.name, "ref") == 0)
            continue;
        forward(isa.name, dtype, nk, d, got);
        add_errors(errors++, isa.name, NQ * d, 1e-7 * largest);
    }
}

static void measure(attend_dtype dtype, int64_t nk, int64_t d)
{
    struct errors errors[SETS_MAX + 1] = {{"", 0.0, 0.0, 0}};

    for (int n = 0; n < DRAWS; n++)
        draw(dtype, nk, d, errors);
    for (const struct errors *e = errors; e->count > 0; e++)
        printf("%-5s %4lld %6lld  %-11s %8.3f %8.3f\n", attend_dtype_name(dtype),
               (long long)d, (long long)nk, e->who, sqrt(e->sum / (double)e->count),
               e->worst);
}

int main(void)
{
    static const int64_t lengths[] = {128, 2048, NK_MAX};

    printf("dtype    d     nk  set              rms      max   (1e-7 max|V|)\n");
    for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++) {
        measure(ATTEND_F32, lengths[n], 64);
        measure(ATTEND_F32, lengths[n], 128);
    }
    measure(ATTEND_F16, 2048, 128);
    measure(ATTEND_BF16, 2048, 128);
    return 0;
}
