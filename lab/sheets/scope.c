/* SPDX-License-Identifier: MIT */
#include "lab/sheets/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int lab_scope_open(struct lab_scope *scope, const struct lab_parsed *parsed,
                   const struct lab_point *point)
{
    const struct lab_claim *const claim = parsed->claim;
    memset(scope, 0, sizeof *scope);
    scope->parsed = parsed;
    scope->claim = claim;
    scope->point = point;
    if (claim->topic == LAB_TOPIC_BASIS)
        return lab_scope_open_basis(scope);
    if (claim->topic == LAB_TOPIC_TOKENS)
        return lab_scope_open_tokens(scope);
    return lab_scope_open_keys(scope);
}

void lab_scope_close(struct lab_scope *scope)
{
    free(scope->draws.draw);
    free(scope->room);
}

int lab_scope_bind(struct lab_scope *scope, size_t room, const struct lab_place *place,
                   int count)
{
    scope->room = calloc(1, room);
    if (!scope->room)
        return -1;
    lab_place_letters(place, count, scope->room, scope->letter);
    for (int i = 0; i < count; i++)
        scope->needs[i] = place[i].needs;
    scope->count = count;
    return 0;
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
    if (scope->claim->topic == LAB_TOPIC_TOKENS)
        return lab_scope_fill_tokens(scope, needs);
    if (scope->claim->topic == LAB_TOPIC_KEYS)
        return lab_scope_fill_keys(scope, needs);
    return 0;
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
