/* SPDX-License-Identifier: MIT */
/* A text of each student, in a folder. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "grade_tool.h"
#include "shared/text_file.h"

/* The name of a student's file: the id, the file's name or the number, made harmless. */
static void name_file(const struct graded_class *all, int g, char name[GRADED_NAME])
{
    const struct graded *const graded = &all->graded[g];
    if (all->is_anonymous)
        snprintf(name, GRADED_NAME, "answer-%d", g + 1);
    else
        snprintf(name, GRADED_NAME, "%.200s", graded->id ? graded->id : graded->name);
    char *const end = graded->id ? NULL : strstr(name, ".json");
    if (end && !strcmp(end, ".json"))
        *end = 0;
    for (char *c = name; *c; c++)
        if (*c == '/' || (*c == '.' && c == name))
            *c = '_';
}

/* How many answers before this one have a file of the same name. */
static int count_equal(const struct graded_class *all, int g, const char *name)
{
    char other[GRADED_NAME];
    int equal = 0;
    for (int x = 0; x < g; x++) {
        name_file(all, x, other);
        equal += !strcmp(other, name);
    }
    return equal;
}

static int write_one(const struct graded_class *all, int g, const char *folder)
{
    char name[GRADED_NAME], number[16] = "", path[4096];
    tool_text file;

    name_file(all, g, name);
    const int equal = count_equal(all, g, name);
    if (equal)
        snprintf(number, sizeof number, "-%d", equal + 1);
    if (snprintf(path, sizeof path, "%s/%s%s.txt", folder, name, number) >=
        (int)sizeof path)
        return tool_fail("grade", TOOL_USAGE, "--feedback: '%s' is too long", folder);
    int status = tool_text_open("grade", "--feedback", path, &file);
    if (status)
        return status;
    grade_write_text(file.stream, all, g);
    status = tool_text_commit("grade", &file);
    tool_text_discard(&file);
    return status;
}

int grade_write_feedback(const struct graded_class *all, const char *folder)
{
    int status = TOOL_OK;

    if (mkdir(folder, 0777) && errno != EEXIST)
        return tool_fail("grade", TOOL_USAGE, "--feedback: '%s': %s", folder,
                         strerror(errno));
    for (int g = 0; g < all->count && !status; g++)
        status = write_one(all, g, folder);
    return status;
}
