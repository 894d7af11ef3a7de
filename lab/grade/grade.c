/* SPDX-License-Identifier: MIT */
/* An answer, part by part: the verdict, its points, and the numbers that show it. */
#include "lab/grade/grade.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/grade/probing.h"

/* ---- the questions in order ------------------------------------------------------- */

static const struct group {
    const struct lab_part *part;
    int count;
} groups[] = {
    {lab_parts_copy, LAB_PARTS_COPY},   {lab_parts_extract, LAB_PARTS_EXTRACT},
    {lab_parts_pair, LAB_PARTS_PAIR},   {lab_parts_magnitude, LAB_PARTS_MAGNITUDE},
    {lab_parts_heads, LAB_PARTS_HEADS}, {lab_parts_tokens, LAB_PARTS_TOKENS},
};

_Static_assert(LAB_PARTS_COPY + LAB_PARTS_EXTRACT + LAB_PARTS_PAIR + LAB_PARTS_MAGNITUDE +
                       LAB_PARTS_HEADS + LAB_PARTS_TOKENS ==
                   LAB_GRADE_PARTS,
               "every part is counted");

const struct lab_part *lab_grade_part(int part)
{
    const struct group *group = groups;
    for (; part >= group->count; group++)
        part -= group->count;
    return &group->part[part];
}

int lab_grade_find(const char *question, const char *name)
{
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        if (!strcmp(lab_grade_part(p)->question, question) &&
            !strcmp(lab_grade_part(p)->name, name))
            return p;
    return -1;
}

/* ---- marks and points ------------------------------------------------------------- */

const char *lab_mark_name(enum lab_mark mark)
{
    static const char *const names[] = {"right", "limit", "slip", "wrong", "empty"};
    return names[mark];
}

const char *lab_mark_words(enum lab_mark mark)
{
    return mark == LAB_MARK_LIMIT ? "right in the limit" : lab_mark_name(mark);
}

void lab_rubric_default(struct lab_rubric *rubric)
{
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        rubric->points[p] = lab_grade_part(p)->points;
    rubric->limit = 0.5;
    rubric->slip = 0.5;
}

/* FNV-1a of the name, mixed with the seed. */
uint64_t lab_grade_seed(uint64_t seed, const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u ^ (seed * 0x9e3779b97f4a7c15u);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return hash;
}

/* ---- texts ----------------------------------------------------------------------- */

/* The number of a word among "this|that", or -1. */
static int find_choice(const char *choices, const char *word)
{
    const size_t length = strlen(word);
    for (int index = 0;; index++) {
        const size_t here = strcspn(choices, "|");
        if (here == length && !strncmp(choices, word, length))
            return index;
        if (!choices[here])
            return -1;
        choices += here + 1;
    }
}

void lab_grade_letters(int part, char *text, size_t size)
{
    const struct lab_topic *const letters = lab_grade_part(part)->probing->letters;
    struct lab_text names = {text, size, 0};
    *text = 0;
    for (int i = 0; i < letters->count; i++)
        lab_text_add(&names, "%s%s", i ? " " : "", letters->place[i].name);
}

static int is_known(const struct lab_part *part, const char *name)
{
    const struct lab_topic *const letters = part->probing->letters;
    for (int i = 0; i < letters->count; i++)
        if (!strcmp(letters->place[i].name, name))
            return 1;
    return !strcmp(name, "pi") || !strcmp(name, "e") || !strcmp(name, "inf");
}

int lab_grade_check(int part, const char *text, char *why, size_t size)
{
    const struct lab_part *const p = lab_grade_part(part);
    struct lab_expression expression;
    struct lab_expression_error error;

    if (p->choices) {
        if (find_choice(p->choices, text) >= 0)
            return 0;
        snprintf(why, size, "'%.40s' is none of %s", text, p->choices);
        for (char *c = why; *c; c++)
            if ((unsigned char)*c < ' ')
                *c = '?';
        return -1;
    }
    if (lab_expression_parse(text, &expression, &error)) {
        snprintf(why, size, "column %d: %s", error.column, error.text);
        return -1;
    }
    for (int i = 0; i < expression.letters; i++)
        if (!is_known(p, expression.letter[i])) {
            char all[160];
            if (lab_expression_is_function(expression.letter[i])) {
                snprintf(why, size, "%s needs its argument in parentheses",
                         expression.letter[i]);
                return -1;
            }
            lab_grade_letters(part, all, sizeof all);
            snprintf(why, size, "no letter '%s' here, of %s", expression.letter[i], all);
            return -1;
        }
    return 0;
}

static int is_answered(const char *const *text, int texts)
{
    int given = 0;
    for (int k = 0; k < texts; k++)
        given += text[k] && *text[k];
    return given == texts;
}

static void set_texts(struct lab_asked *asked, const char *const *text)
{
    const struct lab_part *const part = asked->part;
    struct lab_expression_error ignored;
    for (int k = 0; k < part->texts; k++)
        if (part->choices)
            asked->choice[k] = find_choice(part->choices, text[k]);
        else
            lab_expression_parse(text[k], &asked->formula[k], &ignored);
}

/* ---- words ------------------------------------------------------------------------ */

static void tell_numbers(const struct lab_asked *asked,
                         const struct lab_probe_result *result, struct lab_text *text)
{
    const struct lab_finding *const found = &result->found;
    if (*found->why) {
        lab_text_add(text, "%s", found->why);
        return;
    }
    if (asked->own_is_given)
        lab_text_add(text, "at your %s, ", asked->own->part->name);
    lab_world_words(asked, &result->worst, text);
    const struct lab_probing *const probing = asked->part->probing;
    const char *const measures = probing->measures;
    if (isnan(found->claimed))
        lab_text_add(text, ": %s %.4g", measures ? measures : "off by", found->computed);
    else
        lab_text_add(text, ": %s %.6g, %s %.6g", measures ? measures : "computed",
                     found->computed, probing->against ? probing->against : "claimed",
                     found->claimed);
}

static void tell_limit(const struct lab_asked *asked,
                       const struct lab_probe_result *result, struct lab_text *text)
{
    const char *const grows = asked->part->probing->grows;
    const unsigned needs = result->limit.needs;
    lab_text_add(text, "; vanishes");
    if (needs & LAB_FREE_EVENT)
        lab_text_add(text, " where gamma > 0");
    if (needs & LAB_FREE_SCALE)
        lab_text_add(text, " as %s grows", grows ? grows : "the scale");
    if (needs & LAB_FREE_ALPHA)
        lab_text_add(text, needs & LAB_FREE_SCALE ? " while alpha |q|^2 -> 0"
                                                  : " as alpha -> 0");
    if (needs & LAB_FREE_EPS)
        lab_text_add(text, " as eps falls and n grows");
    lab_text_add(text, " (%.2g at the end)", result->limit.residual);
}

/* ---- verdicts -----------------------------------------------------------------------
 */

/* Whether a repair makes the claim right, or right in a limit where it is wrong. */
static int try_repairs(const struct lab_asked *asked, struct lab_part_grade *grade,
                       struct lab_text *text)
{
    enum lab_mark mark = grade->mark;
    int status = 0;
    const struct lab_repair *const repair = lab_find_slip(asked, &mark, &status);
    if (!repair)
        return status;
    grade->mark = LAB_MARK_SLIP;
    snprintf(grade->error, sizeof grade->error, "%s", repair->as);
    lab_text_add(text, "; so repaired it is %s", lab_mark_words(mark));
    return 0;
}

/* Whether a claim is wrong of the student's queries only. */
static int blame_queries(const struct lab_asked *asked, struct lab_part_grade *grade)
{
    struct lab_probe_result result;
    struct lab_asked other = *asked, solved;
    if (!asked->own_is_given)
        return 0;
    solved = *asked->own;
    set_texts(&solved, solved.part->solution);
    other.own = &solved;
    if (lab_probe(&other, &result))
        return -1;
    if (result.mark < grade->mark)
        snprintf(grade->error, sizeof grade->error,
                 "of other queries it would be %s: yours do not give it",
                 lab_mark_words(result.mark));
    return 0;
}

static int judge(const struct lab_asked *asked, struct lab_part_grade *grade)
{
    struct lab_probe_result result;
    struct lab_text evidence = {grade->evidence, sizeof grade->evidence, 0};
    struct lab_text *const text = &evidence;

    if (lab_probe(asked, &result))
        return -1;
    grade->mark = result.mark;
    grade->computed = result.found.computed;
    grade->claimed = result.found.claimed;
    if (result.mark == LAB_MARK_RIGHT) {
        lab_text_add(text, "exact in %d worlds", result.probes);
        return text->is_cut ? -1 : 0;
    }
    tell_numbers(asked, &result, text);
    if (try_repairs(asked, grade, text))
        return -1;
    if (grade->mark == LAB_MARK_LIMIT)
        tell_limit(asked, &result, text);
    if (text->is_cut)
        return -1;
    if (grade->mark != LAB_MARK_WRONG &&
        (grade->mark != LAB_MARK_LIMIT || asked->part->approximate))
        return 0;
    if (lab_name_error(asked, &result, grade->error, sizeof grade->error))
        return -1;
    return *grade->error ? 0 : blame_queries(asked, grade);
}

static void set_points(const struct lab_part *part, const struct lab_rubric *rubric,
                       struct lab_part_grade *grade)
{
    const double credit[] = {[LAB_MARK_RIGHT] = 1,
                             [LAB_MARK_LIMIT] = part->approximate ? 1 : rubric->limit,
                             [LAB_MARK_SLIP] = rubric->slip,
                             [LAB_MARK_WRONG] = 0,
                             [LAB_MARK_EMPTY] = 0};
    grade->points = grade->most * credit[grade->mark];
}

/* The part that holds the queries that this one is about, or -1. */
static int own_part(const struct lab_part *part)
{
    if (!strncmp(part->question, "1b-ii", 5))
        return lab_grade_find("1b-ii", "q");
    if (!strncmp(part->question, "1c", 2))
        return lab_grade_find("1c-i", "q");
    if (!strncmp(part->question, "1d", 2))
        return lab_grade_find("1d-i", "queries");
    return -1;
}

static int grade_part(const struct lab_exercise *exercise,
                      const struct lab_answer *answer, int index, struct lab_asked *room,
                      struct lab_part_grade *grade)
{
    struct lab_asked *const asked = &room[0], *const own = &room[1];
    const struct lab_part *const part = lab_grade_part(index);
    const int own_index = own_part(part);

    memset(room, 0, 2 * sizeof *room);
    *asked = (struct lab_asked){.exercise = exercise, .part = part};
    if (!is_answered(answer->text[index], part->texts)) {
        grade->mark = LAB_MARK_EMPTY;
        grade->computed = grade->claimed = NAN;
        return 0;
    }
    set_texts(asked, answer->text[index]);
    if (own_index >= 0) {
        *own =
            (struct lab_asked){.exercise = exercise, .part = lab_grade_part(own_index)};
        asked->own = own;
        asked->own_is_given =
            own_index != index && is_answered(answer->text[own_index], own->part->texts);
        set_texts(own,
                  asked->own_is_given ? answer->text[own_index] : own->part->solution);
    }
    return judge(asked, grade);
}

int lab_grade(const struct lab_answer *answer, const struct lab_rubric *rubric,
              uint64_t seed, struct lab_grade *grade)
{
    struct lab_exercise exercise;
    struct lab_asked *const room = malloc(2 * sizeof *room);
    int status = lab_exercise_open(&exercise) || !room ? -1 : 0;

    memset(grade, 0, sizeof *grade);
    exercise.seed = seed;
    for (int p = 0; p < LAB_GRADE_PARTS && !status; p++) {
        struct lab_part_grade *const here = &grade->part[p];
        here->most = rubric->points[p];
        status = grade_part(&exercise, answer, p, room, here);
        set_points(lab_grade_part(p), rubric, here);
        grade->points += here->points;
        grade->most += here->most;
    }
    lab_exercise_close(&exercise);
    free(room);
    return status;
}
