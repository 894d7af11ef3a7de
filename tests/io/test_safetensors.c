/* SPDX-License-Identifier: MIT */
/* Reading .safetensors: every rule of the format, and the error if it is violated. */
#include "files.h"

#include <stdarg.h>
#include <time.h>

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

#define INFO(dtype, shape, offsets)                                                      \
    "{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" offsets "]}"
#define ONE(dtype, shape, offsets) "{\"t\":" INFO(dtype, shape, offsets) "}"

static const struct good {
    const char *header;
    size_t payload;
    const char *name, *layout;
    int first; /* the first byte of the tensor; -1: empty */
} goods[] = {
    {ONE("F32", "2,3", "0,24"), 24, "t", "float32 (2,3) (3,1)", 0},
    {ONE("F32", "2,3", "0,24") "     ", 24, "t", "float32 (2,3) (3,1)", 0},
    {ONE("F64", "", "0,8"), 8, "t", "float64 () ()", 0},
    {ONE("F32", "2,0", "0,0"), 0, "t", "float32 (2,0) (1,1)", -1},
    {"{\"a\":" INFO("F16", "2", "8,12") ",\"b\":" INFO("F64", "1", "0,8") "}", 12, "a",
     "float16 (2) (1)", 8},
    {"{\"a\":" INFO("F16", "0", "0,0") ",\"b\":" INFO("F64", "1", "0,8") "}", 8, "b",
     "float64 (1) (1)", 0},
    {"{\"a\":" INFO("F16", "0", "8,8") ",\"b\":" INFO("F64", "1", "0,8") "}", 8, "a",
     "float16 (0) (1)", -1},
    /* One byte before an aligned address: a copy. */
    {"{\"a\":" INFO("U8", "1", "0,1") ",\"b\":" INFO("F64", "1", "1,9") "}", 9, "b",
     "float64 (1) (1)", 1},
    {"{\"__metadata__\":{\"format\":\"pt\"},\"t\":" INFO("BF16", "2", "0,4") "}", 4, "t",
     "bfloat16 (2) (1)", 0},
    {"{\"a:b.c/d e\":" INFO("BOOL", "2", "0,2") "}", 2, "a:b.c/d e", "bool (2) (1)", 0},
    {"{\"\\ud83d\\ude00\":" INFO("U8", "1", "0,1") "}", 1, "\xf0\x9f\x98\x80",
     "uint8 (1) (1)", 0},
    {"{\"\":" INFO("U8", "1", "0,1") "}", 1, "", "uint8 (1) (1)", 0},
    {"{ \"t\" :\n{ \"data_offsets\" : [ 0 , 1 ] ,\t\"shape\":[1],\"dtype\":\"U8\"}}", 1,
     "t", "uint8 (1) (1)", 0},
    {ONE("F4", "2,2", "0,2"), 2, "t", "float4 (2,2) (2,1)", 0},
    {ONE("F6_E2M3", "4", "0,3"), 3, "t", "float6_e2m3 (4) (1)", 0},
    {ONE("F6_E3M2", "4", "0,3"), 3, "t", "float6_e3m2 (4) (1)", 0},
    {ONE("I8", "2", "0,2"), 2, "t", "int8 (2) (1)", 0},
    {ONE("F8_E5M2", "2", "0,2"), 2, "t", "float8_e5m2 (2) (1)", 0},
    {ONE("F8_E4M3", "2", "0,2"), 2, "t", "float8_e4m3 (2) (1)", 0},
    {ONE("F8_E8M0", "2", "0,2"), 2, "t", "float8_e8m0 (2) (1)", 0},
    {ONE("F8_E4M3FNUZ", "2", "0,2"), 2, "t", "float8_e4m3fnuz (2) (1)", 0},
    {ONE("F8_E5M2FNUZ", "2", "0,2"), 2, "t", "float8_e5m2fnuz (2) (1)", 0},
    {ONE("I16", "2", "0,4"), 4, "t", "int16 (2) (1)", 0},
    {ONE("U16", "2", "0,4"), 4, "t", "uint16 (2) (1)", 0},
    {ONE("I32", "2", "0,8"), 8, "t", "int32 (2) (1)", 0},
    {ONE("U32", "2", "0,8"), 8, "t", "uint32 (2) (1)", 0},
    {ONE("C64", "1", "0,8"), 8, "t", "complex64 (1) (1)", 0},
    {ONE("I64", "1", "0,8"), 8, "t", "int64 (1) (1)", 0},
    {ONE("U64", "1", "0,8"), 8, "t", "uint64 (1) (1)", 0},
};

TEST(legal_files_open)
{
    for (size_t n = 0; n < sizeof goods / sizeof goods[0]; n++) {
        const struct good *const good = &goods[n];
        char spec[64];
        snprintf(spec, sizeof spec, "a.safetensors:%s", good->name);
        files_expect_tensor(spec, image, build(good->header, good->payload), 0,
                            good->layout, good->first);
    }
}

/* `byte` -1: the position depends on jansson. */
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

static void expect_fault(const void *bytes, size_t n, int byte, const char *reason)
{
    files_expect_refusal("a.safetensors:t", bytes, n, byte, reason);
}

TEST(malformed_files_are_refused)
{
    for (size_t n = 0; n < sizeof bads / sizeof bads[0]; n++)
        expect_fault(image, build(bads[n].header, bads[n].payload), bads[n].byte,
                     bads[n].reason);
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

/* Writes a header after 8 bytes for its length; `n` includes both. */
typedef struct big {
    unsigned char *bytes;
    size_t n;
} big;

static big big_make(void)
{
    big made = {malloc(8000000), 8};

    if (made.bytes == NULL)
        abort();
    return made;
}

__attribute__((format(printf, 2, 3))) static void say(big *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text->n += (size_t)vsprintf((char *)text->bytes + text->n, format, args);
    va_end(args);
}

static void write_length(const big *text)
{
    const uint64_t length = text->n - 8;

    memcpy(text->bytes, &length, sizeof length);
}

static void expect_big(big *text, const char *reason)
{
    const clock_t before = clock();

    write_length(text);
    expect_fault(text->bytes, text->n, -1, reason);
    CHECK(clock() - before < 10 * CLOCKS_PER_SEC, "%s: slow", reason);
    text->n = 8;
}

/* Headers made to exhaust memory or stack are refused before they are parsed. */
TEST(headers_out_of_proportion_are_refused)
{
    big text = big_make();

    memset(text.bytes, '[', 8000000);
    text.bytes[8] = '{';
    text.n = 8000000;
    expect_big(&text, "nested too deeply");

    for (int i = 0; i < 65537; i++)
        say(&text, "%s\"%d\":{}", i > 0 ? "," : "{", i);
    say(&text, "}");
    expect_big(&text, "over 65536 entries");

    say(&text, "{\"t\":{\"shape\":[1");
    for (int i = 0; i < 1000000; i++)
        say(&text, ",1");
    say(&text, "]}}");
    expect_big(&text, "over 1000000 values");
    free(text.bytes);
}

/* The maximum number of entries, in descending order: the check is not quadratic. */
TEST(many_entries_open)
{
    struct io_tensor tensor;
    struct io_error err = {""};
    big text = big_make();

    for (int i = 0; i < 65536; i++)
        say(&text, "%s\"%d\":" INFO("U8", "1", "%d,%d"), i > 0 ? "," : "{", i, 65535 - i,
            65536 - i);
    say(&text, "}");
    write_length(&text);
    memset(text.bytes + text.n, 0, 65536);
    const int status =
        files_open(&tensor, "a.safetensors:65535", text.bytes, text.n + 65536, 0, &err);
    free(text.bytes);
    CHECK(status == 0, "%s", err.message);
    CHECK((const unsigned char *)tensor.map + text.n == tensor.data,
          "not the first byte");
    io_tensor_close(&tensor);
}

TEST(every_truncation_is_refused)
{
    const size_t n = build(ONE("F32", "2,3", "0,24") "   ", 24);

    for (size_t length = 0; length < n; length++)
        expect_fault(image, length, -1, ": byte ");
}

TEST(every_changed_byte_is_survived)
{
    static const unsigned char others[] = {0, 1, '"', '{', ']', '-', '9', '\\', 0xff};
    const size_t n = build(ONE("F32", "2,3", "0,24"), 24);
    const int refused =
        files_change_bytes("a.safetensors:t", image, n, n - 24, others, sizeof others);

    CHECK(refused > 500, "only %d were refused", refused);
}

TEST(missing_names_are_told)
{
    char header[4096];
    size_t size = build("{\"__metadata__\":{},\"k\\n\":" INFO(
                            "U8", "1", "0,1") ",\"v\":" INFO("U8", "1", "1,2") "}",
                        2);

    expect_fault(image, size, 8, "no tensor 't'; the file holds 'k\\x0a', 'v'");
    files_expect_refusal("a.safetensors:__metadata__", image, size, 8,
                         "no tensor '__metadata__'");
    expect_fault(image, build("{}", 0), 8, "holds none");

    int n = sprintf(header, "{");
    for (int i = 0; i < 60; i++)
        n += sprintf(header + n, "%s\"layer.%d\":" INFO("U8", "0", "0,0"),
                     i > 0 ? "," : "", i);
    sprintf(header + n, "}");
    size = build(header, 0);
    expect_fault(image, size, 8, "'layer.0', 'layer.1'");
    expect_fault(image, size, 8, " more");
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
    char header[121]; /* padded so that the data is aligned, or it would be copied */

    snprintf(header, sizeof header, "%-120s", ONE("F32", "2500000000", "0,10000000000"));
    if (files_open_huge(&tensor, "a.safetensors:t", image, build(header, 0)))
        io_tensor_close(&tensor);
}

int main(void) { return files_main(); }
