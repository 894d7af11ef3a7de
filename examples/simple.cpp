// SPDX-License-Identifier: MIT The same in C++17: a context with a destructor, errors as
// exceptions.
#include <attend/attend.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

namespace
{

struct destroy {
    void operator()(attend_context *ctx) const { attend_context_destroy(ctx); }
};
using context = std::unique_ptr<attend_context, destroy>;

context make_context()
{
    attend_context *ctx = nullptr;
    attend_error err;
    if (attend_context_create(&ctx, nullptr, &err) != ATTEND_OK)
        throw std::runtime_error(err.message);
    return context(ctx);
}

// Row-major matrices, one batch, one head.
std::vector<float> attention(attend_context *ctx, const std::vector<float> &q,
                             const std::vector<float> &k, const std::vector<float> &v,
                             int64_t d, int64_t dv)
{
    const auto nq = static_cast<int64_t>(q.size()) / d;
    const auto nk = static_cast<int64_t>(k.size()) / d;
    std::vector<float> out(static_cast<size_t>(nq * dv));

    attend_io io = attend_io_default();
    io.q = attend_view_dense(q.data(), ATTEND_F32, 1, 1, nq, d);
    io.k = attend_view_dense(k.data(), ATTEND_F32, 1, 1, nk, d);
    io.v = attend_view_dense(v.data(), ATTEND_F32, 1, 1, nk, dv);
    io.out = attend_tensor_dense(out.data(), ATTEND_F32, 1, 1, nq, dv);
    attend_error err;
    if (attend_forward(ctx, nullptr, &io, &err) != ATTEND_OK)
        throw std::runtime_error(err.message);
    return out;
}

} // namespace

int main()
try {
    const context ctx = make_context();
    // A query with a large product with one of two orthogonal keys copies its value.
    const auto out = attention(ctx.get(), {40, 0, 0, 40}, {1, 0, 0, 1}, {5, 7}, 2, 1);
    std::printf("%.4f %.4f\n", static_cast<double>(out[0]), static_cast<double>(out[1]));
    return std::fabs(out[0] - 5) <= 1e-6F && std::fabs(out[1] - 7) <= 1e-6F ? 0 : 1;
} catch (const std::exception &e) {
    std::fprintf(stderr, "simple: %s\n", e.what());
    return 1;
}
