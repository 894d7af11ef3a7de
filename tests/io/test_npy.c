/* SPDX-License-Identifier: MIT */
/* Reading .npy: legal files open, others are refused in one line with the position. */
#include "files.h"

#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE = 70000 };

static unsigned char image[MAX_FILE];

/* A .npy file with this header and `payload` bytes 0, 1, 2, ... in `image`. */
static size_t build(int version, const char *header, size_t payload)
{
    const size_t n = strlen(header);
    const size_t prefix = version == 1 ? 10 : 12;

    memcpy(image, "\x93NUMPY", 6);
    image[6] = (unsigned char)version;
    image[7] = 0;
    for (size_t i = 8; i < prefix; i++)
        image[i] = (unsigned char)(n >> (8 * (i - 8)));
    memcpy(image + prefix, header, n);
    for (size_t i = 0; i < payload; i++)
        image[prefix + n + i] = (unsigned char)i;
    return prefix + n + payload;
}

#define F4(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape "}"
#define DESCR(descr) "{'descr': " descr ", 'fortran_order': False, 'shape': (2,)}"
#define FIRST_AXIS 61 /* the offset of the first digit of F4 in version 1 */

static const struct good {
    int version;
    const char *header;
    size_t payload;
    int v2_is_bf16;
    const char *layout;
} goods[] = {
    {1, F4("(2, 3), ") "  \n", 24, 0, "float32 (2,3) (3,1)"},
    {2, F4("(2, 3), "), 24, 0, "float32 (2,3) (3,1)"},
    {3, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 1)}", 24, 0,
     "float32 (2,3,1) (1,2,6)"},
    {1, "{\"shape\":(2,3,),\"descr\":\"=f8\",\"fortran_order\":False}", 48, 0,
     "float64 (2,3) (3,1)"},
    {1, "{ 'shape' : ( 10L , ) , 'fortran_order' : False , 'descr' : '<f2' }", 20, 0,
     "float16 (10) (1)"},
    {2, "{'shape': (1L, 2L), 'fortran_order': False, 'descr': '<f2'}", 4, 0,
     "float16 (1,2) (2,1)"},
    {1, F4("()"), 4, 0, "float32 () ()"},
    {1, F4("(0,)"), 0, 0, "float32 (0) (1)"},
    {1, F4("(3, 0, 5)"), 0, 0, "float32 (3,0,5) (5,5,1)"},
    {1, F4("(2,)"), 100, 0, "float32 (2) (1)"},
    {1, DESCR("'|b1'"), 2, 0, "bool (2) (1)"},
    {1, DESCR("'?'"), 2, 0, "bool (2) (1)"},
    {1, DESCR("'|u1'"), 2, 0, "uint8 (2) (1)"},
    {1, DESCR("'>u1'"), 2, 0, "uint8 (2) (1)"},
    {1, DESCR("'<i4'"), 8, 0, "int32 (2) (1)"},
    {1, "{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}", 16, 0,
     "complex128 (1) (1)"},
    {1, DESCR("'<V2'"), 4, 1, "bfloat16 (2) (1)"},
    {1, DESCR("'|V2'"), 4, 1, "bfloat16 (2) (1)"},
};

TEST(legal_files_open)
{
    for (size_t n = 0; n < sizeof goods / sizeof goods[0]; n++) {
        const struct good *const good = &goods[n];
        files_expect_tensor("a.npy", image,
                            build(good->version, good->header, good->payload),
                            good->v2_is_bf16, good->layout, good->payload > 0 ? 0 : -1);
    }
}

static const struct bad {
    int version;
    const char *header;
    size_t payload;
    int byte;
    const char *reason;
} bads[] = {
    {0, F4("(2,)"), 8, 6, "version 0.0"},
    {4, F4("(2,)"), 8, 6, "version 4.0"},
    {1, "", 8, 10, "not a Python dict"},
    {1, "[]", 8, 10, "not a Python dict"},
    {1, "{}", 8, 12, "lacks descr"},
    {1, "{,}", 8, 11, "quoted string"},
    {1, F4("(2,),,"), 8, FIRST_AXIS + 4, "quoted string"},
    {1, "{'descr': '<f4', 'shape': (2,)}", 8, 41, "lacks fortran_order"},
    {1, "{'descr': '<f4', 'fortran_order': False}", 8, 50, "lacks shape"},
    {1, "{'descr': '<f4' 'shape': (2,)}", 8, 26, "',' or '}'"},
    {1, "{'descr': '<f4', 'descr': '<f4'}", 8, 27, "twice"},
    {1, "{'descr': '<f4', 'evil': 1}", 8, 27, "none of"},
    {1, "{'shap\\x65': (2,)}", 8, 16, "plain ASCII"},
    {1, "{'descr", 8, 17, "not closed"},
    {1, "{'descr'", 8, 18, "':'"},
    {1, "{descr: '<f4'}", 8, 11, "quoted string"},
    {1, F4("(2,)") " x", 8, FIRST_AXIS + 5, "goes on"},
    {1, F4("(2,)") "}", 8, FIRST_AXIS + 4, "goes on"},
    {1, DESCR("'|O'"), 16, 20, "pickle"},
    {1, DESCR("'O'"), 16, 20, "pickle"},
    {1, DESCR("'|O8'"), 16, 20, "pickle"},
    {1, DESCR("[('a', '<f4')]"), 16, 20, "structured"},
    {1, DESCR("('<f4', (2,))"), 16, 20, "structured"},
    {1, DESCR("''"), 16, 20, "dtype ''"},
    {1, DESCR("'<'"), 16, 20, "dtype '<'"},
    {1, DESCR("'<f'"), 16, 20, "not supported"},
    {1, DESCR("'<f1'"), 16, 20, "not supported"},
    {1, DESCR("'<f16'"), 32, 20, "not supported"},
    {1, DESCR("'<f44'"), 32, 20, "not supported"},
    {1, DESCR("'!f4'"), 16, 20, "not supported"},
    {1, DESCR("'<U5'"), 40, 20, "not supported"},
    {1, DESCR("'<M8[ns]'"), 16, 20, "not supported"},
    {1, DESCR("'|V3'"), 16, 20, "not supported"},
    {1, DESCR("'>V2'"), 16, 20, "not supported"},
    {1, DESCR("'<V2'"), 16, 20, "--dtype bf16"},
    {1, DESCR("'|V2'"), 16, 20, "--dtype bf16"},
    {1, DESCR("4"), 16, 20, "quoted string"},
    {1, DESCR("None"), 16, 20, "quoted string"},
    {1, DESCR("'<f4"), 16, 20, "dtype '<f4, '"},
    {1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", 8, 44, "neither True"},
    {1, "{'descr': '<f4', 'fortran_order': 'True', 'shape': (2,)}", 8, 44,
     "neither True"},
    {1, "{'descr': '<f4', 'fortran_order': Truely, 'shape': (2,)}", 8, 48, "',' or '}'"},
    {1, F4("2"), 8, FIRST_AXIS - 1, "not a tuple"},
    {1, F4("[2]"), 8, FIRST_AXIS - 1, "not a tuple"},
    {1, F4("None"), 8, FIRST_AXIS - 1, "not a tuple"},
    {1, F4("(2)"), 8, FIRST_AXIS + 2, "a number, not a tuple"},
    {1, F4("(,)"), 8, FIRST_AXIS, "not an integer"},
    {1, F4("(2,,)"), 8, FIRST_AXIS + 2, "not an integer"},
    {1, F4("(2 3)"), 8, FIRST_AXIS + 2, "',' or ')'"},
    {1, F4("(nan,)"), 8, FIRST_AXIS, "not an integer"},
    {1, F4("(float('nan'),)"), 8, FIRST_AXIS, "not an integer"},
    {1, F4("(2.0,)"), 8, FIRST_AXIS + 1, "',' or ')'"},
    {1, F4("(2e0,)"), 8, FIRST_AXIS + 1, "',' or ')'"},
    {1, F4("(1_0,)"), 40, FIRST_AXIS + 1, "',' or ')'"},
    {1, F4("(0x2,)"), 8, FIRST_AXIS + 1, "',' or ')'"},
    {1, F4("(02,)"), 8, FIRST_AXIS, "leading zero"},
    {1, F4("(+2,)"), 8, FIRST_AXIS, "not an integer"},
    {1, F4("(True,)"), 8, FIRST_AXIS, "not an integer"},
    {1, F4("('2',)"), 8, FIRST_AXIS, "not an integer"},
    {1, F4("(-1,)"), 8, FIRST_AXIS, "negative"},
    {1, F4("(-1, -2)"), 8, FIRST_AXIS, "negative"},
    {1, F4("(2LL,)"), 8, FIRST_AXIS + 2, "',' or ')'"},
    {3, F4("(2L,)"), 8, FIRST_AXIS + 3, "',' or ')'"},
    {1, F4("(2"), 8, FIRST_AXIS + 1, "',' or ')'"},
    {1, F4("(9223372036854775808,)"), 8, FIRST_AXIS + 18, "64 bits"},
    {1, F4("(99999999999999999999999999,)"), 8, FIRST_AXIS + 18, "64 bits"},
    {1, F4("(4294967296, 4294967296)"), 8, FIRST_AXIS - 1, "more elements"},
    {1, F4("(4611686018427387904, 4)"), 8, FIRST_AXIS - 1, "more elements"},
    {1, F4("(0, 4294967296, 4294967296)"), 8, FIRST_AXIS - 1, "more elements"},
    {1, F4("(4294967296, 4294967296, 0)"), 8, FIRST_AXIS - 1, "more elements"},
    {1, F4("(2305843009213693952,)"), 8, FIRST_AXIS - 1, "more bits"},
    {1, F4("(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), 4,
     FIRST_AXIS + 64, "32 dimensions"},
    {1, F4("(2,)"), 7, FIRST_AXIS + 4, "needs 8 bytes of data, the file has 7"},
    {1, F4("()"), 3, FIRST_AXIS + 2, "needs 4 bytes of data, the file has 3"},
    {1, F4("(1000000000, 2)"), 8, 76, "needs 8000000000 bytes"},
};

TEST(malformed_files_are_refused)
{
    for (size_t n = 0; n < sizeof bads / sizeof bads[0]; n++)
        files_expect_refusal("a.npy", image,
                             build(bads[n].version, bads[n].header, bads[n].payload),
                             bads[n].byte, bads[n].reason);
}

static void expect_prefix(const void *bytes, size_t n, int byte, const char *reason)
{
    files_expect_refusal("a.npy", bytes, n, byte, reason);
}

TEST(lying_prefixes_are_refused)
{
    expect_prefix("", 0, 0, "empty");
    expect_prefix("\0\0\0\0\0\0\1\0\x76\0", 10, 0, "magic");
    expect_prefix("PK\3\4 an .npz file", 18, 0, "magic");
    expect_prefix("\x80\4\x95 a pickle", 12, 0, "magic");
    expect_prefix("\x93NUMPY\1\1\2\0{}", 12, 6, "version 1.1");
    expect_prefix("\x93NUMPY\1\0\xff\xff{}", 12, 8, "65535 bytes is over the limit");
    expect_prefix("\x93NUMPY\1\0\3\0{}", 12, 8, "3 bytes is announced, 2 bytes follow");
    expect_prefix("\x93NUMPY\2\0\xff\xff\xff\xff{}", 14, 8, "4294967295 bytes is over");
    expect_prefix("\x93NUMPY\2\0\x10\0\0\0{}", 14, 8, "16 bytes is announced");
    expect_prefix("\x93NUMPY\1\0\5\0{'\0'}", 15, 12, "plain ASCII");
    expect_prefix("\x93NUMPY\3\0\6\0\0\0{'\xc3\xa9'}", 18, 14, "plain ASCII");
}

/* Padding up to the limit of the header is legal, one blank more is not. */
TEST(header_length_is_capped)
{
    static char header[10002];

    memset(header, ' ', 10001);
    memcpy(header, F4("(2,)"), strlen(F4("(2,)")));
    files_expect_refusal("a.npy", image, build(1, header, 8), 8, "limit of 10000");
    header[10000] = '\0';
    files_expect_tensor("a.npy", image, build(1, header, 8), 0, "float32 (2) (1)", 0);
}

TEST(every_truncation_is_refused)
{
    const size_t n = build(2, F4("(2, 3), ") "   \n", 24);

    for (size_t length = 0; length < n; length++)
        files_expect_refusal("a.npy", image, length, -1, ": byte ");
}

/* Any changed byte: no crash, and refusals are one line. */
TEST(every_changed_byte_is_survived)
{
    static const unsigned char others[] = {0, 1, 0x20, '\'', '(', '-', '9', 0x7f, 0xff};
    const size_t n = build(1, F4("(2, 3), ") "   \n", 24);
    const int refused =
        files_change_bytes("a.npy", image, n, n - 24, others, sizeof others);

    CHECK(refused > 400, "only %d were refused", refused);
}

TEST(big_endian_is_converted)
{
    static const char *const descrs[] = {"'>f2'", "'>f4'", "'>f8'", "'>c8'"};
    static const size_t words[] = {2, 4, 8, 4};

    for (int d = 0; d < 4; d++) {
        char header[128];
        struct io_tensor tensor;
        struct io_error err = {""};
        snprintf(header, sizeof header,
                 "{'descr': %s, 'fortran_order': False, 'shape': (3,)}", descrs[d]);
        const size_t n = build(1, header, 24);
        CHECK(files_open(&tensor, "a.npy", image, n, 0, &err) == 0, "%s", err.message);
        const unsigned char *const bytes = tensor.data;
        const size_t w = words[d];
        for (size_t i = 0; i < 3 * io_dtype_size(tensor.dtype); i++)
            CHECK(bytes[i] == i / w * w + (w - 1 - i % w), "%s: byte %zu is %d",
                  descrs[d], i, bytes[i]);
        io_tensor_close(&tensor);
    }
}

/* An aligned payload is the mapping itself, a misaligned one an aligned copy. */
TEST(only_misaligned_payloads_are_copied)
{
    char header[128];
    int copies = 0;

    for (int pad = 0; pad < 8; pad++) {
        struct io_tensor tensor;
        struct io_error err = {""};
        snprintf(header, sizeof header,
                 "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}%*s", pad, "");
        const size_t n = build(1, header, 24);
        CHECK(files_open(&tensor, "a.npy", image, n, 0, &err) == 0, "%s", err.message);
        CHECK((uintptr_t)tensor.data % 8 == 0, "pad %d: misaligned", pad);
        CHECK(memcmp(tensor.data, image + n - 24, 24) == 0, "pad %d: other bytes", pad);
        CHECK((tensor.copy != NULL) == ((n - 24) % 8 != 0), "pad %d", pad);
        copies += tensor.copy != NULL;
        io_tensor_close(&tensor);
    }
    CHECK(copies == 7, "%d", copies);
}

TEST(ten_gigabytes_open_unread)
{
    char header[119]; /* 128 bytes with the 10 before it: NumPy's alignment */
    struct io_tensor tensor;
    struct io_error err = {""};

    snprintf(header, sizeof header, "%-118s",
             "{'descr': '<f4', 'fortran_order': True, 'shape': (50000, 50000)}");
    if (!files_open_huge(&tensor, "a.npy", image, build(1, header, 0)))
        return;
    CHECK(tensor.stride[1] == 50000, "stride %lld", (long long)tensor.stride[1]);
    io_tensor_close(&tensor);
    CHECK(truncate(files_path("a.npy"), 128 + 9999999999) == 0, "truncate");
    CHECK(io_tensor_open(&tensor, files_path("a.npy"), 0, &err) == -1, "opened");
    CHECK(strstr(err.message, "has 9999999999") != NULL, "%s", err.message);
}

TEST(what_is_no_file_is_refused)
{
    static const char *const wrong[][2] = {{"none.npy", "No such file"},
                                           {"dir.npy", "Is a directory"},
                                           {"fifo.npy", "not a regular file"}};
    struct io_tensor tensor;
    struct io_error err = {""};

    CHECK(mkdir(files_path("dir.npy"), 0777) == 0, "mkdir");
    CHECK(mkfifo(files_path("fifo.npy"), 0666) == 0, "mkfifo");
    for (int x = 0; x < 3; x++) {
        CHECK(io_tensor_open(&tensor, files_path(wrong[x][0]), 0, &err) == -1, "opened");
        const char *const fault =
            files_message_fault(err.message, wrong[x][0], -1, wrong[x][1]);
        CHECK(fault == NULL, "%s: %s", fault, err.message);
    }
    CHECK(io_tensor_open(&tensor, "", 0, &err) == -1, "opened");

    static char name[3000];
    memset(name, 'n', sizeof name - 1);
    name[7] = '\n';
    CHECK(io_tensor_open(&tensor, name, 0, &err) == -1, "opened");
    CHECK(strstr(err.message, "cannot open: File name too long") != NULL, "%s",
          err.message);
    CHECK(io_tensor_open(&tensor, "two\nlines.npy", 0, &err) == -1, "opened");
    CHECK(strcmp(err.message, "two?lines.npy: cannot open: No such file or directory") ==
              0,
          "%s", err.message);
}

int main(void) { return files_main(); }
