/* SPDX-License-Identifier: MIT */
/*
 * The embedded fatbins, one per .cu file.  These have machine code for sm_90a and PTX;
 * the driver selects what the GPU runs.
 */
#ifndef ATTEND_CUDA_IMAGES_H
#define ATTEND_CUDA_IMAGES_H

#define MODULE(name) extern const unsigned char attendi_cuda_##name[];
#include "cuda/modules.inc"
#undef MODULE

#endif
