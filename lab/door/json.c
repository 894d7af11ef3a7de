/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "lab/door/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void append(struct lab_json *json, const char *bytes, size_t length)
{
    if (json->failed)
        return;
    if (json->size - json->used <= length) {
        const size_t size = 2 * (json->size + length) + 256;
        char *const text = realloc(json->text, size);

        if (!text) {
            json->failed = 1;
            return;
        }
        json->text = text;
        json->size = size;
    }
    memcpy(json->text + json->used, bytes, length);
    json->used += length;
    json->text[json->used] = '\0';
}

static void append_text(struct lab_json *json, const char *text)
{
    append(json, text, strlen(text));
}

void lab_json_open(struct lab_json *json, int digits)
{
    *json = (struct lab_json){.digits = digits};
}

char *lab_json_close(struct lab_json *json)
{
    if (json->failed)
        free(json->text);
    return json->failed ? NULL : json->text;
}

static void break_line(struct lab_json *json)
{
    append_text(json, "\n");
    for (int x = 0; x < json->indent * json->depth; x++)
        append_text(json, " ");
}

/* A key or a value begins. */
static void separate(struct lab_json *json)
{
    if (json->has_value)
        append_text(json, json->indent ? "," : ", ");
    if (json->indent && json->depth && !json->has_key)
        break_line(json);
    json->has_value = 1;
    json->has_key = 0;
}

void lab_json_begin(struct lab_json *json, char bracket)
{
    separate(json);
    append(json, &bracket, 1);
    json->has_value = 0;
    json->depth++;
}

void lab_json_end(struct lab_json *json, char bracket)
{
    json->depth--;
    if (json->indent && json->has_value)
        break_line(json);
    append(json, &bracket, 1);
    json->has_value = 1;
}

/* ---- text ------------------------------------------------------------------ */

size_t lab_json_character(const char *bytes)
{
    const unsigned char *const text = (const unsigned char *)bytes, c = text[0];
    const size_t length = c < 0x80       ? 1
                          : c >> 5 == 6  ? 2
                          : c >> 4 == 14 ? 3
                          : c >> 3 == 30 ? 4
                                         : 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t code = length > 1 ? c & (0x7fu >> length) : c;

    for (size_t i = 1; i < length; i++) {
        if (text[i] >> 6 != 2)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    return code >= least[length] && code <= 0x10ffff && code >> 11 != 0xd800 >> 11
               ? length
               : 0;
}

static int is_utf8(const char *text)
{
    size_t length = 1;

    for (const char *at = text; *at && length; at += length)
        length = lab_json_character(at);
    return length > 0;
}

static void quote(struct lab_json *json, const char *text)
{
    static const char escaped[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const int is_plain = is_utf8(text);
    char piece[8];

    append_text(json, "\"");
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        const char *const known = strchr(escaped, c);

        if (known)
            snprintf(piece, sizeof piece, "\\%c", letters[known - escaped]);
        else if (c < ' ')
            snprintf(piece, sizeof piece, "\\u%04X", c);
        else
            snprintf(piece, sizeof piece, "%c", c > 0x7f && !is_plain ? '?' : c);
        append_text(json, piece);
    }
    append_text(json, "\"");
}

void lab_json_key(struct lab_json *json, const char *key)
{
    separate(json);
    quote(json, key);
    append_text(json, ": ");
    json->has_value = 0;
    json->has_key = 1;
}

void lab_json_text(struct lab_json *json, const char *text)
{
    separate(json);
    if (text)
        quote(json, text);
    else
        append_text(json, "null");
}

/* ---- numbers --------------------------------------------------------------- */

void lab_json_real(struct lab_json *json, double number)
{
    char text[40];

    separate(json);
    if (!isfinite(number)) {
        append_text(json, !json->has_nan  ? "null"
                          : isnan(number) ? "NaN"
                          : number < 0    ? "-Infinity"
                                          : "Infinity");
        return;
    }
    snprintf(text, sizeof text, "%.*g", json->digits, number);
    const char *const e = strchr(text, 'e');
    if (!e) {
        append_text(json, text);
        append_text(json, strchr(text, '.') ? "" : ".0");
        return;
    }
    /* 1e+05 is written 1e5. */
    const char *const digits = e + 1 + (e[1] == '+' || e[1] == '-');
    append(json, text, (size_t)(e + 1 - text));
    append_text(json, e[1] == '-' ? "-" : "");
    append_text(json, digits + strspn(digits, "0"));
}

void lab_json_whole(struct lab_json *json, long long number)
{
    char text[24];

    separate(json);
    snprintf(text, sizeof text, "%lld", number);
    append_text(json, text);
}

void lab_json_truth(struct lab_json *json, int truth)
{
    separate(json);
    append_text(json, truth < 0 ? "null" : truth ? "true" : "false");
}

void lab_json_reals(struct lab_json *json, const char *key, const double *numbers,
                    long long count)
{
    lab_json_key(json, key);
    lab_json_begin(json, '[');
    for (long long x = 0; x < count; x++)
        lab_json_real(json, numbers[x]);
    lab_json_end(json, ']');
}

static void put_markup(struct lab_json *json, lab_json_markup write, const char *text)
{
    char *markup = NULL;
    size_t length;
    FILE *const to = open_memstream(&markup, &length);

    if (to)
        write(to, text);
    if (!to || fclose(to))
        json->failed = 1;
    else
        lab_json_text(json, markup);
    free(markup);
}

/* ---- members --------------------------------------------------------------- */

void lab_json_put(struct lab_json *json, const char *members, ...)
{
    lab_json_markup write;
    va_list args;

    va_start(args, members);
    for (const char *at = members; *at;) {
        const size_t name = strcspn(at, ": ");
        char key[64];

        if (at[name] == ':') {
            snprintf(key, sizeof key, "%.*s", (int)name, at);
            lab_json_key(json, key);
            at += name + 1;
        }
        switch (*at) {
        case 'p':
        case 'w':
            write = *at == 'w' ? va_arg(args, lab_json_markup) : json->prose;
            if (write)
                put_markup(json, write, va_arg(args, const char *));
            else
                lab_json_text(json, va_arg(args, const char *));
            break;
        case 's':
            lab_json_text(json, va_arg(args, const char *));
            break;
        case 'r':
            lab_json_real(json, va_arg(args, double));
            break;
        case 'i':
            lab_json_whole(json, va_arg(args, int));
            break;
        case 'l':
            lab_json_whole(json, va_arg(args, int64_t));
            break;
        case 'b':
            lab_json_truth(json, va_arg(args, int));
            break;
        case '{':
        case '[':
            lab_json_begin(json, *at);
            break;
        case '}':
        case ']':
            lab_json_end(json, *at);
            break;
        }
        at++;
        at += strspn(at, " ");
    }
    va_end(args);
}
