/* SPDX-License-Identifier: MIT */
/*
 * libcuda.so.1 for machines without a GPU: the driver functions that libattend and its
 * tests call.  There is one device; its kernels run on the CPU when they are launched.
 * Device memory is memory of the process, so that a memory checker sees every access.
 * During stream capture only launches and memsets are allowed.
 *
 * ATTEND_EMULATOR_SM=80 reports compute capability 8.0; the default is 90.
 * ATTEND_EMULATOR_LAUNCHES=FILE: at exit, writes how often each kernel was launched.
 */
#include <stdio.h>
#include <stdlib.h>

#include <chrono>
#include <memory>
#include <set>
#include <vector>

#include "cuda.h"
#include "emulator.h"

#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

enum result {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_FOUND = 500,
    LAUNCH_FAILED = 719,
    CAPTURE_UNSUPPORTED = 900,
};

struct graph {
    std::vector<std::function<bool()>> steps;
};
struct stream {
    graph *captured = nullptr;
};
struct event {
    std::chrono::steady_clock::time_point recorded;
};

static bool has_failed; /* sticky error of a kernel, as on a GPU */
static std::set<uintptr_t> blocks;
static std::vector<std::unique_ptr<graph>> graphs;
static std::vector<std::unique_ptr<stream>> streams;

static result after(result otherwise = SUCCESS)
{
    return has_failed ? LAUNCH_FAILED : otherwise;
}
static bool is_captured(const stream *s) { return s && s->captured; }

/* Runs a step now, or when the captured graph is launched. */
static result submit(stream *s, const std::function<bool()> &step)
{
    if (is_captured(s)) {
        s->captured->steps.push_back(step);
        return SUCCESS;
    }
    if (!has_failed)
        has_failed = !step();
    return SUCCESS; /* the next synchronizing call returns the error */
}

#define API extern "C" __attribute__((visibility("default"))) result

/* Not part of the driver: gpu_replays, for tests. */
extern "C" __attribute__((visibility("default"))) long attend_emulated_replays()
{
    return gpu_replays;
}

static struct at_end {
    ~at_end()
    {
        if (const char *const file = getenv("ATTEND_EMULATOR_LAUNCHES"))
            gpu_write_launches(file);
    }
} at_end;

/* ---- the device ---------------------------------------------------------------------
 */

API cuInit(unsigned) { return SUCCESS; }
API cuDriverGetVersion(int *version)
{
    *version = 13000;
    return SUCCESS;
}
API cuGetErrorName(int error, const char **name)
{
    *name = error == OUT_OF_MEMORY         ? "CUDA_ERROR_OUT_OF_MEMORY"
            : error == LAUNCH_FAILED       ? "CUDA_ERROR_LAUNCH_FAILED"
            : error == CAPTURE_UNSUPPORTED ? "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
                                           : "CUDA_ERROR_UNKNOWN";
    return SUCCESS;
}
API cuGetErrorString(int error, const char **text)
{
    *text = error == LAUNCH_FAILED         ? gpu_failure()
            : error == CAPTURE_UNSUPPORTED ? "not while a stream is being captured"
                                           : "an error of the emulated driver";
    return SUCCESS;
}
API cuDeviceGetCount(int *count)
{
    *count = 1;
    return SUCCESS;
}
API cuDeviceGet(int *device, int)
{
    *device = 0;
    return SUCCESS;
}
API cuDeviceGetName(char *name, int length, int)
{
    snprintf(name, (size_t)length, "emulated GPU");
    return SUCCESS;
}
API cuDeviceTotalMem_v2(size_t *bytes, int)
{
    *bytes = (size_t)1 << 30;
    return SUCCESS;
}
API cuDeviceGetAttribute(int *value, int attribute, int)
{
    const char *const text = getenv("ATTEND_EMULATOR_SM");
    const int sm = text ? atoi(text) : 90;

    /* Few SMs, so that small problems are scheduled like large ones on a GPU. */
    *value = attribute == 16 ? 4 : attribute == 75 ? sm / 10 : sm % 10;
    return SUCCESS;
}
API cuDevicePrimaryCtxRetain(void **ctx, int)
{
    static int primary;

    *ctx = &primary;
    return SUCCESS;
}
API cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
API cuCtxPushCurrent_v2(void *) { return SUCCESS; }
API cuCtxPopCurrent_v2(void **) { return SUCCESS; }
API cuCtxSetCurrent(void *) { return SUCCESS; }

/* ---- memory -------------------------------------------------------------------------
 */

/* Exactly `size` bytes, so that a memory checker finds accesses out of bounds. */
API cuMemAlloc_v2(uintptr_t *at, size_t size)
{
    void *memory = nullptr;

    if (size == 0)
        return INVALID_VALUE;
    if (posix_memalign(&memory, 256, size) != 0)
        return OUT_OF_MEMORY;
    *at = (uintptr_t)memory;
    blocks.insert(*at);
    return after();
}
API cuMemFree_v2(uintptr_t at)
{
    if (blocks.erase(at) != 1)
        return INVALID_VALUE;
    free((void *)at);
    return SUCCESS;
}
API cuMemcpyHtoD_v2(uintptr_t to, const void *from, size_t size)
{
    memcpy((void *)to, from, size);
    return after();
}
API cuMemcpyDtoH_v2(void *to, uintptr_t from, size_t size)
{
    memcpy(to, (void *)from, size);
    return after();
}
API cuMemcpyHtoDAsync_v2(uintptr_t to, const void *from, size_t size, stream *s)
{
    return is_captured(s) ? CAPTURE_UNSUPPORTED : cuMemcpyHtoD_v2(to, from, size);
}
API cuMemcpyDtoHAsync_v2(void *to, uintptr_t from, size_t size, stream *s)
{
    return is_captured(s) ? CAPTURE_UNSUPPORTED : cuMemcpyDtoH_v2(to, from, size);
}
API cuMemsetD8Async(uintptr_t to, unsigned char value, size_t size, stream *s)
{
    return submit(s, [to, value, size] {
        memset((void *)to, value, size);
        return true;
    });
}

/* ---- kernels ------------------------------------------------------------------------
 */

API cuModuleLoadData(void **module, const void *)
{
    static int one;

    *module = &one;
    return SUCCESS;
}
API cuModuleUnload(void *) { return SUCCESS; }
API cuModuleGetFunction(gpu_kernel **function, void *, const char *name)
{
    *function = gpu_find(name);
    return *function ? SUCCESS : NOT_FOUND;
}
API cuFuncSetAttribute(void *, int, int) { return SUCCESS; }
API cuLaunchKernel(gpu_kernel *function, unsigned gx, unsigned gy, unsigned gz,
                   unsigned bx, unsigned by, unsigned bz, unsigned shared, stream *s,
                   void **arguments, void **)
{
    const std::function<void()> kernel = function->bind(arguments);

    function->launches++;

    return submit(s, [=] { return gpu_run(kernel, {gx, gy, gz}, {bx, by, bz}, shared); });
}
API cuTensorMapEncodeTiled(CUtensorMap *map, int, uint32_t rank, void *address,
                           const uint64_t *size, const uint64_t *stride,
                           const uint32_t *box, const uint32_t *step, int interleave,
                           int swizzle, int, int)
{
    if (rank != 4 || interleave != 0 || swizzle != 3 || (uintptr_t)address % 16 != 0 ||
        box[0] != 64)
        return INVALID_VALUE;
    *map = CUtensorMap();
    map->data = (char *)address;
    for (int x = 0; x < 4; x++) {
        if (size[x] < 1 || size[x] > (uint64_t)1 << 32 || box[x] < 1 || box[x] > 256 ||
            step[x] != 1 ||
            (x > 0 && (stride[x - 1] % 16 != 0 || stride[x - 1] >= (uint64_t)1 << 40)))
            return INVALID_VALUE;
        map->size[x] = (int64_t)size[x];
        map->stride[x] = x > 0 ? (int64_t)stride[x - 1] : 2;
        map->box[x] = (int)box[x];
    }
    return SUCCESS;
}

/* ---- streams and graphs -------------------------------------------------------------
 */

API cuStreamCreate(stream **s, unsigned)
{
    streams.emplace_back(new stream);
    *s = streams.back().get();
    return SUCCESS;
}
API cuStreamDestroy_v2(stream *s)
{
    for (auto x = streams.begin(); x != streams.end(); x++)
        if (x->get() == s) {
            streams.erase(x);
            return SUCCESS;
        }
    return INVALID_VALUE;
}
API cuStreamSynchronize(stream *s)
{
    return is_captured(s) ? CAPTURE_UNSUPPORTED : after();
}
API cuStreamBeginCapture_v2(stream *s, int)
{
    graphs.emplace_back(new graph);
    s->captured = graphs.back().get();
    return SUCCESS;
}
API cuStreamEndCapture(stream *s, graph **to)
{
    *to = s->captured;
    s->captured = nullptr;
    return SUCCESS;
}
API cuGraphInstantiateWithFlags(graph **exec, graph *from, unsigned long long)
{
    *exec = from;
    return SUCCESS;
}
API cuGraphLaunch(graph *exec, stream *s)
{
    for (const std::function<bool()> &step : exec->steps)
        submit(s, step);
    return after();
}

/* ---- events -------------------------------------------------------------------------
 * Work is done when it is submitted, so an event is the time of its record.
 */

API cuEventCreate(event **e, unsigned)
{
    *e = new event;
    return SUCCESS;
}
API cuEventDestroy_v2(event *e)
{
    delete e;
    return SUCCESS;
}
API cuEventRecord(event *e, stream *s)
{
    if (is_captured(s))
        return CAPTURE_UNSUPPORTED;
    e->recorded = std::chrono::steady_clock::now();
    return SUCCESS;
}
API cuEventSynchronize(event *) { return after(); }
API cuEventElapsedTime(float *ms, event *from, event *to)
{
    *ms = std::chrono::duration<float, std::milli>(to->recorded - from->recorded).count();
    return after();
}
