/* SPDX-License-Identifier: MIT */
/* The part of TeX that the tour and the sheets use: commands, and lengths of groups. */
#ifndef LAB_TEX_H
#define LAB_TEX_H

#include <stddef.h>

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

#endif
