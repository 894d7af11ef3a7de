/* SPDX-License-Identifier: MIT */
/*
 * .safetensors: u64 length, JSON header, payloads that tile the rest of the file.
 *
 * jansson parses the JSON: it refuses duplicate keys, bad UTF-8, lone surrogates, NUL in
 * strings, leading zeros and integers beyond 64 bits, and keeps integers apart from reals
 * (1e3, 1.0), which are then refused as "not an integer".  A scan before it refuses what
 * jansson would accept: `-0`, and headers whose depth or number of values is out of
 * proportion, so that a small file cannot cause large allocations.
 */
#include "io/formats.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PREFIX = 8,
    HEADER_MAX = 100000000,
    ENTRIES_MAX = 65536,
    VALUES_MAX = 1000000,
    DEPTH_MAX = 3, /* the header, a tensor, its shape */
    ALIGNMENT = 64
};

#define METADATA "__metadata__"

/* A header being validated, at entry number `index`, named `name`. */
struct source {
    const char *text;
    size_t n;
    const char *file;
    struct io_error *err;
    size_t index;
    const char *name;
};

static uint64_t header_length(const unsigned char *bytes)
{
    uint64_t n = 0;
    for (int i = 0; i < PREFIX; i++)
        n |= (uint64_t)bytes[i] << (8 * i);
    return n;
}

/* The offset after the string that opens at text[at]; n if it is not closed. */
static size_t skip_string(const char *text, size_t n, size_t at)
{
    for (at++; at < n && text[at] != '"'; at++)
        if (text[at] == '\\' && at + 1 < n)
            at++;
    return at < n ? at + 1 : n;
}

/*
 * Walks the tokens of the header and checks its proportions.  Also finds the key of entry
 * number `wanted`, for messages: jansson keeps the order of the keys but not their
 * offsets.  *offset is unchanged unless the entry is found.
 */
static const char *scan(const char *text, size_t n, size_t wanted, size_t *offset)
{
    size_t entries = 0, values = 0;
    int depth = 0, is_key = 0;

    for (size_t at = 0; at < n;) {
        const char c = text[at];
        const char *reason = NULL;
        if (c == '{' || c == '[') {
            depth++;
            values++;
        } else if (c == '}' || c == ']') {
            depth--;
        } else if (c == ',') {
            values++;
        } else if (c == '-') {
            reason = "a number is negative";
        } else if (c == '"' && depth == 1 && is_key) {
            if (entries == wanted)
                *offset = at;
            if (entries++ == ENTRIES_MAX)
                reason = "the header has over 65536 entries";
        }
        if (depth > DEPTH_MAX)
            reason = "the header is nested too deeply";
        if (values > VALUES_MAX)
            reason = "the header has over 1000000 values";
        if (reason != NULL) {
            *offset = at;
            return reason;
        }
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
            is_key = depth == 1 && (c == '{' || c == ',');
        at = c == '"' ? skip_string(text, n, at) : at + 1;
    }
    return NULL;
}

__attribute__((format(printf, 2, 3))) static int fail_entry(const struct source *s,
                                                            const char *format, ...)
{
    char name[64], reason[192];
    size_t offset = 0;
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    io_quote(name, sizeof name, s->name, strlen(s->name));
    scan(s->text, s->n, s->index, &offset);
    return io_fail(s->err, s->file, (int64_t)(PREFIX + offset), "'%s': %s", name, reason);
}

static int check_metadata(const struct source *s, json_t *metadata)
{
    const char *key;
    json_t *value;

    if (!json_is_object(metadata))
        return fail_entry(s, "not an object");
    json_object_foreach (metadata, key, value)
        if (!json_is_string(value))
            return fail_entry(s, "a value is not a string");
    return 0;
}

static int read_dtype(const struct source *s, const json_t *dtype, enum io_dtype *read)
{
    const char *const text = json_string_value(dtype);

    if (text == NULL)
        return fail_entry(s, "dtype is missing or not a string");
    for (int i = 0; i < IO_DTYPE_COUNT; i++) {
        const char *const known = io_dtype_info((enum io_dtype)i)->safetensors;
        if (known != NULL && strcmp(known, text) == 0) {
            *read = (enum io_dtype)i;
            return 0;
        }
    }
    char shown[32];
    io_quote(shown, sizeof shown, text, strlen(text));
    return fail_entry(s, "dtype '%s' is unknown", shown);
}

/* `what` must be an array of `min` to `max` integers >= 0. */
static int read_integers(const struct source *s, const char *what, const json_t *array,
                         size_t min, size_t max, int64_t *read)
{
    const size_t n = json_array_size(array);

    if (!json_is_array(array))
        return fail_entry(s, "%s is missing or not an array", what);
    if (n < min || n > max)
        return min == max ? fail_entry(s, "%s has %zu numbers, not %zu", what, n, min)
                          : fail_entry(s, "%s has %zu numbers, not %zu to %zu", what, n,
                                       min, max);
    for (size_t i = 0; i < n; i++) {
        const json_t *const value = json_array_get(array, i);
        if (!json_is_integer(value))
            return fail_entry(s, "%s[%zu] is not an integer", what, i);
        read[i] = json_integer_value(value);
    }
    return 0;
}

/* layout->offset is relative to the payloads. */
static int read_info(const struct source *s, const json_t *info, struct io_layout *layout)
{
    int64_t offsets[2];

    *layout = (struct io_layout){.ndim = 0};
    if (!json_is_object(info))
        return fail_entry(s, "not an object");
    const json_t *const shape = json_object_get(info, "shape");
    if (read_dtype(s, json_object_get(info, "dtype"), &layout->dtype) != 0 ||
        read_integers(s, "shape", shape, 0, IO_MAX_RANK, layout->size) != 0 ||
        read_integers(s, "data_offsets", json_object_get(info, "data_offsets"), 2, 2,
                      offsets) != 0)
        return -1;
    if (json_object_size(info) != 3)
        return fail_entry(s, "a key is none of dtype, shape, data_offsets");
    layout->ndim = (int)json_array_size(shape);
    const char *const reason = io_layout_fill(layout, 0);
    if (reason != NULL)
        return fail_entry(s, "%s", reason);
    if (offsets[1] < offsets[0])
        return fail_entry(s, "data_offsets end before they begin");
    if (offsets[1] - offsets[0] != layout->bytes)
        return fail_entry(s, "data_offsets span %lld bytes, the shape needs %lld",
                          (long long)(offsets[1] - offsets[0]), (long long)layout->bytes);
    layout->offset = offsets[0];
    return 0;
}

struct span {
    int64_t begin, end;
    size_t index;
    const char *name;
};

static int compare_spans(const void *left, const void *right)
{
    const struct span *const a = left, *const b = right;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

/* Sorted spans must tile 0 .. bytes. */
static int check_tiling(struct source *s, struct span *spans, size_t count,
                        uint64_t bytes)
{
    int64_t end = 0;

    qsort(spans, count, sizeof *spans, compare_spans);
    for (size_t i = 0; i < count; i++) {
        s->index = spans[i].index;
        s->name = spans[i].name;
        if (spans[i].begin != end)
            return fail_entry(s, "data_offsets leave %s between %lld and %lld",
                              spans[i].begin > end ? "a hole" : "an overlap",
                              (long long)(spans[i].begin > end ? end : spans[i].begin),
                              (long long)(spans[i].begin > end ? spans[i].begin : end));
        end = spans[i].end;
        if ((uint64_t)end > bytes)
            return fail_entry(s, "data_offsets end at %lld, the data at %llu",
                              (long long)end, (unsigned long long)bytes);
    }
    if ((uint64_t)end != bytes)
        return io_fail(s->err, s->file, (int64_t)(PREFIX + s->n) + end,
                       "%llu bytes after the last tensor",
                       (unsigned long long)bytes - (unsigned long long)end);
    return 0;
}

/* `bytes`: total size of the payloads. */
static int check_entries(struct source *s, json_t *header, uint64_t bytes)
{
    struct span *const spans = malloc((json_object_size(header) + 1) * sizeof *spans);
    size_t count = 0;
    int status = 0;

    if (spans == NULL)
        return io_fail(s->err, s->file, -1, "out of memory");
    s->index = 0;
    json_t *value;
    json_object_foreach (header, s->name, value) {
        struct io_layout layout;
        if (strcmp(s->name, METADATA) == 0) {
            status = check_metadata(s, value);
        } else {
            status = read_info(s, value, &layout);
            spans[count++] = (struct span){.begin = layout.offset,
                                           .end = layout.offset + layout.bytes,
                                           .index = s->index,
                                           .name = s->name};
        }
        if (status != 0)
            break;
        s->index++;
    }
    if (status == 0)
        status = check_tiling(s, spans, count, bytes);
    free(spans);
    return status;
}

/* Validates length and proportions of the header. */
static int check_header(struct source *s, const unsigned char *bytes, size_t size)
{
    size_t offset = 0;

    if (size < PREFIX)
        return io_fail(s->err, s->file, 0,
                       "%zu bytes cannot hold the length of the header", size);
    const uint64_t n = header_length(bytes);
    if (n > HEADER_MAX)
        return io_fail(s->err, s->file, 0,
                       "a header of %llu bytes is over the limit of %d",
                       (unsigned long long)n, HEADER_MAX);
    if (n > size - PREFIX)
        return io_fail(s->err, s->file, 0,
                       "a header of %llu bytes is announced, %zu bytes follow",
                       (unsigned long long)n, size - PREFIX);
    s->text = (const char *)bytes + PREFIX;
    s->n = (size_t)n;
    if (n == 0 || s->text[0] != '{')
        return io_fail(s->err, s->file, PREFIX, "the header does not begin with '{'");
    const char *const reason = scan(s->text, s->n, SIZE_MAX, &offset);
    return reason != NULL
               ? io_fail(s->err, s->file, (int64_t)(PREFIX + offset), "%s", reason)
               : 0;
}

json_t *io_safetensors_load(const unsigned char *bytes, size_t size, const char *file,
                            struct io_error *err)
{
    struct source s = {.file = file, .err = err};
    json_error_t json;

    if (check_header(&s, bytes, size) != 0)
        return NULL;
    json_t *const header = json_loadb(s.text, s.n, JSON_REJECT_DUPLICATES, &json);
    if (header == NULL) {
        char text[JSON_ERROR_TEXT_LENGTH];
        io_quote(text, sizeof text, json.text, strlen(json.text));
        io_fail(err, file, PREFIX + (json.position > 0 ? json.position : 0), "JSON: %s",
                text);
    } else if (check_entries(&s, header, size - PREFIX - s.n) != 0) {
        json_decref(header);
        return NULL;
    }
    return header;
}

/* "no tensor 'x'; the file holds 'a', 'b' and 7 more" */
static int fail_missing(json_t *header, const char *file, const char *name,
                        struct io_error *err)
{
    char missing[64], shown[200] = "", one[40];
    size_t used = 0, listed = 0;
    const size_t total =
        json_object_size(header) - (json_object_get(header, METADATA) != NULL);
    const char *key;
    json_t *value;

    io_quote(missing, sizeof missing, name, strlen(name));
    json_object_foreach (header, key, value) {
        if (strcmp(key, METADATA) == 0)
            continue;
        io_quote(one, sizeof one, key, strlen(key));
        if (used + strlen(one) + 5 > sizeof shown)
            break;
        used += (size_t)snprintf(shown + used, sizeof shown - used, "%s'%s'",
                                 listed > 0 ? ", " : "", one);
        listed++;
    }
    if (total == 0)
        return io_fail(err, file, PREFIX, "no tensor '%s'; the file holds none", missing);
    if (listed < total)
        return io_fail(err, file, PREFIX,
                       "no tensor '%s'; the file holds %s and %zu more", missing, shown,
                       total - listed);
    return io_fail(err, file, PREFIX, "no tensor '%s'; the file holds %s", missing,
                   shown);
}

int io_safetensors_find(json_t *header, const unsigned char *bytes, const char *file,
                        const char *name, struct io_layout *layout, struct io_error *err)
{
    const json_t *const info = json_object_get(header, name);
    const struct source s = {.text = (const char *)bytes + PREFIX,
                             .n = (size_t)header_length(bytes),
                             .file = file,
                             .err = err,
                             .name = name};

    if (info == NULL || strcmp(name, METADATA) == 0)
        return fail_missing(header, file, name, err);
    if (read_info(&s, info, layout) != 0)
        return -1;
    layout->offset += (int64_t)(PREFIX + s.n);
    return 0;
}

static json_t *pack_info(const struct io_layout *layout, int64_t begin)
{
    json_t *const shape = json_array();

    for (int i = 0; i < layout->ndim; i++)
        json_array_append_new(shape, json_integer(layout->size[i]));
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype",
                     io_dtype_info(layout->dtype)->safetensors, "shape", shape,
                     "data_offsets", (json_int_t)begin,
                     (json_int_t)(begin + layout->bytes));
}

unsigned char *io_safetensors_header(struct io_layout *const *layouts,
                                     const char *const *names, int count, size_t *size)
{
    static const int words[] = {8, 4, 2, 1};
    json_t *const root = json_object();
    int64_t end = 0;
    int is_packed = root != NULL;

    /* Widest elements first: aligned without gaps. */
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        for (int i = 0; i < count; i++) {
            if (io_dtype_info(layouts[i]->dtype)->word != words[w])
                continue;
            layouts[i]->offset = end;
            is_packed &=
                json_object_set_new(root, names[i], pack_info(layouts[i], end)) == 0;
            end += layouts[i]->bytes;
        }
    }
    char *const text = is_packed ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (text == NULL)
        return NULL;
    const size_t n = strlen(text);
    const size_t total = (PREFIX + n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    unsigned char *const header = malloc(total);
    if (header != NULL) {
        memset(header, ' ', total);
        for (int i = 0; i < PREFIX; i++)
            header[i] = (unsigned char)((uint64_t)(total - PREFIX) >> (8 * i));
        memcpy(header + PREFIX, text, n);
        for (int i = 0; i < count; i++)
            layouts[i]->offset += (int64_t)total;
        *size = total;
    }
    free(text);
    return header;
}
