/* SPDX-License-Identifier: MIT */
/* A picture of at most 256 colours, written as PNG. */
#ifndef TOOLS_PICTURE_H
#define TOOLS_PICTURE_H

#include <stdint.h>
#include <stdio.h>

enum { PICTURE_COLOURS = 256 };

struct picture {
    int64_t width, height;
    unsigned char *pixel;                     /* numbers of colours, row by row */
    unsigned char colour[PICTURE_COLOURS][3]; /* red, green, blue */
};

/* 0, or -1 with a reason that stays until the next call. */
int picture_write(const struct picture *picture, FILE *file, const char **reason);

#endif
