/* SPDX-License-Identifier: MIT */
/* An exercise to start from: inputs on which no slip is equal to the right result. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/io.h"
#include "lab/measure/random.h"
#include "shared/output_files.h"
#include "shared/text_file.h"
#include "tensors/tensors_tool.h"

static const char exercise[] =
    "{\n"
    "  \"tasks\": [\n"
    "    {\"name\": \"attention\", \"out\": \"attention.npy\", \"points\": 2},\n"
    "    {\"name\": \"causal\", \"causal\": \"bottom-right\", \"out\": \"causal.npy\"},\n"
    "    {\"name\": \"large scores\", \"scale\": 500, \"out\": \"large.npy\"},\n"
    "    {\"name\": \"multi-head\", \"layout\": \"packed\", \"heads\": 4,\n"
    "     \"q\": \"q_heads.npy\", \"k\": \"k_heads.npy\", \"v\": \"v_heads.npy\",\n"
    "     \"out\": \"heads.npy\", \"points\": 2},\n"
    "    {\"name\": \"grouped\", \"layout\": \"packed\", \"heads\": 4, \"kv_heads\": 2,\n"
    "     \"causal\": \"top-left\", \"q\": \"q_heads.npy\", \"k\": \"k_groups.npy\",\n"
    "     \"v\": \"v_groups.npy\", \"out\": \"grouped.npy\", \"points\": 2},\n"
    "    {\"name\": \"rope\", \"layout\": \"packed\", \"heads\": 4, \"rotary\": "
    "\"halves\",\n"
    "     \"q\": \"q_heads.npy\", \"k\": \"k_heads.npy\", \"v\": \"v_heads.npy\",\n"
    "     \"out\": \"rope.npy\", \"points\": 2},\n"
    "    {\"name\": \"copy\", \"kind\": \"copy\", \"wanted\": [2], \"scale\": 1,\n"
    "     \"out\": \"q_copy.npy\"},\n"
    "    {\"name\": \"average\", \"kind\": \"average\", \"wanted\": [1, 4], \"scale\": "
    "1,\n"
    "     \"out\": \"q_average.npy\"}\n"
    "  ]\n"
    "}\n";

static const struct {
    const char *name;
    int ndim;
    int64_t size[3];
    float sd;
} inputs[] = {
    {"q.npy", 2, {5, 8}, 2.0f},
    {"k.npy", 2, {7, 8}, 1.0f},
    {"v.npy", 2, {7, 8}, 1.0f},
    {"q_heads.npy", 3, {2, 6, 32}, 1.0f},
    {"k_heads.npy", 3, {2, 6, 32}, 1.0f},
    {"v_heads.npy", 3, {2, 6, 32}, 1.0f},
    {"k_groups.npy", 3, {2, 6, 16}, 1.0f},
    {"v_groups.npy", 3, {2, 6, 16}, 1.0f},
};
enum { MADE = sizeof inputs / sizeof *inputs, KEYS = 1, PATH = 4096 };

/* Rows of length 1, perpendicular to each other: a copy is then C k_j. */
static void make_orthonormal(float *x, int64_t rows, int64_t d)
{
    for (int64_t r = 0; r < rows; r++) {
        double norm = 0.0;
        for (int64_t s = 0; s < r; s++) {
            double dot = 0.0;
            for (int64_t c = 0; c < d; c++)
                dot += (double)x[r * d + c] * (double)x[s * d + c];
            for (int64_t c = 0; c < d; c++)
                x[r * d + c] -= (float)dot * x[s * d + c];
        }
        for (int64_t c = 0; c < d; c++)
            norm += (double)x[r * d + c] * (double)x[r * d + c];
        for (int64_t c = 0; c < d; c++)
            x[r * d + c] /= (float)sqrt(norm);
    }
}

static int write_all(uint64_t seed, char path[MADE + 1][PATH])
{
    struct io_output outputs[MADE];
    tool_text text;
    int status = tool_text_open("grade", "--make-tensors", path[MADE], &text);

    if (status)
        return status;
    for (int f = 0; f < MADE; f++) {
        outputs[f] =
            (struct io_output){.spec = path[f], .dtype = IO_F32, .ndim = inputs[f].ndim};
        memcpy(outputs[f].size, inputs[f].size, sizeof inputs[f].size);
    }
    status = output_files_prepare("grade", outputs, MADE);
    for (int f = 0; !status && f < MADE; f++) {
        int64_t count = 1;
        for (int a = 0; a < inputs[f].ndim; a++)
            count *= inputs[f].size[a];
        lab_random_noise(seed, (uint64_t)f, 0, inputs[f].sd, outputs[f].data, count);
        if (f == KEYS)
            make_orthonormal(outputs[f].data, inputs[f].size[0], inputs[f].size[1]);
    }
    if (!status)
        status = output_files_commit("grade", TOOL_OK);
    if (!status)
        fputs(exercise, text.stream);
    if (!status)
        return tool_text_commit("grade", &text);
    tool_text_discard(&text);
    return status;
}

int tensors_make(const char *folder, uint64_t seed)
{
    char path[MADE + 1][PATH];

    for (int f = 0; f <= MADE; f++)
        if ((size_t)snprintf(path[f], PATH, "%s/%s", folder,
                             f < MADE ? inputs[f].name : "exercise.json") >= PATH)
            return tool_fail("grade", TOOL_USAGE, "--make-tensors: the name is too long");
    if (mkdir(folder, 0777))
        return tool_fail("grade", TOOL_USAGE, "--make-tensors: %s: %s", folder,
                         strerror(errno));
    const int status = write_all(seed, path);
    if (status)
        rmdir(folder);
    return status;
}
