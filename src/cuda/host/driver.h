/* SPDX-License-Identifier: MIT */
/*
 * The CUDA driver, opened at run time: libattend has no link dependency on it.  Types
 * and numbers are those of NVIDIA's cuda.h, which is not needed to build.
 */
#ifndef ATTEND_CUDA_DRIVER_H
#define ATTEND_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "attend/attend.h"

typedef int cu_result; /* 0: success */
typedef int cu_device;
typedef struct cu_context_opaque *cu_context;
typedef struct cu_module_opaque *cu_module;
typedef struct cu_function_opaque *cu_function;
typedef struct cu_stream_opaque *cu_stream;
typedef uintptr_t cu_pointer; /* 64 bits wherever there is a driver */

/* CUtensorMap, a TMA descriptor: opaque, aligned to 64 bytes. */
typedef struct cu_tensor_map {
    _Alignas(64) uint64_t opaque[16];
} cu_tensor_map;

enum {
    CU_ATTRIBUTE_SM_COUNT = 16,
    CU_ATTRIBUTE_MAJOR = 75,
    CU_ATTRIBUTE_MINOR = 76,
    CU_FUNCTION_SHARED_MEMORY = 8, /* limit of dynamic shared memory of a CTA */
};

/* The driver functions in use. */
struct cuda_driver {
    cu_result (*init)(unsigned flags);
    cu_result (*driver_version)(int *version);
    cu_result (*error_name)(cu_result error, const char **name);
    cu_result (*error_text)(cu_result error, const char **text);
    cu_result (*device_count)(int *count);
    cu_result (*device_get)(cu_device *device, int ordinal);
    cu_result (*device_name)(char *name, int length, cu_device device);
    cu_result (*device_memory)(size_t *bytes, cu_device device);
    cu_result (*device_attribute)(int *value, int attribute, cu_device device);
    cu_result (*primary_retain)(cu_context *ctx, cu_device device);
    cu_result (*primary_release)(cu_device device);
    cu_result (*push)(cu_context ctx);
    cu_result (*pop)(cu_context *ctx);
    cu_result (*module_load)(cu_module *module, const void *image);
    cu_result (*module_unload)(cu_module module);
    cu_result (*module_function)(cu_function *function, cu_module module,
                                 const char *name);
    cu_result (*function_set)(cu_function function, int attribute, int value);
    cu_result (*allocate)(cu_pointer *memory, size_t size);
    cu_result (*release)(cu_pointer memory);
    cu_result (*copy_in)(cu_pointer to, const void *from, size_t size, cu_stream stream);
    cu_result (*copy_out)(void *to, cu_pointer from, size_t size, cu_stream stream);
    cu_result (*fill)(cu_pointer to, unsigned char value, size_t size, cu_stream stream);
    cu_result (*synchronize)(cu_stream stream);
    cu_result (*launch)(cu_function function, unsigned gx, unsigned gy, unsigned gz,
                        unsigned bx, unsigned by, unsigned bz, unsigned shared,
                        cu_stream stream, void **parameters, void **extra);
    cu_result (*encode_tiled)(cu_tensor_map *map, int type, uint32_t rank, void *address,
                              const uint64_t *size, const uint64_t *stride,
                              const uint32_t *box, const uint32_t *step, int interleave,
                              int swizzle, int promotion, int fill);
    void *library;
};

/*
 * Opens the driver and calls cuInit.  Fails with EUNSUPPORTED and the message of the
 * loader or of the driver; there is then nothing to close.
 */
attend_status attendi_driver_open(struct cuda_driver *driver, attend_error *err);
void attendi_driver_close(struct cuda_driver *driver);

/* Fails unless `result` is 0; the message has `what` and the driver's error. */
attend_status attendi_driver_check(const struct cuda_driver *driver, cu_result result,
                                   const char *what, attend_error *err);

#endif
