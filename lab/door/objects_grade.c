/* SPDX-License-Identifier: MIT */
#include "lab/door/objects.h"
#include "lab/grade/grade.h"

void lab_json_part(struct lab_json *json, int part, const struct lab_part_grade *grade)
{
    const struct lab_part *const asked = lab_grade_part(part);

    lab_json_put(json,
                 "question:s part:s verdict:s points:r of:r computed:r claimed:r error:s "
                 "evidence:s",
                 asked->question, asked->name, lab_mark_name(grade->mark), grade->points,
                 grade->most, grade->computed, grade->claimed, grade->error,
                 grade->evidence);
}
