/* SPDX-License-Identifier: MIT */
/*
 * make_seeds DIR: writes small valid files, DIR/npy/, DIR/safetensors/, DIR/expression/,
 * DIR/grade/, DIR/document/ and DIR/reading/, for the fuzzers to start from.
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct npy_seed {
    int version;
    size_t payload;
    const char *header;
} npy_seeds[] = {
    {1, 24, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"},
    {1, 48, "{'descr': '>f8', 'fortran_order': True, 'shape': (2, 3), }"},
    {1, 12, "{'descr': '<f2', 'fortran_order': False, 'shape': (1L, 2L, 3L)}"},
    {2, 4, "{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }"},
    {2, 6, "{'shape': (1, 2, 1, 3), 'descr': '|b1', 'fortran_order': False}"},
    {3, 4, "{'descr': '<i4', 'fortran_order': False, 'shape': (), }"},
    {3, 0, "{\"descr\": \"=c16\", \"fortran_order\": True, \"shape\": (0, 7)}"},
    {1, 2, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }"},
};

static const struct safetensors_seed {
    size_t payload;
    const char *header;
} safetensors_seeds[] = {
    {0, "{}"},
    {24, "{\"q\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}  "},
    {20, "{\"a\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[16,20]},"
         "\"b\":{\"dtype\":\"F64\",\"shape\":[1,2],\"data_offsets\":[0,16]},"
         "\"c\":{\"dtype\":\"BF16\",\"shape\":[0],\"data_offsets\":[16,16]}}"},
    {3, "{\"__metadata__\":{\"format\":\"pt\"},"
        "\"x\":{\"dtype\":\"F6_E2M3\",\"shape\":[4],\"data_offsets\":[0,3]}}"},
    {3, "{\"\\u00e9\\ud83d\\ude00\":{\"dtype\":\"F4\",\"shape\":[2,2],\"data_offsets\":["
        "0,2]},"
        "\"s\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[2,3]}}"},
};

static const char *const expression_seeds[] = {
    "C (v + w)",           "A A^T v/(2 norm(v))",
    "S^-1 - S^T",          "e^(2 C)/(2 e^C + n - 2)",
    "-Phi(1/sqrt(0.5))^2", "alpha·{n} + [1.5e-3]'",
};

static const char *const grade_seeds[] = {
    "{\"student\": \"a\", \"_help\": [1], \"1b-i\": {\"M\": \"A A^T\", "
    "\"coordinates\": \"\"}}",
    "{\"1d-i\": {\"queries\": [\"C mu_a\", \"C mu_b\"]}, "
    "\"1e\": {\"better\": \"two\"}}",
    "{\"1b-ii\": {\"q\": \"beta (k_a + k_b)\", \"scores\": [\"C\", \"C\", \"0\"], "
    "\"weight\": \"exp(C)/(2 exp(C)+n-2)\"}}",
    "{\"2a-i\": {\"moved\": \"P X\", \"scores\": \"P S P^T\"}}",
    "{\"points\": {\"1b-i\": {\"M\": 7.5}, \"1e\": 3}, "
    "\"credit\": {\"limit\": 0.5, \"slip\": 1}}",
};

static const char *const document_seeds[] = {
    "## Question 1 (c) ii\n\nLet $q = C(\\mu_a + \\mu_b)$, where $C \\gg 0$. Then\n"
    "$$\\alpha_a = \\frac{\\exp(\\gamma C)}{\\exp(\\gamma C) + \\exp(C)} \\approx "
    "\\begin{cases} 1 & \\gamma > 1 \\\\ 0 & \\text{otherwise} \\end{cases}$$\n",
    "\\begin{document}\n\\section{1}\n\\begin{enumerate}[label=(\\alph*)]\n\\item "
    "\\(\\sum_{i=1}^n \\alpha_i = 1\\)\n\\begin{align*} Ms &= A A^\\top s \\\\ &= A "
    "\\begin{bmatrix} c_1 \\\\ \\vdots \\end{bmatrix} \\end{align*}\n\\end{enumerate}\n",
    "b) ii. q = beta (k_a + k_b), beta >> 0; c = (v_a + v_b)/2 as beta -> inf\n"
    "(d) - i) <q_1, k_a> = C, ‖μ_a‖² = 1 ⇒ kₐᵀq ≈ Σᵢ αᵢ, e.g. i = 1, ..., n\n",
    "$q_1 = Hu \\quad q_2 = Hb$ $k_a$ ~~then~~ $\\cancel{x} = \\underbrace{A A^T}_c$\n",
};

/* Exits on failure, so that a fuzzer never runs without seeds. */
static void write_seed(const char *directory, const char *kind, size_t number,
                       const void *prefix, size_t prefix_size, const char *header,
                       size_t payload)
{
    char path[4096];
    const size_t n = strlen(header);

    snprintf(path, sizeof path, "%s/%s/seed-%zu", directory, kind, number);
    FILE *const file = fopen(path, "wb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    size_t written = fwrite(prefix, 1, prefix_size, file) + fwrite(header, 1, n, file);
    for (size_t i = 0; i < payload; i++)
        written += fputc((int)i, file) != EOF;
    if (fclose(file) != 0 || written != prefix_size + n + payload) {
        perror(path);
        exit(1);
    }
}

/* An empty `kind` selects DIR itself. */
static void make_directory(const char *directory, const char *kind)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", directory, kind);
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_seeds DIR\n");
        return 2;
    }
    make_directory(argv[1], "");
    make_directory(argv[1], "npy");
    make_directory(argv[1], "safetensors");
    make_directory(argv[1], "expression");
    make_directory(argv[1], "grade");
    make_directory(argv[1], "document");
    make_directory(argv[1], "reading");
    for (size_t i = 0; i < sizeof npy_seeds / sizeof npy_seeds[0]; i++) {
        const struct npy_seed *const seed = &npy_seeds[i];
        const size_t n = strlen(seed->header);
        const unsigned char prefix[12] = {0x93,
                                          'N',
                                          'U',
                                          'M',
                                          'P',
                                          'Y',
                                          (unsigned char)seed->version,
                                          0,
                                          (unsigned char)n};
        write_seed(argv[1], "npy", i, prefix, seed->version == 1 ? 10 : 12, seed->header,
                   seed->payload);
    }
    for (size_t i = 0; i < sizeof safetensors_seeds / sizeof safetensors_seeds[0]; i++) {
        const struct safetensors_seed *const seed = &safetensors_seeds[i];
        unsigned char prefix[8] = {0};
        const size_t n = strlen(seed->header);
        prefix[0] = (unsigned char)(n & 0xff);
        prefix[1] = (unsigned char)(n >> 8);
        write_seed(argv[1], "safetensors", i, prefix, sizeof prefix, seed->header,
                   seed->payload);
    }
    for (size_t i = 0; i < sizeof expression_seeds / sizeof expression_seeds[0]; i++)
        write_seed(argv[1], "expression", i, "", 0, expression_seeds[i], 0);
    for (size_t i = 0; i < sizeof grade_seeds / sizeof grade_seeds[0]; i++)
        write_seed(argv[1], "grade", i, "", 0, grade_seeds[i], 0);
    for (size_t i = 0; i < sizeof document_seeds / sizeof document_seeds[0]; i++) {
        write_seed(argv[1], "document", i, "", 0, document_seeds[i], 0);
        write_seed(argv[1], "reading", i, "", 0, document_seeds[i], 0);
    }
    return 0;
}
