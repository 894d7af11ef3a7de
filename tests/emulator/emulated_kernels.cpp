/* SPDX-License-Identifier: MIT */
/*
 * The kernels of one module, compiled for the CPU.  EMULATED is its .cu file; IS_<module>
 * is REGISTER for this module and NOT_HERE for all others.
 */
#include <tuple>

#include "emulator.h"

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

/* Only kernels of this module are declared here, so only these can be registered. */
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
