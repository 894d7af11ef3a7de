/* SPDX-License-Identifier: MIT */
/* The class as a page. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "grade_tool.h"
#include "lab/figures/text.h"
#include "lab/grade/courses.h"
#include "lab/report/styles.h"
#include "shared/text_file.h"

enum { HARDEST = 5, BINS = 10, ANSWER = 1000, NAMES = 12 };

static const char own_style[] =
    "main{max-width:62rem;margin:0 auto;padding:1.5rem 1rem 4rem}"
    "h2{margin-top:2.2rem}"
    "table{border-collapse:collapse;width:100%;background:var(--card);"
    "font-variant-numeric:tabular-nums}"
    "th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--rule);"
    "vertical-align:top}"
    "td.n,th.n{text-align:right;white-space:nowrap}"
    ".bar{display:block;height:.75rem;min-width:6rem;background:var(--rule);"
    "border-radius:.2rem;margin-top:.4rem}"
    ".bar i{display:block;height:100%;background:var(--holds);border-radius:.2rem}"
    ".low .bar i{background:var(--fails)}"
    ".wide{overflow-x:auto}";

/* What the page is made of. */
struct page {
    const struct graded_class *all;
    FILE *out;
    int read;
    double points, most;
};

/* ---- the class in numbers ------------------------------------------------------------
 */

static struct page open_page(const struct graded_class *all, FILE *out)
{
    struct page page = {.all = all, .out = out};
    for (int g = 0; g < all->count; g++) {
        page.most = all->graded[g].grade.most;
        if (all->graded[g].unread)
            continue;
        page.read++;
        page.points += all->graded[g].grade.points;
    }
    return page;
}

static int by_points(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of the points: 0, or -1 without memory. */
static int find_median(const struct page *page, double *median)
{
    double *const points = malloc((size_t)page->read * sizeof *points + 1);
    int used = 0;

    *median = 0;
    if (!points)
        return -1;
    for (int g = 0; g < page->all->count; g++)
        if (!page->all->graded[g].unread)
            points[used++] = page->all->graded[g].grade.points;
    qsort(points, (size_t)used, sizeof *points, by_points);
    if (used)
        *median = (points[used / 2] + points[(used - 1) / 2]) / 2;
    free(points);
    return 0;
}

static void write_bar(FILE *out, double percent)
{
    lab_html(out, "<span class=\"bar\"><i style=\"width:{.1f}%\"></i></span>", percent);
}

static void write_tiles(const struct page *page, double median)
{
    const int missing = page->all->count - page->read;
    lab_html(page->out,
             "<ul class=\"tiles\">\n<li><b>{d}</b><span>answers</span></li>\n"
             "<li><b>{d}</b><span>without a form that can be read</span></li>\n"
             "<li><b>{.3g} of {.4g}</b><span>points on average</span></li>\n"
             "<li><b>{.3g}</b><span>median</span></li>\n</ul>\n",
             page->read, missing, page->read ? page->points / page->read : 0, page->most,
             median);
}

/* Students by tenths of the points. */
static void write_distribution(const struct page *page)
{
    int bin[BINS] = {0}, most = 1;
    for (int g = 0; g < page->all->count; g++) {
        const struct graded *const graded = &page->all->graded[g];
        if (graded->unread || graded->grade.most <= 0)
            continue;
        int b = (int)(BINS * graded->grade.points / graded->grade.most);
        b = b < BINS ? b : BINS - 1;
        most = ++bin[b] > most ? bin[b] : most;
    }
    lab_html(page->out, "<h2>Points</h2>\n<table>\n<tr><th>share of the points</th>"
                        "<th class=\"n\">students</th><th></th></tr>\n");
    for (int b = BINS - 1; b >= 0; b--) {
        lab_html(page->out, "<tr><td>{d} to {d} %</td><td class=\"n\">{d}</td><td>",
                 100 * b / BINS, 100 * (b + 1) / BINS, bin[b]);
        write_bar(page->out, 100.0 * bin[b] / most);
        lab_html(page->out, "</td></tr>\n");
    }
    lab_html(page->out, "</table>\n");
}

/* ---- parts ------------------------------------------------------------------------- */

static void write_part_row(const struct page *page, int part)
{
    const struct tally tally = graded_tally(page->all, part);
    const double share = tally_share(&tally);
    lab_html(page->out,
             "<tr{s}><td>{h} <b>{h}</b><br><span class=\"soft small\">{h}</span></td>"
             "<td class=\"n\">{d}</td><td class=\"n\">{d}</td>"
             "<td class=\"n\">{d} ({.0f} %)</td><td class=\"n\">{.0f} %</td><td>",
             share < 50 ? " class=\"low\"" : "",
             lab_scheme_number(page->all->scheme, part), lab_grade_part(part)->name,
             lab_grade_part(part)->asks, tally.answered, tally.unread, tally.right,
             page->read ? 100.0 * tally.right / page->read : 0, share);
    write_bar(page->out, share);
    lab_html(page->out, "</td></tr>\n");
}

static void write_part_head(const struct page *page)
{
    lab_html(page->out,
             "<div class=\"wide\"><table>\n<tr><th>part</th><th class=\"n\">answered</th>"
             "<th class=\"n\">not read</th><th class=\"n\">full marks</th>"
             "<th class=\"n\">points</th><th></th></tr>\n");
}

static void write_parts(const struct page *page)
{
    const struct lab_scheme *const scheme = page->all->scheme;
    lab_html(page->out, "<h2>Parts</h2>\n");
    write_part_head(page);
    for (int q = 0; q < scheme->questions; q++)
        for (int k = 0; k < scheme->question[q].parts; k++)
            write_part_row(page, scheme->question[q].part[k]);
    lab_html(page->out, "</table></div>\n");
}

/* The part of the smallest share that is not among those of `done`; -1: none. */
static int next_hardest(const struct page *page, const int *done, int count)
{
    int hardest = -1;
    double least = 0;
    for (int p = 0; p < LAB_GRADE_PARTS; p++) {
        const struct tally tally = graded_tally(page->all, p);
        int is_done =
            !lab_scheme_number(page->all->scheme, p) || tally.of <= 0 || !tally.answered;
        for (int d = 0; d < count; d++)
            is_done |= done[d] == p;
        if (is_done || (hardest >= 0 && tally_share(&tally) >= least))
            continue;
        hardest = p;
        least = tally_share(&tally);
    }
    return hardest;
}

static void write_hardest(const struct page *page)
{
    int done[HARDEST];
    lab_html(page->out, "<h2>Hardest parts</h2>\n");
    write_part_head(page);
    for (int d = 0; d < HARDEST; d++) {
        done[d] = next_hardest(page, done, d);
        if (done[d] < 0)
            break;
        write_part_row(page, done[d]);
    }
    lab_html(page->out, "</table></div>\n");
}

/* ---- errors and equal answers -------------------------------------------------------
 */

static void write_errors(const struct page *page, const struct named_list *errors)
{
    lab_html(page->out, "<h2>Errors by name</h2>\n");
    if (!errors->count)
        lab_html(page->out, "<p>None.</p>\n");
    else
        lab_html(page->out, "<div class=\"wide\"><table>\n<tr><th class=\"n\">students"
                            "</th><th>part</th><th>error</th></tr>\n");
    for (int e = 0; e < errors->count; e++)
        lab_html(page->out,
                 "<tr><td class=\"n\">{d}</td><td>{h} {h}</td><td>{h}</td></tr>\n",
                 errors->list[e].count,
                 lab_scheme_number(page->all->scheme, errors->list[e].part),
                 lab_grade_part(errors->list[e].part)->name, errors->list[e].name);
    if (errors->count)
        lab_html(page->out, "</table></div>\n");
}

/* The texts of a part in one, with or without their blanks. */
static void join_texts(const struct graded *graded, int part, int blanks,
                       char text[ANSWER])
{
    size_t used = 0;
    for (int k = 0; k < lab_grade_part(part)->texts; k++) {
        const char *at = graded->form.answer.text[part][k];
        for (const char *c = k ? "; " : ""; *c && used + 1 < ANSWER; c++)
            text[used++] = *c;
        for (; at && *at && used + 1 < ANSWER; at++)
            if (blanks || !isspace((unsigned char)*at))
                text[used++] = *at;
    }
    text[used] = 0;
}

/* Whether an answer is a formula without full marks. */
static int is_wrong_formula(const struct graded *graded, int part)
{
    const struct lab_part_grade *const grade = &graded->grade.part[part];
    return !graded->unread && !lab_grade_part(part)->choices &&
           grade->mark != LAB_MARK_EMPTY && grade->points < grade->most;
}

/* The answers to a part that are equal to that of `first`, in the order of the class:
 * their number, 0 where `first` is not the first of them. */
static int find_equal(const struct page *page, int part, int first, int *equal)
{
    const struct graded *const graded = page->all->graded;
    char own[ANSWER], other[ANSWER];
    int count = 0;

    join_texts(&graded[first], part, 0, own);
    for (int g = 0; g < page->all->count; g++) {
        if (!is_wrong_formula(&graded[g], part))
            continue;
        join_texts(&graded[g], part, 0, other);
        if (strcmp(own, other) != 0)
            continue;
        if (g < first)
            return 0;
        equal[count++] = g;
    }
    return count;
}

static void write_group(const struct page *page, int part, const int *equal, int count)
{
    char text[ANSWER], room[GRADED_NAME];

    join_texts(&page->all->graded[equal[0]], part, 1, text);
    lab_html(page->out,
             "<tr><td class=\"n\">{d}</td><td>{h} {h}</td><td><code>{h}</code></td><td>",
             count, lab_scheme_number(page->all->scheme, part),
             lab_grade_part(part)->name, text);
    for (int x = 0; x < count && x < NAMES; x++)
        lab_html(page->out, "{s}{h}", x ? ", " : "",
                 graded_student(page->all, equal[x], room));
    if (count > NAMES)
        lab_html(page->out, " and {d} more", count - NAMES);
    lab_html(page->out, "</td></tr>\n");
}

static void write_groups(const struct page *page, int *equal)
{
    int groups = 0;
    lab_html(page->out, "<h2>Equal formulas without full marks</h2>\n");
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        for (int g = 0; lab_scheme_number(page->all->scheme, p) && g < page->all->count;
             g++) {
            if (!is_wrong_formula(&page->all->graded[g], p))
                continue;
            const int count = find_equal(page, p, g, equal);
            if (count < 2)
                continue;
            if (!groups++)
                lab_html(page->out,
                         "<div class=\"wide\"><table>\n<tr><th class=\"n\">students</th>"
                         "<th>part</th><th>answer</th><th>of</th></tr>\n");
            write_group(page, p, equal, count);
        }
    lab_html(page->out, groups ? "</table></div>\n" : "<p>None.</p>\n");
}

/* ---- what a person has to read -------------------------------------------------------
 */

static void write_unread(const struct page *page, const char *student, const char *part,
                         const char *text, const char *why, int *rows)
{
    if (!(*rows)++)
        lab_html(page->out,
                 "<div class=\"wide\"><table>\n<tr><th>student</th><th>part</th>"
                 "<th>answer</th><th>not read, because</th></tr>\n");
    lab_html(page->out,
             "<tr><td>{h}</td><td>{h}</td><td><code>{h}</code></td><td>{h}</td></tr>\n",
             student, part, text, why);
}

/* The file, or the parts, of an answer that cannot be read. */
static void write_unread_of(const struct page *page, int g, int *rows)
{
    const struct graded *const graded = &page->all->graded[g];
    char text[ANSWER], room[GRADED_NAME], name[80];
    const char *const student = graded_student(page->all, g, room);

    if (graded->unread)
        write_unread(page, student, "all", "", graded->why, rows);
    for (int p = 0; p < LAB_GRADE_PARTS && !graded->unread; p++) {
        const char *const number = lab_scheme_number(page->all->scheme, p);
        if (graded->grade.part[p].mark != LAB_MARK_UNREAD || !number)
            continue;
        snprintf(name, sizeof name, "%s %s", number, lab_grade_part(p)->name);
        join_texts(graded, p, 1, text);
        write_unread(page, student, name, text, graded->grade.part[p].evidence, rows);
    }
}

static void write_person(const struct page *page)
{
    const struct lab_scheme *const scheme = page->all->scheme;
    int rows = 0;
    lab_html(page->out, "<h2>For a person</h2>\n");
    for (int q = 0; q < scheme->questions; q++)
        if (scheme->question[q].person)
            lab_html(page->out, "<p><b>{h}</b> {h}</p>\n", scheme->question[q].number,
                     scheme->question[q].person);
    for (int g = 0; g < page->all->count; g++)
        write_unread_of(page, g, &rows);
    lab_html(page->out, rows ? "</table></div>\n" : "<p>Every answer was read.</p>\n");
}

static void write_page(const struct page *page, const struct named_list *errors,
                       double median, int *equal)
{
    const char *const course = page->all->scheme->name;
    lab_html(page->out,
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<title>A class in attention</title>\n<style>\n{s}\n{s}\n</style>\n</head>\n"
             "<body>\n<main>\n<h1>The class{s}{h}</h1>\n",
             lab_shared_style, own_style, course ? ", course " : "",
             course ? course : "");
    write_tiles(page, median);
    write_hardest(page);
    write_errors(page, errors);
    write_person(page);
    write_groups(page, equal);
    write_parts(page);
    write_distribution(page);
    lab_html(page->out, "</main>\n</body>\n</html>\n");
}

int grade_write_report(const struct graded_class *all, const char *path)
{
    struct named_list errors;
    double median = 0;
    tool_text file;
    int status = tool_text_open("grade", "--report", path, &file);

    if (status)
        return status;
    const struct page page = open_page(all, file.stream);
    int *const equal = malloc((size_t)all->count * sizeof *equal + 1);
    if (graded_errors(all, &errors) || find_median(&page, &median) || !equal)
        status = tool_fail("grade", TOOL_FAILED, "out of memory");
    else {
        write_page(&page, &errors, median, equal);
        status = tool_text_commit("grade", &file);
    }
    free(equal);
    free(errors.list);
    tool_text_discard(&file);
    return status;
}
