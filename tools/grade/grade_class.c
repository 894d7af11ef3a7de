/* SPDX-License-Identifier: MIT */
/* Output for a course: one student's results for Gradescope, the class as a table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grade/grade_tool.h"
#include "shared/json_line.h"

/* ---- Gradescope ------------------------------------------------------------------- */

/* Verdict, error, evidence, and hint or solution, a line each. */
static void put_output(struct lab_json *json, const struct lab_part_grade *grade,
                       int hints)
{
    const char *const help = graded_help(grade, hints);
    const int has_help = help != NULL;
    char text[1400];

    snprintf(text, sizeof text, "%s%s%s%s%s%s%s%s", lab_mark_words(grade->mark),
             *grade->error ? "\n" : "", grade->error, *grade->evidence ? "\n" : "",
             grade->evidence, has_help ? "\n" : "",
             !has_help ? ""
             : hints   ? "hint: "
                       : "solution: ",
             has_help ? help : "");
    lab_json_put(json, "output:s", text);
}

static void put_test(struct lab_json *json, int p, const struct lab_part_grade *grade,
                     int hints)
{
    const struct lab_part *const part = lab_grade_part(p);
    char name[80];

    snprintf(name, sizeof name, "%s %s", part->question, part->name);
    lab_json_begin(json, '{');
    lab_json_put(json, "name:s number:s score:r max_score:r visibility:s", name,
                 part->question, grade->points, grade->most, "visible");
    put_output(json, grade, hints);
    lab_json_end(json, '}');
}

int grade_print_results(const struct graded *graded, int hints)
{
    struct lab_json json;

    tool_open_json(&json);
    if (graded->unread)
        lab_json_put(&json, "score:r output:s", 0.0, graded->why);
    lab_json_put(&json, "tests:[");
    for (int p = 0; p < LAB_GRADE_PARTS && !graded->unread; p++)
        put_test(&json, p, &graded->grade.part[p], hints);
    lab_json_end(&json, ']');
    return tool_put_json("grade", &json);
}

/* ---- the class -------------------------------------------------------------------- */

/* One part over all students. */
struct tally {
    int answered, right;
    double points, of;
};

static struct tally add_up(const struct graded *graded, int count, int p)
{
    struct tally tally = {0};
    for (int g = 0; g < count; g++) {
        const struct lab_part_grade *const part = &graded[g].grade.part[p];
        if (graded[g].unread)
            continue;
        tally.answered += part->mark != LAB_MARK_EMPTY;
        tally.right += part->most > 0 && part->points >= part->most;
        tally.points += part->points;
        tally.of += part->most;
    }
    return tally;
}

/* Share of the points in percent; of a part without points 0. */
static double share(const struct tally *tally)
{
    return tally->of > 0 ? 100 * tally->points / tally->of : 0;
}

static void print_parts(const struct graded *graded, int count)
{
    printf("\n  %-21s%9s%7s%9s\n", "part", "answered", "right", "points");
    for (int p = 0; p < LAB_GRADE_PARTS; p++) {
        const struct lab_part *const part = lab_grade_part(p);
        const struct tally tally = add_up(graded, count, p);
        printf("  %-7s%-14s%9d%7d%7.0f %%\n", part->question, part->name, tally.answered,
               tally.right, share(&tally));
    }
}

/* A named error of a part, and how many made it. */
struct error {
    int part, count;
    const char *name;
};

static int add_error(struct error *errors, int used, int part, const char *name)
{
    for (int e = 0; e < used; e++)
        if (errors[e].part == part && !strcmp(errors[e].name, name)) {
            errors[e].count++;
            return used;
        }
    errors[used] = (struct error){part, 1, name};
    return used + 1;
}

/* The most frequent first, then in the order of the parts. */
static int by_count(const void *a, const void *b)
{
    const struct error *const x = a, *const y = b;
    if (x->count != y->count)
        return y->count - x->count;
    return x->part != y->part ? x->part - y->part : strcmp(x->name, y->name);
}

static int print_errors(const struct graded *graded, int count)
{
    struct error *const errors =
        malloc((size_t)count * LAB_GRADE_PARTS * sizeof *errors + 1);
    int used = 0;

    if (!errors)
        return tool_fail("grade", TOOL_FAILED, "out of memory");
    for (int g = 0; g < count; g++)
        for (int p = 0; p < LAB_GRADE_PARTS && !graded[g].unread; p++)
            if (*graded[g].grade.part[p].error)
                used = add_error(errors, used, p, graded[g].grade.part[p].error);
    qsort(errors, (size_t)used, sizeof *errors, by_count);
    puts(used ? "\n  errors, and how many made them" : "");
    for (int e = 0; e < used; e++) {
        const struct lab_part *const part = lab_grade_part(errors[e].part);
        char line[300];
        snprintf(line, sizeof line, "%s %s: %s", part->question, part->name,
                 errors[e].name);
        printf("  %5d  ", errors[e].count);
        tool_print_wrapped(line, 9);
    }
    free(errors);
    return TOOL_OK;
}

int grade_print_summary(const struct graded *graded, int count)
{
    double points = 0, most = 0;
    int read = 0;

    for (int g = 0; g < count; g++) {
        read += !graded[g].unread;
        points += graded[g].unread ? 0 : graded[g].grade.points;
        most = graded[g].grade.most;
    }
    printf("%d answers", read);
    if (read < count)
        printf(", %d files that are not forms", count - read);
    printf("; %.4g of %g points on average\n", read ? points / read : 0, most);
    print_parts(graded, count);
    return print_errors(graded, count);
}
