/* SPDX-License-Identifier: MIT */
#include "lab/grade/courses.h"

#include <stdio.h>
#include <string.h>

const char lab_course_names[] = "w21|w22|w26";
static const char *const names[] = {"w21", "w22", "w26"};

const char *lab_course_name(int course) { return names[course]; }

/* A part of the form, and its share of the question's points. */
struct share {
    const char *question, *name;
    double points;
};

struct question {
    const char *course, *number;
    const char *person;
    struct share share[5];
};

#define WHY_AVERAGE "the argument why the query works"
#define WORDS "the explanation in words"

/* As the handouts number and weigh them.  A question without parts is a person's alone.
 */
static const struct question questions[] = {
    {"w21", "1(a)", NULL, {{"1a-ii", "condition", 2}}},
    {"w21",
     "1(b)",
     WHY_AVERAGE,
     {{"1b-ii", "q", 2}, {"1b-ii", "weight", 1}, {"1b-ii", "limit", 1}}},
    {"w21", "1(c)i", WHY_AVERAGE, {{"1c-i", "q", 1.5}, {"1c-i", "scores", 0.5}}},
    {"w21",
     "1(c)ii",
     NULL,
     {{"1c-ii", "weight", 1}, {"1c-ii", "ends", 1}, {"1c-ii", "spread", 1}}},
    {"w21", "1(d)i", NULL, {{"1d-i", "queries", 1}}},
    {"w21",
     "1(d)ii",
     WORDS,
     {{"1d-ii", "heads", 1}, {"1d-ii", "compared", 0.5}, {"1d-ii", "output", 0.5}}},
    {"w21", "1(e)", "all of it, 7 points: the form has no part of it", {{NULL, NULL, 0}}},

    {"w22", "1(a)i", NULL, {{"1a-i", "sum", 0.5}, {"1a-i", "bounds", 0.5}}},
    {"w22", "1(a)ii", NULL, {{"1a-ii", "condition", 2}}},
    {"w22", "1(a)iii", NULL, {{"1a-iii", "output", 1}}},
    {"w22", "1(a)iv", WORDS, {{"1a-iv", "needs", 1}}},
    {"w22", "1(b)i", NULL, {{"1b-i", "M", 3}}},
    {"w22",
     "1(b)ii",
     WHY_AVERAGE,
     {{"1b-ii", "q", 2}, {"1b-ii", "weight", 1}, {"1b-ii", "limit", 1}}},
    {"w22", "1(c)i", WHY_AVERAGE, {{"1c-i", "q", 1.5}, {"1c-i", "scores", 0.5}}},
    {"w22",
     "1(c)ii",
     NULL,
     {{"1c-ii", "weight", 1}, {"1c-ii", "ends", 1}, {"1c-ii", "spread", 1}}},
    {"w22", "1(d)i", NULL, {{"1d-i", "queries", 1}}},
    {"w22",
     "1(d)ii",
     WORDS,
     {{"1d-ii", "heads", 1}, {"1d-ii", "compared", 0.5}, {"1d-ii", "output", 0.5}}},

    {"w26", "1(a)i", NULL, {{"1a-ii", "condition", 2}}},
    {"w26", "1(a)ii", NULL, {{"1a-iii", "output", 1}}},
    {"w26", "1(b)", WHY_AVERAGE, {{"1b-ii", "q", 1}, {"1b-ii", "weight", 1}}},
    {"w26", "1(c)i", WHY_AVERAGE, {{"1c-i", "q", 1.5}, {"1c-i", "scores", 0.5}}},
    {"w26",
     "1(c)ii",
     NULL,
     {{"1c-ii", "weight", 1}, {"1c-ii", "ends", 1}, {"1c-ii", "spread", 1}}},
    {"w26", "1(d)i", NULL, {{"1d-i", "queries", 1}}},
    {"w26",
     "1(d)ii",
     WORDS,
     {{"1d-ii", "heads", 1}, {"1d-ii", "compared", 0.5}, {"1d-ii", "output", 0.5}}},
    {"w26", "1(e)", "the summary in words", {{"1e", "better", 1}}},
    {"w26",
     "2(a)i",
     "the feed-forward layer, which the form leaves out",
     {{"2a-i", "moved", 0.5},
      {"2a-i", "scores", 1},
      {"2a-i", "weights", 0.5},
      {"2a-i", "output", 1}}},
    {"w26", "2(a)ii", WORDS, {{"2a-ii", "order", 1}}},
    {"w26", "2(b)i", WORDS, {{"2b-i", "helps", 1}}},
    {"w26", "2(b)ii", WORDS, {{"2b-ii", "same", 1}}},
};

void lab_scheme_form(struct lab_scheme *scheme)
{
    struct lab_scheme_question *question = NULL;

    *scheme = (struct lab_scheme){.name = NULL};
    for (int p = 0; p < LAB_GRADE_PARTS; p++) {
        const char *const number = lab_grade_part(p)->question;
        if (!question || strcmp(question->number, number) != 0) {
            question = &scheme->question[scheme->questions++];
            question->number = number;
        }
        question->part[question->parts++] = p;
    }
}

void lab_scheme_course(int course, struct lab_scheme *scheme, struct lab_rubric *rubric)
{
    *scheme = (struct lab_scheme){.name = names[course]};
    memset(rubric->points, 0, sizeof rubric->points);
    for (size_t q = 0; q < sizeof questions / sizeof *questions; q++) {
        const struct question *const from = &questions[q];
        if (strcmp(from->course, scheme->name) != 0)
            continue;
        struct lab_scheme_question *const to = &scheme->question[scheme->questions++];
        to->number = from->number;
        to->person = from->person;
        for (int x = 0; x < 5 && from->share[x].question; x++) {
            const struct share *const share = &from->share[x];
            const int part = lab_grade_find(share->question, share->name);
            to->part[to->parts++] = part;
            rubric->points[part] = share->points;
        }
    }
}

const char *lab_scheme_number(const struct lab_scheme *scheme, int part)
{
    for (int q = 0; q < scheme->questions; q++)
        for (int k = 0; k < scheme->question[q].parts; k++)
            if (scheme->question[q].part[k] == part)
                return scheme->question[q].number;
    return NULL;
}
