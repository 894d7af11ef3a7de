/* SPDX-License-Identifier: MIT */
#include "io/formats.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FILE_SHOWN = 200 };

int io_fail(struct io_error *err, const char *file, int64_t offset, const char *format,
            ...)
{
    const size_t length = strlen(file);
    const int is_cut = length > FILE_SHOWN;
    char where[32] = "";
    if (offset >= 0)
        snprintf(where, sizeof where, "byte %lld: ", (long long)offset);

    const int n =
        snprintf(err->message, sizeof err->message, "%s%s: %s", is_cut ? "..." : "",
                 is_cut ? file + (length - FILE_SHOWN) : file, where);
    va_list args;
    va_start(args, format);
    vsnprintf(err->message + n, sizeof err->message - (size_t)n, format, args);
    va_end(args);

    /* File names may contain newlines; the message is one line. */
    for (char *c = err->message; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return -1;
}

void io_quote(char *text, size_t size, const void *bytes, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *const from = bytes;
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        const int is_plain = from[i] >= 0x20 && from[i] < 0x7f && from[i] != '\\';
        const size_t width = is_plain ? 1 : 4;
        /* Keep room for "..." unless this is the end. */
        if (used + width + (i + 1 < n ? 3 : 0) >= size) {
            memcpy(text + used, "...", 3);
            used += 3;
            break;
        }
        if (is_plain) {
            text[used] = (char)from[i];
        } else {
            text[used] = '\\';
            text[used + 1] = 'x';
            text[used + 2] = hex[from[i] >> 4];
            text[used + 3] = hex[from[i] & 15];
        }
        used += width;
    }
    text[used] = '\0';
}
