/* SPDX-License-Identifier: MIT */
/*
 * .npy, versions 1 to 3: magic, version, header length, then a Python dict literal padded
 * with blanks.  The parser accepts that dict only, not Python in general: no escapes,
 * prefixes, signs, underscores or names.
 */
#include "io/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_MAX = 10000, ALIGNMENT = 64 };

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

struct cursor {
    const unsigned char *bytes;
    size_t at, end;
    size_t shape_at;
    const char *file;
    struct io_error *err;
    int allows_long; /* 10L, as Python 2 wrote it */
    int v2_is_bf16;
};

static int fail_here(const struct cursor *c, const char *reason)
{
    return io_fail(c->err, c->file, (int64_t)c->at, "%s", reason);
}

/* The byte under the cursor, -1 at the end of the header. */
static int peek(const struct cursor *c) { return c->at < c->end ? c->bytes[c->at] : -1; }

static void skip_blanks(struct cursor *c)
{
    while (peek(c) == ' ' || peek(c) == '\t' || peek(c) == '\n' || peek(c) == '\r')
        c->at++;
}

/* Consumes `wanted`, with blanks before it, if it is next. */
static int accept(struct cursor *c, int wanted)
{
    skip_blanks(c);
    if (peek(c) != wanted)
        return 0;
    c->at++;
    return 1;
}

static int accept_word(struct cursor *c, const char *word)
{
    const size_t n = strlen(word);

    skip_blanks(c);
    if (c->end - c->at < n || memcmp(c->bytes + c->at, word, n) != 0)
        return 0;
    c->at += n;
    return 1;
}

static int parse_string(struct cursor *c, const char **text, size_t *n)
{
    skip_blanks(c);
    const int quote = peek(c);
    if (quote != '\'' && quote != '"')
        return fail_here(c, "a quoted string is expected here");
    c->at++;
    *text = (const char *)c->bytes + c->at;
    const size_t begin = c->at;
    for (; peek(c) != quote; c->at++)
        if (peek(c) < 0x20 || peek(c) >= 0x7f || peek(c) == '\\')
            return fail_here(c, "the string is not closed or not plain ASCII");
    *n = c->at - begin;
    c->at++;
    return 0;
}

static int parse_size(struct cursor *c, int64_t *size)
{
    skip_blanks(c);
    if (peek(c) == '-')
        return fail_here(c, "a dimension is negative");
    if (peek(c) < '0' || peek(c) > '9')
        return fail_here(c, "a dimension is not an integer");
    if (peek(c) == '0' && c->at + 1 < c->end && c->bytes[c->at + 1] >= '0' &&
        c->bytes[c->at + 1] <= '9')
        return fail_here(c, "a dimension has a leading zero");
    for (*size = 0; peek(c) >= '0' && peek(c) <= '9'; c->at++)
        if (__builtin_mul_overflow(*size, 10, size) ||
            __builtin_add_overflow(*size, peek(c) - '0', size))
            return fail_here(c, "a dimension does not fit 64 bits");
    if (c->allows_long && peek(c) == 'L')
        c->at++;
    return 0;
}

static int parse_shape(struct cursor *c, struct io_layout *layout)
{
    skip_blanks(c);
    c->shape_at = c->at;
    if (!accept(c, '('))
        return fail_here(c, "shape is not a tuple");
    layout->ndim = 0;
    while (!accept(c, ')')) {
        if (layout->ndim == IO_MAX_RANK)
            return fail_here(c, "shape has more than 32 dimensions");
        if (parse_size(c, &layout->size[layout->ndim]) != 0)
            return -1;
        layout->ndim++;
        if (accept(c, ','))
            continue;
        if (!accept(c, ')'))
            return fail_here(c, "',' or ')' is expected in shape");
        if (layout->ndim == 1)
            return fail_here(c, "shape is a number, not a tuple");
        break;
    }
    return 0;
}

/* `at`: the offset of the descr, for messages. */
static int read_descr(const struct cursor *c, size_t at, const char *descr, size_t n,
                      struct io_layout *layout)
{
    char shown[48];
    io_quote(shown, sizeof shown, descr, n);

    const int has_order = n > 0 && strchr("<>|=", descr[0]) != NULL;
    const char *const type = descr + has_order;
    const size_t length = n - (size_t)has_order;

    layout->is_big_endian = has_order && descr[0] == '>';
    if (length > 0 && type[0] == 'O')
        return io_fail(c->err, c->file, (int64_t)at,
                       "descr '%s' holds Python objects (a pickle), which are not read",
                       shown);
    if (length == 2 && memcmp(type, "V2", 2) == 0 && !layout->is_big_endian) {
        if (!c->v2_is_bf16)
            return io_fail(c->err, c->file, (int64_t)at,
                           "descr '%s' may be bfloat16; say --dtype bf16 if it is",
                           shown);
        layout->dtype = IO_BF16;
        return 0;
    }
    if (length == 1 && type[0] == '?') {
        layout->dtype = IO_BOOL;
        return 0;
    }
    for (int i = 0; i < IO_DTYPE_COUNT; i++) {
        const char *const npy = io_dtype_info((enum io_dtype)i)->npy;
        if (npy != NULL && strlen(npy) == length && memcmp(npy, type, length) == 0) {
            layout->dtype = (enum io_dtype)i;
            return 0;
        }
    }
    return io_fail(c->err, c->file, (int64_t)at, "dtype '%s' is not supported", shown);
}

static int parse_descr(struct cursor *c, struct io_layout *layout)
{
    const char *descr;
    size_t n;

    skip_blanks(c);
    if (peek(c) == '[' || peek(c) == '(')
        return fail_here(c, "structured dtypes are not supported");
    const size_t at = c->at;
    if (parse_string(c, &descr, &n) != 0)
        return -1;
    return read_descr(c, at, descr, n, layout);
}

static int parse_bool(struct cursor *c, int *value)
{
    *value = accept_word(c, "True");
    if (!*value && !accept_word(c, "False"))
        return fail_here(c, "fortran_order is neither True nor False");
    return 0;
}

static int parse_dict(struct cursor *c, struct io_layout *layout, int *is_fortran)
{
    static const char *const keys[3] = {"descr", "fortran_order", "shape"};
    int seen[3] = {0, 0, 0};

    if (!accept(c, '{'))
        return fail_here(c, "the header is not a Python dict");
    while (!accept(c, '}')) {
        const char *key;
        size_t n;
        skip_blanks(c);
        const size_t at = c->at;
        if (parse_string(c, &key, &n) != 0)
            return -1;
        int k = 0;
        while (k < 3 && !(strlen(keys[k]) == n && memcmp(keys[k], key, n) == 0))
            k++;
        if (k == 3 || seen[k]++)
            return io_fail(c->err, c->file, (int64_t)at, "the key is %s",
                           k == 3 ? "none of descr, fortran_order, shape"
                                  : "there twice");
        if (!accept(c, ':'))
            return fail_here(c, "':' is expected after the key");
        if ((k == 0   ? parse_descr(c, layout)
             : k == 1 ? parse_bool(c, is_fortran)
                      : parse_shape(c, layout)) != 0)
            return -1;
        if (accept(c, ','))
            continue;
        if (!accept(c, '}'))
            return fail_here(c, "',' or '}' is expected");
        break;
    }
    for (int k = 0; k < 3; k++)
        if (!seen[k])
            return io_fail(c->err, c->file, (int64_t)c->at, "the header lacks %s",
                           keys[k]);
    skip_blanks(c);
    if (c->at != c->end)
        return fail_here(c, "the header goes on after its dict");
    return 0;
}

/* Validates the bytes before the dict and sets the cursor to it. */
static int parse_prefix(struct cursor *c, size_t size)
{
    const unsigned char *const bytes = c->bytes;

    if (size == 0)
        return fail_here(c, "the file is empty");
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return fail_here(c, "not a .npy file (its magic is missing)");
    c->at = 6;
    if (size < 8)
        return fail_here(c, "the file ends before its version");
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return io_fail(c->err, c->file, 6, "version %d.%d is not 1.0, 2.0 or 3.0",
                       bytes[6], bytes[7]);
    const size_t prefix = bytes[6] == 1 ? 10 : 12;
    c->at = 8;
    if (size < prefix)
        return fail_here(c, "the file ends before its header length");
    uint32_t length = bytes[8] | (uint32_t)bytes[9] << 8;
    if (bytes[6] > 1)
        length |= (uint32_t)bytes[10] << 16 | (uint32_t)bytes[11] << 24;
    if (length > HEADER_MAX)
        return io_fail(c->err, c->file, 8,
                       "a header of %lu bytes is over the limit of %d",
                       (unsigned long)length, HEADER_MAX);
    if (length > size - prefix)
        return io_fail(c->err, c->file, 8,
                       "a header of %lu bytes is announced, %zu bytes follow",
                       (unsigned long)length, size - prefix);
    c->at = prefix;
    c->end = prefix + length;
    c->allows_long = bytes[6] < 3;
    return 0;
}

int io_npy_parse(const unsigned char *bytes, size_t size, const char *file,
                 int v2_is_bf16, struct io_layout *layout, struct io_error *err)
{
    struct cursor c = {
        .bytes = bytes, .file = file, .err = err, .v2_is_bf16 = v2_is_bf16};
    int is_fortran = 0;

    *layout = (struct io_layout){.ndim = 0};
    if (parse_prefix(&c, size) != 0 || parse_dict(&c, layout, &is_fortran) != 0)
        return -1;
    const char *const reason = io_layout_fill(layout, is_fortran);
    if (reason != NULL)
        return io_fail(err, file, (int64_t)c.shape_at, "%s", reason);
    if ((uint64_t)layout->bytes > size - c.end)
        return io_fail(err, file, (int64_t)c.end,
                       "the shape needs %lld bytes of data, the file has %zu",
                       (long long)layout->bytes, size - c.end);
    layout->offset = (int64_t)c.end;
    return 0;
}

unsigned char *io_npy_header(const struct io_layout *layout, size_t *size)
{
    char dict[64 + 24 * IO_MAX_RANK];
    const struct io_dtype_info *const info = io_dtype_info(layout->dtype);
    size_t n = (size_t)snprintf(dict, sizeof dict,
                                "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                                info->word == 1 ? '|' : '<', info->npy);
    for (int i = 0; i < layout->ndim; i++)
        n += (size_t)snprintf(dict + n, sizeof dict - n, "%s%lld%s", i > 0 ? " " : "",
                              (long long)layout->size[i],
                              layout->ndim == 1 || i + 1 < layout->ndim ? "," : "");
    n += (size_t)snprintf(dict + n, sizeof dict - n, "), }");

    const size_t total = (10 + n + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    unsigned char *const header = malloc(total);
    if (header == NULL)
        return NULL;
    memset(header, ' ', total);
    memcpy(header, magic, sizeof magic);
    header[6] = 1;
    header[7] = 0;
    header[8] = (unsigned char)((total - 10) & 0xff);
    header[9] = (unsigned char)((total - 10) >> 8);
    memcpy(header + 10, dict, n);
    header[total - 1] = '\n';
    *size = total;
    return header;
}
