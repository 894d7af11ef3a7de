/* SPDX-License-Identifier: MIT */
/*
 * Understanding of a solution: the meaning of its letters, the queries in force, the
 * claims of its formulas and sentences in the language of lab/language.
 */
#ifndef LAB_UNDERSTANDING_H
#define LAB_UNDERSTANDING_H

#include "lab/judge/claim.h"
#include "lab/reading/document.h"
#include "lab/reading/formula.h"

/* ---- letters ------------------------------------------------------------------ */

/* The meaning of a letter, without its indices. */
enum lab_role {
    LAB_ROLE_NONE,
    LAB_ROLE_KEY,
    LAB_ROLE_QUERY,
    LAB_ROLE_VALUE,
    LAB_ROLE_MEAN,
    LAB_ROLE_WEIGHT,
    LAB_ROLE_SCORE,
    LAB_ROLE_OUTPUT,
    LAB_ROLE_SCALE,
    LAB_ROLE_VARIANCE, /* of the keys, in every direction */
    LAB_ROLE_COVARIANCE,
    LAB_ROLE_LENGTH, /* of a key, relative to its mean */
    LAB_ROLE_KEYS,   /* their number */
    LAB_ROLE_BASIS,  /* number of basis vectors */
    LAB_ROLE_FEATURES,
    LAB_ROLE_MATRIX, /* the answer of the extraction */
    LAB_ROLE_SUM,    /* v_a + v_b */
    LAB_ROLE_PERMUTATION,
    LAB_ROLE_INPUT,
    LAB_ROLES
};

/* ---- questions ---------------------------------------------------------------- */

enum lab_subject {
    LAB_SUBJECT_NONE,
    LAB_SUBJECT_COPY,      /* 1a */
    LAB_SUBJECT_EXTRACT,   /* 1b-i */
    LAB_SUBJECT_AVERAGE,   /* 1b-ii */
    LAB_SUBJECT_NOISE,     /* 1c-i */
    LAB_SUBJECT_MAGNITUDE, /* 1c-ii */
    LAB_SUBJECT_HEADS,     /* 1d-i */
    LAB_SUBJECT_BOTH,      /* 1d-ii: heads under the noise of magnitudes */
    LAB_SUBJECT_PERMUTE,   /* 2a */
    LAB_SUBJECT_POSITIONS, /* 2b */
    LAB_SUBJECTS
};

enum { LAB_SIDE = 360, LAB_ROLE_ROOM = 48, LAB_QUERIES = 3 };

/* What the text has settled at a passage. */
struct lab_settled {
    enum lab_subject subject;
    char query[LAB_QUERIES][LAB_SIDE]; /* q, q_1, q_2; "": none */
    int query_line[LAB_QUERIES];
    char matrix[LAB_SIDE];   /* M */
    char single[LAB_SIDE];   /* the query of one head, to compare heads with */
    char lead[16];           /* index of the key that is copied, "j" */
    char input[24];          /* the permuted input, "X Pi" */
    char coordinates[2][24]; /* letters for c and d of v_a = A c and v_b = B d */
    char moved[24];          /* a letter for it, as T where T = P X */
    struct lab_range range;  /* of gamma, in the clause that is read */
    size_t range_end;        /* the byte behind its formula */
    int aside;               /* the sentence whose premise is none of these; -1: none */
    /* Answers with a slip, repaired: of q, q_1, q_2 and M; "": right, or beyond that. */
    char meant[LAB_QUERIES][LAB_SIDE], meant_matrix[LAB_SIDE];
    int alternative; /* the line of a query that is another way; 0: none */
    char main_query[LAB_QUERIES][LAB_SIDE];
    int head;       /* the one that a sentence is about, or 0 */
    int own_law[2]; /* a relative length of k_a or k_b has a law of its own */
    double variance[2];
};

struct lab_known_letter {
    char base[24];
    enum lab_role role;
    int line; /* 0: by the exercise */
    int also; /* a second meaning, which is shown and not used */
};

struct lab_letters_known {
    int count;
    struct lab_known_letter known[LAB_ROLE_ROOM];
};

/* The role of a letter's base; subscripted letters have defaults of their own. */
enum lab_role lab_role_of(const struct lab_letters_known *letters, const char *base,
                          int subscripted);
/* The line of its definition, 0: none. */
int lab_role_line(const struct lab_letters_known *letters, const char *base);
void lab_role_set(struct lab_letters_known *letters, const char *base, enum lab_role role,
                  int line);
/* A second meaning beside the one in use. */
void lab_role_note(struct lab_letters_known *letters, const char *base,
                   enum lab_role role, int line);
const char *lab_role_words(enum lab_role role);

/* "k_1_a" has the base "k" and the indices "1" and "a". */
enum { LAB_INDICES = 3 };
struct lab_name {
    char base[24], index[LAB_INDICES][16];
    int indices;
};
void lab_name_split(const char *name, struct lab_name *split);

/* ---- sides of formulas --------------------------------------------------------- */

enum lab_shape {
    LAB_SHAPE_UNKNOWN,
    LAB_SHAPE_NUMBER,
    LAB_SHAPE_VECTOR,
    LAB_SHAPE_MATRIX
};

/* Letters that a side depends on, as bits. */
enum lab_uses {
    LAB_USES_FIRST = 1,  /* scores or weights of the only head, or of head 1 */
    LAB_USES_SECOND = 2, /* of head 2 */
    LAB_USES_OUTPUT = 4, /* c, which is the mean of the heads */
    LAB_USES_LENGTH = 8, /* gamma */
    LAB_USES_SCALE = 16,
    LAB_USES_EXP = 32,
    LAB_USES_ROOT = 64,   /* sqrt(d) */
    LAB_USES_KEYS = 128,  /* the drawn keys */
    LAB_USES_INPUT = 256, /* the permuted input */
    LAB_USES_HEADS = 512, /* c_1 or c_2 */
    LAB_USES_REST = 1024, /* the weight of one other key, only beside 0 */
    LAB_USES_LAW = 2048   /* variances over the draws */
};

struct lab_said {
    char text[LAB_SIDE];
    enum lab_shape shape;
    unsigned uses;
    char letters[8][24]; /* printed names in it */
    int letter_count;
    char why[100]; /* it could not be put into the language */
};

struct lab_translation {
    const struct lab_formula *formula;
    const struct lab_settled *settled;
    const struct lab_letters_known *letters;
    enum lab_shape beside; /* the shape of the other sides */
    /* Indices that stand for key a, b or i; "": none. */
    struct {
        char index[16], value;
    } bound[2];
};

/* 0, or -1 with said->why. */
int lab_side_say(const struct lab_translation *translation, int node,
                 struct lab_said *said);
/* The kind of thing that a side is, as far as its letters show it. */
enum lab_shape lab_side_shape(const struct lab_translation *translation, int node);

/* ---- claims --------------------------------------------------------------------- */

/* A claim that was understood; its texts live here.  It is not to be copied. */
struct lab_understood {
    struct lab_claim claim;
    char text[LAB_CLAIM_TEXT], query[LAB_HEADS][LAB_SIDE], rival[LAB_SIDE], input[24];
    unsigned uses;              /* of enum lab_uses */
    int exactly;                /* nothing may grow or vanish */
    int is_limit;               /* it is about a limit by its own words */
    int vanishes;               /* the noise of the keys is left out, as it vanishes */
    char shown[LAB_CLAIM_TEXT]; /* the claim as it is shown; "": its text */
    char letters[300];
    char exact[400];
    char found[24]; /* the part of the answer that it is: "q", "M", "condition" */
    char meant[LAB_SIDE], as[120];         /* a misprinted query: what it is elsewhere */
    char meant_query[LAB_HEADS][LAB_SIDE]; /* the queries in force, repaired; "": right */
    char matrix[2][LAB_SIDE];              /* M as printed, and repaired; "": right */
    char slip_text[LAB_CLAIM_TEXT],
        slip_query[LAB_SIDE];   /* repaired `as` said; "": as is */
    struct lab_argument mended; /* an argument, repaired `as` said; letter NULL: none */
    char texts[4][LAB_CLAIM_TEXT]; /* of arguments */
};

/* What a passage gave, for its receiver. */
struct lab_receiver {
    void *arg;
    /* The claim is judged and recorded.  0, or -1. */
    int (*claim)(void *arg, struct lab_understood *understood);
    /* Read, but no claim of the exercise. */
    int (*other)(void *arg, const char *why);
};

struct lab_reader {
    const struct lab_document *document;
    struct lab_letters_known letters;
    struct lab_settled settled;
    /* Of the section: the queries and the matrix that it ends with. */
    char last_query[LAB_QUERIES][LAB_SIDE], last_matrix[LAB_SIDE];
    int last_line[LAB_QUERIES];
    char first_head[LAB_SIDE];  /* "q_i" where q_2 is given and q_1 is not: a scan's 1 */
    struct lab_formula formula; /* of the passage */
    char carried[LAB_SIDE];     /* the first side of the last chain, for "= ..." */
    unsigned carried_uses;
    enum lab_shape carried_shape;
    int passage;
    int surveying; /* definitions alone; nothing is received */
    struct lab_receiver to;
};

/* Fills in query, topic and freedoms of a text under what is settled: 0, or -1 with why.
 */
int lab_understood_complete(const struct lab_settled *settled,
                            struct lab_understood *understood, char why[100]);
/* Fills in the true statement beside it, where one is known and none is filled in. */
void lab_understood_standard(const struct lab_settled *settled,
                             struct lab_understood *understood);
/* The formula of the reader: definitions and claims.  0, or -1. */
int lab_formula_claims(struct lab_reader *reader);
/* The sentence `passage`: 1 if the grammar covers it, 0 if not, or -1. */
int lab_sentence_claims(struct lab_reader *reader, int passage);
/* How an inline formula, or a display after a colon, stands in its sentence. */
enum lab_standing {
    LAB_STANDS,
    LAB_DENIED,  /* "x = y does not hold" */
    LAB_ASSUMED, /* "if x = y" */
    LAB_WANTED,  /* "to achieve x = y" */
    LAB_CHANCED  /* "x > y with probability 1/2" */
};
enum lab_standing lab_formula_standing(const struct lab_document *document, int passage);
/* Words of a sentence, without its formulas, "then" and the like. */
int lab_sentence_words(const struct lab_document *document, int passage);
/* The head that the sentence of a formula names alone, 1 or 2, or 0. */
int lab_passage_head(const struct lab_document *document, int passage);
/* Whether a sentence, or that of a formula, refers to the part before, "in part (i)". */
int lab_passage_refers_back(const struct lab_document *document, int passage);
/* The claim that the queries in force do what the question asks; 0: none is asked. */
int lab_answer_claim(struct lab_reader *reader, const char *part);

#endif
