/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE

#include "bench/peak.h"

#include <stddef.h>
#include <string.h>

#include "bench/peak_bfmmla.h"
#include "shared/stopwatch.h"
#include "bench/team.h"

#ifdef __x86_64__
#include <immintrin.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/*
 * Twelve chains hide the latency of any of these instructions, and leave registers for
 * two operands where there are sixteen.  Spelt out, since only constant indices let an
 * array live in registers.
 */
enum { CHAINS = 12 };
#define EACH_CHAIN(DO)                                                                   \
    DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)

/*
 * The chains start apart, or the compiler would compute but one of them, and settle at
 * y / (1 - x) = 1: no overflow, no subnormal numbers.
 */
static volatile float operand_x = 0.75f, operand_y = 0.25f;

#define CHAIN_SUM(c) sum += acc[c];

/* A loop over the chains; START(c) and STEP(c) are defined where it stands. */
#define CHAIN_LOOP(vector)                                                               \
    vector acc[CHAINS], sum = y;                                                         \
    EACH_CHAIN(START)                                                                    \
    for (int64_t round = 0; round < rounds; round++) {                                   \
        EACH_CHAIN(STEP)                                                                 \
    }                                                                                    \
    EACH_CHAIN(CHAIN_SUM)                                                                \
    volatile float result = sum[0];                                                      \
    (void)result;

/* Without the fused instruction a product and a sum go through units of their own. */
typedef float float4 __attribute__((vector_size(16)));

static void loop_mul_add_128(int64_t rounds)
{
    const float4 x = {operand_x, operand_x, operand_x, operand_x};
    const float4 y = {operand_y, operand_y, operand_y, operand_y};

#define START(c) acc[c] = x + (float)(c);
#define STEP(c) acc[c] = acc[c] * x + y;
    CHAIN_LOOP(float4)
#undef START
#undef STEP
}

#ifdef __x86_64__

__attribute__((target("avx2,fma"))) static void loop_fma_256(int64_t rounds)
{
    const __m256 x = _mm256_set1_ps(operand_x), y = _mm256_set1_ps(operand_y);

#define START(c) acc[c] = _mm256_set1_ps((float)(c));
#define STEP(c) acc[c] = _mm256_fmadd_ps(acc[c], x, y);
    CHAIN_LOOP(__m256)
#undef START
#undef STEP
}

#define START(c) acc[c] = _mm512_set1_ps((float)(c));

__attribute__((target("avx512f"))) static void loop_fma_512(int64_t rounds)
{
    const __m512 x = _mm512_set1_ps(operand_x), y = _mm512_set1_ps(operand_y);

#define STEP(c) acc[c] = _mm512_fmadd_ps(acc[c], x, y);
    CHAIN_LOOP(__m512)
#undef STEP
}

__attribute__((target("avx512f,avx512bf16"))) static void loop_bf16_512(int64_t rounds)
{
    const __m512 x = _mm512_set1_ps(operand_x), y = _mm512_set1_ps(operand_y);
    const __m512bh a = _mm512_cvtne2ps_pbh(x, x), b = _mm512_cvtne2ps_pbh(y, y);

#define STEP(c) acc[c] = _mm512_dpbf16_ps(acc[c], a, b);
    CHAIN_LOOP(__m512)
#undef STEP
}

/*
 * Eight tiles of 16 rows by 64 bytes: six sums, which hide the latency, and two operands.
 * Nothing but products of tiles is in the loop.
 */
enum { TILE_SUMS = 6, TILE_ROWS = 16, TILE_ROW_BYTES = 64, TILE_DEPTH = 32 };
enum { TILE_FLOPS = TILE_SUMS * 2 * TILE_ROWS * TILE_ROWS * TILE_DEPTH };

struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

__attribute__((target("amx-tile,amx-bf16"))) static void loop_bf16_tiles(int64_t rounds)
{
    static const uint16_t one = 0x3f80; /* in bf16 */
    struct tile_config config = {.palette = 1};
    uint16_t ones[TILE_ROWS][TILE_DEPTH];

    for (int t = 0; t < 8; t++) {
        config.rows[t] = TILE_ROWS;
        config.row_bytes[t] = TILE_ROW_BYTES;
    }
    for (int n = 0; n < TILE_ROWS * TILE_DEPTH; n++)
        ones[n / TILE_DEPTH][n % TILE_DEPTH] = one;
    /* gcc's tile intrinsics do not declare all of their operands as read. */
    __asm__ volatile("" : : "r"(&config), "r"(ones) : "memory");
    _tile_loadconfig(&config);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
    _tile_loadd(6, ones, TILE_ROW_BYTES);
    _tile_loadd(7, ones, TILE_ROW_BYTES);
    for (int64_t round = 0; round < rounds; round++) {
        _tile_dpbf16ps(0, 6, 7);
        _tile_dpbf16ps(1, 6, 7);
        _tile_dpbf16ps(2, 6, 7);
        _tile_dpbf16ps(3, 6, 7);
        _tile_dpbf16ps(4, 6, 7);
        _tile_dpbf16ps(5, 6, 7);
    }
    _tile_release();
}

/* Linux grants the tile registers on request, other systems may not. */
static int tiles_granted(void)
{
#if defined(__linux__) && defined(SYS_arch_prctl)
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };

    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
    return 0;
#endif
}

#endif

#ifdef __aarch64__

/* Four pipes of a latency of four need sixteen chains: two loops in one. */
static void loop_fmla(int64_t rounds)
{
    const float32x4_t x = vdupq_n_f32(operand_x), y = vdupq_n_f32(operand_y);
    float32x4_t more[CHAINS];

#define START(c)                                                                         \
    acc[c] = vdupq_n_f32((float)(c));                                                    \
    more[c] = vdupq_n_f32((float)(c + CHAINS));
#define STEP(c)                                                                          \
    acc[c] = vfmaq_f32(acc[c], x, y);                                                    \
    more[c] = vfmaq_f32(more[c], x, y);
    CHAIN_LOOP(float32x4_t)
#undef START
#undef STEP
#define MORE_SUM(c) sum += more[c];
    EACH_CHAIN(MORE_SUM)
#undef MORE_SUM
    result = sum[0];
}

#endif

/* The first row that fits; dtype 0 is any. */
static const struct set_peak {
    const char *isa;
    int dtype;
    struct bench_peak peak;
    int (*granted)(void); /* NULL: no permission is needed */
} set_peaks[] = {
#ifdef __x86_64__
    {"amx", ATTEND_BF16, {"tdpbf16ps", loop_bf16_tiles, TILE_FLOPS, 512}, tiles_granted},
    {"amx", 0, {"vfmadd zmm", loop_fma_512, CHAINS * 2 * 16, 8192}, NULL},
    {"avx512bf16",
     ATTEND_BF16,
     {"vdpbf16ps zmm", loop_bf16_512, CHAINS * 2 * 32, 8192},
     NULL},
    {"avx512bf16", 0, {"vfmadd zmm", loop_fma_512, CHAINS * 2 * 16, 8192}, NULL},
    {"avx512", 0, {"vfmadd zmm", loop_fma_512, CHAINS * 2 * 16, 8192}, NULL},
    {"avx2", 0, {"vfmadd ymm", loop_fma_256, CHAINS * 2 * 8, 8192}, NULL},
#endif
#ifdef __aarch64__
    {"neonbf16",
     ATTEND_BF16,
     {"bfmmla", bench_loop_bfmmla, BENCH_BFMMLA_FLOPS, 8192},
     NULL},
    {"neonbf16", 0, {"fmla", loop_fmla, 2 * CHAINS * 2 * 4, 8192}, NULL},
    {"neon", 0, {"fmla", loop_fmla, 2 * CHAINS * 2 * 4, 8192}, NULL},
#endif
    {"scalar", 0, {"mul, add", loop_mul_add_128, CHAINS * 2 * 4, 8192}, NULL},
    {"ref", 0, {"mul, add", loop_mul_add_128, CHAINS * 2 * 4, 8192}, NULL},
};

const struct bench_peak *bench_peak_find(const char *isa, attend_dtype dtype)
{
    for (size_t n = 0; n < sizeof set_peaks / sizeof set_peaks[0]; n++) {
        const struct set_peak *const row = &set_peaks[n];
        if (!strcmp(row->isa, isa) && (row->dtype == 0 || row->dtype == (int)dtype))
            return row->granted && !row->granted() ? NULL : &row->peak;
    }
    return NULL;
}

static double work_for_a_while(void *arg, int w)
{
    const struct bench_peak *const peak = *(const struct bench_peak **)arg;
    const double end = tool_seconds() + 5e-3;
    double flops = 0;

    (void)w;
    do {
        peak->loop(peak->rounds);
        flops += peak->flops * (double)peak->rounds;
    } while (tool_seconds() < end);
    return flops;
}

double bench_peak_sample(const struct bench_peak *peak, int threads)
{
    return bench_team_rate(threads, work_for_a_while, &peak);
}
