/* SPDX-License-Identifier: MIT */
/* A GPU for timing: memory, a stream, events.  The library is opened at run time. */
#ifndef GPU_GPU_H
#define GPU_GPU_H

#include <stddef.h>
#include <stdint.h>

struct bench_gpu {
    void *library, *stream, *event[2];
    int device;
    int (*init)(unsigned flags);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*set_current)(void *context);
    int (*name)(char *name, int size, int device);
    int (*allocate)(uintptr_t *memory, size_t size);
    int (*free)(uintptr_t memory);
    int (*copy_in)(uintptr_t to, const void *from, size_t size);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_destroy)(void *stream);
    int (*event_create)(void **event, unsigned flags);
    int (*event_destroy)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_wait)(void *event);
    int (*event_elapsed)(float *ms, void *from, void *to);
};

/* `name` is "cuda" or "cuda:N".  0, or -1; to be closed in both cases. */
int bench_gpu_open(struct bench_gpu *gpu, const char *name);
void bench_gpu_close(struct bench_gpu *gpu);

/* Device memory, NULL where there is none. */
void *bench_gpu_memory(struct bench_gpu *gpu, size_t size);
void bench_gpu_free(struct bench_gpu *gpu, void *memory);

#endif
