/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAMED(identifier, number, name) [number] = name,
static const char *const names[] = {ATTEND_FIELDS(NAMED)};

enum { FIELDS = sizeof names / sizeof names[0] };

static const char *const members[] = {
    [ATTEND_MEMBER_DATA] = "data",
    [ATTEND_MEMBER_DTYPE] = "dtype",
    [ATTEND_MEMBER_SIZE] = "size",
    [ATTEND_MEMBER_STRIDE] = "stride",
    [ATTEND_MEMBER_STRUCT_SIZE] = "struct_size",
};

const char *attendi_field_name(attend_field field)
{
    return (size_t)field < FIELDS && names[field] ? names[field] : "";
}

/* Copies "parts.out.size" from "parts[3].out.size[1] (7) ...". */
static void copy_path(char name[64], const char *path)
{
    int length = 0;

    for (const char *c = path; *c && length < 63; c++) {
        if (*c == '[') {
            c += strcspn(c, "]");
            if (!*c)
                break;
        } else if (islower((unsigned char)*c) || isdigit((unsigned char)*c) ||
                   *c == '_' || *c == '.') {
            name[length++] = *c;
        } else {
            break;
        }
    }
    name[length] = '\0';
}

void attendi_set_field(attend_error *err, const char *path)
{
    char name[64];

    copy_path(name, path);
    const char *const last = strrchr(name, '.');
    err->field = ATTEND_FIELD_NONE;
    err->member = ATTEND_MEMBER_NONE;
    for (size_t x = 1; last && x < sizeof members / sizeof members[0]; x++)
        if (strcmp(last + 1, members[x]) == 0)
            err->member = (attend_member)x;
    for (size_t x = 1, longest = 0; x < FIELDS; x++) {
        const size_t length = strlen(names[x]);

        if (length > longest && strncmp(name, names[x], length) == 0 &&
            (name[length] == '\0' || name[length] == '.')) {
            err->field = (attend_field)x;
            longest = length;
        }
    }
    if (err->field == ATTEND_FIELD_NONE)
        err->member = ATTEND_MEMBER_NONE;
}

/* Messages of other statuses may begin with the word of a field: "out of memory". */
static bool is_of_argument(attend_status status)
{
    return status == ATTEND_EINVAL || status == ATTEND_EUNSUPPORTED ||
           status == ATTEND_ETOOBIG || status == ATTEND_EBUSY;
}

attend_status attendi_fail(attend_error *err, attend_status status, const char *format,
                           ...)
{
    if (err) {
        va_list args;

        err->status = status;
        va_start(args, format);
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
        attendi_set_field(err, is_of_argument(status) ? err->message : "");
        /* Names that a caller passed may contain newlines; the message is one line. */
        for (char *c = err->message; *c; c++)
            if (iscntrl((unsigned char)*c))
                *c = '?';
    }
    return status;
}
