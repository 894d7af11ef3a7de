/* SPDX-License-Identifier: MIT */
#include "lab/figures/tex.h"

#include <ctype.h>
#include <string.h>

static const struct lab_tex_symbol symbols[] = {
    {"alpha", "mi", "\u03b1", NULL},
    {"beta", "mi", "\u03b2", NULL},
    {"gamma", "mi", "\u03b3", NULL},
    {"varepsilon", "mi", "\u03b5", "eps"},
    {"theta", "mi", "\u03b8", NULL},
    {"mu", "mi", "\u03bc", NULL},
    {"pi", "mi", "\u03c0", NULL},
    {"sigma", "mi", "\u03c3", NULL},
    {"tau", "mi", "\u03c4", NULL},
    {"varphi", "mi", "\u03c6", NULL},
    {"omega", "mi", "\u03c9", NULL},
    {"Sigma", "mi", "\u03a3", NULL},
    {"Phi", "mi", "\u03a6", NULL},
    {"infty", "mi", "\u221e", "inf"},
    {"top", "mi", "\u22a4", "T"},
    {"ln", "mi", "ln", NULL},
    {"exp", "mi", "exp", NULL},
    {"cos", "mi", "cos", NULL},
    {"dots", "mi", "\u2026", "..."},
    {"max", "mo", "max", NULL},
    {"sum", "mo", "\u2211", NULL},
    {"le", "mo", "\u2264", NULL},
    {"ge", "mo", "\u2265", NULL},
    {"ne", "mo", "\u2260", NULL},
    {"ll", "mo", "\u226a", "<<"},
    {"gg", "mo", "\u226b", ">>"},
    {"to", "mo", "\u2192", NULL},
    {"sim", "mo", "\u223c", "~"},
    {"approx", "mo", "\u2248", "~"},
    {"pm", "mo", "\u00b1", NULL},
    {"iff", "mo", "\u27fa", NULL},
    {"cdot", "mo", "\u22c5", "*"},
    {"in", "mo", "\u2208", "in"},
    {"lVert", "mo", "\u2016", NULL},
    {"rVert", "mo", "\u2016", NULL},
    {"langle", "mo", "\u27e8", NULL},
    {"rangle", "mo", "\u27e9", NULL},
    {"%", "mi", "%", NULL},
    {"qquad", "mspace", "2em", NULL},
    {"quad", "mspace", "1em", " "},
    {",", "mspace", "0.17em", NULL},
    {" ", "mspace", "0.25em", NULL},
    {"simeq", NULL, NULL, "~"},
    {"neq", NULL, NULL, "!="},
    {"geq", NULL, NULL, ">="},
    {"leq", NULL, NULL, "<="},
    {"times", NULL, NULL, "x"},
    {"text", NULL, NULL, ""},
    {"mathcal", NULL, NULL, ""},
    {"mathbb", NULL, NULL, ""},
    {"mathsf", NULL, NULL, ""},
    {"operatorname", NULL, NULL, ""},
    {"tilde", NULL, NULL, ""},
    {"rightarrow", NULL, NULL, "->"},
    {"Rightarrow", NULL, NULL, "=>"},
    {"Leftrightarrow", NULL, NULL, "<=>"},
    {"because", NULL, NULL, "because"},
    {"frac", NULL, NULL, ""},
    {"nu", NULL, NULL, "v"},
};

const struct lab_tex_symbol *lab_tex_symbol(const char *tex, size_t length)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (lab_tex_is(tex, length, symbols[i].name))
            return &symbols[i];
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
