/* SPDX-License-Identifier: MIT */
/*
 * lab/door: input that the JSON reader accepts or refuses, with the position, and the
 * writer's indent.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/door/json.h"
#include "lab/door/json_read.h"
#include "support/test.h"

static int read_text(const char *text, size_t length, struct lab_json_tree *tree,
                     char why[200])
{
    /* Not terminated, at the end of its memory: a read behind it faults. */
    auto_free char *const bytes = malloc(length + !length);

    memcpy(bytes, text, length);
    *why = '\0';
    const int status = lab_json_read(bytes, length, tree, why, 200);
    return status;
}

TEST(values_are_read)
{
    static const char text[] =
        "\xef\xbb\xbf { \"a\" : [ 1, -0.5e+2, 1E3, true, false, null, \"\", {}, [] ],\n"
        "\"\\u00e9\\ud83d\\ude00\\n\\/\": \"\xc3\xa9\xf0\x9f\x98\x80\\\"\" } ";
    static const enum lab_json_type types[] = {
        LAB_JSON_NUMBER, LAB_JSON_NUMBER, LAB_JSON_NUMBER, LAB_JSON_TRUE, LAB_JSON_FALSE,
        LAB_JSON_NULL,   LAB_JSON_TEXT,   LAB_JSON_OBJECT, LAB_JSON_LIST};
    static const double numbers[] = {1, -50, 1000};
    struct lab_json_tree tree;
    char why[200];

    CHECK(read_text(text, sizeof text - 1, &tree, why) == 0, "%s", why);
    CHECK(tree.root->type == LAB_JSON_OBJECT && tree.root->count == 2, "root");
    const struct lab_json_value *const list = tree.root->first;
    CHECK(strcmp(list->key, "a") == 0 && list->count == 9, "list");
    const struct lab_json_value *one = list->first;
    for (int x = 0; x < 9; x++, one = one->next) {
        CHECK(one->type == types[x], "value %d: %s", x, lab_json_type_name(one));
        CHECK(x > 2 || one->number == numbers[x], "number %d: %g", x, one->number);
        CHECK(x < 7 || (one->count == 0 && !one->first), "empty %d", x);
    }
    CHECK(one == NULL, "more values");
    CHECK(strcmp(list->next->key, "\xc3\xa9\xf0\x9f\x98\x80\n/") == 0, "escapes");
    CHECK(strcmp(list->next->text, "\xc3\xa9\xf0\x9f\x98\x80\"") == 0, "characters");
    lab_json_free(&tree);
}

#define BYTES(text) text, sizeof text - 1

TEST(faults_are_refused_with_their_place)
{
    static const struct {
        const char *text;
        size_t length;
        const char *why;
    } faults[] = {
        {BYTES(""), "line 1, column 1: a value is missing"},
        {BYTES("{"), "line 1, column 2: a key is missing"},
        {BYTES("[1,]"), "line 1, column 4: a value is missing"},
        {BYTES("{\"a\":1,}"), "line 1, column 8: a key is missing"},
        {BYTES("{\"a\" 1}"), "line 1, column 6: ':' is missing"},
        {BYTES("[1 2]"), "line 1, column 4: ',' or ']' is missing"},
        {BYTES("{\"a\":1]"), "line 1, column 7: ',' or '}' is missing"},
        {BYTES("{\"a\":1,\n \"a\":2}"), "line 2, column 5: duplicate key 'a'"},
        {BYTES("1 2"), "line 1, column 3: more than one value"},
        {BYTES("[\"a]"), "line 1, column 5: a text does not end"},
        {BYTES("\"\xc3\xa9\xff\""), "line 1, column 3: cannot decode byte 0xff"},
        {BYTES("\"\xc0\x80\""), "line 1, column 2: cannot decode byte 0xc0"},
        {BYTES("\"a\0b\""), "line 1, column 3: control character 0x0"},
        {BYTES("\"a\nb\""), "line 1, column 3: control character 0xa"},
        {BYTES("\"\\x\""), "line 1, column 2: '\\x' is not an escape"},
        {BYTES("\"\\u12"), "line 1, column 2: '\\u' is not an escape"},
        {BYTES("\"\\u0000\""), "line 1, column 2: the character U+0000"},
        {BYTES("\"\\ud800\""), "line 1, column 2: half a character"},
        {BYTES("\"\\udc00\""), "line 1, column 2: half a character"},
        {BYTES("\"\\ud800\\u0041\""), "line 1, column 2: half a character"},
        {BYTES("01"), "line 1, column 1: a value is missing"},
        {BYTES("+1"), "line 1, column 1: a value is missing"},
        {BYTES("1."), "line 1, column 2: more than one value"},
        {BYTES("1e"), "line 1, column 2: more than one value"},
        {BYTES("NaN"), "line 1, column 1: a value is missing"},
        {BYTES("truth"), "line 1, column 1: a value is missing"},
    };

    for (size_t x = 0; x < sizeof faults / sizeof faults[0]; x++) {
        struct lab_json_tree tree;
        char why[200];

        CHECK(read_text(faults[x].text, faults[x].length, &tree, why) == -1, "%s",
              faults[x].text);
        CHECK(strcmp(why, faults[x].why) == 0, "%s: %s", faults[x].text, why);
        lab_json_free(&tree);
    }
}

TEST(brackets_are_counted)
{
    char text[2 * LAB_JSON_DEPTH + 3] = "", why[200];
    struct lab_json_tree tree;

    memset(text, '[', LAB_JSON_DEPTH);
    memset(text + LAB_JSON_DEPTH, ']', LAB_JSON_DEPTH);
    CHECK(read_text(text, 2 * LAB_JSON_DEPTH, &tree, why) == 0, "%s", why);
    lab_json_free(&tree);
    memset(text, '[', LAB_JSON_DEPTH + 1);
    memset(text + LAB_JSON_DEPTH + 1, ']', LAB_JSON_DEPTH + 1);
    CHECK(read_text(text, 2 * LAB_JSON_DEPTH + 2, &tree, why) == -1, "too deep");
    CHECK(strstr(why, "brackets deep"), "%s", why);
    lab_json_free(&tree);
}

/* Values on separate lines, and numbers that JSON does not have. */
TEST(the_writer_can_indent)
{
    struct lab_json json;

    lab_json_open(&json, LAB_JSON_SHORT);
    json.indent = 2;
    lab_json_put(&json, "{ a:[ i r ] b:{ } c:r }", 1, 0.5, (double)NAN);
    auto_free char *const text = lab_json_close(&json);
    CHECK(
        strcmp(text,
               "{\n  \"a\": [\n    1,\n    0.5\n  ],\n  \"b\": {},\n  \"c\": null\n}") ==
            0,
        "%s", text);
    lab_json_open(&json, LAB_JSON_SHORT);
    json.has_nan = 1;
    lab_json_put(&json, "[ r r r ]", (double)NAN, (double)INFINITY, (double)-INFINITY);
    auto_free char *const numbers = lab_json_close(&json);
    CHECK(strcmp(numbers, "[NaN, Infinity, -Infinity]") == 0, "%s", numbers);
}
