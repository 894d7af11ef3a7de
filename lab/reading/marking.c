/* SPDX-License-Identifier: MIT */
#include "lab/reading/marking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fits(int part, const char *text)
{
    char why[200];
    return *text && !lab_grade_check(part, text, why, sizeof why);
}

static void put(struct lab_found_answers *found, const char *question, const char *name,
                int which, const char *text)
{
    const int part = lab_grade_find(question, name);
    if (part >= 0 && strlen(text) < LAB_FOUND && fits(part, text))
        snprintf(found->text[part][which], LAB_FOUND, "%s", text);
}

enum { SIDES = 8 };

struct sides {
    int count;
    char text[SIDES][LAB_FOUND];
};

/* The sides of one chain, "x = y ~ z"; its end. */
static const char *split(const char *text, struct sides *sides)
{
    const char *const end = text + strcspn(text, ";");
    sides->count = 0;
    while (text < end && sides->count < SIDES) {
        size_t length = strcspn(text, "=~<>!;");
        size_t used = length < LAB_FOUND ? length : LAB_FOUND - 1;
        char *const side = sides->text[sides->count++];
        memcpy(side, text, used);
        while (used && side[used - 1] == ' ')
            used--;
        side[used] = '\0';
        memmove(side, side + strspn(side, " "), strlen(side + strspn(side, " ")) + 1);
        text += length;
        text += strspn(text, "=~<>!");
    }
    return *end ? end + 1 : end;
}

static int is_number(const char *text) { return !text[strspn(text, "0123456789./ ()")]; }

/* The first side of the others that the part can take; of its limit, the last number. */
static void put_side(struct lab_found_answers *found, const char *question,
                     const char *name, int which, const struct sides *sides, int last)
{
    const int part = lab_grade_find(question, name);
    for (int i = 1; i < sides->count && part >= 0; i++) {
        const int side = last ? sides->count - i : i;
        if (!fits(part, sides->text[side]))
            continue;
        put(found, question, name, which, sides->text[side]);
        return;
    }
}

/* The weight of a: a formula, and the number that it tends to. */
static void put_weight(struct lab_found_answers *found, const char *question,
                       const struct sides *sides, int has_limit)
{
    const char *const last = sides->text[sides->count - 1];
    const int part = lab_grade_find(question, "weight");
    for (int i = 1; i < sides->count; i++)
        if (!is_number(sides->text[i]) && fits(part, sides->text[i])) {
            put(found, question, "weight", 0, sides->text[i]);
            break;
        }
    if (has_limit && is_number(last))
        put(found, question, "limit", 0, last);
}

/* Letters of the form: A for the weights, Y for the output, P for the permutation. */
static void as_of_form(char *text)
{
    static const char *const names[][2] = {
        {"Att", "Y"}, {"Pi", "\x01"}, {"P", "A"}, {"\x01", "Pi"}};
    for (int n = 0; n < 4; n++) {
        char to[LAB_FOUND];
        size_t used = 0;
        const size_t length = strlen(names[n][0]);
        for (const char *at = text; *at && used + 4 < sizeof to;) {
            const int here = !strncmp(at, names[n][0], length);
            used += (size_t)snprintf(to + used, sizeof to - used, "%.*s", here ? 4 : 1,
                                     here ? names[n][1] : at);
            at += here ? length : 1;
        }
        to[used] = '\0';
        memcpy(text, to, used + 1);
    }
}

static void note_permuted(struct lab_found_answers *found, struct sides *sides)
{
    static const char *const names[][2] = {
        {"S_moved", "scores"}, {"P_moved", "weights"}, {"Att_moved", "output"}};
    for (int n = 0; n < 3; n++)
        if (!strcmp(sides->text[0], names[n][0])) {
            char *const side = sides->text[sides->count - 1];
            as_of_form(side);
            put(found, "2a-i", names[n][1], 0, side);
        }
    if (sides->count == 2 && !strcmp(sides->text[1], "X_moved"))
        put(found, "2a-i", "moved", 0, sides->text[0]);
}

static void note_copy(struct lab_found_answers *found, const struct sides *sides)
{
    if (!strcmp(sides->text[0], "off_p"))
        put(found, "1a-i", "weight", 0, "exp(s_i)/Z");
    if (!strcmp(sides->text[0], "sum_p"))
        put(found, "1a-i", "sum", 0, sides->text[sides->count - 1]);
    if (!strcmp(sides->text[0], "p_least"))
        put(found, "1a-i", "bounds", 0, sides->text[1]);
    if (!strcmp(sides->text[0], "p_most"))
        put(found, "1a-i", "bounds", 1, sides->text[1]);
    if (!strcmp(sides->text[0], "c") && !strcmp(sides->text[sides->count - 1], "v_a"))
        put(found, "1a-iii", "output", 0, "v_j");
}

static void note_scores(struct lab_found_answers *found, const char *question,
                        const struct sides *sides)
{
    static const char *const names[] = {"s_a", "s_b", "s_i"};
    for (int i = 0; i < 3; i++)
        for (int side = 0; side < sides->count; side++)
            if (!strcmp(sides->text[side], names[i]))
                put_side(found, question, "scores", i, sides, 1);
}

/* The output for short keys or for long ones. */
static void put_end(struct lab_found_answers *found, const struct lab_range *range,
                    const struct sides *sides)
{
    if (range->on && range->to <= 1)
        put_side(found, "1c-ii", "ends", 0, sides, 1);
    if (range->on && range->from >= 1)
        put_side(found, "1c-ii", "ends", 1, sides, 1);
}

static void note_one_head(struct lab_found_answers *found, enum lab_subject subject,
                          const struct lab_range *range, const struct sides *sides)
{
    const char *const first = sides->text[0];
    const int is_weight =
        !strcmp(first, "alpha_a") || !strncmp(first, "exp(", 4) ||
        (!strcmp(first, "alpha_b") && !strcmp(sides->text[1], "alpha_a"));
    const char *const question = subject == LAB_SUBJECT_AVERAGE ? "1b-ii"
                                 : subject == LAB_SUBJECT_NOISE ? "1c-i"
                                                                : "1c-ii";
    note_scores(found, question, sides);
    if (is_weight && subject == LAB_SUBJECT_AVERAGE)
        put_weight(found, question, sides, 1);
    if (is_weight && subject == LAB_SUBJECT_MAGNITUDE)
        put_weight(found, question, sides, 0);
    if (subject == LAB_SUBJECT_NOISE && !strcmp(first, "c"))
        put_side(found, question, "output", 0, sides, 1);
    if (!strcmp(first, "VarS_a"))
        put_side(found, "1c-ii", "variances", 0, sides, 0);
    if (!strcmp(first, "VarS_b"))
        put_side(found, "1c-ii", "variances", 1, sides, 0);
    if (!strcmp(first, "P_closer"))
        put(found, "1c-ii", "closer", 0, sides->text[1]);
    if (!strcmp(first, "c") && subject == LAB_SUBJECT_MAGNITUDE)
        put_end(found, range, sides);
    if (!strcmp(first, "c_short"))
        put_side(found, "1c-ii", "ends", 0, sides, 1);
    if (!strcmp(first, "c_long"))
        put_side(found, "1c-ii", "ends", 1, sides, 1);
    if (!strcmp(first, "V_1") && !strcmp(sides->text[1], "V_still"))
        put(found, "1c-ii", "spread", 0, "larger");
}

static void note_heads(struct lab_found_answers *found, enum lab_subject subject,
                       const struct sides *sides, const char *text)
{
    const char *const first = sides->text[0];
    if (subject == LAB_SUBJECT_HEADS && !strncmp(first, "c_", 2) && !first[3])
        put_side(found, "1d-i", "outputs", first[2] == '2', sides, 1);
    if (subject == LAB_SUBJECT_BOTH && !strcmp(first, "c"))
        put_side(found, "1d-ii", "output", 0, sides, 1);
    if (!strcmp(text, "V_1 > 0") || !strcmp(text, "D_1 > high") ||
        strstr(text, "V_1 > 0;"))
        put(found, "1d-ii", "heads", 0, "varies");
    if (!strcmp(first, "V_2"))
        put(found, "1d-ii", "heads", 1, strchr(text, '=') ? "constant" : "varies");
    if (!strcmp(first, "V_c") && strchr(text, '<'))
        put(found, "1d-ii", "compared", 0, "smaller");
    if (!strcmp(first, "Cov_12"))
        put(found, "1d-ii", "correlation", 0,
            strchr(text, '<')   ? "negative"
            : strchr(text, '>') ? "positive"
                                : "zero");
}

static void note_answer(struct lab_found_answers *found, enum lab_subject subject,
                        const struct lab_settled *settled, const char *name)
{
    if (!strcmp(name, "M"))
        put(found, "1b-i", "M", 0, settled->matrix);
    if (!strcmp(name, "q"))
        put(found, subject == LAB_SUBJECT_AVERAGE ? "1b-ii" : "1c-i", "q", 0,
            settled->query[0]);
    for (int h = 0; h < 2 && !strcmp(name, "queries"); h++)
        put(found, "1d-i", "queries", h, settled->query[1 + h]);
    if (!strcmp(name, "condition"))
        put(found, "1a-ii", "condition", 0, "gap");
    if (!strcmp(name, "key-length"))
        put(found, "1a-ii", "condition", 0, "key-length");
    if (!strcmp(name, "aligned"))
        put(found, "1a-iv", "needs", 0, "aligned");
    if (!strcmp(name, "aligned-and-long"))
        put(found, "1a-iv", "needs", 0, "aligned-and-long");
    if (!strcmp(name, "uncorrelated"))
        put(found, "1d-ii", "correlation", 0, "zero");
}

void lab_marking_note(struct lab_found_answers *found, enum lab_subject subject,
                      const struct lab_settled *settled, const struct lab_understood *u)
{
    struct sides sides;
    note_answer(found, subject, settled, u->found);
    for (const char *at = u->text; *at;) {
        const char *const begin = at + strspn(at, " ");
        char text[LAB_FOUND];
        at = split(begin, &sides);
        snprintf(text, sizeof text, "%.*s", (int)(at - begin < 199 ? at - begin : 199),
                 begin);
        if (sides.count < 2 || (*u->found && strcmp(u->found, "condition")))
            continue;
        if (subject == LAB_SUBJECT_COPY)
            note_copy(found, &sides);
        else if (subject == LAB_SUBJECT_PERMUTE)
            note_permuted(found, &sides);
        else if (subject == LAB_SUBJECT_HEADS || subject == LAB_SUBJECT_BOTH)
            note_heads(found, subject, &sides, text);
        else
            note_one_head(found, subject, &u->claim.range, &sides);
    }
}

/* "found: q, weight; not found: scale" */
static void say_parts(struct lab_read_points *to, const struct lab_answer *answer,
                      const struct lab_grade *grade)
{
    struct lab_text text = {to->words, sizeof to->words, 0};
    for (int round = 0; round < 2; round++) {
        int count = 0;
        for (int p = 0; p < LAB_GRADE_PARTS; p++) {
            const struct lab_part *const part = lab_grade_part(p);
            if (strcmp(part->question, to->question) != 0 ||
                !answer->text[p][0] == !round)
                continue;
            lab_text_add(&text, "%s%s",
                         count++ ? ", "
                         : round ? (*to->words ? "; not found: " : "not found: ")
                                 : "",
                         part->name);
            if (!round)
                lab_text_add(&text, " %s", lab_mark_words(grade->part[p].mark));
        }
    }
}

int lab_marking_grade(const struct lab_found_answers *found, struct lab_reading *reading)
{
    struct lab_answer answer = {.problem = {NULL}};
    struct lab_rubric rubric;
    struct lab_grade *const grade = malloc(sizeof *grade);
    reading->question = calloc(LAB_GRADE_PARTS, sizeof *reading->question);
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        for (int t = 0; t < LAB_GRADE_TEXTS; t++)
            answer.text[p][t] = *found->text[p][t] ? found->text[p][t] : NULL;
    lab_rubric_default(&rubric);
    if (!grade || !reading->question ||
        lab_grade(&answer, &rubric, lab_grade_seed(1, "reading"), grade)) {
        free(grade);
        return -1;
    }
    reading->points = grade->points;
    reading->of = grade->most;
    for (int p = 0; p < LAB_GRADE_PARTS; p++) {
        const char *const question = lab_grade_part(p)->question;
        struct lab_read_points *to = &reading->question[reading->questions];
        if (reading->questions && !strcmp(to[-1].question, question))
            to--;
        else
            reading->questions++;
        snprintf(to->question, sizeof to->question, "%.7s", question);
        to->points += grade->part[p].points;
        to->of += grade->part[p].most;
    }
    for (int q = 0; q < reading->questions; q++)
        say_parts(&reading->question[q], &answer, grade);
    free(grade);
    return 0;
}
