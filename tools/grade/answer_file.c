/* SPDX-License-Identifier: MIT */
#include "grade/answer_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static int refuse(char *why, const char *format,
                                                        ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, ANSWER_WHY, format, args);
    va_end(args);
    return -1;
}

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list",  [JSON_STRING] = "a text",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a number", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null"};
    return names[json_typeof(value)];
}

static json_t *load(const char *bytes, size_t size, char *why)
{
    json_error_t error;
    if (size > ANSWER_BYTES) {
        refuse(why, "%zu bytes: more than %d", size, ANSWER_BYTES);
        return NULL;
    }
    if (size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) { /* a byte order mark */
        bytes += 3;
        size -= 3;
    }
    json_t *const root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        refuse(why, "line %d, column %d: %s", error.line, error.column, error.text);
        return NULL;
    }
    if (json_is_object(root))
        return root;
    refuse(why, "%s where an object should be", type_name(root));
    json_decref(root);
    return NULL;
}

static int is_help(const char *key) { return !strcmp(key, "_help"); }

static int is_question(const char *key)
{
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        if (!strcmp(lab_grade_part(p)->question, key))
            return 1;
    return 0;
}

/* ---- answers -------------------------------------------------------------------- */

static int take_text(const json_t *value, int part, int k, const char *place,
                     struct lab_answer *answer, char *why)
{
    char reason[240];
    const char *text = json_string_value(value);
    if (!text)
        return refuse(why, "%s: %s where a text should be", place, type_name(value));
    if (!text[strspn(text, " \t\r\n")])
        text = "";
    if (*text && lab_grade_check(part, text, reason, sizeof reason))
        return refuse(why, "%s: %s", place, reason);
    answer->text[part][k] = text;
    return 0;
}

static int take_list(const json_t *value, int part, const char *place,
                     struct lab_answer *answer, char *why)
{
    const int texts = lab_grade_part(part)->texts;
    int given = 0;
    if (!json_is_array(value))
        return refuse(why, "%s: %s where a list of %d texts should be", place,
                      type_name(value), texts);
    if (json_array_size(value) != (size_t)texts)
        return refuse(why, "%s: %zu texts in place of %d", place, json_array_size(value),
                      texts);
    for (int k = 0; k < texts; k++) {
        char here[120];
        snprintf(here, sizeof here, "%s[%d]", place, k + 1);
        if (take_text(json_array_get(value, (size_t)k), part, k, here, answer, why))
            return -1;
        given += *answer->text[part][k] != 0;
    }
    if (given && given < texts)
        return refuse(why, "%s: %d of %d texts are empty", place, texts - given, texts);
    return 0;
}

static int take_question(const char *question, json_t *parts, struct lab_answer *answer,
                         char *why)
{
    const char *name;
    json_t *value;
    if (!json_is_object(parts))
        return refuse(why, "%s: %s where an object should be", question,
                      type_name(parts));
    json_object_foreach (parts, name, value) {
        char place[96];
        if (is_help(name))
            continue;
        const int part = lab_grade_find(question, name);
        if (part < 0)
            return refuse(why, "%s: no part '%.40s' in this question", question, name);
        snprintf(place, sizeof place, "%s.%s", question, name);
        if (lab_grade_part(part)->texts > 1
                ? take_list(value, part, place, answer, why)
                : take_text(value, part, 0, place, answer, why))
            return -1;
    }
    return 0;
}

static int take_student(const json_t *value, struct answer_file *file, char *why)
{
    enum { NAME_BYTES = 200 };
    const char *const name = json_string_value(value);
    if (!name)
        return refuse(why, "student: %s where a text should be", type_name(value));
    if (strlen(name) > NAME_BYTES)
        return refuse(why, "student: a name of more than %d bytes", NAME_BYTES);
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return refuse(why, "student: a control character in the name");
    file->student = name;
    return 0;
}

int answer_parse(const char *bytes, size_t size, struct answer_file *file, char *why)
{
    const char *key;
    json_t *value;
    int status = 0;

    *file = (struct answer_file){.root = load(bytes, size, why), .student = ""};
    if (!file->root)
        return -1;
    json_object_foreach (file->root, key, value) {
        if (status || is_help(key))
            continue;
        if (!strcmp(key, "student"))
            status = take_student(value, file, why);
        else if (is_question(key))
            status = take_question(key, value, &file->answer, why);
        else
            status = refuse(why, "no question '%.40s'", key);
    }
    if (status)
        answer_close(file);
    return status;
}

void answer_close(struct answer_file *file)
{
    json_decref(file->root);
    file->root = NULL;
}

/* ---- rubrics --------------------------------------------------------------------- */

static int take_number(const json_t *value, const char *place, double most,
                       double *number, char *why)
{
    if (!json_is_number(value))
        return refuse(why, "%s: %s where a number should be", place, type_name(value));
    const double x = json_number_value(value);
    if (!(x >= 0 && x <= most))
        return refuse(why, "%s: %g is outside 0..%g", place, x, most);
    *number = x;
    return 0;
}

/* The question's points, shared among its parts as they are by default. */
static void share(const char *question, double points, struct lab_rubric *rubric)
{
    double sum = 0;
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        if (!strcmp(lab_grade_part(p)->question, question))
            sum += lab_grade_part(p)->points;
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        if (!strcmp(lab_grade_part(p)->question, question))
            rubric->points[p] = points * lab_grade_part(p)->points / sum;
}

enum { POINTS_MOST = 1000 };

static int take_points(const char *question, json_t *value, struct lab_rubric *rubric,
                       char *why)
{
    char place[96];
    const char *name;
    json_t *points;

    snprintf(place, sizeof place, "points.%.40s", question);
    if (!is_question(question))
        return refuse(why, "points: no question '%.40s'", question);
    if (!json_is_object(value)) {
        double all = 0;
        if (take_number(value, place, POINTS_MOST, &all, why))
            return -1;
        share(question, all, rubric);
        return 0;
    }
    json_object_foreach (value, name, points) {
        const int part = lab_grade_find(question, name);
        if (is_help(name))
            continue;
        if (part < 0)
            return refuse(why, "%s: no part '%.40s' in this question", place, name);
        snprintf(place, sizeof place, "points.%s.%s", question, name);
        if (take_number(points, place, POINTS_MOST, &rubric->points[part], why))
            return -1;
    }
    return 0;
}

static int take_credit(const char *name, const json_t *value, struct lab_rubric *rubric,
                       char *why)
{
    if (!strcmp(name, "limit"))
        return take_number(value, "credit.limit", 1, &rubric->limit, why);
    if (!strcmp(name, "slip"))
        return take_number(value, "credit.slip", 1, &rubric->slip, why);
    return refuse(why, "credit: '%.40s' is neither limit nor slip", name);
}

static int take_section(const char *section, json_t *root, struct lab_rubric *rubric,
                        char *why)
{
    const int is_points = !strcmp(section, "points");
    const char *key;
    json_t *value;
    if (!is_points && strcmp(section, "credit") != 0)
        return refuse(why, "'%.40s' is neither points nor credit", section);
    if (!json_is_object(root))
        return refuse(why, "%s: %s where an object should be", section, type_name(root));
    json_object_foreach (root, key, value) {
        if (is_help(key))
            continue;
        if (is_points ? take_points(key, value, rubric, why)
                      : take_credit(key, value, rubric, why))
            return -1;
    }
    return 0;
}

int rubric_parse(const char *bytes, size_t size, struct lab_rubric *rubric, char *why)
{
    json_t *const root = load(bytes, size, why);
    const char *key;
    json_t *value;
    int status = root ? 0 : -1;
    json_object_foreach (root, key, value) {
        if (!status && !is_help(key))
            status = take_section(key, value, rubric, why);
    }
    json_decref(root);
    return status;
}

/* ---- the form --------------------------------------------------------------------- */

static json_t *blank(const struct lab_part *part)
{
    if (part->texts == 1)
        return json_string("");
    json_t *const list = json_array();
    for (int k = 0; k < part->texts; k++)
        json_array_append_new(list, json_string(""));
    return list;
}

static void add_part(json_t *root, int p)
{
    const struct lab_part *const part = lab_grade_part(p);
    char letters[300], help[600];
    json_t *question = json_object_get(root, part->question);

    if (!question) {
        question = json_object();
        json_object_set_new(question, "_help", json_object());
        json_object_set_new(root, part->question, question);
        question = json_object_get(root, part->question);
    }
    lab_grade_letters(p, letters, sizeof letters);
    snprintf(help, sizeof help, "%s; %s%s", part->asks,
             part->choices ? "one of " : "letters ",
             part->choices ? part->choices : letters);
    json_object_set_new(json_object_get(question, "_help"), part->name,
                        json_string(help));
    json_object_set_new(question, part->name, blank(part));
}

json_t *answer_template(void)
{
    json_t *const root = json_pack(
        "{s:[s,s,s,s], s:s}", "_help", "An empty text is no answer. _help is ignored.",
        "Formulas: numbers, + - * / ^, parentheses, sqrt exp ln abs Phi and others; C "
        "(mu_a + mu_b) is a product, and so is n m; nm is another letter.",
        "A^T is a transpose, A^-1 an inverse, vectors are columns.",
        "c, weights and limits are those of the exercise: scores k^T q, not divided by "
        "sqrt(d).",
        "student", "");
    for (int p = 0; root && p < LAB_GRADE_PARTS; p++)
        add_part(root, p);
    return root;
}
