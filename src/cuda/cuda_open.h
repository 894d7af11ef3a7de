/* SPDX-License-Identifier: MIT */
/* NVIDIA GPUs: implemented in host/, or in absent/ for builds without GPU kernels. */
#ifndef ATTEND_CUDA_OPEN_H
#define ATTEND_CUDA_OPEN_H

#include "attend/attend.h"

/*
 * Opens options->device for the context, whose backend becomes that of the GPU.
 * EUNSUPPORTED without a GPU, and in a build without kernels for GPUs.
 */
attend_status attendi_cuda_attach(attend_context *ctx, const attend_options *options,
                                  attend_error *err);

/* Writes the list of GPUs, or the reason why there is none. */
void attendi_cuda_describe(char *text, size_t size);

#endif
