/* SPDX-License-Identifier: MIT */
#include "emulator.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <map>
#include <string>
#include <vector>

#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

enum { STACK_BYTES = 256 << 10, THREADS_MOST = 1024, SHARED_MOST = 256 << 10 };

/* gpu_switch() saves the callee-saved registers of x86-64. */
#ifndef __x86_64__
#error "fibers are for x86-64"
#endif

/* Dynamic shared memory, under the names that kernels declare. */
thread_local __attribute__((aligned(1024))) unsigned char memory[SHARED_MOST];
thread_local __attribute__((aligned(1024))) float factors[SHARED_MOST / 4];
thread_local __attribute__((aligned(1024))) uint32_t words[SHARED_MOST / 4];

/* ---- fibers ----------------------------------------------------------------------- */

/* Pushes the callee-saved registers, stores the stack pointer to *from, switches to `to`.
 */
extern "C" void gpu_switch(void **from, void *to);
__asm__(".text\n"
        ".type gpu_switch, @function\n"
        "gpu_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n"
        "    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n"
        "    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size gpu_switch, .-gpu_switch\n");

/*
 * A collective operation of a scope: the value of each thread.  Two buffers, since a
 * thread may already be in the next operation.
 */
struct collective {
    int members = 0, arrived = 0;
    unsigned number = 0;
    std::vector<void *> values[2];
};

/* Committed groups of asynchronous work of a thread; tokens of the pending ones. */
struct async_groups {
    unsigned committed = 0;
    char tokens[8] = {};
};

struct fiber : gpu_thread {
    void *stack_pointer = nullptr;
    char *stack = nullptr;
    bool ended = false;
    bool (*done)(const void *what, unsigned number) = nullptr; /* NULL: does not wait */
    const void *what = nullptr;
    unsigned number = 0;
    async_groups groups[GPU_UNITS];
};

struct cta {
    std::vector<fiber> threads;
    std::vector<collective> warps, groups;
    collective all;
    struct {
        int arrived;
        unsigned number;
    } named[16];
    size_t shared = 0;
    int running = 0;
    const std::function<void()> *kernel = nullptr;
    void *scheduler = nullptr;
    bool failed = false;
    race_check races;
    int unit = -1;                      /* the asynchronous unit that is running */
    std::vector<async_groups> products; /* of warpgroups */
};

__thread gpu_thread *gpu_self;
static __thread cta *current;
static __thread char failure[256];

const char *gpu_failure() { return failure; }

static fiber *self() { return static_cast<fiber *>(gpu_self); }
static int index_of_self() { return (int)(self() - current->threads.data()); }
int gpu_lane() { return index_of_self() % 32; }

static void yield_fiber() { gpu_switch(&self()->stack_pointer, current->scheduler); }

void gpu_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(failure, sizeof failure, format, arguments);
    va_end(arguments);
    current->failed = true;
    for (;;)
        yield_fiber();
}

void gpu_wait(bool (*done)(const void *what, unsigned number), const void *what,
              unsigned number)
{
    fiber *const f = self();

    if (done(what, number))
        return;
    f->what = what;
    f->number = number;
    f->done = done;
    yield_fiber();
    f->done = nullptr;
}

/* ---- order of accesses ------------------------------------------------------------ */

static int actor() { return current->unit >= 0 ? current->unit : index_of_self(); }

void gpu_release(const void *token, unsigned phase)
{
    current->races.release(actor(), token, phase);
}
void gpu_acquire(const void *token, unsigned phase)
{
    current->races.acquire(actor(), token, phase);
}
void gpu_proxy_fence() { current->races.fence(index_of_self()); }

static int unit_of(gpu_unit unit)
{
    race_check &races = current->races;
    const int x = index_of_self();

    return unit == GPU_WGMMA      ? races.products_of(x)
           : unit == GPU_CP_ASYNC ? races.copies_of(x)
                                  : races.next_copy();
}

/* Products are committed as groups of a warpgroup, by all its threads. */
static async_groups &groups_of(gpu_unit unit)
{
    return unit == GPU_WGMMA ? current->products[(size_t)index_of_self() / 128]
                             : self()->groups[unit];
}

void gpu_join(gpu_unit unit) { gpu_release(&groups_of(unit), 0); }

gpu_async::gpu_async(gpu_unit unit)
{
    current->unit = unit_of(unit);
    current->races.start(index_of_self(), current->unit);
    gpu_acquire(&groups_of(unit), 0);
}
gpu_async::~gpu_async() { current->unit = -1; }

void gpu_commit(gpu_unit unit)
{
    const unsigned number = ++self()->groups[unit].committed;
    async_groups &groups = groups_of(unit);

    if (unit == GPU_WGMMA && groups.committed >= number)
        return;
    groups.committed = number;
    current->races.release(unit_of(unit), &groups.tokens[number % 8], 0);
}

void gpu_wait_groups(gpu_unit unit, int pending)
{
    const unsigned committed = self()->groups[unit].committed;

    if (committed > (unsigned)pending)
        gpu_acquire(&groups_of(unit).tokens[(committed - (unsigned)pending) % 8], 0);
}

/* ---- collective operations ----------------------------------------------------------
 */

/* Whether a barrier is past phase `number`. */
static bool has_passed(const void *barrier, unsigned number)
{
    return *(const unsigned *)barrier != number;
}

static collective &collective_of(gpu_scope scope)
{
    const size_t x = (size_t)index_of_self();

    return scope == GPU_WARP        ? current->warps[x / 32]
           : scope == GPU_WARPGROUP ? current->groups[x / 128]
                                    : current->all;
}

void *const *gpu_collective(gpu_scope scope, void *mine,
                            void (*together)(void *const *all, int count))
{
    collective &m = collective_of(scope);
    const unsigned number = m.number;
    const size_t size = scope == GPU_WARP        ? 32
                        : scope == GPU_WARPGROUP ? 128
                                                 : (size_t)THREADS_MOST;
    std::vector<void *> &values = m.values[number & 1];

    values[(size_t)index_of_self() % size] = mine;
    if (++m.arrived == m.members) {
        if (together)
            together(values.data(), m.members);
        m.arrived = 0;
        m.number++;
    } else
        gpu_wait(has_passed, &m.number, number);
    return values.data();
}

void gpu_barrier(gpu_scope scope)
{
    const collective &m = collective_of(scope);
    const unsigned number = m.number;

    gpu_release(&m, number);
    gpu_collective(scope, nullptr);
    gpu_acquire(&m, number);
}

int gpu_count(gpu_scope scope, bool mine, int *of)
{
    static char yes;
    const collective &m = collective_of(scope);
    const unsigned number = m.number;
    int count = 0;

    if (scope == GPU_CTA)
        gpu_release(&m, number);
    void *const *const all = gpu_collective(scope, mine ? &yes : nullptr);
    if (scope == GPU_CTA)
        gpu_acquire(&m, number);

    *of = m.members;
    for (size_t x = 0; x < m.values[0].size(); x++)
        count += all[x] == &yes;
    return count;
}

unsigned __ballot_sync(unsigned, int x)
{
    static char yes;
    void *const *const all = gpu_collective(GPU_WARP, x ? &yes : nullptr);
    unsigned bits = 0;

    for (int lane = 0; lane < 32; lane++)
        bits |= (unsigned)(all[lane] == &yes) << lane;
    return bits;
}

void gpu_named_barrier(int id, int threads, bool waits)
{
    auto &bar = current->named[id];
    const unsigned number = bar.number;

    gpu_release(&bar, number);
    if (++bar.arrived == threads) {
        bar.arrived = 0;
        bar.number++;
    } else if (waits)
        gpu_wait(has_passed, &bar.number, number);
    if (waits)
        gpu_acquire(&bar, number);
}

unsigned char *gpu_shared(uint32_t at, int bytes, int align, access_kind kind)
{
    if (at % (uint32_t)align != 0)
        gpu_fail("shared memory: address %u is not aligned to %d", at, align);
    if ((size_t)at + (size_t)bytes > current->shared)
        gpu_fail("shared memory: %d bytes at %u of %zu", bytes, at, current->shared);
    if (!current->races.access(actor(), kind, at, bytes))
        gpu_fail("%s", current->races.what());
    return memory + at;
}

uint32_t gpu_shared_address(const void *at)
{
    return (uint32_t)((const unsigned char *)at - memory);
}

/* ---- launches ---------------------------------------------------------------------- */

/* Removes a thread that has ended from collective operations. */
static void remove_member(collective &m)
{
    m.members--;
    if (m.members > 0 && m.arrived == m.members) {
        m.arrived = 0;
        m.number++;
    }
}

static void start_fiber()
{
    (*current->kernel)();
    remove_member(collective_of(GPU_WARP));
    remove_member(collective_of(GPU_WARPGROUP));
    remove_member(current->all);
    self()->ended = true;
    current->running--;
    for (;;)
        yield_fiber();
}

/* A fiber that ends does not return from its frames, so ASan keeps their redzones. */
#ifdef __SANITIZE_ADDRESS__
extern "C" void __asan_unpoison_memory_region(const volatile void *at, size_t size);
#else
static void __asan_unpoison_memory_region(const volatile void *, size_t) {}
#endif

/* Sets up a stack for gpu_switch(): six registers and a return address. */
static void prepare(fiber &f)
{
    void **top = (void **)(f.stack + STACK_BYTES);

    __asan_unpoison_memory_region(f.stack, STACK_BYTES);
    *--top = nullptr; /* stack alignment at function entry */
    *--top = (void *)start_fiber;
    for (int x = 0; x < 6; x++)
        *--top = nullptr;
    f.stack_pointer = top;
    f.ended = false;
    f.done = nullptr;
}

static void begin(collective &m, int members, size_t places)
{
    m.members = members;
    m.arrived = 0;
    m.number = 0;
    m.values[0].assign(places, nullptr);
    m.values[1].assign(places, nullptr);
}

static void begin_cta(cta &c, dim3 block_index, dim3 grid, dim3 block)
{
    const int count = (int)block.x;

    /* NaN, so that a read of unwritten memory is noticed. */
    memset(memory, 0xff, c.shared);
    c.races.begin(count, c.shared);
    c.unit = -1;
    c.products.assign(c.groups.size(), async_groups());
    c.running = count;
    memset(c.named, 0, sizeof c.named);
    begin(c.all, count, (size_t)count);
    for (size_t x = 0; x < c.warps.size(); x++)
        begin(c.warps[x], min(32, count - 32 * (int)x), 32);
    for (size_t x = 0; x < c.groups.size(); x++)
        begin(c.groups[x], min(128, count - 128 * (int)x), 128);
    for (int x = 0; x < count; x++) {
        fiber &f = c.threads[(size_t)x];
        f.threadIdx = {(unsigned)x, 0, 0};
        f.blockIdx = block_index;
        f.blockDim = block;
        f.gridDim = grid;
        for (async_groups &groups : f.groups)
            groups = async_groups();
        prepare(f);
    }
}

/* Runs the threads round-robin until all have ended. */
static bool run_cta(cta &c)
{
    while (c.running > 0 && !c.failed) {
        bool moved = false;

        for (fiber &f : c.threads) {
            if (f.ended || (f.done && !f.done(f.what, f.number)))
                continue;
            moved = true;
            gpu_self = &f;
            gpu_switch(&c.scheduler, f.stack_pointer);
            if (c.failed)
                break;
        }
        if (!moved) {
            snprintf(failure, sizeof failure, "CTA %u: all of its %d threads wait",
                     c.threads[0].blockIdx.x, c.running);
            c.failed = true;
        }
    }
    return !c.failed;
}

bool gpu_run(const std::function<void()> &kernel, dim3 grid, dim3 block, size_t shared)
{
    static __thread char *stacks;
    cta c;

    if (block.x > THREADS_MOST || block.y * block.z * grid.y * grid.z != 1 ||
        shared > SHARED_MOST) {
        snprintf(failure, sizeof failure, "a launch of %u threads, %zu bytes", block.x,
                 shared);
        return false;
    }
    if (!stacks)
        stacks = (char *)aligned_alloc(64, (size_t)THREADS_MOST * STACK_BYTES);
    c.threads.resize(block.x);
    c.warps.resize((block.x + 31) / 32);
    c.groups.resize((block.x + 127) / 128);
    c.shared = shared;
    c.kernel = &kernel;
    for (size_t x = 0; x < block.x; x++)
        c.threads[x].stack = stacks + x * STACK_BYTES;
    current = &c;
    for (unsigned x = 0; x < grid.x && !c.failed; x++) {
        begin_cta(c, {x, 0, 0}, grid, block);
        run_cta(c);
    }
    current = nullptr;
    return !c.failed;
}

static std::map<std::string, gpu_kernel> &kernels()
{
    /* Never destroyed: destructors at exit still read it. */
    static auto *const all = new std::map<std::string, gpu_kernel>;
    return *all;
}

void gpu_register(const char *name, gpu_bind bind) { kernels()[name] = {bind, 0}; }

gpu_kernel *gpu_find(const char *name)
{
    const auto found = kernels().find(name);

    return found == kernels().end() ? nullptr : &found->second;
}

long gpu_replays;

void gpu_write_launches(const char *file)
{
    FILE *const to = fopen(file, "w");

    if (!to)
        return;
    for (const auto &kernel : kernels())
        fprintf(to, "%s %ld\n", kernel.first.c_str(), kernel.second.launches);
    fclose(to);
}
