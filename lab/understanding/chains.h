/* SPDX-License-Identifier: MIT */
/* Chains of formulas and the claims in them; shared by the files that read formulas. */
#ifndef LAB_CHAINS_H
#define LAB_CHAINS_H

#include "lab/understanding/sections.h"

enum { LAB_SIDES = 12 };

/* A chain: its sides, and the relations after them. */
struct lab_chain {
    int count;
    int side[LAB_SIDES];
    unsigned char after[LAB_SIDES];
    int limit; /* a side is a limit */
};

/* What a side is. */
enum lab_thing {
    LAB_THING_NONE,
    LAB_THING_SCORE,
    LAB_THING_WEIGHT,
    LAB_THING_KEY,
    LAB_THING_OTHERS, /* a sum of weights */
    LAB_THING_ZERO
};

/* ---- chains.c ---- */

const struct lab_node *lab_node_of(const struct lab_reader *reader, int node);
struct lab_translation lab_translation_of(const struct lab_reader *reader);
struct lab_chain lab_chain_open(const struct lab_reader *reader, int root);
/* The letter of a side that is nothing else. */
int lab_lone_letter(const struct lab_reader *reader, int node, struct lab_name *name);
enum lab_role lab_letter_role(const struct lab_reader *reader,
                              const struct lab_name *name);
int lab_receive_other(struct lab_reader *reader, const char *why);
int lab_receive(struct lab_reader *reader, struct lab_understood *u);
int lab_receive_text(struct lab_reader *reader, const char *text, unsigned uses);
int lab_name_key(const struct lab_name *name);
/* What a side is, and the index of its key. */
enum lab_thing lab_thing_of(const struct lab_reader *reader, int node, char index[16]);
const char *lab_relation_sign(unsigned char relation);

/* ---- claims.c ---- */

/* The claims of a chain of the reader's formula: 0, or -1. */
int lab_chain_claims(struct lab_reader *reader, int which);

/* ---- complete.c ---- */

int lab_in_word(char c);
int lab_has_word(const char *text, const char *word);
int lab_lengths_vary(const struct lab_settled *settled);
int lab_on_tokens(const struct lab_settled *settled); /* of the second question */
int lab_takes_heads(const struct lab_settled *settled);

/* ---- definitions.c ---- */

/* q = ..., M = ...: 1, 0 or -1. */
int lab_define(struct lab_reader *reader, const struct lab_chain *chain);

/* ---- laws.c ---- */

/* The arguments of N(mean, variance): 1, or 0 for another side. */
int lab_normal_law(const struct lab_reader *reader, int side, int argument[2]);
int lab_law_claims(struct lab_reader *reader, const struct lab_chain *chain, int at);
/* k_a in [0.5 mu_a, 1.5 mu_a], gamma in [0.5, 1.5]. */
int lab_interval_claims(struct lab_reader *reader, const struct lab_chain *chain, int at);
/* c in R^d beside V_a = A c. */
int lab_dimension_claims(struct lab_reader *reader, const struct lab_chain *chain,
                         int at);
/* "m + L x", x a vector of its own: its covariance L L^T, against that of the keys. */
int lab_noise_claims(struct lab_reader *reader, const struct lab_chain *chain);

/* ---- ranges.c ---- */

/* A premise about gamma selects draws; about a free letter it is none: 1 if it is one. */
int lab_premise(struct lab_reader *reader, int i, const struct lab_chain *chain);
/* The key, a or b, that an index of the formula stands for by its sentence; else 0. */
char lab_index_condition(const struct lab_reader *reader, char index[16]);
/* The range that a later chain of the formula, or the text after it, gives: 1, or 0. */
int lab_range_after(const struct lab_reader *reader, int i, struct lab_range *range);

/* ---- orders.c ---- */

/* x >> y: 1, 0 if it is nothing of the exercise, or -1. */
int lab_order_claims(struct lab_reader *reader, const struct lab_chain *chain, int at);
/* S(X), c = sum alpha_i v_i, alpha_i = exp(..)/sum exp(..): by definition. */
int lab_attention_claims(struct lab_reader *reader, const struct lab_chain *chain);
/* Weights are shares: 0 <= alpha_i <= 1, sum alpha_i = 1, exp(..) >= 0. */
int lab_share_claims(struct lab_reader *reader, const struct lab_chain *chain);
/* alpha_1 = alpha_2 = ... = alpha_n. */
int lab_all_equal_claims(struct lab_reader *reader, const struct lab_chain *chain);
/* k_i^T q = -inf: that key is not seen. */
int lab_mask_claims(struct lab_reader *reader, const struct lab_chain *chain);

/* ---- learning.c ---- */

/* Letters that the roles of others around them settle. */
void lab_join_factors(struct lab_reader *reader);
void lab_learn_roles(struct lab_reader *reader);

/* ---- extraction.c ---- */

/* "x = I  c = c", apart by a gap: I c is a product. */
void lab_join_identity(const struct lab_reader *reader, int i, struct lab_chain *chain);
/* "x = 0 because a_i^T b_j = 0 for i != j": the reason leaves out i = j. */
int lab_reads_restricted(const struct lab_reader *reader, int i);
int lab_restricted_claims(struct lab_reader *reader);
/*
 * b_i^T b_j = 0 needs i != j: 1 where that is not said, and a slip where all i and j are
 * named; 0, or -1.
 */
int lab_basis_claims(struct lab_reader *reader, const struct lab_chain *chain);
/* "M v_a = v_a <=> M (v_a + v_b) = v_a" of any M: 1, 0 if it is none, or -1. */
int lab_equivalence_claims(struct lab_reader *reader, int i);

#endif
