/* SPDX-License-Identifier: MIT */
#include "strides.h"

#include <sys/mman.h>
#include <unistd.h>

static void layout_strides(layout kind, const int64_t *size, int64_t *stride)
{
    const int64_t s1 = size[1], s2 = size[2], s3 = size[3];
    const int64_t table[LAYOUT_COUNT][4] = {
        [LAYOUT_BLHD] = {s1 * s2 * s3, s3, s1 * s3, 1},
        [LAYOUT_SLICED] = {s1 * s2 * 2 * (s3 + 5), s2 * 2 * (s3 + 5), 2 * (s3 + 5), 1},
        [LAYOUT_LAST_STEP_3] = {s1 * s2 * s3 * 3, s2 * s3 * 3, s3 * 3, 3},
        [LAYOUT_TRANSPOSED] = {s1 * s2 * s3, s2 * s3, 1, s2},
        [LAYOUT_REVERSED] = {-(s1 * s2 * s3), -(s2 * s3), -s3, -1},
        [LAYOUT_REVERSED_D] = {s1 * s2 * s3, s2 * s3, s3, -1},
        [LAYOUT_REVERSED_L] = {s1 * s2 * s3, s2 * s3, -s3, 1},
    };

    memcpy(stride, table[kind], sizeof table[kind]);
}

void stride_reach(const int64_t *size, const int64_t *stride, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    for (int axis = 0; axis < 4; axis++) {
        const int64_t reach = (size[axis] - 1) * stride[axis];
        *(reach < 0 ? low : high) += reach;
    }
}

void copy_elements(const attend_view *from, const attend_view *to)
{
    const size_t width = attend_dtype_size(from->dtype);

    for (int64_t b = 0; b < from->size[0]; b++)
        for (int64_t h = 0; h < from->size[1]; h++)
            for (int64_t l = 0; l < from->size[2]; l++)
                for (int64_t d = 0; d < from->size[3]; d++)
                    memcpy((char *)(uintptr_t)to->data +
                               view_at(to->stride, b, h, l, d) * (int64_t)width,
                           (const char *)from->data +
                               view_at(from->stride, b, h, l, d) * (int64_t)width,
                           width);
}

attend_view restride(problem *p, const attend_view *from, layout kind)
{
    const size_t width = attend_dtype_size(from->dtype);
    attend_view to = *from;
    int64_t low, high;

    layout_strides(kind, to.size, to.stride);
    stride_reach(to.size, to.stride, &low, &high);
    const size_t bytes = (size_t)(high - low + 1) * width;
    char *const memory = problem_own(p, bytes);
    memset(memory, 0xff, bytes);
    to.data = memory - low * (int64_t)width;
    copy_elements(from, &to);
    return to;
}

attend_tensor restride_output(problem *p, const attend_tensor *from, layout kind)
{
    const attend_view old = view_of_tensor(from);
    const attend_view view = restride(p, &old, kind);

    return tensor_of_view(&view);
}

int gather_output(const attend_tensor *from, const attend_tensor *contiguous)
{
    const size_t width = attend_dtype_size(from->dtype);
    const attend_view strided = view_of_tensor(from), flat = view_of_tensor(contiguous);
    int64_t low, high;

    copy_elements(&strided, &flat);
    stride_reach(from->size, from->stride, &low, &high);
    for (int64_t b = 0; b < from->size[0]; b++)
        for (int64_t h = 0; h < from->size[1]; h++)
            for (int64_t l = 0; l < from->size[2]; l++)
                for (int64_t d = 0; d < from->size[3]; d++)
                    memset((char *)from->data +
                               view_at(from->stride, b, h, l, d) * (int64_t)width,
                           0xff, width);
    for (int64_t at = low * (int64_t)width; at < (high + 1) * (int64_t)width; at++)
        if (((const unsigned char *)from->data)[at] != 0xff)
            return 0;
    return 1;
}

guarded guarded_make(size_t size, int at_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inner = (size + page - 1) / page * page;
    guarded g = {.map_size = inner + 2 * page};

    g.map = mmap(NULL, g.map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.map == MAP_FAILED ||
        (inner > 0 && mprotect(g.map + page, inner, PROT_READ | PROT_WRITE) != 0)) {
        fprintf(stderr, "no guarded memory of %zu bytes\n", size);
        exit(2);
    }
    g.data = at_end ? g.map + page + inner - size : g.map + page;
    return g;
}

void guarded_free(guarded *g) { munmap(g->map, g->map_size); }

guarded struct_at_end(const void *from, size_t known, size_t size)
{
    const size_t room = size < sizeof size || size > 4096 ? sizeof size : size;
    const guarded to = guarded_make(room, 1);

    memset(to.data, 0, room);
    memcpy(to.data, from, room < known ? room : known);
    memcpy(to.data, &size, sizeof size);
    return to;
}
