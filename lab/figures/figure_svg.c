/* SPDX-License-Identifier: MIT */
/* Figures as SVG: layout, axes, legend.  From top: title, legend, labels, plot. */
#include "lab/figures/figure_draw.h"

#include <math.h>
#include <string.h>

enum {
    WIDTH = 480,
    PLOT_HEIGHT = 236,
    SQUARE = 330, /* both sides of a plot whose axes have one unit */
    MARGIN = 12,
    TITLE_SIZE = 15,
    TITLE_WIDTH = 17, /* bold letters are wider */
    TITLE_LINE = 20,
    LABEL_SIZE = 13,
    LABEL_LINE = 18,
    SAMPLE = 30, /* each of a sample in the legend */
    SERIES_MAX = 64
};

double lab_canvas_x(const struct lab_canvas *canvas, double x)
{
    return canvas->left + canvas->width * lab_axis_place(&canvas->x, x);
}

double lab_canvas_y(const struct lab_canvas *canvas, double y)
{
    return canvas->top + canvas->height * (1 - lab_axis_place(&canvas->y, y));
}

/* ---- words --------------------------------------------------------------- */

static int count_lines(const char *text, double width)
{
    int lines = 0;
    for (; *text; lines++) {
        text += lab_text_break(text, width);
        text += strspn(text, " ");
    }
    return lines;
}

/* The least of `width` em that takes no more lines, so that lines are alike. */
static double balanced(const char *text, double width)
{
    const int lines = count_lines(text, width);
    double narrow = width;
    while (lines > 1 && narrow > width / 2 && count_lines(text, 0.97 * narrow) == lines)
        narrow *= 0.97;
    return narrow;
}

/* Lines that `text` takes, each at most `width` px; draws them when `draw` is set. */
static int paragraph(FILE *out, int draw, const char *class, const char *text, double x,
                     double y, double size, double line, double width)
{
    const double narrow = balanced(text, width / size);
    int lines = 0;
    while (*text) {
        const size_t length = lab_text_break(text, narrow);
        if (draw) {
            fprintf(out, "<text class=\"%s\" x=\"%.2f\" y=\"%.2f\">", class, x,
                    y + lines * line);
            lab_text_math(out, text, length, LAB_SVG);
            fputs("</text>\n", out);
        }
        text += length;
        text += strspn(text, " ");
        lines++;
    }
    return lines;
}

/* Position of the next entry of the legend. */
struct flow {
    double x, y;
    int rows, draw;
};

/* One entry: up to two series that share a colour, or none and the words alone. */
static void legend_entry(const struct lab_canvas *canvas, struct flow *flow,
                         const struct lab_series *first, const struct lab_series *second,
                         int colour, const char *label)
{
    const size_t length = strlen(label);
    const double sample = first ? SAMPLE : 0;
    const double width = sample + LABEL_SIZE * lab_text_width(label, length);
    if (flow->rows == 0 || flow->x + width > WIDTH - MARGIN) {
        flow->x = MARGIN;
        flow->rows++;
    }
    if (flow->draw) {
        const double y = flow->y + (flow->rows - 1) * LABEL_LINE;
        if (first)
            lab_series_sample(canvas, first, colour, flow->x, y - 4.5);
        if (second)
            lab_series_sample(canvas, second, colour, flow->x, y - 4.5);
        fprintf(canvas->out, "<text%s x=\"%.2f\" y=\"%.2f\">",
                first ? "" : " class=\"label\"", flow->x + sample - (first ? 3 : 0), y);
        lab_text_math(canvas->out, label, length, LAB_SVG);
        fputs("</text>\n", canvas->out);
    }
    flow->x += width + 14;
}

/* The other series of the same subject and another mark; -1: none. */
static int partner(const struct lab_figure *figure, int i)
{
    const struct lab_series *const one = figure->series[i];
    for (int j = 0; *one->subject && j < figure->count && j < SERIES_MAX; j++) {
        const struct lab_series *const other = figure->series[j];
        if (other->mark != one->mark && other->mark != LAB_ANNOTATION &&
            !strcmp(one->subject, other->subject))
            return j;
    }
    return -1;
}

/* Rows of the legend, flowing from left to right; draws them when `draw` is set. */
static int legend(const struct lab_canvas *canvas, const int *colour, int draw, double y)
{
    const struct lab_figure *const figure = canvas->figure;
    struct flow flow = {.x = MARGIN, .y = y, .draw = draw};
    const char *note = NULL;
    for (int i = 0; i < figure->count && i < SERIES_MAX; i++) {
        const struct lab_series *const series = figure->series[i];
        const int other = partner(figure, i);
        if (!*series->label || series->mark == LAB_ANNOTATION ||
            (other >= 0 && other < i))
            continue;
        const struct lab_series *second = other < 0 ? NULL : figure->series[other];
        legend_entry(canvas, &flow, series, second, colour[i],
                     second ? series->subject : series->label);
        if (second)
            note = series->mark == LAB_BARS || second->mark == LAB_BARS
                       ? "line: theory, bars: measured"
                       : "line: theory, points: measured";
    }
    if (note)
        legend_entry(canvas, &flow, NULL, NULL, 0, note);
    return flow.rows;
}

/* ---- axes ---------------------------------------------------------------- */

static double widest_label(const struct lab_axis *axis)
{
    double width = 0;
    for (int i = 0; i < axis->ticks; i++)
        width = fmax(width, LABEL_SIZE * lab_axis_label_width(axis, i));
    return width;
}

/* Every how many-th label of the x axis can be written without touching the next. */
static int label_every(const struct lab_canvas *canvas)
{
    const struct lab_axis *const axis = &canvas->x;
    const double needed = widest_label(axis) + 8;
    if (axis->ticks < 2)
        return 1;
    double closest = INFINITY;
    for (int i = 1; i < axis->ticks; i++)
        closest = fmin(closest, lab_canvas_x(canvas, axis->tick[i]) -
                                    lab_canvas_x(canvas, axis->tick[i - 1]));
    return (int)fmax(1, ceil(needed / closest));
}

/* Nonzero if names would touch: they are then written on two levels. */
static int crowded(const struct lab_canvas *canvas)
{
    const struct lab_axis *const axis = &canvas->x;
    const double each = canvas->width / (axis->hi - axis->lo);
    for (int i = 1; axis->names && i < axis->ticks; i++)
        if (LABEL_SIZE *
                (lab_axis_label_width(axis, i - 1) + lab_axis_label_width(axis, i)) >
            2 * each - 12)
            return 1;
    return 0;
}

/* Small marks at 2, 3, ... 9 times each power of ten, where they are far enough apart. */
static void draw_minor_ticks(const struct lab_canvas *canvas, const struct lab_axis *axis)
{
    if (!axis->log || axis->hi / axis->lo > 2e6)
        return;
    fputs("<path class=\"tick\" d=\"", canvas->out);
    for (double power = pow(10, floor(log10(axis->lo))); power < axis->hi; power *= 10)
        for (int i = 2; i < 10; i++) {
            const double place = lab_axis_place(axis, i * power);
            if (!(place > 0 && place < 1))
                continue;
            if (axis == &canvas->x)
                fprintf(canvas->out, "M%.2f %.2fv2.5", lab_canvas_x(canvas, i * power),
                        canvas->top + canvas->height);
            else
                fprintf(canvas->out, "M%.2f %.2fh-2.5", canvas->left,
                        lab_canvas_y(canvas, i * power));
        }
    fputs("\"/>\n", canvas->out);
}

static void draw_x_axis(const struct lab_canvas *canvas)
{
    const double bottom = canvas->top + canvas->height;
    const int every = canvas->x.names ? 1 : label_every(canvas);
    const int two_levels = crowded(canvas);
    for (int i = 0; i < canvas->x.ticks; i++) {
        char text[512];
        const double x = lab_canvas_x(canvas, canvas->x.tick[i]);
        if (!canvas->figure->heat.columns && !canvas->x.names)
            fprintf(canvas->out, "<path class=\"grid\" d=\"M%.2f %.2fV%.2f\"/>\n", x,
                    canvas->top, bottom);
        fprintf(canvas->out, "<path class=\"tick\" d=\"M%.2f %.2fv4\"/>\n", x, bottom);
        if (i % every != 0)
            continue;
        lab_axis_label(&canvas->x, i, text, sizeof text);
        fprintf(canvas->out,
                "<text class=\"number\" text-anchor=\"middle\" x=\"%.2f\" "
                "y=\"%.2f\">%s</text>\n",
                x, bottom + 18 + (two_levels && i % 2 ? LABEL_LINE - 2 : 0), text);
    }
}

static void draw_y_axis(const struct lab_canvas *canvas)
{
    for (int i = 0; i < canvas->y.ticks; i++) {
        char text[512];
        const double y = lab_canvas_y(canvas, canvas->y.tick[i]);
        if (!canvas->figure->heat.columns)
            fprintf(canvas->out, "<path class=\"grid\" d=\"M%.2f %.2fh%.2f\"/>\n",
                    canvas->left, y, canvas->width);
        lab_axis_label(&canvas->y, i, text, sizeof text);
        fprintf(canvas->out,
                "<path class=\"tick\" d=\"M%.2f %.2fh-4\"/><text class=\"number\" "
                "text-anchor=\"end\" x=\"%.2f\" y=\"%.2f\">%s</text>\n",
                canvas->left, y, canvas->left - 7, y + 4.5, text);
    }
}

/* ---- the whole ----------------------------------------------------------- */

/* Marks within the plot's frame; a nested <svg> clips without needing a name. */
static void draw_plot(const struct lab_canvas *canvas, const int *colour)
{
    static const enum lab_mark order[] = {LAB_BARS, LAB_STEPS, LAB_LINE, LAB_POINTS,
                                          LAB_ANNOTATION};
    const struct lab_figure *const figure = canvas->figure;
    if (figure->heat.columns)
        lab_heat_draw(canvas);
    for (size_t layer = 0; layer < sizeof order / sizeof order[0]; layer++) {
        const int clipped = order[layer] != LAB_POINTS && order[layer] != LAB_ANNOTATION;
        if (clipped)
            fprintf(canvas->out,
                    "<svg x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
                    "viewBox=\"%.2f %.2f %.2f %.2f\">\n",
                    canvas->left, canvas->top - 2, canvas->width + 2, canvas->height + 4,
                    canvas->left, canvas->top - 2, canvas->width + 2, canvas->height + 4);
        for (int i = 0; i < figure->count && i < SERIES_MAX; i++)
            if (figure->series[i]->mark == order[layer])
                lab_series_draw(canvas, figure->series[i], colour[i]);
        if (clipped)
            fputs("</svg>\n", canvas->out);
    }
}

static void open_svg(FILE *out, const struct lab_figure *figure, double height,
                     const char *attributes)
{
    fprintf(out, "<svg %s viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"", attributes,
            WIDTH, height);
    lab_text_escape(out, figure->title, strlen(figure->title));
    fputs("\">\n<desc>", out);
    lab_text_escape(out, figure->caption, strlen(figure->caption));
    fputs("</desc>\n", out);
}

/* Baselines of the first lines of words, and the height of the drawing. */
struct layout {
    double title, legend, heat, label, x_label, height;
};

static int lines_of(const char *text, double size)
{
    return paragraph(NULL, 0, "", text, 0, 0, size, 0, WIDTH - 2 * MARGIN);
}

/* Places the words, and with them the plot, whose axes are set. */
static struct layout lay_out(struct lab_canvas *canvas, const int *colour)
{
    const struct lab_figure *const figure = canvas->figure;
    const int heat = figure->heat.columns > 0;
    const int rows = legend(canvas, colour, 0, 0);
    const int label_lines = lines_of(figure->y_label, LABEL_SIZE);
    struct layout at = {.title = 8 + TITLE_SIZE};
    at.legend = at.title + TITLE_LINE * lines_of(figure->title, TITLE_WIDTH) + 2;
    at.heat = at.label = at.legend + LABEL_LINE * rows + (rows ? 6 : 2);
    /* The name of the colours shares the line of the y axis where both fit. */
    if (heat &&
        LABEL_SIZE * (lab_text_width(figure->y_label, strlen(figure->y_label)) +
                      lab_text_width(figure->heat.label, strlen(figure->heat.label))) >
            WIDTH - 3 * MARGIN)
        at.label += LABEL_LINE;
    canvas->height = figure->square ? SQUARE : PLOT_HEIGHT;
    canvas->top = at.label + LABEL_LINE * (label_lines - 1) + (heat ? 14 : 11);
    canvas->left = fmax(34, widest_label(&canvas->y) + MARGIN + 8);
    canvas->width = WIDTH - canvas->left -
                    (heat ? LAB_BAR_WIDTH + 30 + widest_label(&canvas->z) : 16);
    if (figure->square) {
        canvas->left += (canvas->width - SQUARE) / 2;
        canvas->width = SQUARE;
    }
    at.x_label =
        canvas->top + canvas->height + 38 + (crowded(canvas) ? LABEL_LINE - 2 : 0);
    at.height =
        at.x_label + LABEL_LINE * (lines_of(figure->x_label, LABEL_SIZE) - 1) + 12;
    return at;
}

/* The figure as an <svg> with these attributes; without `out` only its height, in px. */
static double draw(const struct lab_figure *figure, FILE *out, const char *attributes)
{
    struct lab_canvas canvas = {.out = out, .figure = figure};
    const double inner = WIDTH - 2 * MARGIN;
    int colour[SERIES_MAX] = {0};
    canvas.colours = lab_series_colours(figure, colour, SERIES_MAX);
    lab_canvas_axes(&canvas);
    const struct layout at = lay_out(&canvas, colour);
    if (!out)
        return at.height;

    open_svg(out, figure, at.height, attributes);
    paragraph(out, 1, "title", figure->title, MARGIN, at.title, TITLE_WIDTH, TITLE_LINE,
              inner);
    legend(&canvas, colour, 1, at.legend);
    paragraph(out, 1, "label", figure->y_label, MARGIN, at.label, LABEL_SIZE, LABEL_LINE,
              inner);
    draw_x_axis(&canvas);
    draw_y_axis(&canvas);
    draw_minor_ticks(&canvas, &canvas.x);
    draw_minor_ticks(&canvas, &canvas.y);
    draw_plot(&canvas, colour);
    fprintf(out, "<path class=\"frame\" d=\"M%.2f %.2fv%.2fh%.2f\"/>\n", canvas.left,
            canvas.top, canvas.height, canvas.width);
    if (figure->heat.columns) {
        lab_heat_bar(&canvas);
        paragraph(out, 1, "label end", figure->heat.label, WIDTH - MARGIN, at.heat,
                  LABEL_SIZE, LABEL_LINE, inner);
    }
    paragraph(out, 1, "label middle", figure->x_label, canvas.left + canvas.width / 2,
              at.x_label, LABEL_SIZE, LABEL_LINE, inner);
    fputs("</svg>\n", out);
    return at.height;
}

struct lab_frame lab_figure_frame(const struct lab_figure *figure)
{
    struct lab_canvas canvas = {.figure = figure};
    int colour[SERIES_MAX] = {0};
    canvas.colours = lab_series_colours(figure, colour, SERIES_MAX);
    lab_canvas_axes(&canvas);
    lay_out(&canvas, colour);
    return (struct lab_frame){.left = canvas.left,
                              .top = canvas.top,
                              .width = canvas.width,
                              .height = canvas.height,
                              .x_lo = canvas.x.lo,
                              .x_hi = canvas.x.hi,
                              .y_lo = canvas.y.lo,
                              .y_hi = canvas.y.hi};
}

int lab_figure_svg_inline(const struct lab_figure *figure, FILE *out)
{
    draw(figure, out, "class=\"lab-figure\"");
    return ferror(out) ? -1 : 0;
}

int lab_figures_svg(const struct lab_figures *figures, FILE *out)
{
    double height = 0;
    for (int i = 0; i < figures->count; i++)
        height += draw(figures->figure[i], NULL, "");
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"lab-figure\" width=\"%d\" "
            "height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n<style>%s</style>\n"
            "<rect class=\"paper\" width=\"%d\" height=\"%.0f\"/>\n",
            WIDTH, height, WIDTH, height, lab_figure_style, WIDTH, height);
    double y = 0;
    for (int i = 0; i < figures->count; i++) {
        char attributes[128];
        const double own = draw(figures->figure[i], NULL, "");
        snprintf(attributes, sizeof attributes,
                 "class=\"lab-figure\" y=\"%.0f\" width=\"%d\" height=\"%.0f\"", y, WIDTH,
                 own);
        draw(figures->figure[i], out, attributes);
        y += own;
    }
    fputs("</svg>\n", out);
    return ferror(out) ? -1 : 0;
}
