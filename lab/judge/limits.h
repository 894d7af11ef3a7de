/* SPDX-License-Identifier: MIT */
/*
 * Shared by the judges of sheets and of answers: the result of a comparison, the search
 * for a limit in which a claim becomes true, and texts with a flag for overflow.
 */
#ifndef LAB_LIMITS_H
#define LAB_LIMITS_H

#include <stddef.h>

#include "lab/exercise/exercise.h"

#define LAB_TOLERANCE 1e-9 /* error of a claim that is exact */
#define LAB_VANISHED 1e-6  /* error at the far end of one that is true in the limit */

enum { LAB_WHY = 900 }; /* bytes of the reason why a claim is ill formed */

enum { LAB_AT_MOST = 'l', LAB_AT_LEAST = 'g' }; /* <= and >= */

/* A claim at one point. */
struct lab_finding {
    double computed; /* the true number; `claimed` NaN: a distance from 0 */
    double claimed;
    double error;   /* 0 where exact; relative where both sides vanish; never NaN */
    char sign;      /* of a link of formulas: = ~ < >, ! for !=, or one of these */
    int of_letters; /* no letter in it depends on the world */
    int drawn;      /* over many draws: the two numbers are of the worst entry */
    char why[240];  /* not empty: the claim makes no sense here */
};

/* Quantities that may grow, vanish or be excluded. */
enum lab_free {
    LAB_FREE_SCALE = 1, /* the point's scale grows */
    LAB_FREE_ALPHA = 2, /* alpha |q|^2 vanishes */
    LAB_FREE_N = 4,     /* n > 2 */
    LAB_FREE_EVENT = 8, /* draws with gamma > 0 */
    LAB_FREE_EPS = 16   /* eps falls and n grows */
};

/* Errors of a claim at a point: the largest, and that of links of letters alone. */
struct lab_errors {
    double worst, of_letters;
};

enum { LAB_ENDS = 4 };

/* The points that a claim is followed through, and how. */
struct lab_way {
    unsigned free; /* of enum lab_free */
    int starts;
    int every; /* 1: every start is followed; 0: up to the first that fails */
    /* Scales at the end; the nearer ones are for formulas that overflow. */
    int ends;
    double far[LAB_ENDS];
    double stride; /* logarithm to base 2 of the scale's factor from step to step */
    double alpha;  /* at the first step, over the squared length of the query */
    void *arg;
    /* Start x where `free` moves: 1, or 0 if another start serves for it. */
    int (*start)(void *arg, int x, unsigned free, struct lab_point *from);
    double (*length)(void *arg, const struct lab_point *point); /* NULL: the scale */
    int (*errors)(void *arg, const struct lab_point *point, struct lab_errors *errors);
};

struct lab_limit {
    unsigned needs;  /* the smallest set of freedoms that suffices; 0: there is none */
    double residual; /* largest error at the far end, of the last set tried */
    int of_letters;  /* at the far end only links of letters alone are wrong */
};

/*
 * The smallest set of way->free under which the error falls, and has vanished at the far
 * end, from every start.  0, or -1.
 */
int lab_find_limit(const struct lab_way *way, struct lab_limit *limit);

/* One symbol, wherever it stands: every `from` becomes `to`. */
enum { LAB_REPAIRS = 3 };
struct lab_repair {
    struct {
        const char *from, *to;
    } put[LAB_REPAIRS];
    const char *as;   /* reason, "as line 17 counts the keys"; NULL: no repair */
    int reversed;     /* 1: products in the other order */
    const char *says; /* "i != j -> all i and j"; NULL: the first of `put` */
};

/* A text of `size` bytes that grows at its end. */
struct lab_text {
    char *text;
    size_t size;
    int is_cut; /* something did not fit */
};

__attribute__((format(printf, 2, 3))) void lab_text_add(struct lab_text *text,
                                                        const char *format, ...);

#endif
