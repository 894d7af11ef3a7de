/* SPDX-License-Identifier: MIT */
#include "cuda/host/images.h"

/* ATTENDI_IMAGES is the folder with the fatbins of nvcc. */
#define MODULE(name)                                                                     \
    __asm__(".section .rodata\n"                                                         \
            ".balign 64\n"                                                               \
            ".hidden attendi_cuda_" #name "\n"                                           \
            ".globl attendi_cuda_" #name "\n"                                            \
            "attendi_cuda_" #name ":\n"                                                  \
            ".incbin \"" ATTENDI_IMAGES "/" #name ".fatbin\"\n"                          \
            ".balign 64\n"                                                               \
            ".previous\n");
#include "cuda/modules.inc"
