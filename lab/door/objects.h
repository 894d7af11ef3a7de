/* SPDX-License-Identifier: MIT */
/* What the laboratory finds, as members of an object that the caller begins and ends. */
#ifndef LAB_OBJECTS_H
#define LAB_OBJECTS_H

#include "lab/door/json.h"

struct lab_run;
struct lab_row;
struct lab_judgement;
struct lab_part_grade;

/* A row of a run. */
void lab_json_row(struct lab_json *json, const struct lab_run *run,
                  const struct lab_row *row);
/* A statement judged; `quote` is its quotation, or that in plain letters. */
void lab_json_judgement(struct lab_json *json, const struct lab_judgement *judgement,
                        const char *quote);
/* A part of an answer graded. */
void lab_json_part(struct lab_json *json, int part, const struct lab_part_grade *grade);

#endif
