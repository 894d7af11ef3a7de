/* SPDX-License-Identifier: MIT */
/*
 * The autograder for Gradescope: a zip, stored without compression, of setup.sh,
 * run_autograder, a static command and the course's points.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grade_tool.h"
#include "lab/grade/courses.h"
#include "shared/text_file.h"

/* ---- zip --------------------------------------------------------------------------- */

enum { FILES = 4, LOCAL = 30, CENTRAL = 46, PATH_SIZE = 4096 };

struct packed {
    const char *name;
    unsigned mode; /* of a file of Unix */
    char *bytes;
    size_t size;
    uint32_t check, offset;
};

static uint32_t crc32_of(const char *bytes, size_t size)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < size; i++) {
        crc ^= (unsigned char)bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

/* Numbers of 2 and 4 bytes, the low one first. */
static unsigned char *put_16(unsigned char *to, unsigned number)
{
    *to++ = (unsigned char)number;
    *to++ = (unsigned char)(number >> 8);
    return to;
}
static unsigned char *put_32(unsigned char *to, uint32_t number)
{
    return put_16(put_16(to, number & 0xffff), number >> 16);
}

/* What both headers of a file have in common; 1980-01-01 stands for no date. */
static unsigned char *put_common(unsigned char *to, const struct packed *file)
{
    to = put_16(to, 20); /* version 2.0 */
    to = put_16(to, 0);
    to = put_16(to, 0); /* stored */
    to = put_16(to, 0);
    to = put_16(to, 1 << 5 | 1);
    to = put_32(to, file->check);
    to = put_32(to, (uint32_t)file->size);
    to = put_32(to, (uint32_t)file->size);
    to = put_16(to, (unsigned)strlen(file->name));
    return put_16(to, 0);
}

static void write_local(struct packed *file, uint32_t *offset, FILE *out)
{
    unsigned char head[LOCAL];
    put_common(put_32(head, 0x04034b50), file);
    file->offset = *offset;
    fwrite(head, 1, sizeof head, out);
    fputs(file->name, out);
    fwrite(file->bytes, 1, file->size, out);
    *offset += (uint32_t)(LOCAL + strlen(file->name) + file->size);
}

static void write_central(const struct packed *file, uint32_t *size, FILE *out)
{
    unsigned char head[CENTRAL], *to = put_32(head, 0x02014b50);
    to = put_16(to, 3 << 8 | 20); /* made on Unix */
    to = put_common(to, file);
    to = put_16(to, 0);
    to = put_16(to, 0);
    to = put_16(to, 0);
    to = put_32(to, (uint32_t)file->mode << 16);
    put_32(to, file->offset);
    fwrite(head, 1, sizeof head, out);
    fputs(file->name, out);
    *size += (uint32_t)(CENTRAL + strlen(file->name));
}

static void write_zip(struct packed *file, int count, FILE *out)
{
    uint32_t offset = 0, size = 0;
    unsigned char tail[22], *to = put_32(tail, 0x06054b50);

    for (int f = 0; f < count; f++)
        write_local(&file[f], &offset, out);
    for (int f = 0; f < count; f++)
        write_central(&file[f], &size, out);
    to = put_32(to, 0);
    to = put_16(to, (unsigned)count);
    to = put_16(to, (unsigned)count);
    to = put_32(to, size);
    to = put_32(to, offset);
    put_16(to, 0);
    fwrite(tail, 1, sizeof tail, out);
}

/* ---- its files ----------------------------------------------------------------------
 */

static const char setup[] = "#!/bin/sh\n"
                            "# The command is static: nothing is installed.\n"
                            "chmod +x /autograder/source/attend-grade\n";

/* The folder of a zip is /autograder/source; AUTOGRADER names another one for tests. */
static const char run_format[] =
    "#!/bin/sh\n"
    "home=${AUTOGRADER:-/autograder}\n"
    "mkdir -p \"$home/results\"\n"
    "\"$home/source/attend-grade\" \"$home/submission\"%s%s%s%s --seed %lld \\\n"
    "    >\"$home/results/results.json\"\n"
    "exit 0\n";

/* Places of the static command relative to this one: installed, and in the build. */
static const char *const places[] = {"/../share/attend/attend-grade", "/../attend-grade"};

static FILE *open_static(void)
{
    char path[PATH_SIZE + 64];
    const ssize_t length = readlink("/proc/self/exe", path, PATH_SIZE);
    FILE *file = NULL;

    if (length <= 0)
        return NULL;
    path[length] = '\0';
    char *const slash = strrchr(path, '/');
    for (size_t x = 0; slash && !file && x < sizeof places / sizeof places[0]; x++) {
        strcpy(slash, places[x]);
        file = fopen(path, "rb");
    }
    return file;
}

/* The whole of a file; NULL where it cannot be read. */
static char *read_all(FILE *file, size_t *size)
{
    char *bytes = NULL;
    size_t room = 0;

    *size = 0;
    for (size_t got = 1; got;) {
        if (*size == room) {
            room = room ? 2 * room : 1 << 20;
            char *const grown = realloc(bytes, room);
            if (!grown) {
                free(bytes);
                return NULL;
            }
            bytes = grown;
        }
        got = fread(bytes + *size, 1, room - *size, file);
        *size += got;
    }
    if (ferror(file)) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

static char *copy_of(const char *text, size_t *size)
{
    *size = strlen(text);
    char *const copy = malloc(*size + 1);
    if (copy)
        memcpy(copy, text, *size + 1);
    return copy;
}

static int pack(struct packed *file, const char *name, unsigned mode, char *bytes)
{
    file->name = name;
    file->mode = 0100000 | mode;
    file->bytes = bytes;
    if (bytes)
        file->check = crc32_of(bytes, file->size);
    return bytes ? TOOL_OK : tool_fail("grade", TOOL_FAILED, "out of memory");
}

/* The command, the scripts, and the points of a file. */
static int pack_all(struct packed file[FILES], int *count, int course, const char *rubric,
                    int hints, int64_t seed)
{
    char run[600];
    FILE *const program = open_static();
    int status;

    if (!program)
        return tool_fail("grade", TOOL_FAILED,
                         "no static command was built: type 'make autograder' where "
                         "attend was built, then 'make install' if it is installed");
    file[0].size = 0;
    char *const bytes = read_all(program, &file[0].size);
    fclose(program);
    snprintf(run, sizeof run, run_format, course < 0 ? "" : " --course ",
             course < 0 ? "" : lab_course_name(course),
             rubric ? " --rubric \"$home/source/rubric.json\"" : "",
             hints ? " --hints" : "", (long long)seed);
    status = pack(&file[(*count)++], "attend-grade", 0755, bytes);
    if (!status)
        status =
            pack(&file[*count], "setup.sh", 0755, copy_of(setup, &file[*count].size));
    *count += !status;
    if (!status)
        status =
            pack(&file[*count], "run_autograder", 0755, copy_of(run, &file[*count].size));
    *count += !status;
    if (!status && rubric)
        status = pack(&file[*count], "rubric.json", 0644,
                      graded_read(rubric, &file[*count].size));
    *count += !status && rubric;
    return status;
}

int grade_write_autograder(const char *path, int course, const char *rubric, int hints,
                           int64_t seed)
{
    struct packed file[FILES] = {{.name = NULL}};
    tool_text text;
    int count = 0;
    int status = tool_text_open("grade", "--autograder", path, &text);

    if (status)
        return status;
    status = pack_all(file, &count, course, rubric, hints, seed);
    if (!status) {
        write_zip(file, count, text.stream);
        status = tool_text_commit("grade", &text);
    }
    for (int f = 0; f < FILES; f++)
        free(file[f].bytes);
    tool_text_discard(&text);
    if (!status)
        printf("the autograder: %s\n", path);
    return status;
}
