/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "page_json.h"

#include <math.h>
#include <stdlib.h>

static FILE *out;
static char *text;
static size_t size;
static int has_value; /* the next one needs a comma before it */

void page_json_open(void)
{
    free(text);
    text = NULL;
    out = open_memstream(&text, &size);
    if (!out)
        abort();
    has_value = 0;
}

const char *page_json_close(void) { return fclose(out) ? NULL : text; }

static void separate(void)
{
    if (has_value)
        fputc(',', out);
    has_value = 1;
}

void page_json_begin(char bracket)
{
    separate();
    fputc(bracket, out);
    has_value = 0;
}

void page_json_end(char bracket)
{
    fputc(bracket, out);
    has_value = 1;
}

static void put_quoted(const char *from)
{
    fputc('"', out);
    for (; *from; from++) {
        const unsigned char c = (unsigned char)*from;

        if (c == '"' || c == '\\')
            fputc('\\', out);
        if (c < ' ')
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

void page_json_key(const char *key)
{
    separate();
    put_quoted(key);
    fputc(':', out);
    has_value = 0;
}

void page_json_text(const char *from)
{
    separate();
    if (from)
        put_quoted(from);
    else
        fputs("null", out);
}

void page_json_number(double number)
{
    separate();
    if (isfinite(number))
        fprintf(out, "%.17g", number);
    else
        fputs("null", out);
}

void page_json_whole(long long number)
{
    separate();
    fprintf(out, "%lld", number);
}

void page_json_truth(int truth)
{
    separate();
    fputs(truth ? "true" : "false", out);
}

void page_json_markup(void (*write)(FILE *out, const char *from), const char *from)
{
    char *markup = NULL;
    size_t length = 0;
    FILE *const to = open_memstream(&markup, &length);

    if (!to)
        abort();
    write(to, from);
    fclose(to);
    page_json_text(markup);
    free(markup);
}

void page_json_text_of(const char *key, const char *from)
{
    page_json_key(key);
    page_json_text(from);
}

void page_json_number_of(const char *key, double number)
{
    page_json_key(key);
    page_json_number(number);
}

void page_json_whole_of(const char *key, long long number)
{
    page_json_key(key);
    page_json_whole(number);
}

void page_json_truth_of(const char *key, int truth)
{
    page_json_key(key);
    page_json_truth(truth);
}

void page_json_markup_of(const char *key, void (*write)(FILE *out, const char *from),
                         const char *from)
{
    page_json_key(key);
    page_json_markup(write, from);
}

void page_json_numbers_of(const char *key, const double *numbers, long long count)
{
    page_json_key(key);
    page_json_begin('[');
    for (long long x = 0; x < count; x++)
        page_json_number(numbers[x]);
    page_json_end(']');
}
