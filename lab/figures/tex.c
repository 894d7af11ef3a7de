/* SPDX-License-Identifier: MIT */
#include "lab/figures/tex.h"

#include <ctype.h>
#include <string.h>

static const struct lab_tex_symbol symbols[] = {
    {"alpha", "mi", "\u03b1"},
    {"beta", "mi", "\u03b2"},
    {"gamma", "mi", "\u03b3"},
    {"delta", "mi", "\u03b4"},
    {"epsilon", "mi", "\u03f5"},
    {"varepsilon", "mi", "\u03b5"},
    {"zeta", "mi", "\u03b6"},
    {"eta", "mi", "\u03b7"},
    {"theta", "mi", "\u03b8"},
    {"vartheta", "mi", "\u03d1"},
    {"iota", "mi", "\u03b9"},
    {"kappa", "mi", "\u03ba"},
    {"lambda", "mi", "\u03bb"},
    {"mu", "mi", "\u03bc"},
    {"nu", "mi", "\u03bd"},
    {"xi", "mi", "\u03be"},
    {"pi", "mi", "\u03c0"},
    {"rho", "mi", "\u03c1"},
    {"sigma", "mi", "\u03c3"},
    {"tau", "mi", "\u03c4"},
    {"phi", "mi", "\u03d5"},
    {"varphi", "mi", "\u03c6"},
    {"chi", "mi", "\u03c7"},
    {"psi", "mi", "\u03c8"},
    {"omega", "mi", "\u03c9"},
    {"Gamma", "mi", "\u0393"},
    {"Delta", "mi", "\u0394"},
    {"Theta", "mi", "\u0398"},
    {"Lambda", "mi", "\u039b"},
    {"Pi", "mi", "\u03a0"},
    {"Sigma", "mi", "\u03a3"},
    {"Phi", "mi", "\u03a6"},
    {"Psi", "mi", "\u03a8"},
    {"Omega", "mi", "\u03a9"},
    {"infty", "mi", "\u221e"},
    {"top", "mi", "\u22a4"},
    {"ell", "mi", "\u2113"},
    {"partial", "mi", "\u2202"},
    {"nabla", "mi", "\u2207"},
    {"emptyset", "mi", "\u2205"},
    {"ln", "mi", "ln"},
    {"log", "mi", "log"},
    {"exp", "mi", "exp"},
    {"cos", "mi", "cos"},
    {"sin", "mi", "sin"},
    {"tanh", "mi", "tanh"},
    {"det", "mi", "det"},
    {"dots", "mi", "\u2026"},
    {"ldots", "mi", "\u2026"},
    {"cdots", "mi", "\u22ef"},
    {"vdots", "mi", "\u22ee"},
    {"ddots", "mi", "\u22f1"},
    {"%", "mi", "%"},
    {"#", "mi", "#"},
    {"&", "mi", "&amp;"},
    {"_", "mi", "_"},
    {"$", "mi", "$"},
    {"dotsc", "mi", "\u2026"},
    {"dotsb", "mi", "\u22ef"},
    {"intercal", "mi", "\u22ba"},
    {"bullet", "mi", "\u2022"},
    {"square", "mi", "\u25a1"},
    {"checkmark", "mi", "\u2713"},
    {"max", "mo", "max"},
    {"min", "mo", "min"},
    {"lim", "mo", "lim"},
    {"Pr", "mo", "Pr"},
    {"arg", "mo", "arg"},
    {"sum", "mo", "\u2211"},
    {"prod", "mo", "\u220f"},
    {"int", "mo", "\u222b"},
    {"le", "mo", "\u2264"},
    {"leq", "mo", "\u2264"},
    {"leqslant", "mo", "\u2264"},
    {"ge", "mo", "\u2265"},
    {"geq", "mo", "\u2265"},
    {"geqslant", "mo", "\u2265"},
    {"ne", "mo", "\u2260"},
    {"neq", "mo", "\u2260"},
    {"lt", "mo", "&lt;"},
    {"gt", "mo", "&gt;"},
    {"ll", "mo", "\u226a"},
    {"gg", "mo", "\u226b"},
    {"to", "mo", "\u2192"},
    {"rightarrow", "mo", "\u2192"},
    {"longrightarrow", "mo", "\u27f6"},
    {"leftarrow", "mo", "\u2190"},
    {"mapsto", "mo", "\u21a6"},
    {"uparrow", "mo", "\u2191"},
    {"downarrow", "mo", "\u2193"},
    {"Rightarrow", "mo", "\u21d2"},
    {"Longrightarrow", "mo", "\u27f9"},
    {"implies", "mo", "\u27f9"},
    {"Leftarrow", "mo", "\u21d0"},
    {"leftrightarrow", "mo", "\u2194"},
    {"Leftrightarrow", "mo", "\u21d4"},
    {"iff", "mo", "\u27fa"},
    {"because", "mo", "\u2235"},
    {"therefore", "mo", "\u2234"},
    {"sim", "mo", "\u223c"},
    {"approx", "mo", "\u2248"},
    {"simeq", "mo", "\u2243"},
    {"cong", "mo", "\u2245"},
    {"equiv", "mo", "\u2261"},
    {"propto", "mo", "\u221d"},
    {"perp", "mo", "\u22a5"},
    {"bot", "mo", "\u22a5"},
    {"lesssim", "mo", "\u2272"},
    {"gtrsim", "mo", "\u2273"},
    {"parallel", "mo", "\u2225"},
    {"mid", "mo", "\u2223"},
    {"pm", "mo", "\u00b1"},
    {"mp", "mo", "\u2213"},
    {"times", "mo", "\u00d7"},
    {"cdot", "mo", "\u22c5"},
    {"circ", "mo", "\u2218"},
    {"odot", "mo", "\u2299"},
    {"otimes", "mo", "\u2297"},
    {"oplus", "mo", "\u2295"},
    {"ast", "mo", "*"},
    {"star", "mo", "\u22c6"},
    {"div", "mo", "\u00f7"},
    {"colon", "mo", ":"},
    {"in", "mo", "\u2208"},
    {"notin", "mo", "\u2209"},
    {"ni", "mo", "\u220b"},
    {"subset", "mo", "\u2282"},
    {"subseteq", "mo", "\u2286"},
    {"cup", "mo", "\u222a"},
    {"cap", "mo", "\u2229"},
    {"setminus", "mo", "\u2216"},
    {"forall", "mo", "\u2200"},
    {"exists", "mo", "\u2203"},
    {"neg", "mo", "\u00ac"},
    {"land", "mo", "\u2227"},
    {"lor", "mo", "\u2228"},
    {"lVert", "mo", "\u2016"},
    {"rVert", "mo", "\u2016"},
    {"Vert", "mo", "\u2016"},
    {"|", "mo", "\u2016"},
    {"lvert", "mo", "|"},
    {"rvert", "mo", "|"},
    {"vert", "mo", "|"},
    {"langle", "mo", "\u27e8"},
    {"rangle", "mo", "\u27e9"},
    {"{", "mo", "{"},
    {"}", "mo", "}"},
    {"lfloor", "mo", "\u230a"},
    {"rfloor", "mo", "\u230b"},
    {"prime", "mo", "\u2032"},
    {"dagger", "mo", "\u2020"},
    {"qquad", "mspace", "2em"},
    {"quad", "mspace", "1em"},
    {";", "mspace", "0.28em"},
    {":", "mspace", "0.22em"},
    {",", "mspace", "0.17em"},
    {" ", "mspace", "0.25em"},
    {"!", "mspace", "0"},
};

/* Commands that are signs or nothing in plain letters; any other is its own name. */
static const struct {
    const char *name, *sign;
} signs[] = {
    {"approx", "~"},
    {"simeq", "~"},
    {"sim", "~"},
    {"gg", ">>"},
    {"ll", "<<"},
    {"neq", "!="},
    {"geq", ">="},
    {"leq", "<="},
    {"cdot", "*"},
    {"times", "x"},
    {"quad", " "},
    {"text", ""},
    {"mathcal", ""},
    {"mathbb", ""},
    {"mathsf", ""},
    {"operatorname", ""},
    {"tilde", ""},
    {"top", "T"},
    {"infty", "inf"},
    {"rightarrow", "->"},
    {"Rightarrow", "=>"},
    {"Leftrightarrow", "<=>"},
    {"dots", "..."},
    {"because", "because"},
    {"frac", ""},
    {"varepsilon", "eps"},
    {"nu", "v"},
    {"in", "in"},
    {"left", ""},
    {"right", ""},
    {"cancel", ""},
    {"ldots", "..."},
    {"cdots", "..."},
    {"vdots", "..."},
    {"dfrac", ""},
    {"\\", "; "},
    {",", " "},
    {";", " "},
    {"!", ""},
    {"le", "<="},
    {"ge", ">="},
    {"ne", "!="},
    {"to", "->"},
    {"implies", "=>"},
    {"iff", "<=>"},
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

/* ---- brackets that are commands ------------------------------------------------ */

/* Bytes to the end of what `close` ends, which begins with `open`; `open` may be nested.
 */
static size_t matched(const char *tex, size_t length, const char *open, const char *close)
{
    int depth = 0;
    for (size_t i = 0; i < length;) {
        const size_t name = tex[i] == '\\' ? lab_tex_command(tex + i, length - i) : 1;
        depth += lab_tex_is(tex + i, name, open);
        depth -= lab_tex_is(tex + i, name, close);
        i += name;
        if (depth == 0)
            return i;
    }
    return length;
}

size_t lab_tex_environment(const char *tex, size_t length)
{
    const size_t end = matched(tex, length, "begin", "end");
    size_t inside;
    return end < length && tex[end] == '{'
               ? end + lab_tex_group(tex + end, length - end, &inside)
               : end;
}

size_t lab_tex_fenced(const char *tex, size_t length)
{
    const size_t end = matched(tex, length, "left", "right");
    return end < length && tex[end] == '\\'
               ? end + lab_tex_command(tex + end, length - end)
               : end + (end < length);
}

/* ---- what can be set ------------------------------------------------------------- */

enum { LONGEST = 4000, DEEPEST = 24 };

static const char *const structures[] = {
    "frac",      "dfrac",     "tfrac",       "sqrt",       "text",         "textbf",
    "textit",    "textrm",    "mbox",        "mathrm",     "operatorname", "bar",
    "hat",       "tilde",     "vec",         "dot",        "overline",     "widehat",
    "widetilde", "underline", "cancel",      "underbrace", "overbrace",    "stackrel",
    "overset",   "underset",  "mathbb",      "mathcal",    "mathbf",       "boldsymbol",
    "bm",        "mathit",    "mathsf",      "mathscr",    "left",         "right",
    "big",       "Big",       "bigl",        "bigr",       "Bigl",         "Bigr",
    "bigg",      "Bigg",      "biggl",       "biggr",      "displaystyle", "textstyle",
    "limits",    "nolimits",  "nonumber",    "notag",      "begin",        "end",
    "\\",        "boxed",     "xrightarrow", "label",      "tag",
};

static const char *const environments[] = {
    "matrix", "bmatrix", "pmatrix", "vmatrix", "Vmatrix",  "cases",
    "align",  "align*",  "aligned", "split",   "gathered", "array",
};

static int is_structure(const char *tex, size_t length)
{
    for (size_t i = 0; i < sizeof structures / sizeof structures[0]; i++)
        if (lab_tex_is(tex, length, structures[i]))
            return 1;
    return 0;
}

static int is_environment(const char *tex, size_t length)
{
    size_t inside;
    if (length == 0 || *tex != '{' || lab_tex_group(tex, length, &inside) > length)
        return 0;
    for (size_t i = 0; i < sizeof environments / sizeof environments[0]; i++)
        if (strlen(environments[i]) == inside &&
            !memcmp(tex + 1, environments[i], inside))
            return 1;
    return 0;
}

/* One of the brackets that are open, and its end. */
static char closing(const char *tex, size_t length)
{
    return *tex == '{'                        ? '}'
           : lab_tex_is(tex, length, "begin") ? 'e'
           : lab_tex_is(tex, length, "left")  ? 'r'
                                              : 0;
}

static char closed(const char *tex, size_t length)
{
    return *tex == '}'                        ? '}'
           : lab_tex_is(tex, length, "end")   ? 'e'
           : lab_tex_is(tex, length, "right") ? 'r'
                                              : 0;
}

int lab_tex_is_known(const char *tex, size_t length)
{
    char open[DEEPEST];
    int depth = 0;
    if (length > LONGEST)
        return 0;
    for (size_t i = 0, size; i < length; i += size) {
        const int command = tex[i] == '\\';
        size = command ? lab_tex_command(tex + i, length - i) : 1;
        const char opens = closing(tex + i, size), closes = closed(tex + i, size);
        if (command && !is_structure(tex + i, size) && !lab_tex_symbol(tex + i, size))
            return 0;
        if (opens == 'e' && !is_environment(tex + i + size, length - i - size))
            return 0;
        if ((opens && depth == DEEPEST) ||
            (closes && (!depth || open[--depth] != closes)))
            return 0;
        if (opens)
            open[depth++] = opens;
    }
    return depth == 0;
}
