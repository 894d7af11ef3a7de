/* SPDX-License-Identifier: MIT */
/*
 * The pooled maps of all heads in one picture: a panel for each, in reading order, with
 * its number above.  Queries run down, keys to the right.
 *
 * The colour of a cell is the share of its queries' attention that its keys have, on a
 * logarithmic scale that all panels have in common: from a sixteenth of the share
 * that even attention would give, and less, which is black, to all of it.
 */
#include "picture.h"
#include "stats_tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PANEL_MOST = 512,    /* cells of a panel, each way */
    PANEL_LEAST = 8,     /* the same, however many panels there are */
    PICTURE_MOST = 8192, /* pixels of all panels of a row together */
    PANEL_GOOD = 256,    /* a panel of fewer cells has larger ones, up to this */
    SIDE_LEAST = 16,     /* pixels of a panel that is only a few cells high or wide */
    GAP = 8,
    DIGIT = 2, /* pixels of a dot of a digit */
    LABEL = 5 * DIGIT + 4
};

/* Numbers of colours: the scale, then these. */
enum { SCALE = PICTURE_COLOURS - 2, PAPER = SCALE, INK = SCALE + 1 };

/* Lightness L* in steps of 6 from 2 to 98, hue from blue over red to yellow. */
static const unsigned char scale[][3] = {
    {7, 7, 7},       {20, 19, 54},   {49, 21, 77},   {82, 18, 92},    {117, 4, 99},
    {147, 1, 99},    {176, 1, 96},   {203, 19, 91},  {222, 50, 85},   {236, 79, 79},
    {245, 107, 77},  {251, 134, 80}, {253, 160, 92}, {253, 185, 112}, {252, 209, 142},
    {251, 230, 182}, {249, 249, 249}};

static void set_colours(struct picture *picture)
{
    const int steps = sizeof scale / sizeof scale[0] - 1;

    for (int c = 0; c < SCALE; c++) {
        const double at = (double)c / (SCALE - 1) * steps;
        const int step = at < steps ? (int)at : steps - 1;

        for (int x = 0; x < 3; x++)
            picture->colour[c][x] = (unsigned char)lround(
                scale[step][x] + (at - step) * (scale[step + 1][x] - scale[step][x]));
    }
    memset(picture->colour[PAPER], 0x50, 3);
    memset(picture->colour[INK], 0xf0, 3);
}

/* A divisor of the heads if one is near their root, so that no row is broken. */
int64_t stats_map_columns(int64_t heads)
{
    const double root = sqrt((double)heads);
    const int64_t least = (int64_t)ceil(root);

    for (int64_t columns = least; (double)columns <= 2 * root; columns++)
        if (heads % columns == 0)
            return columns;
    return least;
}

int64_t stats_map_block(int64_t heads, int64_t nq, int64_t nk)
{
    const int64_t longest = nq > nk ? nq : nk,
                  share = PICTURE_MOST / stats_map_columns(heads);
    const int64_t cells = share < PANEL_LEAST  ? PANEL_LEAST
                          : share > PANEL_MOST ? PANEL_MOST
                                               : share;

    return (longest - 1) / cells + 1;
}

/* How the panels lie. */
struct grid {
    int64_t columns, rows; /* of panels */
    int64_t cell_height, cell_width, panel_height, panel_width;
};

static struct grid arrange(const struct stats_result *r)
{
    const int64_t *const size = r->inspection.pooled.size;
    const int64_t heads = r->nb * r->hq, cells = size[2], key_cells = size[3];
    const int64_t longest = cells > key_cells ? cells : key_cells;
    const int64_t side = longest < PANEL_GOOD ? PANEL_GOOD / longest : 1;
    struct grid grid = {
        .columns = stats_map_columns(heads), .cell_height = side, .cell_width = side};

    grid.rows = (heads - 1) / grid.columns + 1;
    if (cells * side < SIDE_LEAST)
        grid.cell_height = SIDE_LEAST / cells;
    if (key_cells * side < SIDE_LEAST)
        grid.cell_width = SIDE_LEAST / key_cells;
    grid.panel_height = cells * grid.cell_height;
    grid.panel_width = key_cells * grid.cell_width;
    return grid;
}

/* The colour of a share of attention; `even` is that of a key cell among others alike. */
static unsigned char colour_of(double share, double even)
{
    const double least = even / 16, at = 1 - log(share) / log(least);

    return (unsigned char)(at > 0 ? lround(fmin(at, 1) * (SCALE - 1)) : 0);
}

static void draw_panel(const struct stats_result *r, const struct grid *grid, int64_t b,
                       int64_t h, struct picture *picture, int64_t top, int64_t left)
{
    const attend_tensor *const map = &r->inspection.pooled;
    const int64_t block = r->inspection.pooled_block;
    const double even = 1 / (double)map->size[3];

    for (int64_t y = 0; y < grid->panel_height; y++) {
        const int64_t row = y / grid->cell_height;
        const int64_t after = r->nq - row * block;
        const double queries = (double)(after < block ? after : block);
        unsigned char *const line = picture->pixel + (top + y) * picture->width + left;

        for (int64_t x = 0; x < grid->panel_width; x++)
            line[x] = colour_of(
                stats_element(map, b, h, row, x / grid->cell_width) / queries, even);
    }
}

/* Digits and a point, three dots wide and five high, a row in three bits. */
static void draw_sign(struct picture *picture, char sign, int64_t top, int64_t left)
{
    static const unsigned char digits[11][5] = {
        {7, 5, 5, 5, 7}, {2, 6, 2, 2, 7}, {7, 1, 7, 4, 7}, {7, 1, 7, 1, 7},
        {5, 5, 7, 1, 1}, {7, 4, 7, 1, 7}, {7, 4, 7, 5, 7}, {7, 1, 1, 1, 1},
        {7, 5, 7, 5, 7}, {7, 5, 7, 1, 7}, {0, 0, 0, 0, 2}};
    const unsigned char *const dots = digits[sign == '.' ? 10 : sign - '0'];

    for (int y = 0; y < 5 * DIGIT; y++)
        for (int x = 0; x < 3 * DIGIT; x++)
            if (dots[y / DIGIT] >> (2 - x / DIGIT) & 1 && left + x < picture->width)
                picture->pixel[(top + y) * picture->width + left + x] = INK;
}

static void draw_label(struct picture *picture, const struct stats_result *r, int64_t b,
                       int64_t h, int64_t top, int64_t left)
{
    char text[48];

    if (r->nb > 1)
        snprintf(text, sizeof text, "%lld.%lld", (long long)b, (long long)h);
    else
        snprintf(text, sizeof text, "%lld", (long long)h);
    for (int x = 0; text[x]; x++)
        draw_sign(picture, text[x], top, left + x * 4 * DIGIT);
}

int stats_map_draw(const struct stats_result *r, FILE *file)
{
    const struct grid grid = arrange(r);
    struct picture picture = {.width = GAP + grid.columns * (grid.panel_width + GAP),
                              .height =
                                  GAP + grid.rows * (LABEL + grid.panel_height + GAP)};
    const char *reason;

    picture.pixel = tool_zeros(picture.width * picture.height, 1);
    if (!picture.pixel)
        return tool_fail("stats", TOOL_FAILED,
                         "--map: out of memory for %lld x %lld pixels",
                         (long long)picture.width, (long long)picture.height);
    set_colours(&picture);
    memset(picture.pixel, PAPER, (size_t)(picture.width * picture.height));
    for (int64_t head = 0; head < r->nb * r->hq; head++) {
        const int64_t b = head / r->hq, h = head % r->hq;
        const int64_t left = GAP + head % grid.columns * (grid.panel_width + GAP);
        const int64_t top = GAP + head / grid.columns * (LABEL + grid.panel_height + GAP);

        draw_label(&picture, r, b, h, top, left);
        draw_panel(r, &grid, b, h, &picture, top + LABEL, left);
    }
    const int failed = picture_write(&picture, file, &reason);
    free(picture.pixel);
    return failed ? tool_fail("stats", TOOL_FAILED, "--map: %s", reason) : TOOL_OK;
}
