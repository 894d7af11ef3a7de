/* SPDX-License-Identifier: MIT */
#include "cuda/host/images.h"

/* ATTENDI_IMAGES is the folder with the fatbins of nvcc. */
#define IMAGE(name)                                                                      \
    __asm__(".section .rodata\n"                                                         \
            ".balign 64\n"                                                               \
            ".hidden attendi_cuda_" #name "\n"                                           \
            ".globl attendi_cuda_" #name "\n"                                            \
            "attendi_cuda_" #name ":\n"                                                  \
            ".incbin \"" ATTENDI_IMAGES "/" #name ".fatbin\"\n"                          \
            ".balign 64\n"                                                               \
            ".previous\n")
IMAGE(forward_general);
IMAGE(stats);
IMAGE(inspect);
IMAGE(merge_parts);
IMAGE(sums);
IMAGE(sm80_prefill);
IMAGE(sm80_rules);
IMAGE(sm80_decode);
IMAGE(sm90_prefill);
IMAGE(sm90_masked);
IMAGE(sm90_score_mod);
IMAGE(sm90_stats);
IMAGE(sm90_nonfinite);
IMAGE(sm90_decode);
IMAGE(sm90_columns);
