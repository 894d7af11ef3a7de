/* SPDX-License-Identifier: MIT */
#include "lab/measure/random.h"

#include <math.h>
#include <string.h>

#include <Random123/threefry.h>

#include "base/half.h"

/*
 * Counters whose words are made together: as many lanes as a vector register holds, so
 * that the compiler turns every loop over lanes into straight vector code.
 */
enum { LANES = 16, GROUP = 4 * LANES };

/* Passes every test of BigCrush with this many rounds (Random123's paper, table 2). */
enum { ROUNDS = 12 };

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Word number 64 g + 16 w + l is word w of counter 16 g + l. */
static ALWAYS_INLINE void make_words(uint64_t seed, uint64_t stream, uint64_t group,
                                     uint32_t word[4][LANES])
{
    const threefry4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32), 0, 0}};

    for (int l = 0; l < LANES; l++) {
        const uint64_t counter = group * LANES + (uint64_t)l;
        const threefry4x32_ctr_t at = {{(uint32_t)counter, (uint32_t)(counter >> 32),
                                        (uint32_t)stream, (uint32_t)(stream >> 32)}};
        const threefry4x32_ctr_t made = threefry4x32_R(ROUNDS, at, key);
        word[0][l] = made.v[0];
        word[1][l] = made.v[1];
        word[2][l] = made.v[2];
        word[3][l] = made.v[3];
    }
}

/*
 * sqrt(-2 ln u) for u = (x + 1/2) / 2^31 and x the upper 31 bits of the word.  With
 * u = 2^e (1 + t), sqrt(1/2) <= 1 + t < sqrt(2), the polynomial is -2 ln(1 + t) / t, good
 * to 2e-7, and the radicand is never negative, since u <= 1 and p and e <= 0 agree.
 */
static ALWAYS_INLINE float radius(uint32_t word)
{
    const uint32_t sqrt_half = 0x3f3504f3, scale = 31u << 23;
    const uint32_t bits =
        float_bits((float)(int32_t)(word >> 1) + 0.5f) - (sqrt_half + scale);
    const float e = (float)((int32_t)bits >> 23);
    const float t = bits_float((bits & 0x007fffff) + sqrt_half) - 1.0f;
    float p = 0.2021380457f;

    p = p * t + -0.3244516572f;
    p = p * t + 0.3450165724f;
    p = p * t + -0.3980033029f;
    p = p * t + 0.4993981824f;
    p = p * t + -0.6667011791f;
    p = p * t + 1.000007302f;
    p = p * t + -1.999999891f;
    return sqrtf(e * -1.38629436f + p * t);
}

/*
 * Box and Muller: two normals from two words.  The angle is (pi/2) (y + quadrant), y in
 * [-1/2, 1/2) from the lower 23 bits and the quadrant from the upper two; polynomials in
 * y^2, good to 4e-8.
 */
static ALWAYS_INLINE void normal_pair(uint32_t first, uint32_t second, float sd,
                                      float *x0, float *x1)
{
    const float r = sd * radius(first);
    const float y = bits_float((second & 0x007fffff) | 0x3f800000) - 1.5f;
    const float z = y * y;
    const float s =
        ((-0.004601657885f * z + 0.07968003277f) * z + -0.6459634602f) * z + 1.570796322f;
    const float c =
        ((-0.0203985818f * z + 0.2535949467f) * z + -1.233696662f) * z + 0.9999999674f;
    const uint32_t swap = (uint32_t)((int32_t)second >> 31);
    const uint32_t sign = (second << 1) & 0x80000000u;
    const uint32_t a = float_bits(r * c), b = float_bits(r * y * s);

    *x0 = bits_float(((a & ~swap) | (b & swap)) ^ sign);
    *x1 = bits_float(((b & ~swap) | (a & swap)) ^ sign);
}

/*
 * Words first, then normals of them, a few groups at a time: two loops of short chains
 * keep the processor busier than one of a long chain.
 */
static ALWAYS_INLINE void make_normals(uint64_t seed, uint64_t stream, uint64_t group,
                                       int64_t groups, float sd, float *out)
{
    enum { TOGETHER = 8 };
    uint32_t word[TOGETHER][4][LANES];

    for (int64_t g = 0; g < groups; g += TOGETHER) {
        const int64_t now = groups - g < TOGETHER ? groups - g : TOGETHER;
        for (int64_t x = 0; x < now; x++)
            make_words(seed, stream, group + (uint64_t)(g + x), word[x]);
        for (int64_t x = 0; x < 2 * now; x++, out += 2 * LANES) {
            uint32_t(*const pair)[LANES] = &word[x / 2][x % 2 * 2];
            for (int l = 0; l < LANES; l++)
                normal_pair(pair[0][l], pair[1][l], sd, &out[l], &out[LANES + l]);
        }
    }
}

/*
 * The same source for every instruction set.  Integers are exact, and floats are only
 * added, multiplied, converted and square-rooted, each rounded once (contraction is off),
 * so the numbers are the same everywhere.
 */
typedef void normals_function(uint64_t seed, uint64_t stream, uint64_t group,
                              int64_t groups, float sd, float *out);

static void normals_plain(uint64_t seed, uint64_t stream, uint64_t group, int64_t groups,
                          float sd, float *out)
{
    make_normals(seed, stream, group, groups, sd, out);
}

#if defined(__x86_64__) && defined(__GNUC__)
/* GCC uses half of a register by default; clang does not have the attribute. */
#ifdef __clang__
#define AVX512_TARGET "avx512f,avx512bw,avx512dq,avx512vl"
#else
#define AVX512_TARGET "avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"
#endif

__attribute__((target("avx2"))) static void normals_avx2(uint64_t seed, uint64_t stream,
                                                         uint64_t group, int64_t groups,
                                                         float sd, float *out)
{
    make_normals(seed, stream, group, groups, sd, out);
}

__attribute__((target(AVX512_TARGET))) static void
normals_avx512(uint64_t seed, uint64_t stream, uint64_t group, int64_t groups, float sd,
               float *out)
{
    make_normals(seed, stream, group, groups, sd, out);
}
#endif

/* The best of them that this machine runs. */
static normals_function *best_normals(const char **name)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        *name = "avx512";
        return normals_avx512;
    }
    if (__builtin_cpu_supports("avx2")) {
        *name = "avx2";
        return normals_avx2;
    }
#endif
    *name = "plain";
    return normals_plain;
}

const char *lab_random_isa(void)
{
    const char *name;

    best_normals(&name);
    return name;
}

void lab_random_normals(uint64_t seed, uint64_t stream, uint64_t first, float *out,
                        int64_t count)
{
    lab_random_noise(seed, stream, first, 1.0f, out, count);
}

void lab_random_noise(uint64_t seed, uint64_t stream, uint64_t first, float sd,
                      float *out, int64_t count)
{
    const char *name;
    normals_function *const normals = best_normals(&name);

    while (count > 0) {
        const uint64_t group = first / GROUP;
        const int64_t skip = (int64_t)(first % GROUP);
        int64_t made = count - count % GROUP;
        if (skip == 0 && made > 0) {
            normals(seed, stream, group, made / GROUP, sd, out);
        } else {
            float part[GROUP];
            made = GROUP - skip < count ? GROUP - skip : count;
            normals(seed, stream, group, 1, sd, part);
            memcpy(out, part + skip, (size_t)made * sizeof *out);
        }
        first += (uint64_t)made;
        out += made;
        count -= made;
    }
}

void lab_random_words(uint64_t seed, uint64_t stream, uint64_t first, uint32_t *out,
                      int64_t count)
{
    while (count > 0) {
        uint32_t word[4][LANES];
        const int64_t skip = (int64_t)(first % GROUP);
        const int64_t made = GROUP - skip < count ? GROUP - skip : count;
        make_words(seed, stream, first / GROUP, word);
        memcpy(out, &word[0][0] + skip, (size_t)made * sizeof *out);
        first += (uint64_t)made;
        out += made;
        count -= made;
    }
}
