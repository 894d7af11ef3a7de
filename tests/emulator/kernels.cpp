/* SPDX-License-Identifier: MIT */
/*
 * The kernels of one module, compiled for a CPU: EMULATED is its file, MODULE_OF(name) is
 * REGISTER(name) for its own kernels and nothing for those of the others.
 */
#include <tuple>

#include "gpu.h"

#include EMULATED

#include "cuda/host/kernel_names.h"

/* Calls a kernel with copies of its arguments. */
template <class... A, size_t... X>
static std::function<void()> bind_arguments(void (*kernel)(A...), void **arguments,
                                            std::index_sequence<X...>)
{
    return [kernel, all = std::tuple<A...>(*(A *)arguments[X]...)] {
        std::apply(kernel, all);
    };
}
template <class... A>
static std::function<void()> bind_arguments(void (*kernel)(A...), void **arguments)
{
    return bind_arguments(kernel, arguments, std::index_sequence_for<A...>());
}

/* A module's kernels are those that are declared here: others have no type. */
#define REGISTER(name)                                                                   \
    gpu_register("attend_" #name, [](void **arguments) {                                 \
        return bind_arguments(attend_##name, arguments);                                 \
    });
#define NOT_HERE(name)
#define KERNEL(module, name) IS_##module(name)

namespace
{
struct registration {
    registration() { ALL_KERNELS }
} at_start;
} // namespace
