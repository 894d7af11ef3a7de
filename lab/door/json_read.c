/* SPDX-License-Identifier: MIT */
#include "lab/door/json_read.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/door/json.h"

struct reader {
    const char *at, *start, *end; /* of a copy that ends with a NUL */
    char *to;                     /* where the next text goes */
    struct lab_json_value *free;  /* the next value */
    int depth;
    char *why;
    size_t size;
};

/* Line and column of `at`, in characters, and the reason. */
__attribute__((format(printf, 2, 3))) static int refuse(struct reader *r,
                                                        const char *format, ...)
{
    int line = 1, column = 1, used;
    va_list args;

    for (const char *c = r->start; c < r->at; c++) {
        column += ((unsigned char)*c & 0xc0) != 0x80;
        if (*c == '\n') {
            line++;
            column = 1;
        }
    }
    used = snprintf(r->why, r->size, "line %d, column %d: ", line, column);
    va_start(args, format);
    vsnprintf(r->why + used, r->size - (size_t)used, format, args);
    va_end(args);
    return -1;
}

static void skip_space(struct reader *r) { r->at += strspn(r->at, " \t\r\n"); }

/* ---- texts ----------------------------------------------------------------- */

/* The number of \uXXXX at `at`; -1: there is none. */
static long read_code(const char *at)
{
    char digits[5];

    if (at[0] != '\\' || at[1] != 'u')
        return -1;
    snprintf(digits, sizeof digits, "%.4s", at + 2);
    return strspn(digits, "0123456789abcdefABCDEF") == 4 ? strtol(digits, NULL, 16) : -1;
}

static void put_utf8(struct reader *r, uint32_t code)
{
    if (code < 0x80) {
        *r->to++ = (char)code;
        return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *r->to++ = (char)((0xff00u >> (more + 1) & 0xff) | code >> 6 * more);
    for (int x = more - 1; x >= 0; x--)
        *r->to++ = (char)(0x80 | (code >> 6 * x & 0x3f));
}

static int read_escape(struct reader *r)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *const known = r->at[1] ? strchr(letters, r->at[1]) : NULL;
    long code = read_code(r->at);

    if (known) {
        *r->to++ = meant[known - letters];
        r->at += 2;
        return 0;
    }
    if (code < 0 && r->at[1] > ' ' && r->at[1] < 127)
        return refuse(r, "'\\%c' is not an escape", r->at[1]);
    if (code < 0)
        return refuse(r, "a backslash that begins no escape");
    if (code >> 10 == 0xd800 >> 10) {
        const long low = read_code(r->at + 6);

        if (low >> 10 != 0xdc00 >> 10)
            return refuse(r, "half a character");
        code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
        r->at += 6;
    }
    if (code == 0 || code >> 10 == 0xdc00 >> 10)
        return refuse(r, code ? "half a character" : "the character U+0000");
    put_utf8(r, (uint32_t)code);
    r->at += 6;
    return 0;
}

/* A text between quotation marks; NULL with a reason. */
static const char *read_text(struct reader *r)
{
    char *const text = r->to;

    for (r->at++; *r->at != '"';) {
        const size_t length = lab_json_character(r->at);

        if (r->at == r->end) {
            refuse(r, "a text does not end");
            return NULL;
        }
        if (length == 0 || (unsigned char)*r->at < ' ') {
            refuse(r, length ? "control character 0x%x" : "cannot decode byte 0x%x",
                   (unsigned char)*r->at);
            return NULL;
        }
        if (*r->at == '\\') {
            if (read_escape(r))
                return NULL;
        } else {
            memmove(r->to, r->at, length);
            r->to += length;
            r->at += length;
        }
    }
    r->at++;
    *r->to++ = '\0';
    return text;
}

/* ---- values ---------------------------------------------------------------- */

static int read_number(struct reader *r, struct lab_json_value *value)
{
    const char *c = r->at + (*r->at == '-');
    const size_t whole = strspn(c, "0123456789");

    if (whole == 0 || (whole > 1 && *c == '0'))
        return refuse(r, "a value is missing");
    c += whole;
    if (*c == '.') {
        const size_t digits = strspn(c + 1, "0123456789");

        c += digits ? 1 + digits : 0;
    }
    if (*c == 'e' || *c == 'E') {
        const char *const exponent = c + 1 + (c[1] == '+' || c[1] == '-');

        if (strspn(exponent, "0123456789"))
            c = exponent + strspn(exponent, "0123456789");
    }
    value->type = LAB_JSON_NUMBER;
    value->number = strtod(r->at, NULL);
    r->at = c;
    return 0;
}

static int read_value(struct reader *r, struct lab_json_value *value);

static int is_given(const struct lab_json_value *object, const char *key)
{
    for (const struct lab_json_value *other = object->first; other; other = other->next)
        if (!strcmp(other->key, key))
            return 1;
    return 0;
}

/* The key of the next value of an object, and its colon; NULL with a reason. */
static const char *read_key(struct reader *r, const struct lab_json_value *object)
{
    if (*r->at != '"') {
        refuse(r, "a key is missing");
        return NULL;
    }
    const char *const key = read_text(r);
    if (!key)
        return NULL;
    skip_space(r);
    if (is_given(object, key))
        refuse(r, "duplicate key '%.40s'", key);
    else if (*r->at != ':')
        refuse(r, "':' is missing");
    else {
        r->at++;
        return key;
    }
    return NULL;
}

/* The values of an object or a list, after its bracket. */
static int read_values(struct reader *r, struct lab_json_value *value, char close)
{
    const struct lab_json_value **to = &value->first;

    r->at++;
    skip_space(r);
    if (*r->at == close) {
        r->at++;
        return 0;
    }
    for (;; value->count++) {
        struct lab_json_value *const one = r->free++;
        const char *key = NULL;

        *one = (struct lab_json_value){.count = 0};
        skip_space(r);
        if (close == '}' && !(key = read_key(r, value)))
            return -1;
        if (read_value(r, one))
            return -1;
        one->key = key;
        *to = one;
        to = &one->next;
        skip_space(r);
        if (*r->at != ',' && *r->at != close)
            return refuse(r, "',' or '%c' is missing", close);
        if (*r->at++ == close)
            break;
    }
    value->count++;
    return 0;
}

static int read_value(struct reader *r, struct lab_json_value *value)
{
    static const char *const words[] = {
        [LAB_JSON_TRUE] = "true", [LAB_JSON_FALSE] = "false", [LAB_JSON_NULL] = "null"};

    skip_space(r);
    if (*r->at == '{' || *r->at == '[') {
        const char close = *r->at == '{' ? '}' : ']';

        if (r->depth++ == LAB_JSON_DEPTH)
            return refuse(r, "more than %d brackets deep", LAB_JSON_DEPTH);
        value->type = close == '}' ? LAB_JSON_OBJECT : LAB_JSON_LIST;
        const int status = read_values(r, value, close);
        r->depth--;
        return status;
    }
    if (*r->at == '"') {
        value->type = LAB_JSON_TEXT;
        return (value->text = read_text(r)) ? 0 : -1;
    }
    for (int type = LAB_JSON_TRUE; type <= LAB_JSON_NULL; type++) {
        const size_t length = strlen(words[type]);

        if (!strncmp(r->at, words[type], length)) {
            value->type = (enum lab_json_type)type;
            r->at += length;
            return 0;
        }
    }
    return read_number(r, value);
}

/* ---- the whole ---------------------------------------------------------------- */

/* At most as many values as the text has. */
static size_t count_values(const char *bytes, size_t length)
{
    size_t count = 1;

    for (size_t x = 0; x < length; x++)
        count += bytes[x] == ',' || bytes[x] == '[' || bytes[x] == '{';
    return count;
}

int lab_json_read(const char *bytes, size_t length, struct lab_json_tree *tree, char *why,
                  size_t size)
{
    if (length >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) {
        bytes += 3;
        length -= 3;
    }
    char *const copy = malloc(length + 1);
    tree->texts = malloc(length + 1);
    tree->root = malloc(count_values(bytes, length) * sizeof *tree->root);
    if (!copy || !tree->texts || !tree->root) {
        free(copy);
        snprintf(why, size, "out of memory");
        return -1;
    }
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    *tree->root = (struct lab_json_value){.count = 0};
    struct reader r = {.at = copy,
                       .start = copy,
                       .end = copy + length,
                       .to = tree->texts,
                       .free = tree->root + 1,
                       .why = why,
                       .size = size};
    int status = read_value(&r, tree->root);
    skip_space(&r);
    if (!status && r.at != r.end)
        status = refuse(&r, "more than one value");
    free(copy);
    return status;
}

void lab_json_free(struct lab_json_tree *tree)
{
    free(tree->root);
    free(tree->texts);
    *tree = (struct lab_json_tree){NULL, NULL};
}

const char *lab_json_type_name(const struct lab_json_value *value)
{
    static const char *const names[] = {
        [LAB_JSON_OBJECT] = "an object", [LAB_JSON_LIST] = "a list",
        [LAB_JSON_TEXT] = "a text",      [LAB_JSON_NUMBER] = "a number",
        [LAB_JSON_TRUE] = "true",        [LAB_JSON_FALSE] = "false",
        [LAB_JSON_NULL] = "null"};

    return names[value->type];
}
