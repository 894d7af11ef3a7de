/* SPDX-License-Identifier: MIT */
/* Signs of a formula and the state of its reader; for the files of lab/reading only. */
#ifndef LAB_FORMULA_PARTS_H
#define LAB_FORMULA_PARTS_H

#include "lab/reading/formula.h"

enum lab_sign_kind {
    LAB_SIGN_END,
    LAB_SIGN_BLANK, /* changes the look only */
    LAB_SIGN_NUMBER,
    LAB_SIGN_LETTER,
    LAB_SIGN_FUNCTION,
    LAB_SIGN_RELATION, /* code: enum lab_relation */
    LAB_SIGN_ARROW,    /* a limit, or "therefore" */
    LAB_SIGN_PLUS,     /* code: 1 for "plus or minus" */
    LAB_SIGN_MINUS,
    LAB_SIGN_TIMES,
    LAB_SIGN_SLASH,
    LAB_SIGN_OPEN, /* text: the bracket, '<' for an inner product */
    LAB_SIGN_CLOSE,
    LAB_SIGN_BRACE, /* of LaTeX, not printed */
    LAB_SIGN_BRACE_END,
    LAB_SIGN_BAR,        /* | */
    LAB_SIGN_DOUBLE_BAR, /* norm */
    LAB_SIGN_UP,
    LAB_SIGN_DOWN,
    LAB_SIGN_RAISED, /* superscripts and subscripts of Unicode, in text */
    LAB_SIGN_LOWERED,
    LAB_SIGN_PRIME,
    LAB_SIGN_SERIES,
    LAB_SIGN_LIMIT,
    LAB_SIGN_FRACTION,
    LAB_SIGN_ROOT,
    LAB_SIGN_MARK,   /* code: the mark */
    LAB_SIGN_LABEL,  /* a brace with a label below or above */
    LAB_SIGN_WORDS,  /* \text and the like */
    LAB_SIGN_STACK,  /* \stackrel{..} */
    LAB_SIGN_STRUCK, /* \cancel */
    LAB_SIGN_DROP,   /* with its argument: \label, \tag */
    LAB_SIGN_NOT,
    LAB_SIGN_CELL,
    LAB_SIGN_ROW,
    LAB_SIGN_COMMA,
    LAB_SIGN_STOP, /* . ; : */
    LAB_SIGN_GAP,  /* \quad */
    LAB_SIGN_LINK, /* code: enum lab_connective */
    LAB_SIGN_DOTS,
    LAB_SIGN_TEXT,
    LAB_SIGN_BEGIN, /* code: a node kind */
    LAB_SIGN_FINISH
};

struct lab_sign {
    enum lab_sign_kind kind;
    size_t begin, end;
    int code;
    int apart; /* blanks before it */
    double value;
    char text[40];
};

/* A name, and the sign it stands for. */
struct lab_symbol {
    const char *name;
    enum lab_sign_kind kind;
    const char *text;
    int code;
};

/* By a command's name, a word, or the bytes of a sign outside ASCII; else NULL. */
const struct lab_symbol *lab_symbol_command(const char *name, size_t length);
const struct lab_symbol *lab_symbol_word(const char *name, size_t length);
const struct lab_symbol *lab_symbol_foreign(const char *bytes, size_t size);

struct lab_lexer {
    const char *source;
    size_t at, end;
    size_t words_end; /* of \text{..}; 0: outside */
    size_t drop[8];   /* places of closing braces that are not printed */
    int drops;
    int latex;                   /* a backslash stands in the formula */
    int single;                  /* the next sign is a single character */
    enum lab_sign_kind previous; /* the sign before */
    struct lab_formula *log;     /* for restorations; NULL while looking ahead */
    long *ahead;                 /* bytes that may still be looked at ahead, or NULL */
};

void lab_sign_next(struct lab_lexer *lexer, struct lab_sign *sign);

/* Adds an entry to `restore`, unless it is full or looked at ahead only. */
void lab_formula_restored(struct lab_formula *log, size_t begin, size_t end,
                          const char *from, const char *to);

/* Up to 24 chains, and conditions in brackets that follow the chain being read. */
struct lab_sequence {
    int count, root[LAB_FORMULA_CHAINS];
    enum lab_connective before[LAB_FORMULA_CHAINS];
    int late, late_root[LAB_FORMULA_CHAINS];
    enum lab_connective late_before[LAB_FORMULA_CHAINS];
};

struct lab_parser {
    struct lab_formula *formula;
    struct lab_lexer lexer;
    struct lab_sign sign;
    unsigned repairs;
    long ahead;    /* keeps reading linear in the length of the formula */
    size_t passed; /* end of the sign before */
    int depth;
    int bars;    /* inside |..| or a norm */
    int cells;   /* inside a matrix or cases */
    int systems; /* \begin{..} read as rows of chains */
    struct lab_sequence *sequence;
};

enum lab_sequence_end { LAB_ENDS_ALL, LAB_ENDS_BRACKET, LAB_ENDS_CELL };

/* A node without children, or -1 with a failure. */
int lab_node_make(struct lab_parser *parser, enum lab_node_kind kind, size_t begin);
void lab_node_adopt(struct lab_parser *parser, int parent, int child);
int lab_node_children(const struct lab_parser *parser, int node);
int lab_node_last(const struct lab_parser *parser, int parent);
/* A node around `child`, up to the sign that was passed last. */
int lab_node_wrap(struct lab_parser *parser, enum lab_node_kind kind, int child);
/* Adds to a name; -1 with a failure if it becomes too long. */
int lab_name_append(struct lab_parser *parser, char name[40], const char *more);
void lab_parser_fail(struct lab_parser *parser, const char *why);
/* One level deeper: -1 with a failure beyond 40, and `depth` is counted down by the
 * caller. */
int lab_parser_enter(struct lab_parser *parser);
void lab_parser_next(struct lab_parser *parser);
void lab_parser_peek(const struct lab_parser *parser, struct lab_sign *sign);

/* Readers: the index of a node, or -1 with a failure. */
int lab_read_sequence(struct lab_parser *parser, struct lab_sequence *sequence,
                      enum lab_sequence_end ends);
int lab_read_expression(struct lab_parser *parser);
int lab_read_term(struct lab_parser *parser);
int lab_read_factor(struct lab_parser *parser);
/* What a sequence in brackets is: its expression, or a LIST with that name. */
int lab_read_listed(struct lab_parser *parser, const struct lab_sequence *sequence,
                    size_t begin, const char *name);
int lab_read_brackets(struct lab_parser *parser);
int lab_read_environment(struct lab_parser *parser);
int lab_read_call(struct lab_parser *parser, const char *name, size_t begin);
int lab_read_series(struct lab_parser *parser);
int lab_read_limit(struct lab_parser *parser);
int lab_read_scripts(struct lab_parser *parser, int base);
int lab_read_down(struct lab_parser *parser, int base);
int lab_read_exponent(struct lab_parser *parser);
/* A subscript, after its sign: its letters, joined to `name` by "_"; a condition in it
   becomes `*condition`, else -1. */
int lab_read_subscript(struct lab_parser *parser, char name[40], int *condition);
int lab_is_transpose(const struct lab_sign *sign);
/* A single sign or a group in braces. */
int lab_read_unit(struct lab_parser *parser, int single_after);
int lab_starts_factor(const struct lab_parser *parser);
int lab_ends_piece(const struct lab_parser *parser);

/* Between this bracket and the one that closes it. */
struct lab_survey {
    int relation; /* or a connective, or words */
    int comma, bar, input, weights, environment;
};
void lab_survey_brackets(const struct lab_parser *parser, struct lab_survey *survey);

/* Whether a relation follows before the next separator, or words at once. */
int lab_relation_follows(const struct lab_parser *parser);
int lab_text_follows(const struct lab_parser *parser);
int lab_subscript_has_relation(const struct lab_parser *parser);
/* Rows that are chains, as a system of equations has them. */
int lab_starts_system(const struct lab_parser *parser);
/* "<a, b>" in ASCII. */
int lab_starts_inner_product(const struct lab_parser *parser);
/* A bracket with a relation, "(i != j)", is a condition; it follows the chain. */
int lab_holds_condition(const struct lab_parser *parser);
int lab_read_late(struct lab_parser *parser);

/* A letter as the table of damages has it: the node itself or what replaces it. */
int lab_damage_undo(struct lab_parser *parser, int letter);
/*
 * Two chains that a scan made of one, with "therefore" or a wide blank between them: 1 if
 * `root` has become part of `before`.
 */
int lab_damage_join(struct lab_parser *parser, int before, int root, int therefore);
/* Whether a letter below a brace is a factor that slipped there. */
int lab_damage_slipped(const struct lab_parser *parser, const char *letter);

#endif
