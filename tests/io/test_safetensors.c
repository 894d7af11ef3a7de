/* SPDX-License-Identifier: MIT */
/* Reading .safetensors: every rule of the format, and how its breach is told. */
#define _GNU_SOURCE 1
#include "files.h"
#include "support/test.h"

#include <time.h>
#include <unistd.h>

enum { MAX_FILE = 1 << 16 };

static unsigned char image[MAX_FILE];

/* A file of this header and `payload` bytes 0, 1, 2, ... in `image`. */
static size_t build_bytes(const void *header, size_t n, size_t payload)
{
    for (int i = 0; i < 8; i++)
        image[i] = (unsigned char)((uint64_t)n >> (8 * i));
    memcpy(image + 8, header, n);
    for (size_t i = 0; i < payload; i++)
        image[8 + n + i] = (unsigned char)i;
    return 8 + n + payload;
}

static size_t build(const char *header, size_t payload)
{
    return build_bytes(header, strlen(header), payload);
}

/* Opens tensor `name` of file a.safetensors. */
static int open_tensor(struct io_tensor *tensor, const char *name, struct io_error *err)
{
    char spec[600];
    snprintf(spec, sizeof spec, "%s:%s", files_path("a.safetensors"), name);
    return io_tensor_open(tensor, spec, 0, err);
}

#define INFO(dtype, shape, offsets)                                                      \
    "{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" offsets "]}"
#define ONE(dtype, shape, offsets) "{\"t\":" INFO(dtype, shape, offsets) "}"

static const struct good {
    const char *header;
    size_t payload;
    const char *name;
    enum io_dtype dtype;
    int ndim;
    int64_t size[2];
    int first; /* the first byte of the tensor, -1: it has none */
} goods[] = {
    {ONE("F32", "2,3", "0,24"), 24, "t", IO_F32, 2, {2, 3}, 0},
    {ONE("F32", "2,3", "0,24") "     ", 24, "t", IO_F32, 2, {2, 3}, 0},
    {ONE("F64", "", "0,8"), 8, "t", IO_F64, 0, {0}, 0},
    {ONE("F32", "2,0", "0,0"), 0, "t", IO_F32, 2, {2, 0}, -1},
    {"{\"a\":" INFO("F16", "2", "8,12") ",\"b\":" INFO("F64", "1", "0,8") "}",
     12,
     "a",
     IO_F16,
     1,
     {2},
     8},
    {"{\"a\":" INFO("F16", "0", "0,0") ",\"b\":" INFO("F64", "1", "0,8") "}",
     8,
     "b",
     IO_F64,
     1,
     {1},
     0},
    {"{\"a\":" INFO("F16", "0", "8,8") ",\"b\":" INFO("F64", "1", "0,8") "}",
     8,
     "a",
     IO_F16,
     1,
     {0},
     -1},
    /* One byte before it: a copy. */
    {"{\"a\":" INFO("U8", "1", "0,1") ",\"b\":" INFO("F64", "1", "1,9") "}",
     9,
     "b",
     IO_F64,
     1,
     {1},
     1},
    {"{\"__metadata__\":{\"format\":\"pt\"},\"t\":" INFO("BF16", "2", "0,4") "}",
     4,
     "t",
     IO_BF16,
     1,
     {2},
     0},
    {"{\"a:b.c/d e\":" INFO("BOOL", "2", "0,2") "}", 2, "a:b.c/d e", IO_BOOL, 1, {2}, 0},
    {"{\"\\ud83d\\ude00\":" INFO("U8", "1", "0,1") "}",
     1,
     "\xf0\x9f\x98\x80",
     IO_U8,
     1,
     {1},
     0},
    {"{\"\":" INFO("U8", "1", "0,1") "}", 1, "", IO_U8, 1, {1}, 0},
    {"{ \"t\" :\n{ \"data_offsets\" : [ 0 , 1 ] ,\t\"shape\":[1],\"dtype\":\"U8\"}}",
     1,
     "t",
     IO_U8,
     1,
     {1},
     0},
    {ONE("F4", "2,2", "0,2"), 2, "t", IO_F4, 2, {2, 2}, 0},
    {ONE("F6_E2M3", "4", "0,3"), 3, "t", IO_F6_E2M3, 1, {4}, 0},
    {ONE("F6_E3M2", "4", "0,3"), 3, "t", IO_F6_E3M2, 1, {4}, 0},
    {ONE("I8", "2", "0,2"), 2, "t", IO_I8, 1, {2}, 0},
    {ONE("F8_E5M2", "2", "0,2"), 2, "t", IO_F8_E5M2, 1, {2}, 0},
    {ONE("F8_E4M3", "2", "0,2"), 2, "t", IO_F8_E4M3, 1, {2}, 0},
    {ONE("F8_E8M0", "2", "0,2"), 2, "t", IO_F8_E8M0, 1, {2}, 0},
    {ONE("F8_E4M3FNUZ", "2", "0,2"), 2, "t", IO_F8_E4M3FNUZ, 1, {2}, 0},
    {ONE("F8_E5M2FNUZ", "2", "0,2"), 2, "t", IO_F8_E5M2FNUZ, 1, {2}, 0},
    {ONE("I16", "2", "0,4"), 4, "t", IO_I16, 1, {2}, 0},
    {ONE("U16", "2", "0,4"), 4, "t", IO_U16, 1, {2}, 0},
    {ONE("I32", "2", "0,8"), 8, "t", IO_I32, 1, {2}, 0},
    {ONE("U32", "2", "0,8"), 8, "t", IO_U32, 1, {2}, 0},
    {ONE("C64", "1", "0,8"), 8, "t", IO_C64, 1, {1}, 0},
    {ONE("I64", "1", "0,8"), 8, "t", IO_I64, 1, {1}, 0},
    {ONE("U64", "1", "0,8"), 8, "t", IO_U64, 1, {1}, 0},
};

TEST(legal_files_open)
{
    for (size_t n = 0; n < sizeof goods / sizeof goods[0]; n++) {
        const struct good *const good = &goods[n];
        struct io_tensor tensor;
        struct io_error err = {""};
        files_write("a.safetensors", image, build(good->header, good->payload));
        const int status = open_tensor(&tensor, good->name, &err);
        CHECK(status == 0, "%s: %s", good->header, err.message);
        CHECK(tensor.dtype == good->dtype && tensor.ndim == good->ndim, "%s: %s, %d axes",
              good->header, io_dtype_name(tensor.dtype), tensor.ndim);
        for (int i = 0; i < good->ndim; i++)
            CHECK(tensor.size[i] == good->size[i], "%s: axis %d has %lld", good->header,
                  i, (long long)tensor.size[i]);
        const size_t size = io_dtype_size(tensor.dtype);
        const size_t word = tensor.dtype == IO_C64 ? 4 : size > 0 ? size : 1;
        CHECK(tensor.data != NULL, "%s", good->header);
        CHECK((uintptr_t)tensor.data % word == 0, "%s: misaligned", good->header);
        if (good->first >= 0)
            CHECK(*(const unsigned char *)tensor.data == good->first, "%s: byte %d first",
                  good->header, *(const unsigned char *)tensor.data);
        io_tensor_close(&tensor);
    }
}

/* `byte` -1: where jansson stopped, which is not ours to promise. */
static const struct bad {
    const char *header;
    size_t payload;
    int byte;
    const char *reason;
} bads[] = {
    {"", 0, 8, "begin with '{'"},
    {" " ONE("U8", "1", "0,1"), 1, 8, "begin with '{'"},
    {"\n{}", 0, 8, "begin with '{'"},
    {"\xef\xbb\xbf{}", 0, 8, "begin with '{'"},
    {"[]", 0, 8, "begin with '{'"},
    {"{", 0, -1, "JSON"},
    {"{]", 0, -1, "JSON"},
    {"{}}", 0, -1, "JSON"},
    {"{} x", 0, -1, "JSON"},
    {"{\"t\"", 0, -1, "JSON"},
    {"{\"t", 0, -1, "JSON"},
    {"{\"t\\", 0, -1, "JSON"},
    {"{'t':1}", 0, -1, "JSON"},
    {"{\"t\":tru}", 0, -1, "JSON"},
    {"{\"t\":{},}", 0, -1, "JSON"},
    {"{/**/}", 0, -1, "JSON"},
    {"{\"\xff\":1}", 0, -1, "JSON"},
    {"{\"\xc0\x80\":1}", 0, -1, "JSON"},
    {"{\"\xed\xa0\x80\":1}", 0, -1, "JSON"},
    {"{\"\\ud800\":1}", 0, -1, "JSON"},
    {"{\"\\udc00\\ud800\":1}", 0, -1, "JSON"},
    {"{\"\\u0000\":1}", 0, -1, "JSON"},
    {"{\"a\\u0000b\":1}", 0, -1, "JSON"},
    {"{\"t\\x\":1}", 0, -1, "JSON"},
    {"{\"t\n\":1}", 0, -1, "JSON"},
    {"{\"t\":" INFO("U8", "1", "0,1") ",\"t\":" INFO("U8", "1", "0,1") "}", 1, -1,
     "duplicate"},
    {"{\"t\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
     1, -1, "duplicate"},
    {"{\"\\u0074\":" INFO("U8", "0", "0,0") ",\"t\":" INFO("U8", "1", "0,1") "}", 1, -1,
     "duplicate"},
    {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0, -1, "duplicate"},
    {ONE("U8", "01", "0,1"), 1, -1, "JSON"},
    {ONE("U8", "NaN", "0,1"), 1, -1, "JSON"},
    {ONE("U8", "+1", "0,1"), 1, -1, "JSON"},
    {ONE("U8", "0x1", "0,1"), 1, -1, "JSON"},
    {ONE("U8", "9223372036854775808", "0,1"), 1, -1, "too big integer"},
    {ONE("U8", "18446744073709551617", "0,1"), 1, -1, "too big integer"},
    {ONE("U8", "1e999", "0,1"), 1, -1, "JSON"},
    {ONE("U8", "1e0", "0,1"), 1, 9, "shape[0] is not an integer"},
    {ONE("U8", "1", "0,1e0"), 1, 9, "data_offsets[1] is not an integer"},
    {ONE("U8", "1.0", "0,1"), 1, 9, "shape[0] is not an integer"},
    {ONE("U8", "9007199254740993.0", "0,1"), 1, 9, "shape[0] is not an integer"},
    {ONE("U8", "1,true", "0,1"), 1, 9, "shape[1] is not an integer"},
    {ONE("U8", "null", "0,1"), 1, 9, "shape[0] is not an integer"},
    {ONE("U8", "\"1\"", "0,1"), 1, 9, "shape[0] is not an integer"},
    {ONE("U8", "-0", "0,0"), 0, 36, "negative"},
    {ONE("U8", "-1", "0,1"), 1, 36, "negative"},
    {ONE("U8", "1", "-1,0"), 1, 55, "negative"},
    {ONE("U8", "[1]", "0,1"), 1, 36, "nested too deeply"},
    {"{\"t\":1}", 0, 9, "'t': not an object"},
    {"{\"t\":[]}", 0, 9, "'t': not an object"},
    {"{\"t\":null}", 0, 9, "'t': not an object"},
    {"{\"t\":{}}", 0, 9, "dtype is missing"},
    {"{\"t\":{\"dtype\":1,\"shape\":[1],\"data_offsets\":[0,1]}}", 1, 9, "not a string"},
    {"{\"t\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, 9, "shape is missing"},
    {"{\"t\":{\"dtype\":\"U8\",\"shape\":{},\"data_offsets\":[0,1]}}", 1, 9,
     "shape is missing"},
    {"{\"t\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, 9, "data_offsets is missing"},
    {"{\"t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":0}}", 1, 9,
     "none of"},
    {ONE("F31", "1", "0,1"), 1, 9, "dtype 'F31' is unknown"},
    {ONE("f32", "1", "0,4"), 4, 9, "dtype 'f32' is unknown"},
    {ONE("", "1", "0,4"), 4, 9, "dtype '' is unknown"},
    {ONE("\\n\\u001b\\u2028", "1", "0,4"), 4, 9, "dtype '\\x0a\\x1b\\xe2\\x80\\xa8' is"},
    {ONE("U8", "1", ""), 1, 9, "data_offsets has 0 numbers"},
    {ONE("U8", "1", "0"), 1, 9, "data_offsets has 1 numbers"},
    {ONE("U8", "1", "0,1,2"), 1, 9, "data_offsets has 3 numbers"},
    {ONE("U8", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
         "0,1"),
     1, 9, "shape has 33 numbers"},
    {ONE("U8", "1", "1,0"), 1, 9, "end before they begin"},
    {ONE("U8", "2", "0,1"), 1, 9, "span 1 bytes, the shape needs 2"},
    {ONE("U8", "1", "0,9223372036854775807"), 1, 9, "span 9223372036854775807 bytes"},
    {ONE("F32", "1", "0,5"), 5, 9, "span 5 bytes, the shape needs 4"},
    {ONE("F32", "4294967296,4294967296", "0,0"), 0, 9, "more elements"},
    {ONE("U8", "4294967296,4294967296,0", "0,0"), 0, 9, "more elements"},
    {ONE("F64", "1152921504606846976", "0,0"), 0, 9, "more bits"},
    {ONE("F32", "0,4611686018427387904", "0,0"), 0, 9, "more bits"},
    {ONE("F4", "1", "0,0"), 0, 9, "whole bytes"},
    {ONE("F4", "3", "0,2"), 2, 9, "whole bytes"},
    {ONE("F6_E2M3", "2", "0,2"), 2, 9, "whole bytes"},
    {ONE("U8", "2", "0,2"), 1, 9, "data_offsets end at 2, the data at 1"},
    {ONE("U8", "2", "0,2"), 3, 63, "1 bytes after the last tensor"},
    {ONE("U8", "1", "1,2"), 2, 9, "a hole between 0 and 1"},
    {"{}", 1, 10, "1 bytes after the last tensor"},
    {"{\"a\":" INFO("U8", "2", "0,2") ",\"b\":" INFO("U8", "2", "0,2") "}", 2, 61,
     "an overlap between 0 and 2"},
    {"{\"a\":" INFO("U8", "2", "0,2") ",\"b\":" INFO("U8", "2", "1,3") "}", 3, 61,
     "an overlap between 1 and 2"},
    {"{\"a\":" INFO("U8", "2", "0,2") ",\"b\":" INFO("U8", "2", "3,5") "}", 5, 61,
     "a hole between 2 and 3"},
    {"{\"a\":" INFO("U8", "2", "0,2") ",\"b\":" INFO("U8", "0", "1,1") "}", 2, 61,
     "an overlap between 1 and 2"},
    {"{\"__metadata__\":1}", 0, 9, "'__metadata__': not an object"},
    {"{\"__metadata__\":null}", 0, 9, "'__metadata__': not an object"},
    {"{\"__metadata__\":{\"a\":1}}", 0, 9, "not a string"},
    {"{\"__metadata__\":{\"a\":{\"b\":\"c\"}}}", 0, 9, "not a string"},
    {"{\"__metadata__\":{\"a\":\"{\\\"}[,-\"},\"b\":7}", 0, 40, "'b': not an object"},
};

TEST(malformed_files_are_refused)
{
    for (size_t n = 0; n < sizeof bads / sizeof bads[0]; n++) {
        const struct bad *const bad = &bads[n];
        struct io_tensor tensor;
        struct io_error err = {""};
        files_write("a.safetensors", image, build(bad->header, bad->payload));
        CHECK(open_tensor(&tensor, "t", &err) == -1, "%s opened", bad->header);
        const char *const fault =
            files_message_fault(err.message, "a.safetensors", bad->byte, bad->reason);
        CHECK(fault == NULL, "%s: %s: %s", bad->header, fault, err.message);
        CHECK(strstr(err.message, ": byte ") != NULL, "%s", err.message);
        io_tensor_close(&tensor);
    }
}

static void expect_fault(const void *bytes, size_t n, int byte, const char *reason)
{
    struct io_tensor tensor;
    struct io_error err = {""};

    files_write("a.safetensors", bytes, n);
    CHECK(open_tensor(&tensor, "t", &err) == -1, "%s: opened", reason);
    const char *const fault =
        files_message_fault(err.message, "a.safetensors", byte, reason);
    CHECK(fault == NULL, "%s: %s", fault, err.message);
}

TEST(lying_lengths_are_refused)
{
    expect_fault("", 0, 0, "0 bytes cannot hold");
    expect_fault("\2\0\0\0\0\0\0", 7, 0, "7 bytes cannot hold");
    expect_fault("\0\0\0\0\0\0\0\0", 8, 8, "begin with '{'");
    expect_fault("\3\0\0\0\0\0\0\0{}", 10, 0, "3 bytes is announced, 2 bytes follow");
    expect_fault("\0\xe1\xf5\5\0\0\0\0{}", 10, 0, "100000000 bytes is announced");
    expect_fault("\1\xe1\xf5\5\0\0\0\0{}", 10, 0, "over the limit of 100000000");
    expect_fault("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, 0,
                 "18446744073709551615 bytes");
    expect_fault("\xf8\xff\xff\xff\xff\xff\xff\xff{}", 10, 0, "over the limit");
}

TEST(nul_bytes_are_refused)
{
    expect_fault(image, build_bytes("{}\0", 3, 0), -1, "JSON");
    expect_fault(image, build_bytes("{\"a\0b\":1}", 9, 0), -1, "JSON");
    expect_fault(image, build_bytes("{\0}", 3, 0), -1, "JSON");
}

static void expect_big(const char *text, size_t n, const char *reason)
{
    const uint64_t length = n;
    FILE *const file = fopen(files_path("a.safetensors"), "wb");
    struct io_tensor tensor;
    struct io_error err = {""};
    struct timespec before, after;

    CHECK(file != NULL, "fopen");
    const size_t written = fwrite(&length, 8, 1, file) + fwrite(text, 1, n, file);
    CHECK(fclose(file) == 0 && written == n + 1, "fwrite");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    CHECK(open_tensor(&tensor, "t", &err) == -1, "%s: opened", reason);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    const char *const fault =
        files_message_fault(err.message, "a.safetensors", -1, reason);
    CHECK(fault == NULL, "%s: %s", fault, err.message);
    CHECK(after.tv_sec - before.tv_sec < 10, "%s: slow", reason);
}

/* Headers made to exhaust memory or stack are refused before they are parsed. */
TEST(headers_out_of_proportion_are_refused)
{
    const size_t size = 8000000;
    char *const text = malloc(size);
    size_t n = 1;

    CHECK(text != NULL, "no memory");
    memset(text, '[', size);
    text[0] = '{';
    expect_big(text, size, "nested too deeply");

    for (int i = 0; i < 65537; i++)
        n += (size_t)sprintf(text + n, "%s\"%d\":{}", i > 0 ? "," : "", i);
    text[n++] = '}';
    expect_big(text, n, "over 65536 entries");

    n = (size_t)sprintf(text, "{\"t\":{\"shape\":[1");
    for (int i = 0; i < 1000000; i++)
        n += (size_t)sprintf(text + n, ",1");
    n += (size_t)sprintf(text + n, "]}}");
    expect_big(text, n, "over 1000000 values");
    free(text);
}

/* As many entries as are allowed, tiling backwards: not quadratic. */
TEST(many_entries_open)
{
    const size_t size = 8000000;
    char *const text = malloc(size);
    size_t n = 1;

    CHECK(text != NULL, "no memory");
    text[0] = '{';
    for (int i = 0; i < 65536; i++)
        n += (size_t)sprintf(text + n, "%s\"%d\":" INFO("U8", "1", "%d,%d"),
                             i > 0 ? "," : "", i, 65535 - i, 65536 - i);
    text[n++] = '}';
    const uint64_t length = n;
    FILE *const file = fopen(files_path("a.safetensors"), "wb");
    CHECK(file != NULL, "fopen");
    const size_t written = fwrite(&length, 8, 1, file) + fwrite(text, 1, n, file) +
                           fwrite(image, 1, 65536, file);
    CHECK(fclose(file) == 0 && written == n + 1 + 65536, "fwrite");
    free(text);
    struct io_tensor tensor;
    struct io_error err = {""};
    CHECK(open_tensor(&tensor, "65535", &err) == 0, "%s", err.message);
    CHECK((const unsigned char *)tensor.map + 8 + length == tensor.data,
          "not the first byte");
    io_tensor_close(&tensor);
}

TEST(every_truncation_is_refused)
{
    const size_t n = build(ONE("F32", "2,3", "0,24") "   ", 24);

    for (size_t length = 0; length < n; length++) {
        struct io_tensor tensor;
        struct io_error err = {""};
        files_write("a.safetensors", image, length);
        CHECK(open_tensor(&tensor, "t", &err) == -1, "%zu of %zu bytes opened", length,
              n);
        const char *const fault =
            files_message_fault(err.message, "a.safetensors", -1, ": byte ");
        CHECK(fault == NULL, "%zu bytes: %s: %s", length, fault, err.message);
    }
}

TEST(every_changed_byte_is_survived)
{
    static const unsigned char others[] = {0, 1, '"', '{', ']', '-', '9', '\\', 0xff};
    const size_t n = build(ONE("F32", "2,3", "0,24"), 24);
    int refused = 0;

    for (size_t at = 0; at < n - 24; at++) {
        for (size_t o = 0; o < sizeof others; o++) {
            struct io_tensor tensor;
            struct io_error err = {""};
            const unsigned char kept = image[at];
            image[at] = others[o];
            files_write("a.safetensors", image, n);
            image[at] = kept;
            if (open_tensor(&tensor, "t", &err) != 0) {
                CHECK(files_message_fault(err.message, "a.safetensors", -1, ": byte ") ==
                          NULL,
                      "%s", err.message);
                refused++;
            }
            io_tensor_close(&tensor);
        }
    }
    CHECK(refused > 500, "only %d were refused", refused);
}

TEST(missing_names_are_told)
{
    struct io_tensor tensor;
    struct io_error err = {""};
    char header[4096];
    const char *fault;

    files_write("a.safetensors", image,
                build("{\"__metadata__\":{},\"k\\n\":" INFO(
                          "U8", "1", "0,1") ",\"v\":" INFO("U8", "1", "1,2") "}",
                      2));
    CHECK(open_tensor(&tensor, "q", &err) == -1, "opened");
    fault = files_message_fault(err.message, "a.safetensors", 8,
                                "no tensor 'q'; the file holds 'k\\x0a', 'v'");
    CHECK(fault == NULL, "%s: %s", fault, err.message);
    CHECK(open_tensor(&tensor, "__metadata__", &err) == -1, "opened");
    CHECK(strstr(err.message, "no tensor '__metadata__'") != NULL, "%s", err.message);

    files_write("a.safetensors", image, build("{}", 0));
    CHECK(open_tensor(&tensor, "q", &err) == -1, "opened");
    CHECK(strstr(err.message, "holds none") != NULL, "%s", err.message);

    int n = sprintf(header, "{");
    for (int i = 0; i < 60; i++)
        n += sprintf(header + n, "%s\"layer.%d\":" INFO("U8", "0", "0,0"),
                     i > 0 ? "," : "", i);
    sprintf(header + n, "}");
    files_write("a.safetensors", image, build(header, 0));
    CHECK(open_tensor(&tensor, "q", &err) == -1, "opened");
    CHECK(strstr(err.message, "'layer.0', 'layer.1'") != NULL &&
              strstr(err.message, " more") != NULL,
          "%s", err.message);
}

/* The last ".safetensors:" ends the file's name. */
TEST(specs_are_cut_at_the_last_mark)
{
    struct io_tensor tensor;
    struct io_error err = {""};
    char spec[600];

    const size_t n = build("{\"x:y\":" INFO("U8", "1", "0,1") "}", 1);
    files_write("b.safetensors:c.safetensors", image, n);
    snprintf(spec, sizeof spec, "%s:x:y", files_path("b.safetensors:c.safetensors"));
    CHECK(io_tensor_open(&tensor, spec, 0, &err) == 0, "%s", err.message);
    CHECK(strcmp(tensor.name, spec) == 0, "%s", tensor.name);
    io_tensor_close(&tensor);
    CHECK(io_tensor_open(&tensor, files_path("b.safetensors"), 0, &err) == -1, "opened");
    CHECK(strstr(err.message, "FILE.safetensors:NAME") != NULL, "%s", err.message);
}

TEST(ten_gigabytes_open_unread)
{
    struct io_tensor tensor;
    struct io_error err = {""};
    struct timespec before, after;
    char header[121]; /* padded so that the data is aligned, or it would be copied */

    snprintf(header, sizeof header, "%-120s", ONE("F32", "2500000000", "0,10000000000"));
    files_write("a.safetensors", image, build(header, 0));
    if (truncate(files_path("a.safetensors"), 128 + 10000000000) != 0)
        SKIP("this file system has no file of 10 GB");
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    const int status = open_tensor(&tensor, "t", &err);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    const double seconds = (double)(after.tv_sec - before.tv_sec) +
                           1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    CHECK(status == 0, "%s", err.message);
    CHECK(tensor.copy == NULL, "it was copied");
    CHECK(((const float *)tensor.data)[2499999999] == 0.0f, "the last element");
    io_tensor_close(&tensor);
    CHECK(!(seconds > 0.05), "opening took %.3f s", seconds);
}

int main(void)
{
    if (files_setup() != 0) {
        perror("mkdtemp");
        return 1;
    }
    RUN(legal_files_open);
    RUN(malformed_files_are_refused);
    RUN(lying_lengths_are_refused);
    RUN(nul_bytes_are_refused);
    RUN(headers_out_of_proportion_are_refused);
    RUN(many_entries_open);
    RUN(every_truncation_is_refused);
    RUN(every_changed_byte_is_survived);
    RUN(missing_names_are_told);
    RUN(specs_are_cut_at_the_last_mark);
    RUN(ten_gigabytes_open_unread);
    files_cleanup();
    return test_finish();
}
