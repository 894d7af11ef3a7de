/* SPDX-License-Identifier: MIT */
/* A class: its parts, its named errors, and both as a table. */
#include <stdlib.h>
#include <string.h>

#include "grade_tool.h"
#include "lab/grade/courses.h"

struct tally graded_tally(const struct graded_class *all, int part)
{
    struct tally tally = {0};
    for (int g = 0; g < all->count; g++) {
        const struct lab_part_grade *const one = &all->graded[g].grade.part[part];
        if (all->graded[g].unread)
            continue;
        tally.answered += one->mark != LAB_MARK_EMPTY;
        tally.unread += one->mark == LAB_MARK_UNREAD;
        tally.right += one->most > 0 && one->points >= one->most;
        tally.points += one->points;
        tally.of += one->most;
    }
    return tally;
}

double tally_share(const struct tally *tally)
{
    return tally->of > 0 ? 100 * tally->points / tally->of : 0;
}

static void add_error(struct named_list *errors, int part, int first, const char *name)
{
    for (int e = 0; e < errors->count; e++)
        if (errors->list[e].part == part && !strcmp(errors->list[e].name, name)) {
            errors->list[e].count++;
            return;
        }
    errors->list[errors->count++] = (struct named){part, 1, first, name};
}

/* The most frequent first, then in the order of the parts. */
static int by_count(const void *a, const void *b)
{
    const struct named *const x = a, *const y = b;
    if (x->count != y->count)
        return y->count - x->count;
    return x->part != y->part ? x->part - y->part : strcmp(x->name, y->name);
}

int graded_errors(const struct graded_class *all, struct named_list *errors)
{
    *errors = (struct named_list){NULL, 0};
    errors->list =
        malloc((size_t)all->count * LAB_GRADE_PARTS * sizeof *errors->list + 1);
    if (!errors->list)
        return -1;
    for (int g = 0; g < all->count; g++)
        for (int p = 0; p < LAB_GRADE_PARTS && !all->graded[g].unread; p++)
            if (*all->graded[g].grade.part[p].error && lab_scheme_number(all->scheme, p))
                add_error(errors, p, g, all->graded[g].grade.part[p].error);
    qsort(errors->list, (size_t)errors->count, sizeof *errors->list, by_count);
    return 0;
}

static void print_parts(const struct graded_class *all)
{
    printf("\n  %-21s%9s%7s%9s\n", "part", "answered", "right", "points");
    for (int q = 0; q < all->scheme->questions; q++) {
        const struct lab_scheme_question *const question = &all->scheme->question[q];
        for (int k = 0; k < question->parts; k++) {
            const struct tally tally = graded_tally(all, question->part[k]);
            printf("  %-7s%-14s%9d%7d%7.0f %%\n", question->number,
                   lab_grade_part(question->part[k])->name, tally.answered, tally.right,
                   tally_share(&tally));
        }
    }
}

static void print_errors(const struct graded_class *all, const struct named_list *errors)
{
    puts(errors->count ? "\n  errors, and how many made them" : "");
    for (int e = 0; e < errors->count; e++) {
        const struct named *const error = &errors->list[e];
        char line[300];
        snprintf(line, sizeof line, "%s %s: %s",
                 lab_scheme_number(all->scheme, error->part),
                 lab_grade_part(error->part)->name, error->name);
        printf("  %5d  ", error->count);
        tool_print_wrapped(line, 9);
    }
}

int grade_print_summary(const struct graded_class *all)
{
    struct named_list errors;
    double points = 0, most = 0;
    int read = 0;

    if (graded_errors(all, &errors))
        return tool_fail("grade", TOOL_FAILED, "out of memory");
    for (int g = 0; g < all->count; g++) {
        const struct graded *const graded = &all->graded[g];
        read += !graded->unread;
        points += graded->unread ? 0 : graded->grade.points;
        most = graded->grade.most;
    }
    printf("%d answers", read);
    if (read < all->count)
        printf(", %d without a form that can be read", all->count - read);
    printf("; %.4g of %g points on average\n", read ? points / read : 0, most);
    print_parts(all);
    print_errors(all, &errors);
    free(errors.list);
    return TOOL_OK;
}
