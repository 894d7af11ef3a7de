/* SPDX-License-Identifier: MIT */
#include "cuda/host/driver.h"

#include <dlfcn.h>
#include <string.h>

#include "base/base.h"
#include "base/error.h"

enum { CU_OUT_OF_MEMORY = 2 };

/* Names of the driver's functions, and their fields of struct cuda_driver. */
static const struct {
    const char *name;
    size_t at;
} functions[] = {
#define FUNCTION(name, field)                                                            \
    {                                                                                    \
        name, offsetof(struct cuda_driver, field)                                        \
    }
    FUNCTION("cuInit", init),
    FUNCTION("cuDriverGetVersion", driver_version),
    FUNCTION("cuGetErrorName", error_name),
    FUNCTION("cuGetErrorString", error_text),
    FUNCTION("cuDeviceGetCount", device_count),
    FUNCTION("cuDeviceGet", device_get),
    FUNCTION("cuDeviceGetName", device_name),
    FUNCTION("cuDeviceTotalMem_v2", device_memory),
    FUNCTION("cuDeviceGetAttribute", device_attribute),
    FUNCTION("cuDevicePrimaryCtxRetain", primary_retain),
    FUNCTION("cuDevicePrimaryCtxRelease_v2", primary_release),
    FUNCTION("cuCtxPushCurrent_v2", push),
    FUNCTION("cuCtxPopCurrent_v2", pop),
    FUNCTION("cuModuleLoadData", module_load),
    FUNCTION("cuModuleUnload", module_unload),
    FUNCTION("cuModuleGetFunction", module_function),
    FUNCTION("cuFuncSetAttribute", function_set),
    FUNCTION("cuMemAlloc_v2", allocate),
    FUNCTION("cuMemFree_v2", release),
    FUNCTION("cuMemcpyHtoDAsync_v2", copy_in),
    FUNCTION("cuMemcpyDtoHAsync_v2", copy_out),
    FUNCTION("cuMemsetD8Async", fill),
    FUNCTION("cuStreamSynchronize", synchronize),
    FUNCTION("cuLaunchKernel", launch),
    FUNCTION("cuTensorMapEncodeTiled", encode_tiled),
#undef FUNCTION
};

attend_status attendi_driver_check(const struct cuda_driver *driver, cu_result result,
                                   const char *what, attend_error *err)
{
    const char *name = NULL, *text = NULL;

    if (result == 0)
        return ATTEND_OK;
    driver->error_name(result, &name);
    driver->error_text(result, &text);
    return attendi_fail(
        err, result == CU_OUT_OF_MEMORY ? ATTEND_ENOMEM : ATTEND_EUNSUPPORTED,
        "cuda: %s: %s (%s)", what, text ? text : "unknown error", name ? name : "?");
}

static attend_status find_functions(struct cuda_driver *driver, attend_error *err)
{
    for (size_t x = 0; x < ARRAY_LEN(functions); x++) {
        void *const found = dlsym(driver->library, functions[x].name);

        if (!found && strcmp(functions[x].name, "cuTensorMapEncodeTiled") != 0)
            return attendi_fail(err, ATTEND_EUNSUPPORTED,
                                "cuda: the driver has no %s: it is too old",
                                functions[x].name);
        memcpy((char *)driver + functions[x].at, &found, sizeof found);
    }
    return ATTEND_OK;
}

attend_status attendi_driver_open(struct cuda_driver *driver, attend_error *err)
{
    *driver = (struct cuda_driver){.library = dlopen("libcuda.so.1", RTLD_NOW)};
    if (!driver->library)
        return attendi_fail(err, ATTEND_EUNSUPPORTED, "cuda: no driver: %.180s",
                            dlerror());
    attend_status status = find_functions(driver, err);
    if (status == ATTEND_OK)
        status = attendi_driver_check(driver, driver->init(0), "cuInit", err);
    if (status != ATTEND_OK)
        attendi_driver_close(driver);
    return status;
}

void attendi_driver_close(struct cuda_driver *driver)
{
    if (driver->library)
        dlclose(driver->library);
    driver->library = NULL;
}
