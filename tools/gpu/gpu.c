/* SPDX-License-Identifier: MIT */
#include "gpu/gpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Streams that do not wait for the default one. */
enum { NON_BLOCKING = 1 };

/* The functions, in the order of the struct. */
static const char *const names[] = {"cuInit",
                                    "cuDevicePrimaryCtxRetain",
                                    "cuDevicePrimaryCtxRelease_v2",
                                    "cuCtxSetCurrent",
                                    "cuDeviceGetName",
                                    "cuMemAlloc_v2",
                                    "cuMemFree_v2",
                                    "cuMemcpyHtoD_v2",
                                    "cuStreamCreate",
                                    "cuStreamDestroy_v2",
                                    "cuEventCreate",
                                    "cuEventDestroy_v2",
                                    "cuEventRecord",
                                    "cuEventSynchronize",
                                    "cuEventElapsedTime"};

/* Stores the functions one after the other, from the first on. */
static int find_functions(struct bench_gpu *gpu)
{
    char *const to = (char *)gpu + offsetof(struct bench_gpu, init);

    for (size_t x = 0; x < sizeof names / sizeof *names; x++) {
        void *const found = dlsym(gpu->library, names[x]);
        if (!found)
            return -1;
        memcpy(to + x * sizeof found, &found, sizeof found);
    }
    return 0;
}

int bench_gpu_open(struct bench_gpu *gpu, const char *name)
{
    const char *const colon = strchr(name, ':');
    void *context = NULL;

    *gpu = (struct bench_gpu){.device = colon ? atoi(colon + 1) : 0};
    gpu->library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!gpu->library || find_functions(gpu) || gpu->init(0) ||
        gpu->retain(&context, gpu->device))
        return -1;
    return gpu->set_current(context) || gpu->stream_create(&gpu->stream, NON_BLOCKING) ||
                   gpu->event_create(&gpu->event[0], 0) ||
                   gpu->event_create(&gpu->event[1], 0)
               ? -1
               : 0;
}

void bench_gpu_close(struct bench_gpu *gpu)
{
    for (int x = 0; x < 2; x++)
        if (gpu->event[x])
            gpu->event_destroy(gpu->event[x]);
    if (gpu->stream) {
        gpu->stream_destroy(gpu->stream);
        gpu->release(gpu->device);
    }
    if (gpu->library)
        dlclose(gpu->library);
    *gpu = (struct bench_gpu){.device = 0};
}

void *bench_gpu_memory(struct bench_gpu *gpu, size_t size)
{
    uintptr_t memory = 0;

    return gpu->allocate(&memory, size) ? NULL : (void *)memory;
}

void bench_gpu_free(struct bench_gpu *gpu, void *memory)
{
    if (memory)
        gpu->free((uintptr_t)memory);
}
