/* SPDX-License-Identifier: MIT */
/*
 * The questions that grades are listed by: those of the form, or the public numbering of
 * a course, whose questions take some parts of the form and have points of their own.
 */
#ifndef LAB_COURSES_H
#define LAB_COURSES_H

#include "lab/grade/grade.h"

enum { LAB_SCHEME_QUESTIONS = 20, LAB_SCHEME_PARTS = 8 };

struct lab_scheme_question {
    const char *number; /* "1(a)i" */
    int parts, part[LAB_SCHEME_PARTS];
    const char
        *person; /* what the form does not ask, for a person to read; NULL: nothing */
};

struct lab_scheme {
    const char *name; /* of the course; NULL: the form */
    int questions;
    struct lab_scheme_question question[LAB_SCHEME_QUESTIONS];
};

void lab_scheme_form(struct lab_scheme *scheme);
/* Names of the courses, "w21|w22|w26", and one of them, from 0. */
extern const char lab_course_names[];
const char *lab_course_name(int course);
/* A course, with its points. */
void lab_scheme_course(int course, struct lab_scheme *scheme, struct lab_rubric *rubric);
/* The number of the question that has the part; NULL: none has. */
const char *lab_scheme_number(const struct lab_scheme *scheme, int part);

#endif
