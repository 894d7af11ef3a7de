/* SPDX-License-Identifier: MIT */
/* Grades as text, as CSV and as JSON. */
#include <stdio.h>
#include <string.h>

#include "grade/grade_tool.h"
#include "lab/door/objects.h"
#include "shared/json_line.h"

const char *graded_student(const struct graded *graded, char *room, size_t size)
{
    if (*graded->form.student)
        return graded->form.student;
    snprintf(room, size, "%s", graded->name);
    char *const end = strstr(room, ".json");
    if (end && !strcmp(end, ".json"))
        *end = 0;
    return room;
}

const char *graded_help(const struct lab_part_grade *grade, int hints)
{
    if (grade->points >= grade->most)
        return NULL;
    return hints ? grade->hint : *grade->solution ? grade->solution : NULL;
}

enum { INDENT = 10 };

static void print_more(const char *label, const char *text)
{
    char line[700];
    if (!*text)
        return;
    snprintf(line, sizeof line, "%s%s", label, text);
    printf("%*s", INDENT, "");
    tool_print_wrapped(line, INDENT);
}

static void print_part(int p, const struct lab_part_grade *grade, int hints)
{
    const struct lab_part *const part = lab_grade_part(p);
    char points[32];

    snprintf(points, sizeof points, "%.4g/%g", grade->points, grade->most);
    printf("  %-7s%-13s%-19s%6s\n", part->question, part->name,
           lab_mark_words(grade->mark), points);
    if (grade->mark == LAB_MARK_RIGHT)
        return;
    print_more("", grade->error);
    print_more("", grade->evidence);
    const char *const help = graded_help(grade, hints);
    if (help)
        print_more(hints ? "hint: " : "solution: ", help);
}

/* Parts without an answer, in one list. */
static void print_empty(const struct lab_grade *grade)
{
    char list[1200] = "";
    for (int p = 0; p < LAB_GRADE_PARTS; p++) {
        const size_t used = strlen(list);
        if (grade->part[p].mark == LAB_MARK_EMPTY)
            snprintf(list + used, sizeof list - used, "%s%s %s", used ? ", " : "",
                     lab_grade_part(p)->question, lab_grade_part(p)->name);
    }
    if (!*list)
        return;
    printf("  not answered:\n%*s", INDENT, "");
    tool_print_wrapped(list, INDENT);
}

static void print_text(const struct graded *graded, int hints)
{
    char room[300];
    printf("%s: %g of %g points (%s)\n", graded_student(graded, room, sizeof room),
           graded->grade.points, graded->grade.most, graded->path);
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        if (graded->grade.part[p].mark != LAB_MARK_EMPTY)
            print_part(p, &graded->grade.part[p], hints);
    print_empty(&graded->grade);
}

/* ---- CSV ----------------------------------------------------------------------- */

/* A cell that a spreadsheet would take for a formula begins with an apostrophe. */
static void print_csv_cell(const char *text)
{
    const int is_formula = *text && strchr("=+-@\t\r", *text) != NULL;
    if (!is_formula && !strpbrk(text, ",\"\n\r")) {
        fputs(text, stdout);
        return;
    }
    fputs(is_formula ? "\"'" : "\"", stdout);
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

/* Whether part `p` is the first of its question. */
static int is_first(int p)
{
    return p == 0 ||
           strcmp(lab_grade_part(p)->question, lab_grade_part(p - 1)->question) != 0;
}

static void print_csv_head(void)
{
    printf("student,file");
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        if (is_first(p))
            printf(",%s", lab_grade_part(p)->question);
    printf(",total,of\n");
}

static void print_csv(const struct graded *graded)
{
    char room[300];
    double points = 0;
    print_csv_cell(graded_student(graded, room, sizeof room));
    putchar(',');
    print_csv_cell(graded->name);
    for (int p = 0; graded->unread && p < LAB_GRADE_PARTS; p++)
        if (is_first(p))
            putchar(',');
    for (int p = 0; !graded->unread && p < LAB_GRADE_PARTS; p++) {
        points += graded->grade.part[p].points;
        if (p + 1 == LAB_GRADE_PARTS || is_first(p + 1)) {
            printf(",%g", points);
            points = 0;
        }
    }
    printf(",%g,%g\n", graded->grade.points, graded->grade.most);
}

/* ---- JSON ----------------------------------------------------------------------- */

static void put_part(struct lab_json *json, int p, const struct lab_part_grade *grade,
                     int hints)
{
    const char *const help = graded_help(grade, hints);

    lab_json_begin(json, '{');
    lab_json_part(json, p, grade);
    if (help)
        lab_json_put(json, hints ? "hint:s" : "solution:s", help);
    lab_json_end(json, '}');
}

static int print_json(const struct graded *graded, int hints)
{
    const struct lab_grade *const grade = &graded->grade;
    struct lab_json json;
    char room[300];

    tool_open_json(&json);
    lab_json_put(&json, "student:s file:s points:r of:r parts:[",
                 graded_student(graded, room, sizeof room), graded->name, grade->points,
                 grade->most);
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        put_part(&json, p, &grade->part[p], hints);
    lab_json_end(&json, ']');
    return tool_put_json("grade", &json);
}

int grade_print(const struct graded *graded, int count, enum grade_format format,
                int hints)
{
    int status = TOOL_OK, printed = 0;
    if (format == GRADE_RESULTS)
        return grade_print_results(graded, hints);
    if (format == GRADE_SUMMARY)
        return grade_print_summary(graded, count);
    if (count && format == GRADE_CSV)
        print_csv_head();
    for (int g = 0; g < count && !status; g++) {
        if (graded[g].unread && format != GRADE_CSV)
            continue;
        if (format == GRADE_JSON)
            status = print_json(&graded[g], hints);
        else if (format == GRADE_CSV)
            print_csv(&graded[g]);
        else {
            if (printed++)
                putchar('\n');
            print_text(&graded[g], hints);
        }
    }
    return status;
}
