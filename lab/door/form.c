/* SPDX-License-Identifier: MIT */
#include "lab/door/form.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static int refuse(char *why, const char *format,
                                                        ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, LAB_FORM_WHY, format, args);
    va_end(args);
    return -1;
}

/* An object with the values of the file. */
static int load(const char *bytes, size_t length, struct lab_json_tree *tree, char *why)
{
    *tree = (struct lab_json_tree){NULL, NULL};
    if (length > LAB_FORM_BYTES)
        return refuse(why, "%zu bytes: more than %d", length, LAB_FORM_BYTES);
    if (lab_json_read(bytes, length, tree, why, LAB_FORM_WHY))
        return -1;
    if (tree->root->type != LAB_JSON_OBJECT)
        return refuse(why, "%s where an object should be",
                      lab_json_type_name(tree->root));
    return 0;
}

static int is_help(const struct lab_json_value *value)
{
    return !strcmp(value->key, "_help");
}

static int is_question(const char *key)
{
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        if (!strcmp(lab_grade_part(p)->question, key))
            return 1;
    return 0;
}

/* ---- answers -------------------------------------------------------------------- */

/* Appends a text that the form owns; NULL, and the form has failed, without memory. */
__attribute__((format(printf, 3, 4))) static const char *
keep(struct lab_form *form, struct lab_texts *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *const text = malloc((size_t)length + 1);
    char **const grown = realloc(to->list, sizeof *grown * (size_t)(to->count + 1));
    if (grown)
        to->list = grown;
    if (!text || !grown) {
        free(text);
        form->failed = 1;
        return NULL;
    }
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return to->list[to->count++] = text;
}

static int is_blank(const char *text) { return !text[strspn(text, " \t\r\n")]; }

/* A text for a number, "" for null and for blanks; NULL for other types. */
static const char *as_text(const struct lab_json_value *value, struct lab_form *form)
{
    if (value->type == LAB_JSON_NUMBER)
        return keep(form, &form->texts, "%.17g", value->number);
    if (value->type == LAB_JSON_NULL)
        return "";
    return value->text && is_blank(value->text) ? "" : value->text;
}

/* Texts of one text "C; C; 0", split at each ";" and "," outside of brackets. */
static int split(const char *text, const char *found[LAB_GRADE_TEXTS],
                 struct lab_form *form)
{
    int count = 0;

    for (const char *end; text; text = *end ? end + 1 : NULL) {
        int depth = 0;

        for (end = text; *end && (depth > 0 || (*end != ';' && *end != ',')); end++)
            depth += (strchr("([{", *end) != NULL) - (strchr(")]}", *end) != NULL);
        if (count++ < LAB_GRADE_TEXTS) {
            const char *const one =
                keep(form, &form->texts, "%.*s", (int)(end - text), text);

            found[count - 1] = one && is_blank(one) ? "" : one;
        }
    }
    return count;
}

/* The texts of a part; a text that cannot be read sets the part's problem. */
static void take_part(const struct lab_json_value *value, int part, struct lab_form *form)
{
    const int texts = lab_grade_part(part)->texts;
    const int is_list = value->type == LAB_JSON_LIST;
    const int is_whole = value->text && texts > 1 && !is_blank(value->text);
    const struct lab_json_value *one = is_list ? value->first : value;
    const struct lab_json_value *bad = NULL;
    const char *found[LAB_GRADE_TEXTS] = {NULL};
    int given = is_list                                       ? value->count
                : value->text || value->type == LAB_JSON_NULL ? texts
                                                              : 1;

    if (is_whole)
        given = split(value->text, found, form);
    for (int k = 0; k < texts && k < given && !is_whole && !bad; k++) {
        found[k] = as_text(one, form);
        bad = found[k] ? NULL : one;
        one = is_list ? one->next : one;
    }
    if (given != texts)
        form->answer.problem[part] =
            keep(form, &form->texts, "%d text%s where %d %s asked", given,
                 given == 1 ? "" : "s", texts, texts == 1 ? "is" : "are");
    else if (bad)
        form->answer.problem[part] = keep(form, &form->texts, "%s where a text should be",
                                          lab_json_type_name(bad));
    else
        memcpy(form->answer.text[part], found, sizeof found);
}

/* Parts that no question has are left out, with a remark. */
static void take_question(const struct lab_json_value *question, struct lab_form *form)
{
    if (question->type != LAB_JSON_OBJECT)
        keep(form, &form->remarks, "%s: %s where an object should be", question->key,
             lab_json_type_name(question));
    for (const struct lab_json_value *value = question->first;
         value && question->type == LAB_JSON_OBJECT; value = value->next) {
        const int part = lab_grade_find(question->key, value->key);

        if (is_help(value))
            continue;
        if (part < 0)
            keep(form, &form->remarks, "%s: no part '%.40s' in this question",
                 question->key, value->key);
        else
            take_part(value, part, form);
    }
}

/* The name of the student, or an id, which may be a number. */
static int take_name(const struct lab_json_value *value, struct lab_form *form,
                     const char **to, char *why)
{
    enum { NAME_BYTES = 200 };
    const int is_id = to == &form->id;
    const char *const name = is_id ? as_text(value, form) : value->text;
    if (!name)
        return refuse(why, "%s: %s where a text should be", value->key,
                      lab_json_type_name(value));
    if (strlen(name) > NAME_BYTES)
        return refuse(why, "%s: a name of more than %d bytes", value->key, NAME_BYTES);
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return refuse(why, "%s: a control character in the name", value->key);
    *to = name;
    return 0;
}

int lab_form_read(const char *bytes, size_t length, struct lab_form *form, char *why)
{
    *form = (struct lab_form){.student = "", .id = ""};
    int status = load(bytes, length, &form->tree, why);
    const struct lab_json_value *value = status ? NULL : form->tree.root->first;
    for (; value && !status; value = value->next) {
        if (is_help(value))
            continue;
        if (!strcmp(value->key, "student"))
            status = take_name(value, form, &form->student, why);
        else if (!strcmp(value->key, "id"))
            status = take_name(value, form, &form->id, why);
        else if (is_question(value->key))
            take_question(value, form);
        else
            keep(form, &form->remarks, "no question '%.40s'", value->key);
    }
    return form->failed ? refuse(why, "out of memory") : status;
}

static void free_texts(struct lab_texts *texts)
{
    for (int x = 0; x < texts->count; x++)
        free(texts->list[x]);
    free(texts->list);
}

void lab_form_free(struct lab_form *form)
{
    lab_json_free(&form->tree);
    free_texts(&form->texts);
    free_texts(&form->remarks);
    *form = (struct lab_form){.student = "", .id = ""};
}

/* ---- rubrics --------------------------------------------------------------------- */

static int take_number(const struct lab_json_value *value, const char *place, double most,
                       double *number, char *why)
{
    if (value->type != LAB_JSON_NUMBER)
        return refuse(why, "%s: %s where a number should be", place,
                      lab_json_type_name(value));
    const double x = value->number;
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

static int take_points(const struct lab_json_value *question, struct lab_rubric *rubric,
                       char *why)
{
    char place[96];

    snprintf(place, sizeof place, "points.%.40s", question->key);
    if (!is_question(question->key))
        return refuse(why, "points: no question '%.40s'", question->key);
    if (question->type != LAB_JSON_OBJECT) {
        double all = 0;
        if (take_number(question, place, POINTS_MOST, &all, why))
            return -1;
        share(question->key, all, rubric);
        return 0;
    }
    for (const struct lab_json_value *points = question->first; points;
         points = points->next) {
        const int part = lab_grade_find(question->key, points->key);
        if (is_help(points))
            continue;
        if (part < 0)
            return refuse(why, "%s: no part '%.40s' in this question", place,
                          points->key);
        snprintf(place, sizeof place, "points.%s.%s", question->key, points->key);
        if (take_number(points, place, POINTS_MOST, &rubric->points[part], why))
            return -1;
    }
    return 0;
}

static int take_credit(const struct lab_json_value *value, struct lab_rubric *rubric,
                       char *why)
{
    if (!strcmp(value->key, "limit"))
        return take_number(value, "credit.limit", 1, &rubric->limit, why);
    if (!strcmp(value->key, "slip"))
        return take_number(value, "credit.slip", 1, &rubric->slip, why);
    return refuse(why, "credit: '%.40s' is neither limit nor slip", value->key);
}

static int take_section(const struct lab_json_value *section, struct lab_rubric *rubric,
                        char *why)
{
    const int is_points = !strcmp(section->key, "points");
    int status = 0;

    if (!is_points && strcmp(section->key, "credit") != 0)
        return refuse(why, "'%.40s' is neither points nor credit", section->key);
    if (section->type != LAB_JSON_OBJECT)
        return refuse(why, "%s: %s where an object should be", section->key,
                      lab_json_type_name(section));
    for (const struct lab_json_value *value = section->first; value && !status;
         value = value->next)
        if (!is_help(value))
            status = is_points ? take_points(value, rubric, why)
                               : take_credit(value, rubric, why);
    return status;
}

int lab_rubric_read(const char *bytes, size_t length, struct lab_rubric *rubric,
                    char *why)
{
    struct lab_json_tree tree;
    int status = load(bytes, length, &tree, why);
    const struct lab_json_value *section = status ? NULL : tree.root->first;

    for (; section && !status; section = section->next)
        if (!is_help(section))
            status = take_section(section, rubric, why);
    lab_json_free(&tree);
    return status;
}

/* ---- the empty form ---------------------------------------------------------------- */

static void put_blank(struct lab_json *json, const struct lab_part *part)
{
    lab_json_key(json, part->name);
    if (part->texts > 1)
        lab_json_begin(json, '[');
    for (int k = 0; k < part->texts; k++)
        lab_json_text(json, "");
    if (part->texts > 1)
        lab_json_end(json, ']');
}

static void put_help(struct lab_json *json, const struct lab_scheme *scheme, int p)
{
    const struct lab_part *const part = lab_grade_part(p);
    char letters[300], help[640];

    lab_grade_letters(p, letters, sizeof letters);
    snprintf(help, sizeof help, "%s%s%s; %s%s",
             scheme->name ? lab_scheme_number(scheme, p) : "", scheme->name ? ": " : "",
             part->asks, part->choices ? "one of " : "letters ",
             part->choices ? part->choices : letters);
    lab_json_key(json, part->name);
    lab_json_text(json, help);
}

/* The parts of a question that the scheme has. */
static int parts_of(const struct lab_scheme *scheme, const char *question, int *part)
{
    int count = 0;
    for (int p = 0; p < LAB_GRADE_PARTS; p++)
        if (!strcmp(lab_grade_part(p)->question, question) &&
            lab_scheme_number(scheme, p))
            part[count++] = p;
    return count;
}

void lab_form_put_empty(struct lab_json *json, const struct lab_scheme *scheme)
{
    struct lab_scheme form;

    lab_scheme_form(&form);
    if (!scheme)
        scheme = &form;
    lab_json_put(json, "{ _help:[ s s s s s ] student:s id:s",
                 "An empty text is no answer. _help is ignored.",
                 "Formulas: numbers, + - * / ^, parentheses, sqrt exp ln abs Phi and "
                 "others, or LaTeX; C (mu_a + mu_b) is a product.",
                 "A^T is a transpose, A^-1 an inverse, vectors are columns.",
                 "c, weights and limits are those of the exercise: scores k^T q, not "
                 "divided by sqrt(d).",
                 "Values are exact: ln(2), not 0.69.", "", "");
    for (int q = 0; q < form.questions; q++) {
        const char *const question = form.question[q].number;
        int part[LAB_SCHEME_PARTS];
        const int count = parts_of(scheme, question, part);

        if (!count)
            continue;
        lab_json_key(json, question);
        lab_json_put(json, "{ _help:{");
        for (int x = 0; x < count; x++)
            put_help(json, scheme, part[x]);
        lab_json_end(json, '}');
        for (int x = 0; x < count; x++)
            put_blank(json, lab_grade_part(part[x]));
        lab_json_end(json, '}');
    }
    lab_json_end(json, '}');
}
