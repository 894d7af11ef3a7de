/* SPDX-License-Identifier: MIT */
/*
 * The compiled kernels, embedded: of each file machine code for sm_90a and PTX for other
 * GPUs, from which the driver takes what it can run.
 */
#ifndef ATTEND_CUDA_IMAGES_H
#define ATTEND_CUDA_IMAGES_H

extern const unsigned char attendi_cuda_forward_general[], attendi_cuda_stats[],
    attendi_cuda_inspect[], attendi_cuda_merge_parts[], attendi_cuda_sums[];
/* Not for Hopper, unless it is asked for: machine code for sm_80 and PTX. */
extern const unsigned char attendi_cuda_sm80_prefill[], attendi_cuda_sm80_rules[],
    attendi_cuda_sm80_decode[];
/* Of Hopper alone. */
extern const unsigned char attendi_cuda_sm90_prefill[], attendi_cuda_sm90_masked[],
    attendi_cuda_sm90_score_mod[], attendi_cuda_sm90_stats[],
    attendi_cuda_sm90_nonfinite[], attendi_cuda_sm90_decode[],
    attendi_cuda_sm90_columns[];

#endif
