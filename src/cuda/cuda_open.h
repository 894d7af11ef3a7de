/* SPDX-License-Identifier: MIT */
/* NVIDIA GPUs: host/ in a build with kernels for them, else absent/, which refuses. */
#ifndef ATTEND_CUDA_OPEN_H
#define ATTEND_CUDA_OPEN_H

#include "attend/attend.h"

/*
 * Opens options->device for the context, whose backend becomes that of the GPU.
 * EUNSUPPORTED without a GPU, and in a build without kernels for GPUs.
 */
attend_status attendi_cuda_attach(attend_context *ctx, const attend_options *options,
                                  attend_error *err);

/* A text that lists the GPUs, or says why there is none. */
void attendi_cuda_describe(char *text, size_t size);

#endif
