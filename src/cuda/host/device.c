/* SPDX-License-Identifier: MIT */
#include "cuda/host/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cuda/cuda_open.h"
#include "cuda/host/images.h"
#include "cuda/sm80/sm80.h"
#include "cuda/sm90/sm90.h"

static const char *const kernel_names[KERNEL_COUNT] = {
#define KERNEL(module, name) [KERNEL_##name] = "attend_" #name,
    ALL_KERNELS
#undef KERNEL
};

static const enum module_name module_of[KERNEL_COUNT] = {
#define KERNEL(module, name) [KERNEL_##name] = MODULE_##module,
    ALL_KERNELS
#undef KERNEL
};

static const unsigned char *const images[MODULE_COUNT] = {
#define MODULE(name) [MODULE_##name] = attendi_cuda_##name,
#include "cuda/modules.inc"
#undef MODULE
};

/* Largest grid: kernels loop over the remaining work. */
#define GRID_MOST ((int64_t)1 << 20)

static attend_status read_name(const char *name, int *ordinal, attend_error *err)
{
    char *end = NULL;

    *ordinal = 0;
    if (strcmp(name, "cuda") == 0)
        return ATTEND_OK;
    if (strncmp(name, "cuda:", 5) == 0 && name[5] >= '0' && name[5] <= '9') {
        const long n = strtol(name + 5, &end, 10);
        if (*end == '\0' && n < 1024) {
            *ordinal = (int)n;
            return ATTEND_OK;
        }
    }
    return attendi_fail(err, ATTEND_EINVAL,
                        "options.device (\"%.40s\") is neither \"cuda\" nor \"cuda:N\"",
                        name);
}

/* Calls a driver function; fails with `what` and the driver's message. */
#define DRIVER(device, call, what)                                                       \
    TRY(attendi_driver_check(&(device)->driver, (device)->driver.call, what, err))

/*
 * ATTEND_CUDA_KERNELS, for tests: "sm80" uses the sm80 kernels on Hopper too, "general"
 * the general kernels for order FAST.
 */
static attend_status choose_kernels(struct cuda_device *d, bool hopper, attend_error *err)
{
    const char *const asked = getenv("ATTEND_CUDA_KERNELS");

    if (!asked || *asked == '\0') {
        d->hopper = hopper;
        d->sm80 = !hopper;
    } else if (strcmp(asked, "sm80") == 0)
        d->sm80 = true;
    else if (strcmp(asked, "general") != 0)
        return attendi_fail(err, ATTEND_EINVAL,
                            "ATTEND_CUDA_KERNELS (\"%.40s\") is neither \"sm80\" nor "
                            "\"general\"",
                            asked);
    return ATTEND_OK;
}

/* ATTEND_CUDA_SPLIT, for tests: keys of a split of decoding, so that few keys have many.
 */
static attend_status choose_split(struct cuda_device *d, attend_error *err)
{
    const char *const asked = getenv("ATTEND_CUDA_SPLIT");
    char *end = NULL;

    if (!asked || *asked == '\0')
        return ATTEND_OK;
    const long keys = strtol(asked, &end, 10);
    if (*end != '\0' || keys < SM90_SPLIT_LEAST || keys > 1 << 20 ||
        keys % SM90_SPLIT_LEAST)
        return attendi_fail(err, ATTEND_EINVAL,
                            "ATTEND_CUDA_SPLIT (\"%.40s\") is not a multiple of %d up to "
                            "%d",
                            asked, SM90_SPLIT_LEAST, 1 << 20);
    d->decode_split = (int)keys;
    return ATTEND_OK;
}

static attend_status find_device(struct cuda_device *d, int ordinal, attend_error *err)
{
    int count = 0, major = 0, minor = 0;

    DRIVER(d, device_count(&count), "counting devices");
    if (ordinal >= count)
        return attendi_fail(err, ATTEND_EUNSUPPORTED,
                            "options.device: cuda:%d is not there: the driver has %d "
                            "devices",
                            ordinal, count);
    DRIVER(d, device_get(&d->device, ordinal), "finding the device");
    DRIVER(d, device_attribute(&d->sm_count, CU_ATTRIBUTE_SM_COUNT, d->device),
           "asking the device");
    DRIVER(d, device_attribute(&major, CU_ATTRIBUTE_MAJOR, d->device),
           "asking the device");
    DRIVER(d, device_attribute(&minor, CU_ATTRIBUTE_MINOR, d->device),
           "asking the device");
    if (major < 8)
        return attendi_fail(err, ATTEND_EUNSUPPORTED,
                            "options.device: cuda:%d has compute capability %d.%d, and "
                            "kernels need 8.0",
                            ordinal, major, minor);
    TRY(choose_split(d, err));
    return choose_kernels(d, major == 9 && minor == 0 && d->driver.encode_tiled, err);
}

/* Whether this GPU uses a module. */
static bool is_wanted(const struct cuda_device *d, enum module_name module)
{
    return module < MODULE_sm80_prefill ||
           (module < MODULE_sm90_prefill ? d->sm80 : d->hopper);
}

static int shared_of(enum module_name module)
{
    return module < MODULE_sm80_prefill   ? SHARED_F64
           : module < MODULE_sm90_prefill ? SM80_SHARED_MOST
                                          : SM90_SHARED;
}

static attend_status load_kernels(struct cuda_device *d, attend_error *err)
{
    for (int x = 0; x < MODULE_COUNT; x++)
        if (is_wanted(d, (enum module_name)x))
            DRIVER(d, module_load(&d->module[x], images[x]), "loading kernels");
    for (int x = 0; x < KERNEL_COUNT; x++) {
        if (!is_wanted(d, module_of[x]))
            continue;
        DRIVER(d,
               module_function(&d->kernel[x], d->module[module_of[x]], kernel_names[x]),
               kernel_names[x]);
        DRIVER(d,
               function_set(d->kernel[x], CU_FUNCTION_SHARED_MEMORY,
                            shared_of(module_of[x])),
               kernel_names[x]);
    }
    return ATTEND_OK;
}

attend_status attendi_cuda_enter(struct cuda_device *d, attend_error *err)
{
    return attendi_driver_check(&d->driver, d->driver.push(d->primary),
                                "entering the device's context", err);
}

void attendi_cuda_leave(struct cuda_device *d)
{
    cu_context ctx;

    d->driver.pop(&ctx);
}

static attend_status start(struct cuda_device *d, int ordinal, attend_error *err)
{
    TRY(find_device(d, ordinal, err));
    DRIVER(d, primary_retain(&d->primary, d->device), "taking the primary context");
    TRY(attendi_cuda_enter(d, err));
    const attend_status status = load_kernels(d, err);
    attendi_cuda_leave(d);
    return status;
}

attend_status attendi_cuda_open(struct cuda_device **out, const char *name,
                                const struct allocator *allocator, attend_error *err)
{
    int ordinal;

    *out = NULL;
    TRY(read_name(name, &ordinal, err));
    struct cuda_device *const d = attendi_allocate(allocator, sizeof *d);
    if (!d)
        return attendi_fail(err, ATTEND_ENOMEM, "out of memory for a device of %zu bytes",
                            sizeof *d);
    *d = (struct cuda_device){.stream = NULL};
    attend_status status = attendi_driver_open(&d->driver, err);
    if (status == ATTEND_OK)
        status = start(d, ordinal, err);
    if (status != ATTEND_OK) {
        attendi_cuda_close(d, allocator);
        return status;
    }
    *out = d;
    return ATTEND_OK;
}

void attendi_cuda_close(struct cuda_device *d, const struct allocator *allocator)
{
    if (!d)
        return;
    if (d->primary && d->driver.push(d->primary) == 0) {
        d->driver.synchronize(d->stream);
        if (d->workspace.at)
            d->driver.release(d->workspace.at);
        if (d->staging.at)
            d->driver.release(d->staging.at);
        if (d->control.at)
            d->driver.release(d->control.at);
        for (int x = 0; x < MODULE_COUNT; x++)
            if (d->module[x])
                d->driver.module_unload(d->module[x]);
        attendi_cuda_leave(d);
        d->driver.primary_release(d->device);
    }
    attendi_driver_close(&d->driver);
    attendi_release(allocator, d);
}

static void describe_devices(struct cuda_driver *driver, char *text, size_t size)
{
    int count = 0, version = 0;
    size_t used = 0;

    driver->driver_version(&version);
    driver->device_count(&count);
    snprintf(text, size, "no device");
    for (int x = 0; x < count && used < size; x++) {
        char name[96] = "?";
        int sms = 0, major = 0, minor = 0;
        size_t bytes = 0;
        cu_device device;

        if (driver->device_get(&device, x) != 0)
            continue;
        driver->device_name(name, sizeof name, device);
        driver->device_memory(&bytes, device);
        driver->device_attribute(&sms, CU_ATTRIBUTE_SM_COUNT, device);
        driver->device_attribute(&major, CU_ATTRIBUTE_MAJOR, device);
        driver->device_attribute(&minor, CU_ATTRIBUTE_MINOR, device);
        const int wrote =
            snprintf(text + used, size - used,
                     "%scuda:%d %s, compute %d.%d, %d SMs, %.0f GiB, driver %d.%d",
                     x ? "; " : "", x, name, major, minor, sms, (double)bytes / (1 << 30),
                     version / 1000, version % 1000 / 10);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

void attendi_cuda_describe(char *text, size_t size)
{
    struct cuda_driver driver;
    attend_error err;

    if (attendi_driver_open(&driver, &err) != ATTEND_OK) {
        snprintf(text, size, "%s", err.message + strlen("cuda: "));
        return;
    }
    describe_devices(&driver, text, size);
    attendi_driver_close(&driver);
}

attend_status attendi_cuda_reserve(struct cuda_device *d, struct device_memory *memory,
                                   size_t size, attend_error *err)
{
    if (memory->size >= size)
        return ATTEND_OK;
    if (memory->at) {
        DRIVER(d, synchronize(d->stream), "waiting for the stream");
        DRIVER(d, release(memory->at), "freeing memory");
    }
    *memory = (struct device_memory){0};
    DRIVER(d, allocate(&memory->at, size), "allocating memory");
    memory->size = size;
    return ATTEND_OK;
}

size_t attendi_cuda_take(size_t *total, int64_t count, size_t size)
{
    const size_t at = *total, bytes = count_bytes(count, size);

    *total = bytes == SIZE_MAX || at == SIZE_MAX
                 ? SIZE_MAX
                 : add_bytes(at, (bytes + 255) / 256 * 256);
    return at;
}

attend_status attendi_cuda_workspace(struct cuda_device *d, size_t size, void **to,
                                     attend_error *err)
{
    if (size == SIZE_MAX)
        return attendi_fail(err, ATTEND_ENOMEM, "the workspace is too large");
    if (d->lent) {
        *to = d->lent;
        return size <= d->lent_size
                   ? ATTEND_OK
                   : attendi_fail(err, ATTEND_ENOMEM,
                                  "the workspace of %zu bytes is smaller than %zu",
                                  d->lent_size, size);
    }
    TRY(attendi_cuda_enter(d, err));
    const attend_status status = attendi_cuda_reserve(d, &d->workspace, size, err);
    attendi_cuda_leave(d);
    *to = (void *)d->workspace.at;
    return status;
}

attend_status attendi_cuda_general(struct cuda_device *d, enum kernel_name kernel,
                                   struct launch *a, int64_t items, attend_error *err)
{
    const size_t shared = a->p.dtype == ATTEND_F64 ? SHARED_F64 : SHARED_F32;
    void *parameters[] = {a};

    a->items = items;
    return attendi_cuda_launch(d, kernel, items, TILE_THREADS, shared, parameters, err);
}

int64_t attendi_cuda_row_items(const struct launch *a)
{
    return a->p.nb * a->p.hq * a->tiles * a->chunks;
}

attend_status attendi_cuda_launch(struct cuda_device *d, enum kernel_name kernel,
                                  int64_t blocks, int threads, size_t shared,
                                  void **parameters, attend_error *err)
{
    const unsigned grid = (unsigned)min_i64(blocks, GRID_MOST);

    if (blocks == 0)
        return ATTEND_OK;
    return attendi_driver_check(
        &d->driver,
        d->driver.launch(d->kernel[kernel], grid, 1, 1, (unsigned)threads, 1, 1,
                         (unsigned)shared, d->stream, parameters, NULL),
        kernel_names[kernel], err);
}

attend_status attendi_cuda_wait(struct cuda_device *d, attend_error *err)
{
    TRY(attendi_cuda_enter(d, err));
    const cu_result result = d->driver.synchronize(d->stream);
    attendi_cuda_leave(d);
    return attendi_driver_check(&d->driver, result, "waiting for the stream", err);
}
