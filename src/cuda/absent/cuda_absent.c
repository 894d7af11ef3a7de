/* SPDX-License-Identifier: MIT */
/* Builds without GPU kernels.  ATTENDI_NO_CUDA: the reason, for messages. */
#include <stdio.h>

#include "base/error.h"
#include "cuda/cuda_open.h"

attend_status attendi_cuda_attach(attend_context *ctx, const attend_options *options,
                                  attend_error *err)
{
    (void)ctx;
    return attendi_fail(err, ATTEND_EUNSUPPORTED,
                        "options.device (\"%.40s\"): no CUDA kernels in this build: %s",
                        options->device, ATTENDI_NO_CUDA);
}

void attendi_cuda_describe(char *text, size_t size)
{
    snprintf(text, size, "no CUDA kernels in this build: %s", ATTENDI_NO_CUDA);
}
