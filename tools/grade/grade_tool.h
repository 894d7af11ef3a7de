/* SPDX-License-Identifier: MIT */
/* The parts of `attend grade`. */
#ifndef TOOLS_GRADE_TOOL_H
#define TOOLS_GRADE_TOOL_H

#include <stdio.h>

#include "lab/door/form.h"
#include "shared/tool.h"

/* One answer of a class. */
struct graded {
    const char *path;
    const char *name;         /* of the file, without its folder */
    const char *id, *student; /* of the roster; NULL: of the form */
    struct lab_form form;
    struct lab_grade grade;
    int unread; /* the file is not a form: it has no grade, and a row in a CSV */
    char why[LAB_FORM_WHY]; /* the reason */
    int failed;             /* not graded: out of memory */
};

/* The answers of a command, and how they are shown. */
struct graded_class {
    struct graded *graded;
    int count;
    const struct lab_scheme *scheme;
    int has_ids; /* a roster was read */
    int hints;   /* in place of solutions */
    int is_anonymous;
};

enum { GRADED_NAME = 300 };

/* The student's name, or the file's without ".json"; "answer 7" where names are left out.
 */
const char *graded_student(const struct graded_class *all, int g, char room[GRADED_NAME]);
/* The name of the file, "" where names are left out. */
const char *graded_file(const struct graded_class *all, int g);
/* The hint, or the solution, of a part without full marks; NULL: there is none. */
const char *graded_help(const struct lab_part_grade *grade, int hints);

/* ---- files ---------------------------------------------------------------------- */

struct graded_list {
    char **path;
    int count;
};

/* Appends a file, or all forms of a folder; TOOL_OK, or another status with a message. */
int graded_list_take(void *list, const char *word);
void graded_list_free(struct graded_list *list);
/* The bytes of a file of at most LAB_FORM_BYTES; NULL with a message. */
char *graded_read(const char *path, size_t *size);
/* Opens a form; TOOL_OK, or TOOL_USAGE with a message for each remark. */
int graded_open(const char *path, struct graded *graded);
/* The scheme and points of a course (-1: the form's), and points of a file (NULL: none).
 */
int graded_rules(int course, const char *path, struct lab_scheme *scheme,
                 struct lab_rubric *rubric);
/* Grades one that is open, in the parts of the scheme. */
void graded_grade(struct graded *graded, const struct lab_scheme *scheme,
                  const struct lab_rubric *rubric, uint64_t seed);

/* ---- rosters ----------------------------------------------------------------------- */

/* One student of a roster. */
struct roster_row {
    char *id, *name;
};
struct roster {
    struct roster_row *row;
    int count;
};

/* Reads a CSV with columns id and name: TOOL_OK, or TOOL_USAGE with a message. */
int roster_read(const char *path, struct roster *roster);
void roster_free(struct roster *roster);
/*
 * The answers in the order of the roster: every student has one, without a file where
 * none was handed in; those of no student follow, each with a message and TOOL_USAGE.
 */
int roster_order(const struct roster *roster, struct graded **graded, int *count);

/* ---- output ------------------------------------------------------------------------ */

enum grade_format { GRADE_TEXT, GRADE_CSV, GRADE_JSON, GRADE_SUMMARY };

/* Prints all; TOOL_OK or TOOL_FAILED with a message. */
int grade_print(const struct graded_class *all, enum grade_format format);
/* One answer as text. */
void grade_write_text(FILE *out, const struct graded_class *all, int g);
/* results.json of Gradescope for one answer, or for the reason why there is none. */
int grade_print_results(const struct graded_class *all, const char *why);
/* A table of the class. */
int grade_print_summary(const struct graded_class *all);
/* A page of the class, and a file of each student in a folder: TOOL_OK, or not. */
int grade_write_report(const struct graded_class *all, const char *path);
int grade_write_feedback(const struct graded_class *all, const char *folder);

/* ---- the class ----------------------------------------------------------------------
 */

/* One part over all students. */
struct tally {
    int answered, right, unread;
    double points, of;
};
struct tally graded_tally(const struct graded_class *all, int part);
/* Share of the points in percent; of a part without points 0. */
double tally_share(const struct tally *tally);

/* A text of a part, and how many have it: an error's name, or an answer. */
struct named {
    int part, count, first; /* first: an answer that has it */
    const char *name;
};
struct named_list {
    struct named *list;
    int count;
};
/* Named errors, the most frequent first: 0, or -1 without memory.  Free list->list. */
int graded_errors(const struct graded_class *all, struct named_list *list);

/* ---- the autograder ------------------------------------------------------------------
 */

/* Writes the zip: TOOL_OK, or another status with a message. */
int grade_write_autograder(const char *path, int course, const char *rubric, int hints,
                           int64_t seed);

#endif
