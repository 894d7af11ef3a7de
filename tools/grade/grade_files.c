/* SPDX-License-Identifier: MIT */
/* Files of answers and rubrics. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grade_tool.h"
#include "lab/grade/courses.h"

static int add_path(struct graded_list *list, const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char **const grown = realloc(list->path, sizeof *grown * (size_t)(list->count + 1));
    char *const path = malloc(size);
    if (grown)
        list->path = grown;
    if (!grown || !path) {
        free(path);
        return tool_fail("grade", TOOL_FAILED, "out of memory");
    }
    snprintf(path, size, "%s%s%s", folder, *folder ? "/" : "", name);
    list->path[list->count++] = path;
    return TOOL_OK;
}

void graded_list_free(struct graded_list *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->path[i]);
    free(list->path);
}

static int is_form(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 &&
           !strcmp(entry->d_name + length - 5, ".json");
}

/* The order of bytes, whatever the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_folder(struct graded_list *list, const char *folder)
{
    struct dirent **entry = NULL;
    const int found = scandir(folder, &entry, is_form, by_name);
    int status = TOOL_OK;
    if (found < 0)
        return tool_fail("grade", TOOL_USAGE, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < found; i++) {
        if (!status)
            status = add_path(list, folder, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    if (found == 0)
        return tool_fail("grade", TOOL_USAGE, "%s: no *.json in this folder", folder);
    return status;
}

int graded_list_take(void *list, const char *word)
{
    struct stat info;

    return !stat(word, &info) && S_ISDIR(info.st_mode) ? add_folder(list, word)
                                                       : add_path(list, "", word);
}

/* NULL with a message.  A pipe without a writer is refused, not waited for. */
static FILE *open_plain(const char *path)
{
    struct stat info;
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK);
    FILE *file = NULL;
    if (descriptor < 0 || fstat(descriptor, &info))
        tool_fail("grade", TOOL_USAGE, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        tool_fail("grade", TOOL_USAGE, "%s: not a file", path);
    else if (info.st_size > LAB_FORM_BYTES)
        tool_fail("grade", TOOL_USAGE, "%s: %lld bytes: more than %d", path,
                  (long long)info.st_size, LAB_FORM_BYTES);
    else if (!(file = fdopen(descriptor, "rb")))
        tool_fail("grade", TOOL_FAILED, "%s: %s", path, strerror(errno));
    if (!file && descriptor >= 0)
        close(descriptor);
    return file;
}

char *graded_read(const char *path, size_t *size)
{
    FILE *const file = open_plain(path);
    char *bytes = NULL;
    if (!file)
        return NULL;
    if (!(bytes = malloc(LAB_FORM_BYTES + 1)))
        tool_fail("grade", TOOL_FAILED, "out of memory");
    else {
        *size = fread(bytes, 1, LAB_FORM_BYTES + 1, file);
        if (ferror(file)) {
            tool_fail("grade", TOOL_USAGE, "%s: %s", path, strerror(errno));
            free(bytes);
            bytes = NULL;
        }
    }
    fclose(file);
    return bytes;
}

/* Entries of a form that are not questions are ignored, with a message. */
static int report_remarks(const struct graded *graded)
{
    const struct lab_texts *const remarks = &graded->form.remarks;
    int status = TOOL_OK;

    for (int x = 0; x < remarks->count; x++)
        status = tool_fail("grade", TOOL_USAGE, "%s: %s: left out", graded->path,
                           remarks->list[x]);
    return status;
}

int graded_open(const char *path, struct graded *graded)
{
    const char *const slash = strrchr(path, '/');
    size_t size;
    char *const bytes = graded_read(path, &size);

    *graded = (struct graded){.path = path,
                              .name = slash ? slash + 1 : path,
                              .form.student = "",
                              .form.id = "",
                              .unread = 1,
                              .why = "the file cannot be read"};
    if (!bytes)
        return TOOL_USAGE;
    graded->unread = lab_form_read(bytes, size, &graded->form, graded->why) != 0;
    free(bytes);
    return graded->unread ? tool_fail("grade", TOOL_USAGE, "%s: %s", path, graded->why)
                          : report_remarks(graded);
}

int graded_rules(int course, const char *path, struct lab_scheme *scheme,
                 struct lab_rubric *rubric)
{
    char why[LAB_FORM_WHY];
    size_t size;
    int status = TOOL_OK;

    lab_rubric_default(rubric);
    if (course < 0)
        lab_scheme_form(scheme);
    else
        lab_scheme_course(course, scheme, rubric);
    if (!path)
        return TOOL_OK;
    char *const bytes = graded_read(path, &size);
    if (!bytes)
        return TOOL_USAGE;
    if (lab_rubric_read(bytes, size, rubric, why))
        status = tool_fail("grade", TOOL_USAGE, "%s: %s", path, why);
    for (int p = 0; p < LAB_GRADE_PARTS && !status; p++)
        if (rubric->points[p] > 0 && !lab_scheme_number(scheme, p))
            status = tool_fail("grade", TOOL_USAGE,
                               "%s: points for %s %s, which --course %s does not ask",
                               path, lab_grade_part(p)->question, lab_grade_part(p)->name,
                               lab_course_name(course));
    free(bytes);
    return status;
}

void graded_grade(struct graded *graded, const struct lab_scheme *scheme,
                  const struct lab_rubric *rubric, uint64_t seed)
{
    struct lab_answer *const answer = &graded->form.answer;

    for (int p = 0; p < LAB_GRADE_PARTS; p++) {
        if (graded->unread)
            graded->grade.most += rubric->points[p];
        if (lab_scheme_number(scheme, p))
            continue;
        memset(answer->text[p], 0, sizeof answer->text[p]);
        answer->problem[p] = NULL;
    }
    graded->failed =
        !graded->unread &&
        lab_grade(answer, rubric, lab_grade_seed(seed, graded->name), &graded->grade);
}

const char *graded_help(const struct lab_part_grade *grade, int hints)
{
    if (grade->points >= grade->most)
        return NULL;
    return hints ? grade->hint : *grade->solution ? grade->solution : NULL;
}
