/* SPDX-License-Identifier: MIT */
/* Grades as text, as CSV and as JSON. */
#include <stdio.h>
#include <string.h>

#include "grade_tool.h"
#include "lab/door/objects.h"
#include "lab/grade/courses.h"
#include "shared/json_line.h"

const char *graded_student(const struct graded_class *all, int g, char room[GRADED_NAME])
{
    const struct graded *const graded = &all->graded[g];
    if (all->is_anonymous) {
        snprintf(room, GRADED_NAME, "answer %d", g + 1);
        return room;
    }
    if (graded->student)
        return graded->student;
    if (*graded->form.student)
        return graded->form.student;
    snprintf(room, GRADED_NAME, "%s", graded->name);
    char *const end = strstr(room, ".json");
    if (end && !strcmp(end, ".json"))
        *end = 0;
    return room;
}

const char *graded_file(const struct graded_class *all, int g)
{
    return all->is_anonymous ? "" : all->graded[g].name;
}

/* ---- text ------------------------------------------------------------------------ */

enum { INDENT = 10 };

static void write_more(FILE *out, const char *label, const char *text)
{
    char line[800];
    if (!*text)
        return;
    snprintf(line, sizeof line, "%s%s", label, text);
    fprintf(out, "%*s", INDENT, "");
    tool_write_wrapped(out, line, INDENT);
}

static void write_part(FILE *out, const char *number, int p,
                       const struct lab_part_grade *grade, int hints)
{
    char points[32];

    snprintf(points, sizeof points, "%.4g/%g", grade->points, grade->most);
    fprintf(out, "  %-7s%-13s%-19s%6s\n", number, lab_grade_part(p)->name,
            lab_mark_words(grade->mark), points);
    if (grade->mark == LAB_MARK_RIGHT)
        return;
    write_more(out, "", grade->error);
    write_more(out, "", grade->evidence);
    const char *const help = graded_help(grade, hints);
    if (help)
        write_more(out, hints ? "hint: " : "solution: ", help);
}

/* Appends "; 1(e) the summary in words" to a list. */
static void append(char list[1600], const char *comma, const char *number,
                   const char *words)
{
    const size_t used = strlen(list);
    snprintf(list + used, 1600 - used, "%s%s %s", used ? comma : "", number, words);
}

static void write_list(FILE *out, const char *title, const char *list)
{
    if (!*list)
        return;
    fprintf(out, "  %s:\n%*s", title, INDENT, "");
    tool_write_wrapped(out, list, INDENT);
}

void grade_write_text(FILE *out, const struct graded_class *all, int g)
{
    const struct graded *const graded = &all->graded[g];
    char room[GRADED_NAME], empty[1600] = "", person[1600] = "";

    fprintf(out, "%s: ", graded_student(all, g, room));
    if (graded->unread) {
        fprintf(out, "no grade: %s\n", graded->why);
        return;
    }
    fprintf(out, "%g of %g points", graded->grade.points, graded->grade.most);
    fprintf(out, all->is_anonymous ? "\n" : " (%s)\n", graded->path);
    for (int q = 0; q < all->scheme->questions; q++) {
        const struct lab_scheme_question *const question = &all->scheme->question[q];
        for (int k = 0; k < question->parts; k++) {
            const int p = question->part[k];
            if (graded->grade.part[p].mark == LAB_MARK_EMPTY)
                append(empty, ", ", question->number, lab_grade_part(p)->name);
            else
                write_part(out, question->number, p, &graded->grade.part[p], all->hints);
        }
        if (question->person)
            append(person, "; ", question->number, question->person);
    }
    write_list(out, "not answered", empty);
    write_list(out, "for a person", person);
}

/* ---- CSV ----------------------------------------------------------------------- */

/* A cell that a spreadsheet would take for a formula begins with an apostrophe; one with
 * a separator of another spreadsheet is quoted. */
static void print_csv_cell(const char *text)
{
    const int is_formula = *text && strchr("=+-@\t\r", *text) != NULL;
    if (!is_formula && !strpbrk(text, ",;\t\"\n\r")) {
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

static void print_csv_head(const struct graded_class *all)
{
    printf(all->has_ids && !all->is_anonymous ? "id,student,file" : "student,file");
    for (int q = 0; q < all->scheme->questions; q++)
        if (all->scheme->question[q].parts)
            printf(",%s", all->scheme->question[q].number);
    printf(",total,of\n");
}

static void print_csv(const struct graded_class *all, int g)
{
    const struct graded *const graded = &all->graded[g];
    char room[GRADED_NAME];
    if (all->has_ids && !all->is_anonymous) {
        print_csv_cell(graded->id ? graded->id : "");
        putchar(',');
    }
    print_csv_cell(graded_student(all, g, room));
    putchar(',');
    print_csv_cell(graded_file(all, g));
    for (int q = 0; q < all->scheme->questions; q++) {
        const struct lab_scheme_question *const question = &all->scheme->question[q];
        double points = 0;
        for (int k = 0; k < question->parts; k++)
            points += graded->grade.part[question->part[k]].points;
        if (question->parts)
            putchar(',');
        if (question->parts && !graded->unread)
            printf("%g", points);
    }
    printf(",%g,%g\n", graded->grade.points, graded->grade.most);
}

/* ---- JSON ----------------------------------------------------------------------- */

static void put_part(struct lab_json *json, const struct graded_class *all,
                     const char *number, int p, const struct lab_part_grade *grade)
{
    const char *const help = graded_help(grade, all->hints);

    lab_json_begin(json, '{');
    lab_json_part(json, p, grade);
    if (all->scheme->name)
        lab_json_put(json, "number:s", number);
    if (help)
        lab_json_put(json, all->hints ? "hint:s" : "solution:s", help);
    lab_json_end(json, '}');
}

static int print_json(const struct graded_class *all, int g)
{
    const struct graded *const graded = &all->graded[g];
    const struct lab_grade *const grade = &graded->grade;
    struct lab_json json;
    char room[GRADED_NAME];

    tool_open_json(&json);
    if (all->has_ids && !all->is_anonymous)
        lab_json_put(&json, "id:s", graded->id);
    lab_json_put(&json, "student:s file:s points:r of:r parts:[",
                 graded_student(all, g, room), graded_file(all, g), grade->points,
                 grade->most);
    for (int q = 0; q < all->scheme->questions; q++) {
        const struct lab_scheme_question *const question = &all->scheme->question[q];
        for (int k = 0; k < question->parts; k++)
            put_part(&json, all, question->number, question->part[k],
                     &grade->part[question->part[k]]);
    }
    lab_json_end(&json, ']');
    return tool_put_json("grade", &json);
}

int grade_print(const struct graded_class *all, enum grade_format format)
{
    int status = TOOL_OK, printed = 0;
    if (format == GRADE_SUMMARY)
        return grade_print_summary(all);
    if (all->count && format == GRADE_CSV)
        print_csv_head(all);
    for (int g = 0; g < all->count && !status; g++) {
        if (format == GRADE_CSV)
            print_csv(all, g);
        else if (all->graded[g].unread)
            continue;
        else if (format == GRADE_JSON)
            status = print_json(all, g);
        else {
            if (printed++)
                putchar('\n');
            grade_write_text(stdout, all, g);
        }
    }
    return status;
}
