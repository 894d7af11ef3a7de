/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE

#include "cpu/dispatch/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdint.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* xgetbv(0): which register files the system saves on a task switch. */
static uint64_t saved_state(void)
{
    uint32_t low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static int has(unsigned word, unsigned bits) { return (word & bits) == bits; }

/*
 * Linux enables tile registers per process on request; other systems may not have them.
 */
static int tiles_granted(void)
{
#if defined(__linux__) && defined(SYS_arch_prctl)
    const int request_permission = 0x1023, tile_data = 18;

    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
    return 0;
#endif
}

unsigned attendi_cpu_vector_features(void)
{
    unsigned a, b, c, d, features = 0;
    unsigned basic, extended, leaf7b;

    if (!__get_cpuid(1, &a, &b, &basic, &d) || !has(basic, bit_OSXSAVE))
        return 0;
    const uint64_t state = saved_state();
    if ((state & 0x06) != 0x06) /* XMM and YMM */
        return 0;
    if (!__get_cpuid(0x80000001, &a, &b, &extended, &d) ||
        !__get_cpuid_count(7, 0, &a, &leaf7b, &c, &d))
        return 0;
    if (has(basic, bit_AVX | bit_FMA | bit_F16C | bit_MOVBE) &&
        has(extended, bit_LZCNT) && has(leaf7b, bit_AVX2 | bit_BMI | bit_BMI2))
        features |= CPU_V3;
    if ((features & CPU_V3) && (state & 0xe0) == 0xe0 && /* opmask and both ZMM halves */
        has(leaf7b,
            bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL))
        features |= CPU_V4;
    if ((features & CPU_V4) && __get_cpuid_count(7, 1, &a, &b, &c, &d) && has(a, 1u << 5))
        features |= CPU_BF16;
    return features;
}

unsigned attendi_cpu_features(void)
{
    const unsigned features = attendi_cpu_vector_features();
    unsigned a, b, c, d;

    if ((features & CPU_BF16) &&
        (saved_state() & 0x60000) == 0x60000 && /* TILECFG and TILEDATA */
        __get_cpuid_count(7, 0, &a, &b, &c, &d) && has(d, 1u << 22 | 1u << 24) &&
        tiles_granted()) /* AMX_BF16, AMX_TILE */
        return features | CPU_AMX;
    return features;
}

#elif defined(__aarch64__)

#if defined(__linux__)
#include <sys/auxv.h>

/* Bits of the kernel's interface that older C libraries do not define. */
static int has_asimd(void) { return (getauxval(AT_HWCAP) & 1ul << 1) != 0; }
static int has_bf16(void) { return (getauxval(AT_HWCAP2) & 1ul << 14) != 0; }
#elif defined(__APPLE__)
#include <stddef.h>
#include <sys/sysctl.h>

static int has_asimd(void) { return 1; }
static int has_bf16(void)
{
    int found = 0;
    size_t size = sizeof found;

    return sysctlbyname("hw.optional.arm.FEAT_BF16", &found, &size, NULL, 0) == 0 &&
           found;
}
#else
/* Every AArch64 system has Advanced SIMD. */
static int has_asimd(void) { return 1; }
static int has_bf16(void) { return 0; }
#endif

unsigned attendi_cpu_vector_features(void)
{
    return has_asimd() ? CPU_ASIMD | (has_bf16() ? CPU_ARM_BF16 : 0) : 0;
}

unsigned attendi_cpu_features(void) { return attendi_cpu_vector_features(); }

#else

/* A module is not loaded if the machine lacks one of its instructions. */
unsigned attendi_cpu_vector_features(void)
{
#ifdef ATTEND_HAVE_SIMD128
    return CPU_SIMD128;
#else
    return 0;
#endif
}

unsigned attendi_cpu_features(void) { return attendi_cpu_vector_features(); }

#endif

#define V3_NAMES "avx2 fma f16c bmi2"
#define V4_NAMES V3_NAMES " avx512f avx512bw avx512cd avx512dq avx512vl"

const char *attendi_cpu_feature_names(unsigned bits)
{
    return bits & CPU_AMX        ? V4_NAMES " avx512_bf16 amx_tile amx_bf16"
           : bits & CPU_BF16     ? V4_NAMES " avx512_bf16"
           : bits & CPU_V4       ? V4_NAMES
           : bits & CPU_V3       ? V3_NAMES
           : bits & CPU_ARM_BF16 ? "asimd bf16"
           : bits & CPU_ASIMD    ? "asimd"
           : bits & CPU_SIMD128  ? "simd128"
                                 : "";
}
