/* SPDX-License-Identifier: MIT */
/*
 * A formula of a solution as a tree: LaTeX, Unicode or ASCII, as written, with the
 * repairs of scanning errors listed.  Letters keep their printed names in one spelling:
 * "k_a", "mu_i", "alpha_{1,a}" is "alpha_1_a", \tilde{k} is "k" with a mark.
 */
#ifndef LAB_FORMULA_H
#define LAB_FORMULA_H

#include <stddef.h>

enum lab_node_kind {
    LAB_NODE_NUMBER,    /* value */
    LAB_NODE_LETTER,    /* name, mark */
    LAB_NODE_SUM,       /* children: terms; a term's sign is LAB_NODE_MINUS around it */
    LAB_NODE_MINUS,     /* one child */
    LAB_NODE_PRODUCT,   /* children: factors, in order */
    LAB_NODE_QUOTIENT,  /* numerator, denominator */
    LAB_NODE_POWER,     /* base, exponent */
    LAB_NODE_TRANSPOSE, /* one child */
    LAB_NODE_CALL,   /* name: exp, ln, sqrt, norm, abs, Var, Cov, E, P, softmax, Q ... */
    LAB_NODE_SERIES, /* name: "sum" or "prod"; body; the chain below, "i = 1" or "i";
                        then the upper bound if there is one */
    LAB_NODE_LIMIT,  /* body, then the chain under lim */
    LAB_NODE_MATRIX, /* rows children, each a LIST */
    LAB_NODE_CASES,  /* children: LIST (value, condition) */
    LAB_NODE_LIST,   /* a, b, c; a set or an interval keeps its brackets in name; "or" */
    LAB_NODE_DOTS,   /* \dots */
    LAB_NODE_TEXT,   /* \text{...}: words in name */
    LAB_NODE_CHAIN   /* children and relations alternate: a REL b REL c */
};

enum lab_relation {
    LAB_REL_EQUAL = 1, /* = */
    LAB_REL_NEAR,      /* ~=, \approx, \simeq */
    LAB_REL_UNEQUAL,
    LAB_REL_LESS,
    LAB_REL_MORE,
    LAB_REL_AT_MOST,
    LAB_REL_AT_LEAST,
    LAB_REL_FAR_LESS,    /* << */
    LAB_REL_FAR_MORE,    /* >> */
    LAB_REL_TENDS,       /* \to */
    LAB_REL_IN,          /* \in */
    LAB_REL_DISTRIBUTED, /* \sim */
    LAB_REL_NORMAL_TO,   /* \perp */
    LAB_REL_PROPORTIONAL,
    LAB_REL_NOT_IN
};

/* How a chain follows from the one before it in the same formula. */
enum lab_connective {
    LAB_AND,       /* a comma, a new line, \quad */
    LAB_THEREFORE, /* \Rightarrow, \therefore, \implies */
    LAB_IFF,
    LAB_BECAUSE, /* \because */
    LAB_WHERE,   /* "where", "for", "if": a condition of the chain before it */
    LAB_OR
};

struct lab_node {
    enum lab_node_kind kind;
    size_t begin, end; /* bytes of the source */
    double value;
    char name[40];
    char mark;           /* of a letter: '~', '^' (hat), '-' (bar), '\'' or 0 */
    unsigned char after; /* of a child of a chain: the relation after it, or 0 */
    int child, next;     /* indices of nodes, -1: none */
};

/* A scanning error that was undone: "H for mu". */
struct lab_restored {
    size_t begin, end;
    const char *from, *to;
};

enum { LAB_FORMULA_NODES = 512, LAB_FORMULA_CHAINS = 24, LAB_FORMULA_RESTORED = 16 };

struct lab_formula {
    int nodes;
    struct lab_node node[LAB_FORMULA_NODES];
    int chains; /* of the top level; one of a single child is a formula by itself */
    struct {
        int root; /* a CHAIN */
        enum lab_connective before;
    } chain[LAB_FORMULA_CHAINS];
    int restored;
    struct lab_restored restore[LAB_FORMULA_RESTORED];
    size_t failed; /* where reading stopped */
    char why[120]; /* not empty: it could not be read */
};

/*
 * The repairs of scanning errors that this document calls for, as bits; 0 for a text
 * without such errors.  Linear in size.
 */
unsigned lab_formula_repairs(const char *source, size_t size);

/*
 * Reads source[begin..end), which may lack delimiters.  0, or -1 with `failed` and
 * `why`; what stands before the failure is not to be used.
 *
 * An operand that the line leaves out, as before "= x" at the beginning of a formula, is
 * a TEXT without words.  A letter's child, if it has one, is a condition in its
 * subscript.
 */
int lab_formula_read(const char *source, size_t begin, size_t end, unsigned repairs,
                     struct lab_formula *formula);

#endif
