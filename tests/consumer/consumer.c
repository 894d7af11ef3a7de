/* SPDX-License-Identifier: MIT */
/* Exit status 0 if attention over two equal keys averages their values. */
#include <attend/attend.h>

#include <stdio.h>

int main(void)
{
    const float q = 1, k[2] = {3, 3}, v[2] = {2, 4};
    float out = -1;
    attend_context *ctx;
    attend_error err;
    attend_io io = attend_io_default();

    io.q = (attend_view){&q, ATTEND_F32, {1, 1, 1, 1}, {0, 0, 0, 1}};
    io.k = attend_view_dense(k, ATTEND_F32, 1, 1, 2, 1);
    io.v = attend_view_dense(v, ATTEND_F32, 1, 1, 2, 1);
    io.out = (attend_tensor){&out, ATTEND_F32, {1, 1, 1, 1}, {0, 0, 0, 1}};
    if (attend_context_create(&ctx, NULL, &err) != ATTEND_OK)
        return 1;
    const attend_status status = attend_forward(ctx, NULL, &io, &err);
    attend_context_destroy(ctx);
    printf("attend %s: %g\n", attend_version(), (double)out);
    return status == ATTEND_OK && out == 3 ? 0 : 1;
}
