/* SPDX-License-Identifier: MIT */
/* Results of the laboratory, as members of an object that the caller begins and ends. */
#ifndef LAB_OBJECTS_H
#define LAB_OBJECTS_H

#include "lab/door/json.h"

struct lab_design;
struct lab_dispute;
struct lab_experiment;
struct lab_judgement;
struct lab_part_grade;
struct lab_row;
struct lab_run;

/* An experiment: its flags, and the quantities of its rows. */
void lab_json_experiment(struct lab_json *json, const struct lab_experiment *experiment);
/* A row of a run. */
void lab_json_row(struct lab_json *json, const struct lab_run *run,
                  const struct lab_row *row);
/* A statement judged; `quote` is its quotation, or that in plain letters. */
void lab_json_judgement(struct lab_json *json, const struct lab_judgement *judgement,
                        const char *quote);
/* A point on which the sheets disagree. */
void lab_json_dispute(struct lab_json *json, const struct lab_dispute *dispute);
/* Queries and numbers of heads; the queries themselves are left out. */
void lab_json_design(struct lab_json *json, const struct lab_design *design);
/* A part of the exercise. */
void lab_json_asked(struct lab_json *json, int part);
/* A part of an answer graded. */
void lab_json_part(struct lab_json *json, int part, const struct lab_part_grade *grade);

#endif
