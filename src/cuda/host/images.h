/* SPDX-License-Identifier: MIT */
/*
 * The embedded fatbins, one per .cu file.  These have machine code for sm_90a and PTX;
 * the driver selects what the GPU runs.
 */
#ifndef ATTEND_CUDA_IMAGES_H
#define ATTEND_CUDA_IMAGES_H

extern const unsigned char attendi_cuda_forward_general[], attendi_cuda_stats[],
    attendi_cuda_inspect[], attendi_cuda_merge_parts[], attendi_cuda_sums[];
/* Machine code for sm_80 and PTX; on Hopper only with ATTEND_CUDA_KERNELS=sm80. */
extern const unsigned char attendi_cuda_sm80_prefill[], attendi_cuda_sm80_rules[],
    attendi_cuda_sm80_decode[];
/* Hopper only. */
extern const unsigned char attendi_cuda_sm90_prefill[], attendi_cuda_sm90_masked[],
    attendi_cuda_sm90_score_mod[], attendi_cuda_sm90_stats[],
    attendi_cuda_sm90_nonfinite[], attendi_cuda_sm90_decode[],
    attendi_cuda_sm90_columns[];

#endif
