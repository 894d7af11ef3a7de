/* SPDX-License-Identifier: MIT */
/* The part of TeX that formulas are set from: commands, and lengths of groups. */
#ifndef LAB_TEX_H
#define LAB_TEX_H

#include <stddef.h>
#include <stdio.h>

/* The symbol of a command; `tag` is its element of MathML. */
struct lab_tex_symbol {
    const char *name, *tag, *text;
};

/* The symbol of a command of `length` bytes, its backslash first; NULL: unknown. */
const struct lab_tex_symbol *lab_tex_symbol(const char *tex, size_t length);
/* The same in plain letters; NULL: the name itself. */
const char *lab_tex_sign(const char *tex, size_t length);
/* Bytes of the command at `tex`, which is a backslash. */
size_t lab_tex_command(const char *tex, size_t length);
int lab_tex_is(const char *tex, size_t length, const char *name);
/* Bytes of the group at `tex` with braces and without; the closing one may be missing. */
size_t lab_tex_group(const char *tex, size_t length, size_t *inside);
/* Bytes from "\\begin" at `tex` to the end of its "\\end{...}", which may be missing. */
size_t lab_tex_environment(const char *tex, size_t length);
/* The same of "\\left", to the sign after its "\\right". */
size_t lab_tex_fenced(const char *tex, size_t length);
/* Whether every command is known and every group closed: it can be set as a whole. */
int lab_tex_is_known(const char *tex, size_t length);

/* ---- setting, as MathML ---------------------------------------------------- */

/* Everything in a row of symbols. */
void lab_tex_set_row(FILE *out, const char *tex, size_t length);
/* "\\begin{cases} ... \\end{cases}" and the like. */
void lab_tex_set_environment(FILE *out, const char *tex, size_t length);
/* Lines and columns, split at "\\\\" and "&", as a table of this class. */
void lab_tex_set_lines(FILE *out, const char *tex, size_t length, const char *kind);
/* Whether there is a "\\\\" or "&" outside of all groups. */
int lab_tex_has_lines(const char *tex, size_t length);
/*
 * Letters of an alphabet such as "\\mathbb"; 0, and nothing is written, if the command
 * has none.
 */
int lab_tex_set_alphabet(FILE *out, const char *tex, size_t length, const char *letters,
                         size_t count);

#endif
