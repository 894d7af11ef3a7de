/* SPDX-License-Identifier: MIT */
#include "lab/figures/tex.h"

#include <ctype.h>
#include <string.h>

static const struct lab_tex_symbol symbols[] = {
    {"alpha", "mi", "\u03b1"},  {"beta", "mi", "\u03b2"},
    {"gamma", "mi", "\u03b3"},  {"varepsilon", "mi", "\u03b5"},
    {"theta", "mi", "\u03b8"},  {"mu", "mi", "\u03bc"},
    {"pi", "mi", "\u03c0"},     {"sigma", "mi", "\u03c3"},
    {"tau", "mi", "\u03c4"},    {"varphi", "mi", "\u03c6"},
    {"omega", "mi", "\u03c9"},  {"Sigma", "mi", "\u03a3"},
    {"Phi", "mi", "\u03a6"},    {"infty", "mi", "\u221e"},
    {"top", "mi", "\u22a4"},    {"ln", "mi", "ln"},
    {"exp", "mi", "exp"},       {"cos", "mi", "cos"},
    {"dots", "mi", "\u2026"},   {"max", "mo", "max"},
    {"sum", "mo", "\u2211"},    {"le", "mo", "\u2264"},
    {"ge", "mo", "\u2265"},     {"ne", "mo", "\u2260"},
    {"ll", "mo", "\u226a"},     {"gg", "mo", "\u226b"},
    {"to", "mo", "\u2192"},     {"sim", "mo", "\u223c"},
    {"approx", "mo", "\u2248"}, {"pm", "mo", "\u00b1"},
    {"iff", "mo", "\u27fa"},    {"cdot", "mo", "\u22c5"},
    {"in", "mo", "\u2208"},     {"lVert", "mo", "\u2016"},
    {"rVert", "mo", "\u2016"},  {"langle", "mo", "\u27e8"},
    {"rangle", "mo", "\u27e9"}, {"%", "mi", "%"},
    {"qquad", "mspace", "2em"}, {"quad", "mspace", "1em"},
    {",", "mspace", "0.17em"},  {" ", "mspace", "0.25em"},
};

/* Commands that are signs or nothing in plain letters; any other is its own name. */
static const struct {
    const char *name, *sign;
} signs[] = {
    {"approx", "~"},      {"simeq", "~"},
    {"sim", "~"},         {"gg", ">>"},
    {"ll", "<<"},         {"neq", "!="},
    {"geq", ">="},        {"leq", "<="},
    {"cdot", "*"},        {"times", "x"},
    {"quad", " "},        {"text", ""},
    {"mathcal", ""},      {"mathbb", ""},
    {"mathsf", ""},       {"operatorname", ""},
    {"tilde", ""},        {"top", "T"},
    {"infty", "inf"},     {"rightarrow", "->"},
    {"Rightarrow", "=>"}, {"Leftrightarrow", "<=>"},
    {"dots", "..."},      {"because", "because"},
    {"frac", ""},         {"varepsilon", "eps"},
    {"nu", "v"},          {"in", "in"},
};

const struct lab_tex_symbol *lab_tex_symbol(const char *tex, size_t length)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (lab_tex_is(tex, length, symbols[i].name))
            return &symbols[i];
    return NULL;
}

const char *lab_tex_sign(const char *tex, size_t length)
{
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (lab_tex_is(tex, length, signs[i].name))
            return signs[i].sign;
    return NULL;
}

size_t lab_tex_command(const char *tex, size_t length)
{
    size_t n = 1;
    while (n < length && isalpha((unsigned char)tex[n]))
        n++;
    return n == 1 && length > 1 ? 2 : n;
}

int lab_tex_is(const char *tex, size_t length, const char *name)
{
    return length == strlen(name) + 1 && *tex == '\\' &&
           !memcmp(tex + 1, name, length - 1);
}

size_t lab_tex_group(const char *tex, size_t length, size_t *inside)
{
    int depth = 0;
    for (size_t i = 0; i < length; i++) {
        depth += tex[i] == '{';
        depth -= tex[i] == '}';
        *inside = i - (i > 0);
        if (depth == 0)
            return i + 1;
    }
    *inside = length - (length > 0);
    return length;
}
