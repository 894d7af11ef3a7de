/* SPDX-License-Identifier: MIT */
#include "lab/judge/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct lab_letters *lab_letters_of(enum lab_topic topic)
{
    static const struct lab_letters *const letters[] = {
        [LAB_TOPIC_KEYS] = &lab_letters_keys,
        [LAB_TOPIC_BASIS] = &lab_letters_basis,
        [LAB_TOPIC_TOKENS] = &lab_letters_tokens,
        [LAB_TOPIC_ROW] = &lab_letters_row,
        [LAB_TOPIC_COPY] = &lab_letters_copy,
        [LAB_TOPIC_GAP] = &lab_letters_gap,
        [LAB_TOPIC_PAIR] = &lab_letters_pair,
        [LAB_TOPIC_NOISE] = &lab_letters_noise,
        [LAB_TOPIC_SPANS] = &lab_letters_spans,
        [LAB_TOPIC_SEQUENCE] = &lab_letters_sequence,
        [LAB_TOPIC_POSITIONS] = &lab_letters_positions,
        [LAB_TOPIC_VARIANTS] = &lab_letters_variants,
    };
    return letters[topic];
}

static int open(struct lab_scope *scope, enum lab_topic topic,
                const struct lab_point *point)
{
    const struct lab_letters *const letters = lab_letters_of(topic);
    scope->letters = letters;
    scope->point = point;
    scope->room = calloc(1, letters->size);
    if (!scope->room)
        return -1;
    lab_place_letters(letters->place, letters->count, scope->room, scope->letter);
    for (int i = 0; i < letters->count; i++)
        scope->needs[i] = letters->place[i].needs;
    scope->count = letters->count;
    return letters->open(scope);
}

int lab_scope_open(struct lab_scope *scope, const struct lab_parsed *parsed,
                   const struct lab_point *point, const struct lab_put *put)
{
    static const char *const names[LAB_TEXTS] = {"x_1", "x_2", "x_3"};
    memset(scope, 0, sizeof *scope);
    scope->parsed = parsed;
    scope->claim = parsed->claim;
    scope->put = put;
    const int status = open(scope, scope->claim->topic, point);
    for (int k = 0; put && !status && k < put->texts; k++)
        lab_scope_put(scope, names[k], &put->text[k]);
    return status;
}

int lab_scope_open_known(struct lab_scope *scope, enum lab_topic topic,
                         const struct lab_point *point)
{
    memset(scope, 0, sizeof *scope);
    const int status = open(scope, topic, point);
    scope->count = scope->letters->known;
    return status;
}

void lab_scope_close(struct lab_scope *scope)
{
    free(scope->draws.draw);
    free(scope->room);
}

void lab_scope_put(struct lab_scope *scope, const char *name,
                   const struct lab_value *value)
{
    const size_t count = (size_t)scope->count++;
    memmove(scope->letter + 1, scope->letter, count * sizeof *scope->letter);
    memmove(scope->needs + 1, scope->needs, count * sizeof *scope->needs);
    scope->letter[0] = (struct lab_letter){
        .name = name, .rows = value->rows, .columns = value->columns, .x = value->x};
    scope->needs[0] = 0;
}

unsigned lab_scope_needs(const struct lab_scope *scope,
                         const struct lab_expression *formula)
{
    unsigned needs = 0;
    for (int i = 0; i < scope->count; i++)
        if (lab_expression_uses(formula, scope->letter[i].name))
            needs |= scope->needs[i];
    return needs;
}

int lab_scope_fill(struct lab_scope *scope, unsigned needs)
{
    return scope->letters->fill ? scope->letters->fill(scope, needs) : 0;
}

int lab_scope_value(struct lab_scope *scope, const char *text,
                    const struct lab_expression *formula, struct lab_value *value)
{
    struct lab_expression_error error;
    if (!lab_expression_evaluate(formula, scope->letter, scope->count, value, &error))
        return 0;
    snprintf(scope->why, LAB_WHY, "%s: %s", text, error.text);
    return LAB_ILL_FORMED;
}

struct lab_exercise lab_point_exercise(const struct lab_point *point)
{
    struct lab_exercise exercise = *point->exercise;
    exercise.seed += (uint64_t)point->number;
    return exercise;
}
