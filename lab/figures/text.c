/* SPDX-License-Identifier: MIT */
#include "lab/figures/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

double lab_text_width(const char *text, size_t length)
{
    double width = 0;
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c >= 0x80 && c < 0xc0)
            continue; /* not the first byte of a character */
        if (strchr("ijl.,:;'|!()[] ", c))
            width += 0.36;
        else if (strchr("mwMW%@", c))
            width += 0.95;
        else if (c >= 'A' && c <= 'Z')
            width += 0.72;
        else
            width += 0.63;
    }
    return width;
}

size_t lab_text_break(const char *text, double width)
{
    const size_t length = strlen(text);
    size_t fits = strcspn(text, " ");
    for (size_t end = fits; end < length; end += 1 + strcspn(text + end + 1, " ")) {
        if (lab_text_width(text, end) > width)
            return fits;
        fits = end;
    }
    return lab_text_width(text, length) > width ? fits : length;
}

void lab_text_escape(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '&')
            fputs("&amp;", out);
        else if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (c == '\'')
            fputs("&#39;", out);
        else if (c >= 0x20 || c == '\n' || c == '\t')
            fputc(c, out);
    }
}

void lab_text_html(FILE *out, const char *text)
{
    lab_text_escape(out, text, strlen(text));
}

void lab_text_number(FILE *out, double value, int digits)
{
    if (isnan(value)) {
        fputs("\u2013", out);
        return;
    }
    if (value < 0)
        fputs("\u2212", out);
    if (isinf(value)) {
        fputs("\u221e", out);
        return;
    }
    const double size = fabs(value);
    char text[64];
    snprintf(text, sizeof text, "%.*g", digits, size);
    const char *const exponent = strchr(text, 'e');
    if (!exponent && (size == 0 || size >= 1e-3)) {
        fputs(text, out);
        return;
    }
    snprintf(text, sizeof text, "%.*e", digits - 1, size);
    char *const e = strchr(text, 'e');
    const int power = atoi(e + 1);
    /* Without zeros at the end. */
    char *end = e;
    while (strchr(text, '.') < end && (end[-1] == '0' || end[-1] == '.'))
        end--;
    *end = '\0';
    fprintf(out, "%s\u00b710<sup>%s%d</sup>", text, power < 0 ? "\u2212" : "",
            abs(power));
}

void lab_html(FILE *out, const char *template, ...)
{
    va_list args;

    va_start(args, template);
    while (*template) {
        const size_t plain = strcspn(template, "{");
        char format[8];
        fwrite(template, 1, plain, out);
        template += plain;
        if (!*template ++)
            break;
        switch (*template) {
        case 's':
            fputs(va_arg(args, const char *), out);
            break;
        case 'h':
            lab_text_html(out, va_arg(args, const char *));
            break;
        case 'p':
            lab_text_prose(out, va_arg(args, const char *));
            break;
        case 'm':
            lab_text_markdown(out, va_arg(args, const char *));
            break;
        case 'f':
            lab_text_formula(out, va_arg(args, const char *));
            break;
        case 'd':
            fprintf(out, "%d", va_arg(args, int));
            break;
        case 'l':
            fprintf(out, "%" PRId64, va_arg(args, int64_t));
            break;
        case 'n':
            lab_text_number(out, va_arg(args, double), atoi(template + 1));
            break;
        default:
            snprintf(format, sizeof format, "%%%.*s", (int)strcspn(template, "}"),
                     template);
            fprintf(out, format, va_arg(args, double));
        }
        template += strcspn(template, "}") + 1;
    }
    va_end(args);
}
