/* SPDX-License-Identifier: MIT */
/* Letters of extraction and of permutation. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lab/judge/scope.h"

/* ---- extraction ------------------------------------------------------------- */

enum { D = LAB_WORLD_D, M = LAB_WORLD_M, P = LAB_WORLD_P };

struct basis_room {
    struct lab_world_basis basis;
    double first[D][P];  /* the first columns of A */
    double select[M][P]; /* A times it: those columns */
    double weigh[P][P];  /* the coordinates of v_b on a diagonal */
    double long_c[D];    /* c, were it in R^d */
    double identity[D][D], small[M][M], smaller[P][P];
    double column_a[M][D], column_b[P][D], s[D], d, m, p;
};

#define BASIS(name, rows, columns, field)                                                \
    LAB_LETTER(basis_room, name, LAB_NEEDS_WORLD, rows, columns, field)

static const struct lab_place basis_letters[] = {
    BASIS("A", D, M, basis.a),       BASIS("B", D, P, basis.b),
    BASIS("c", M, 1, basis.c),       BASIS("e", P, 1, basis.e),
    BASIS("v_a", D, 1, basis.va),    BASIS("v_b", D, 1, basis.vb),
    BASIS("A_2", D, P, first),       BASIS("E", M, P, select),
    BASIS("diag_e", P, P, weigh),    BASIS("c_d", D, 1, long_c),
    BASIS("I", D, D, identity),      BASIS("I_m", M, M, small),
    BASIS("I_p", P, P, smaller),     BASIS("a_1", D, 1, column_a[0]),
    BASIS("a_2", D, 1, column_a[1]), BASIS("a_3", D, 1, column_a[2]),
    BASIS("b_1", D, 1, column_b[0]), BASIS("b_2", D, 1, column_b[1]),
};

/* Those of an answer. */
static const struct lab_place span_letters[] = {
    BASIS("A", D, M, basis.a),    BASIS("B", D, P, basis.b),
    BASIS("I", D, D, identity),   BASIS("c", M, 1, basis.c),
    BASIS("c_b", P, 1, basis.e),  BASIS("v_a", D, 1, basis.va),
    BASIS("v_b", D, 1, basis.vb), BASIS("s", D, 1, s),
    BASIS("d", 1, 1, d),          BASIS("m", 1, 1, m),
    BASIS("p", 1, 1, p),
};

static int open_basis(struct lab_scope *scope)
{
    const struct lab_exercise exercise = lab_point_exercise(scope->point);
    struct basis_room *const room = scope->room;
    lab_world_basis(&exercise, &room->basis);
    room->d = D;
    room->m = M;
    room->p = P;
    memcpy(room->long_c, room->basis.c, sizeof room->basis.c);
    for (int i = 0; i < D; i++) {
        room->identity[i][i] = 1;
        room->s[i] = room->basis.va[i] + room->basis.vb[i];
        for (int j = 0; j < M; j++)
            room->column_a[j][i] = room->basis.a[i][j];
        for (int j = 0; j < P; j++) {
            room->first[i][j] = room->basis.a[i][j];
            room->column_b[j][i] = room->basis.b[i][j];
        }
    }
    for (int i = 0; i < M; i++)
        room->small[i][i] = 1;
    for (int j = 0; j < P; j++) {
        room->select[j][j] = room->smaller[j][j] = 1;
        room->weigh[j][j] = room->basis.e[j];
    }
    return 0;
}

const struct lab_letters lab_letters_basis =
                             LAB_LETTERS(basis_letters, 0, basis_room, open_basis, NULL),
                         lab_letters_spans =
                             LAB_LETTERS(span_letters, 11, basis_room, open_basis, NULL);

/* ---- permutation -------------------------------------------------------------- */

enum { T = LAB_WORLD_TOKENS, F = LAB_WORLD_FEATURES };

struct token_room {
    struct lab_world_tokens sequence;
    double moved[T * F];     /* the tokens of X in another order */
    double positions[T * F]; /* an embedding for every place */
    struct lab_world_self self, of_input, encoded, encoded_moved;
    double features, identity[T * T];
};

#define TOKENS(name, needs, rows, columns, field)                                        \
    LAB_LETTER(token_room, name, needs, rows, columns, field)

/* Where rows are tokens. */
static const struct lab_place token_letters[] = {
    TOKENS("X", LAB_NEEDS_WORLD, T, F, sequence.x),
    TOKENS("X_moved", LAB_NEEDS_WORLD, T, F, moved),
    TOKENS("Att", LAB_NEEDS_SELF, T, F, self.out),
    TOKENS("Att_moved", LAB_NEEDS_SELF, T, F, of_input.out),
    TOKENS("Pi", LAB_NEEDS_WORLD, T, T, sequence.permutation),
    TOKENS("W", LAB_NEEDS_WORLD, F, F, sequence.w),
    TOKENS("W_Q", LAB_NEEDS_WORLD, F, F, sequence.w[0]),
    TOKENS("W_K", LAB_NEEDS_WORLD, F, F, sequence.w[1]),
    TOKENS("W_V", LAB_NEEDS_WORLD, F, F, sequence.w[2]),
    TOKENS("I", LAB_NEEDS_WORLD, T, T, identity),
    TOKENS("Pos", LAB_NEEDS_WORLD, T, F, positions),
    TOKENS("d", 0, 1, 1, features),
    TOKENS("S", LAB_NEEDS_SELF, T, T, self.scores),
    TOKENS("S_moved", LAB_NEEDS_SELF, T, T, of_input.scores),
    TOKENS("P", LAB_NEEDS_SELF, T, T, self.weights),
    TOKENS("P_moved", LAB_NEEDS_SELF, T, T, of_input.weights),
    TOKENS("Att_phi", LAB_NEEDS_ENCODED, T, F, encoded.out),
    TOKENS("Att_phi_moved", LAB_NEEDS_ENCODED, T, F, encoded_moved.out),
};

/* Those of an answer: its A are the weights, its Y is the output. */
static const struct lab_place sequence_letters[] = {
    TOKENS("X", 0, T, F, sequence.x),
    TOKENS("P", 0, T, T, sequence.permutation),
    TOKENS("Pi", 0, T, T, sequence.permutation),
    TOKENS("S", LAB_NEEDS_SELF, T, T, self.scores),
    TOKENS("A", LAB_NEEDS_SELF, T, T, self.weights),
    TOKENS("Y", LAB_NEEDS_SELF, T, F, self.out),
};

static int open_tokens(struct lab_scope *scope)
{
    const struct lab_exercise exercise = lab_point_exercise(scope->point);
    const int columns = exercise.columns;
    for (int i = 0; columns && i < scope->count; i++)
        if (scope->letter[i].rows == T && scope->letter[i].columns == F) {
            scope->letter[i].rows = F;
            scope->letter[i].columns = T;
        }
    struct token_room *const room = scope->room;
    room->features = F;
    for (int i = 0; i < T; i++)
        room->identity[i * T + i] = 1;
    lab_world_tokens(&exercise, &room->sequence);
    for (int place = 0; place < T; place++)
        lab_sinusoids(place, F, room->positions + place * F);
    const double *const permutation = room->sequence.permutation;
    const double *const x = room->sequence.x;
    for (int to = 0; to < T; to++)
        for (int from = 0; from < T; from++)
            for (int f = 0; f < F && permutation[to * T + from] > 0; f++)
                if (columns)
                    room->moved[f * T + from] = x[f * T + to];
                else
                    room->moved[to * F + f] = x[from * F + f];
    return 0;
}

/* Attention of x with the embeddings of the places added. */
static int attend_encoded(const struct lab_exercise *exercise,
                          const struct token_room *room, const double *x,
                          struct lab_world_self *self)
{
    double encoded[T * F];
    for (int i = 0; i < T * F; i++)
        encoded[i] = x[i] + room->positions[i];
    return lab_world_self(exercise, &room->sequence, encoded, self);
}

/* The formula in place of X, or X itself. */
static int evaluate_input(struct lab_scope *scope, struct lab_value *input)
{
    const struct lab_given *const given = &scope->parsed->input;
    const struct lab_letter *const x = &scope->letter[scope->put ? scope->put->texts : 0];

    if (lab_scope_value(scope, given->text, &given->formula, input))
        return LAB_ILL_FORMED;
    if (input->rows == x->rows && input->columns == x->columns)
        return 0;
    snprintf(scope->why, LAB_WHY, "%s is %d x %d, X is %d x %d", given->text, input->rows,
             input->columns, x->rows, x->columns);
    return LAB_ILL_FORMED;
}

static int fill_tokens(struct lab_scope *scope, unsigned needs)
{
    const struct lab_exercise exercise = lab_point_exercise(scope->point);
    const int has_input = scope->parsed && scope->parsed->input.text;
    struct token_room *const room = scope->room;
    struct lab_value input;
    int status = has_input ? evaluate_input(scope, &input) : 0;

    if (!status && needs & LAB_NEEDS_SELF)
        status =
            lab_world_self(&exercise, &room->sequence, room->sequence.x, &room->self);
    if (!status && needs & LAB_NEEDS_SELF && has_input)
        status = lab_world_self(&exercise, &room->sequence, input.x, &room->of_input);
    if (!status && needs & LAB_NEEDS_ENCODED)
        status = attend_encoded(&exercise, room, room->sequence.x, &room->encoded);
    if (!status && needs & LAB_NEEDS_ENCODED)
        status = attend_encoded(&exercise, room, room->moved, &room->encoded_moved);
    return status;
}

const struct lab_letters lab_letters_tokens = LAB_LETTERS(token_letters, 0, token_room,
                                                          open_tokens, fill_tokens),
                         lab_letters_sequence = LAB_LETTERS(
                             sequence_letters, 6, token_room, open_tokens, fill_tokens);
