/* SPDX-License-Identifier: MIT */
/* exercise.json: the tasks of an exercise in code. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tensors/tensors_tool.h"

__attribute__((format(printf, 2, 3))) static int refuse(char *why, const char *format,
                                                        ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, TENSORS_WHY, format, args);
    va_end(args);
    return -1;
}

/* ---- fields ----------------------------------------------------------------------- */

enum type { TEXT, NUMBER, WHOLE, CHOICE, KEYS };

/* A field of a task: where it goes, and the range of a number or the words of a choice.
 */
struct field {
    const char *name;
    enum type type;
    size_t at;
    double lo, hi;
    const char *choices[5];
};

#define FIELD(name) offsetof(struct tensors_task, name)

static const struct field fields[] = {
    {"name", TEXT, .at = FIELD(name)},
    {"q", TEXT, .at = FIELD(q)},
    {"k", TEXT, .at = FIELD(k)},
    {"v", TEXT, .at = FIELD(v)},
    {"mask", TEXT, .at = FIELD(mask)},
    {"out", TEXT, .at = FIELD(out)},
    {"kind", CHOICE, .at = FIELD(kind), .choices = {"attention", "copy", "average"}},
    {"layout", CHOICE, .at = FIELD(layout), .choices = {"bhld", "blhd", "packed"}},
    {"causal", CHOICE, .at = FIELD(causal),
     .choices = {"none", "top-left", "bottom-right"}},
    {"rotary", CHOICE, .at = FIELD(rotary), .choices = {"none", "pairs", "halves"}},
    {"heads", WHOLE, .at = FIELD(heads), .lo = 1, .hi = 4096},
    {"kv_heads", WHOLE, .at = FIELD(kv_heads), .lo = 1, .hi = 4096},
    {"scale", NUMBER, .at = FIELD(scale), .lo = -1e6, .hi = 1e6},
    {"base", NUMBER, .at = FIELD(base), .lo = 1.001, .hi = 1e12},
    {"tolerance", NUMBER, .at = FIELD(tolerance), .lo = 1e-12, .hi = 0.5},
    {"points", NUMBER, .at = FIELD(points), .lo = 0, .hi = 1e6},
    {"wanted", KEYS, .hi = 1 << 20},
};
enum { FIELDS = sizeof fields / sizeof *fields };
_Static_assert(ATTEND_CAUSAL_TOP_LEFT == 1 && ATTEND_CAUSAL_BOTTOM_RIGHT == 2 &&
                   ATTEND_LAYER_ROTARY_PAIRS == 1 && ATTEND_LAYER_ROTARY_HALVES == 2,
               "choices are in the order of their enumerators");

static int is_whole(double x) { return x == floor(x); }

static int take_number(const struct lab_json_value *value, const struct field *field,
                       double *to, char *why)
{
    if (value->type != LAB_JSON_NUMBER)
        return refuse(why, "%s: %s where a number should be", field->name,
                      lab_json_type_name(value));
    if (!(value->number >= field->lo && value->number <= field->hi) ||
        (field->type != NUMBER && !is_whole(value->number)))
        return refuse(why, "%s: %g is not %s in %g .. %g", field->name, value->number,
                      field->type == NUMBER ? "a number" : "a whole number", field->lo,
                      field->hi);
    *to = value->number;
    return 0;
}

static int take_choice(const struct lab_json_value *value, const struct field *field,
                       int *to, char *why)
{
    for (int c = 0; value->text && field->choices[c]; c++)
        if (!strcmp(value->text, field->choices[c])) {
            *to = c;
            return 0;
        }
    return refuse(
        why, "%s: %s%s%s where one of %s, %s and %s should be", field->name,
        value->text ? "'" : "", value->text ? value->text : lab_json_type_name(value),
        value->text ? "'" : "", field->choices[0], field->choices[1], field->choices[2]);
}

static int take_keys(const struct lab_json_value *value, const struct field *field,
                     struct tensors_task *task, char *why)
{
    if (value->type != LAB_JSON_LIST || value->count < 1 || value->count > TENSORS_WANTED)
        return refuse(why, "wanted: a list of 1 to %d keys is needed", TENSORS_WANTED);
    for (const struct lab_json_value *one = value->first; one; one = one->next) {
        double key = 0.0;
        if (take_number(one, field, &key, why))
            return -1;
        for (int w = 0; w < task->wanted_count; w++)
            if (task->wanted[w] == (int64_t)key)
                return refuse(why, "wanted: key %.0f is there twice", key);
        task->wanted[task->wanted_count++] = (int64_t)key;
    }
    return 0;
}

static int take_field(const struct lab_json_value *value, struct tensors_task *task,
                      char *why)
{
    char *const to = (char *)task;
    double number = 0.0;

    for (int f = 0; f < FIELDS; f++) {
        const struct field *const field = &fields[f];
        if (strcmp(value->key, field->name))
            continue;
        switch (field->type) {
        case TEXT:
            if (value->type != LAB_JSON_TEXT || !*value->text)
                return refuse(why, "%s: %s where a name should be", field->name,
                              value->text ? "an empty text" : lab_json_type_name(value));
            *(const char **)(void *)(to + field->at) = value->text;
            return 0;
        case CHOICE:
            return take_choice(value, field, (int *)(void *)(to + field->at), why);
        case KEYS:
            return take_keys(value, field, task, why);
        default:
            if (take_number(value, field, &number, why))
                return -1;
            if (field->type == NUMBER)
                *(double *)(void *)(to + field->at) = number;
            else
                *(int64_t *)(void *)(to + field->at) = (int64_t)number;
            return 0;
        }
    }
    return refuse(why, "a task has no field '%s'", value->key);
}

/* ---- tasks ------------------------------------------------------------------------ */

static const struct tensors_task empty = {.name = "attention",
                                          .q = "q.npy",
                                          .k = "k.npy",
                                          .v = "v.npy",
                                          .out = "out.npy",
                                          .scale = NAN,
                                          .base = ATTEND_LAYER_BASE,
                                          .tolerance = 0.01,
                                          .points = 1};

/* Fields that do not fit each other. */
static int check_task(const struct tensors_task *task, char *why)
{
    const int is_query = task->kind != TENSORS_ATTENTION;

    if (task->layout == TENSORS_PACKED && !task->heads)
        return refuse(why, "layout: packed needs heads");
    if (task->layout != TENSORS_PACKED && (task->heads || task->kv_heads))
        return refuse(why, "heads: of the layout packed alone");
    if (task->kv_heads && task->heads % task->kv_heads)
        return refuse(why, "kv_heads: heads (%lld) is not a multiple of %lld",
                      (long long)task->heads, (long long)task->kv_heads);
    if (is_query && !task->wanted_count)
        return refuse(why, "wanted: copy and average need it");
    if (!is_query && task->wanted_count)
        return refuse(why, "wanted: of copy and average alone");
    if (task->kind == TENSORS_COPY && task->wanted_count != 1)
        return refuse(why, "wanted: copy takes one key");
    if (is_query && (task->causal || task->rotary || task->mask || task->layout))
        return refuse(why, "kind: copy and average take k, out, wanted, scale and "
                           "tolerance alone");
    return 0;
}

static int take_task(const struct lab_json_value *value,
                     struct tensors_exercise *exercise, char *why)
{
    struct tensors_task *const task = &exercise->task[exercise->count];
    const struct lab_json_value *field;
    char inner[TENSORS_WHY - 40];
    int failed = 0, is_named = 0;

    if (value->type != LAB_JSON_OBJECT)
        return refuse(why, "task %d: %s where an object should be", exercise->count + 1,
                      lab_json_type_name(value));
    *task = empty;
    for (field = value->first; field && !failed; field = field->next) {
        failed = take_field(field, task, why);
        is_named |= !strcmp(field->key, "name");
    }
    if (!failed && !is_named)
        failed = refuse(why, "name: it is missing");
    for (int t = 0; !failed && t < exercise->count; t++)
        if (!strcmp(exercise->task[t].name, task->name))
            failed = refuse(why, "name: there is another '%s'", task->name);
    if (!failed)
        failed = check_task(task, why);
    if (!failed) {
        if (task->layout == TENSORS_PACKED && !task->kv_heads)
            task->kv_heads = task->heads;
        exercise->count++;
        return 0;
    }
    snprintf(inner, sizeof inner, "%s", why);
    return refuse(why, "task %d: %s", exercise->count + 1, inner);
}

int tensors_exercise_read(const char *bytes, size_t length,
                          struct tensors_exercise *exercise, char *why)
{
    const struct lab_json_value *tasks;

    *exercise = (struct tensors_exercise){0};
    if (lab_json_read(bytes, length, &exercise->tree, why, TENSORS_WHY))
        return -1;
    if (exercise->tree.root->type != LAB_JSON_OBJECT)
        return refuse(why, "%s where an object should be",
                      lab_json_type_name(exercise->tree.root));
    tasks = exercise->tree.root->first;
    if (!tasks || tasks->next || strcmp(tasks->key, "tasks") ||
        tasks->type != LAB_JSON_LIST)
        return refuse(why, "{\"tasks\": [...]} is needed, and nothing beside it");
    if (tasks->count < 1 || tasks->count > TENSORS_TASKS)
        return refuse(why, "tasks: %d of them: 1 to %d can be graded", tasks->count,
                      TENSORS_TASKS);
    for (const struct lab_json_value *task = tasks->first; task; task = task->next)
        if (take_task(task, exercise, why))
            return -1;
    return 0;
}

void tensors_exercise_default(int has_causal, struct tensors_exercise *exercise)
{
    *exercise = (struct tensors_exercise){.task = {empty}, .count = has_causal ? 2 : 1};
    exercise->task[1] = empty;
    exercise->task[1].name = "causal";
    exercise->task[1].out = "causal.npy";
    exercise->task[1].causal = ATTEND_CAUSAL_TOP_LEFT;
}

void tensors_exercise_free(struct tensors_exercise *exercise)
{
    lab_json_free(&exercise->tree);
}
