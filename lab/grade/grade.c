/* SPDX-License-Identifier: MIT */
/* An answer, part by part: the verdict, its points, and the numbers that show it. */
#include "lab/grade/grade.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/grade/probing.h"

/* ---- the questions in order ------------------------------------------------------- */

const struct lab_part *lab_grade_part(int part) { return &lab_parts[part]; }

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
    static const char *const names[] = {"right", "limit",  "slip",  "wrong",
                                        "empty", "partly", "unread"};
    return names[mark];
}

const char *lab_mark_words(enum lab_mark mark)
{
    static const char *const words[] = {
        [LAB_MARK_LIMIT] = "right in the limit",
        [LAB_MARK_EMPTY] = "not answered",
        [LAB_MARK_PARTLY] = "partly right",
        [LAB_MARK_UNREAD] = "not read",
    };
    return words[mark] ? words[mark] : lab_mark_name(mark);
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

/* How many texts of a part are given. */
static int given(const struct lab_answer *answer, int part)
{
    int count = 0;
    for (int k = 0; k < lab_grade_part(part)->texts; k++)
        count += answer->text[part][k] && *answer->text[part][k];
    return count;
}

/* Whether text `k` can be judged; else the reason, after its number in a list. */
static int is_readable(const struct lab_answer *answer, int part, int k,
                       struct lab_text *why)
{
    const char *const text = answer->text[part][k];
    char reason[240] = "it is empty";
    if (text && *text && !lab_grade_check(part, text, reason, sizeof reason))
        return 1;
    if (lab_grade_part(part)->texts > 1)
        lab_text_add(why, "%stext %d: ", *why->text ? "; " : "", k + 1);
    lab_text_add(why, "%.130s", reason);
    return 0;
}

/* The texts that can be judged, as bits; the reasons of the others. */
static unsigned readable(const struct lab_answer *answer, int part, struct lab_text *why)
{
    unsigned bits = 0;
    for (int k = 0; k < lab_grade_part(part)->texts; k++)
        if (is_readable(answer, part, k, why))
            bits |= 1u << k;
    return bits;
}

static int is_whole(unsigned bits, int part)
{
    return bits == (1u << lab_grade_part(part)->texts) - 1;
}

static void set_texts(struct lab_asked *asked, const char *const *text)
{
    const struct lab_part *const part = asked->part;
    struct lab_expression_error ignored;
    for (int k = 0; k < part->texts; k++)
        if (!text[k])
            asked->choice[k] = 0;
        else if (part->choices)
            asked->choice[k] = lab_find_choice(part->choices, text[k]);
        else
            lab_answer_parse(part, text[k], &asked->formula[k], &ignored);
}

/* ---- words ------------------------------------------------------------------------ */

static void add_numbers(const struct lab_asked *asked,
                        const struct lab_probe_result *result, struct lab_text *text)
{
    const struct lab_finding *const found = &result->found;
    if (*found->why) {
        lab_text_add(text, "%s", found->why);
        return;
    }
    lab_world_words(asked, &result->worst, text);
    const struct lab_probing *const probing = asked->part->probing;
    const char *const measures = probing->measures;
    const int is_nan = isnan(found->claimed) && found->error == INFINITY &&
                       !isnan(found->computed) && !measures;
    if (is_nan)
        lab_text_add(text, ": computed %.6g, claimed nan", found->computed);
    else if (isnan(found->claimed))
        lab_text_add(text, ": %s %.4g", measures ? measures : "off by", found->computed);
    else
        lab_text_add(text, ": %s %.6g, %s %.6g", measures ? measures : "computed",
                     found->computed, probing->against ? probing->against : "claimed",
                     found->claimed);
}

/* The error of a query without C, for the numbers of keys that it is judged for. */
static void add_range(const struct lab_probe_result *result, struct lab_text *text)
{
    char most[32] = "no more than rounding";
    if (result->limit.residual > 1e-15)
        snprintf(most, sizeof most, "at most %.2g", result->limit.residual);
    lab_text_add(text, "off by %s for n = 2 to %d, where %g is allowed", most,
                 LAB_CONSTANT_N, LAB_SMALL);
}

/* "as C grows while alpha |q|^2 -> 0, the error falls to 2e-07" */
static void add_limit(const struct lab_asked *asked,
                      const struct lab_probe_result *result, struct lab_text *text)
{
    const char *const grows = asked->part->probing->claim.grows;
    const unsigned needs = result->limit.needs;
    const char *comma = "";
    if (!needs) {
        lab_text_add(text, "a query without C: ");
        add_range(result, text);
        return;
    }
    if (needs & LAB_FREE_EVENT) {
        lab_text_add(text, "where gamma > 0");
        comma = ", ";
    }
    if (needs & LAB_FREE_SCALE)
        lab_text_add(text, "%sas %s grows", comma, grows ? grows : "the scale");
    if (needs & LAB_FREE_ALPHA)
        lab_text_add(
            text, needs & LAB_FREE_SCALE ? " while alpha |q|^2 -> 0" : "%sas alpha -> 0",
            comma);
    if (needs & LAB_FREE_EPS)
        lab_text_add(text, "%sas eps falls and n grows", comma);
    if (needs & ~(unsigned)LAB_FREE_EVENT)
        lab_text_add(text, ", the error falls to %.2g", result->limit.residual);
    else
        lab_text_add(text, ", the error is %.2g", result->limit.residual);
}

/* ---- verdicts --------------------------------------------------------------------- */

/* Whether a repair makes the claim right, or right in a limit where it is wrong. */
static int try_repairs(const struct lab_asked *asked, struct lab_part_grade *grade,
                       enum lab_mark *repaired)
{
    int status = 0;
    *repaired = grade->mark;
    const struct lab_repair *const repair = lab_find_slip(asked, repaired, &status);
    if (!repair)
        return status;
    grade->mark = LAB_MARK_SLIP;
    snprintf(grade->error, sizeof grade->error, "%s", repair->as);
    return 0;
}

/* Whether a claim is right for the solution's queries, and wrong for the student's. */
static int blame_queries(const struct lab_asked *asked, struct lab_part_grade *grade)
{
    struct lab_probe_result result;
    struct lab_asked other = *asked, solved;
    if (!asked->own_is_given)
        return 0;
    solved = *asked->own;
    const struct lab_part *const part = solved.part;
    set_texts(&solved, part->solution);
    other.own = &solved;
    if (lab_probe(&other, &result))
        return -1;
    if (result.mark < grade->mark)
        snprintf(grade->error, sizeof grade->error, "%s for %s%s%s, not for your %s",
                 lab_mark_words(result.mark), part->solution[0],
                 part->texts > 1 ? " and " : "", part->texts > 1 ? part->solution[1] : "",
                 part->name);
    return 0;
}

/* A limit with full marks needs no counterexample. */
static void add_evidence(const struct lab_asked *asked,
                         const struct lab_probe_result *result, enum lab_mark mark,
                         enum lab_mark repaired, struct lab_text *text)
{
    if (mark == LAB_MARK_RIGHT) {
        lab_text_add(text, "exact in %d worlds", result->probes);
        return;
    }
    if (asked->own_is_given && !*result->found.why)
        lab_text_add(text, "at your %s, ", asked->own->part->name);
    if (mark == LAB_MARK_LIMIT) {
        add_limit(asked, result, text);
        if (asked->part->approximate)
            return;
        lab_text_add(text, "; the exact value is asked%s",
                     result->by_rounding ? "" : ": ");
    }
    if (result->by_rounding)
        return;
    add_numbers(asked, result, text);
    if (mark == LAB_MARK_SLIP)
        lab_text_add(text, "; with this repair it is %s", lab_mark_words(repaired));
    if (mark == LAB_MARK_WRONG && lab_is_constant(asked) && !*result->found.why &&
        result->limit.residual < INFINITY) {
        lab_text_add(text, "; without C ");
        add_range(result, text);
    }
}

/* A query that depends on what is drawn. */
static void refuse_draw(const char *draw, struct lab_part_grade *grade,
                        struct lab_text *evidence)
{
    grade->mark = LAB_MARK_WRONG;
    snprintf(grade->error, sizeof grade->error,
             "a query knows the means of the keys, not their draws");
    lab_text_add(evidence, "%s is drawn after the query is fixed", draw);
}

/* All texts together. */
static int judge(const struct lab_asked *asked, struct lab_part_grade *grade,
                 struct lab_text *evidence)
{
    struct lab_probe_result result;
    enum lab_mark repaired = LAB_MARK_RIGHT; /* what is right is not repaired */

    if (lab_probe(asked, &result))
        return -1;
    grade->mark = result.mark;
    grade->computed = result.found.computed;
    grade->claimed = result.found.claimed;
    if (result.mark != LAB_MARK_RIGHT && try_repairs(asked, grade, &repaired))
        return -1;
    add_evidence(asked, &result, grade->mark, repaired, evidence);
    if (grade->mark != LAB_MARK_WRONG &&
        (grade->mark != LAB_MARK_LIMIT || asked->part->approximate || result.by_rounding))
        return 0;
    if (lab_name_error(asked, &result, grade->error, sizeof grade->error))
        return -1;
    return *grade->error ? 0 : blame_queries(asked, grade);
}

/* ---- points -------------------------------------------------------------------------
 */

static double credit(const struct lab_part *part, const struct lab_rubric *rubric,
                     enum lab_mark mark)
{
    switch (mark) {
    case LAB_MARK_RIGHT:
        return 1;
    case LAB_MARK_LIMIT:
        return part->approximate ? 1 : rubric->limit;
    case LAB_MARK_SLIP:
        return rubric->slip;
    default:
        return 0;
    }
}

/* Each text of a list that is wrong, or not read, for its share: 0, or -1. */
static int judge_each(struct lab_asked *asked, unsigned bits,
                      const struct lab_rubric *rubric, struct lab_part_grade *grade,
                      struct lab_text *evidence)
{
    double share = 0;
    for (int k = 0; k < asked->part->texts; k++) {
        struct lab_probe_result result;
        asked->only = k + 1;
        if (!(bits & 1u << k))
            continue;
        if (lab_probe(asked, &result))
            return -1;
        const double here = credit(asked->part, rubric, result.mark);
        if (here > 0)
            lab_text_add(evidence, "; text %d is %s", k + 1, lab_mark_words(result.mark));
        share += here / asked->part->texts;
    }
    asked->only = 0;
    if (share > 0)
        grade->mark = LAB_MARK_PARTLY;
    grade->points = grade->most * share;
    return 0;
}

/* ---- solutions ----------------------------------------------------------------------
 */

/* Whether these texts are right for the queries that the part is about; or -1. */
static int is_solved_by(const struct lab_asked *asked, const char *const *text)
{
    struct lab_asked other = *asked;
    struct lab_probe_result result;
    set_texts(&other, text);
    if (lab_probe(&other, &result))
        return -1;
    return result.mark == LAB_MARK_RIGHT ||
           (result.mark == LAB_MARK_LIMIT && asked->part->approximate);
}

/* The word of a list that is right: 1, 0 where none is, or -1. */
static int find_word(const struct lab_asked *asked, char *word, size_t size)
{
    for (const char *at = asked->part->choices; at && *at;) {
        const size_t length = strcspn(at, "|");
        const char *const text[LAB_GRADE_TEXTS] = {word};
        snprintf(word, size, "%.*s", (int)length, at);
        const int is_right = is_solved_by(asked, text);
        if (is_right)
            return is_right;
        at += length + (at[length] == '|');
    }
    *word = 0;
    return 0;
}

/* Whether the student's queries are those of the solution in every world. */
static int has_solved_queries(const struct lab_asked *asked)
{
    struct lab_asked solved = *asked->own;
    set_texts(&solved, solved.part->solution);
    for (int x = 0; x < LAB_PROBES; x++)
        for (int h = 0; h < solved.part->texts; h++) {
            struct lab_pair_query own, wanted;
            struct lab_finding ignored = {0};
            struct lab_point point;
            lab_probe_world(asked, x, &point);
            if (lab_asked_query(asked->own, h, &point, &own, &ignored) ||
                lab_asked_query(&solved, h, &point, &wanted, &ignored) ||
                !lab_same_number(own.a, wanted.a) || !lab_same_number(own.b, wanted.b) ||
                !lab_same_number(own.rest, wanted.rest))
                return 0;
        }
    return 1;
}

/*
 * The hint, if the student's queries are the solution's.  A solution, where the student's
 * own queries have the one of the part, or a word; none where the part is empty and the
 * queries are others.
 */
static int set_solution(const struct lab_asked *asked, struct lab_part_grade *grade)
{
    const struct lab_part *const part = asked->part;
    char *const solution = grade->solution;
    const size_t size = sizeof grade->solution;
    struct lab_text text = {solution, size, 0};
    const int is_same = !asked->own_is_given || has_solved_queries(asked);
    grade->hint = is_same ? part->hint : NULL;
    if (!is_same && grade->mark == LAB_MARK_EMPTY)
        return 0;
    const int applies = is_same ? 1 : is_solved_by(asked, part->solution);

    for (int k = 0; applies > 0 && k < part->texts; k++)
        lab_text_add(&text, "%s%s", k ? "; " : "", part->solution[k]);
    if (!applies && part->texts == 1 && part->choices)
        return find_word(asked, solution, size) < 0 ? -1 : 0;
    return applies < 0 ? -1 : 0;
}

/* ---- parts ------------------------------------------------------------------------ */

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

/* The queries that a part is about: the student's where they can be read. */
static int open_own(const struct lab_answer *answer, int index, struct lab_asked *asked,
                    struct lab_asked *own)
{
    const int own_index = own_part(asked->part);
    char ignored[480] = "";
    struct lab_text why = {ignored, sizeof ignored, 0};

    if (own_index < 0)
        return 0;
    *own = (struct lab_asked){.exercise = asked->exercise,
                              .part = lab_grade_part(own_index)};
    asked->own = own;
    asked->own_is_given = own_index != index && given(answer, own_index) > 0 &&
                          is_whole(readable(answer, own_index, &why), own_index);
    set_texts(own, asked->own_is_given ? answer->text[own_index] : own->part->solution);
    if (lab_draw_in(own)) {
        asked->own_is_given = 0;
        set_texts(own, own->part->solution);
    }
    return lab_asked_open(own);
}

/* Verdict of a part: texts given, texts that can be read, texts that are right. */
static int judge_part(const struct lab_answer *answer, int index, struct lab_asked *asked,
                      const struct lab_rubric *rubric, struct lab_part_grade *grade)
{
    const struct lab_part *const part = asked->part;
    struct lab_text evidence = {grade->evidence, sizeof grade->evidence, 0};
    const char *text[LAB_GRADE_TEXTS] = {NULL};
    unsigned bits = 0;
    int status = 0;

    grade->computed = grade->claimed = NAN;
    grade->mark = LAB_MARK_UNREAD;
    if (answer->problem[index])
        lab_text_add(&evidence, "%.400s", answer->problem[index]);
    else if (!given(answer, index))
        grade->mark = LAB_MARK_EMPTY;
    else
        bits = readable(answer, index, &evidence);
    for (int k = 0; k < part->texts; k++)
        text[k] = bits & 1u << k ? answer->text[index][k] : NULL;
    set_texts(asked, text);
    const char *const draw = is_whole(bits, index) ? lab_draw_in(asked) : NULL;
    if (draw)
        refuse_draw(draw, grade, &evidence);
    else if (is_whole(bits, index)) {
        status = judge(asked, grade, &evidence);
        grade->points = grade->most * credit(part, rubric, grade->mark);
    }
    const int is_list = part->texts > 1 && !part->probing->query && bits;
    if (!status && is_list &&
        (grade->mark == LAB_MARK_WRONG || grade->mark == LAB_MARK_UNREAD))
        status = judge_each(asked, bits, rubric, grade, &evidence);
    return status || evidence.is_cut ? -1 : 0;
}

static int grade_part(const struct lab_exercise *exercise,
                      const struct lab_answer *answer, int index,
                      const struct lab_rubric *rubric, struct lab_asked *room,
                      struct lab_part_grade *grade)
{
    struct lab_asked *const asked = &room[0], *const own = &room[1];

    *asked = (struct lab_asked){.exercise = exercise, .part = lab_grade_part(index)};
    grade->most = rubric->points[index];
    int status = lab_asked_open(asked) || open_own(answer, index, asked, own) ? -1 : 0;
    if (!status)
        status = judge_part(answer, index, asked, rubric, grade);
    if (!status && grade->points < grade->most)
        status = set_solution(asked, grade);
    return status;
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
        memset(room, 0, 2 * sizeof *room);
        status = grade_part(&exercise, answer, p, rubric, room, &grade->part[p]);
        free(room[0].claim);
        free(room[1].claim);
        grade->points += grade->part[p].points;
        grade->most += grade->part[p].most;
    }
    lab_exercise_close(&exercise);
    free(room);
    return status;
}
