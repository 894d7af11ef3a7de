/* SPDX-License-Identifier: MIT */
#include "lab/door/objects.h"
#include "lab/grade/grade.h"

void lab_json_asked(struct lab_json *json, int p)
{
    const struct lab_part *const part = lab_grade_part(p);
    char letters[300];

    lab_grade_letters(p, letters, sizeof letters);
    lab_json_put(json,
                 "question:s name:s asks:p asked:s texts:i choices:s points:r hint:s "
                 "letters:s solution:[",
                 part->question, part->name, part->asks, part->asks, part->texts,
                 part->choices, part->points, part->hint, letters);
    for (int k = 0; k < part->texts; k++)
        lab_json_text(json, part->solution[k]);
    lab_json_end(json, ']');
}

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
