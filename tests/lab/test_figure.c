/* SPDX-License-Identifier: MIT */
/* Figures: ranges, ticks, skipped points, and the text of a page. */
#define _POSIX_C_SOURCE 200809L
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/figures/figure.h"
#include "lab/figures/figure_draw.h"
#include "lab/figures/text.h"

static char *drawn;

/* A file whose text is copied to `drawn` when it is closed. */
static FILE *open_drawn(void)
{
    static size_t size;
    free(drawn);
    drawn = NULL;
    FILE *const out = open_memstream(&drawn, &size);
    if (!out)
        exit(2);
    return out;
}

/* A figure in figures of its own, freed at the end of the block. */
#define FIGURE(name)                                                                     \
    auto_figures figures = {0};                                                          \
    struct lab_figure *const name = lab_figure_add(&figures, "t", "x", "y")

static const char *draw(const struct lab_figure *figure)
{
    FILE *const out = open_drawn();
    struct lab_figure copy = *figure, *one = &copy;
    const int failed =
        lab_figures_svg(&(struct lab_figures){.figure = &one, .count = 1}, out);
    fclose(out);
    return failed ? "" : drawn;
}

static int count(const char *text, const char *part)
{
    int found = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        found++;
    return found;
}

/* Every <tag ...> is closed and nothing but entities follows '&'. */
static int well_formed(const char *text)
{
    int depth = 0;
    for (const char *at = text; *at; at++) {
        if (*at == '&' && strncmp(at, "&amp;", 5) && strncmp(at, "&lt;", 4) &&
            strncmp(at, "&gt;", 4) && strncmp(at, "&quot;", 6) && strncmp(at, "&#39;", 5))
            return 0;
        if (*at != '<')
            continue;
        const char *const end = strchr(at, '>');
        if (!end || memchr(at + 1, '<', (size_t)(end - at) - 1))
            return 0;
        if (at[1] == '/')
            depth--;
        else if (end[-1] != '/')
            depth++;
        if (depth < 0)
            return 0;
    }
    return depth == 0;
}

static void fill(struct lab_series *series, int points)
{
    for (int i = 0; i < points; i++)
        lab_series_point(series, i, i * i, 0.5);
}

TEST(nothing_wanted_is_no_figure)
{
    CHECK(lab_figure_add(NULL, "t", "x", "y") == NULL, "a figure from nothing");
    CHECK(lab_series_add(NULL, LAB_LINE, "s") == NULL, "a series from nothing");
    CHECK(lab_heat_set(NULL, 2, 2, "h") == NULL, "a heat map from nothing");
    lab_series_point(NULL, 1, 2, 0);
    lab_figures_free(NULL);
}

TEST(points_are_kept_in_order)
{
    struct lab_figures figures = {0};
    struct lab_figure *const figure = lab_figure_add(&figures, "t", "x", "y");
    struct lab_series *const series = lab_series_add(figure, LAB_POINTS, "s");
    fill(series, 1000);
    CHECK(series->count == 1000, "%d points", series->count);
    CHECK(series->x[999] == 999 && series->y[10] == 100 && series->se[0] == 0.5,
          "x %g y %g se %g", series->x[999], series->y[10], series->se[0]);
    lab_figures_free(&figures);
    CHECK(figures.count == 0 && figures.figure == NULL, "not empty");
}

TEST(linear_ticks_are_round_and_inside)
{
    static const double ranges[][2] = {{0, 1},    {-3.7, 12.2}, {0, 1e-9},
                                       {99, 101}, {-5e7, 1e8},  {0.031, 0.032}};
    for (size_t r = 0; r < sizeof ranges / sizeof ranges[0]; r++) {
        struct lab_axis axis;
        lab_axis_fit(&axis, ranges[r][0], ranges[r][1], 0, 5);
        CHECK(axis.ticks >= 3 && axis.ticks <= 10, "%zu: %d ticks", r, axis.ticks);
        const double step = axis.tick[1] - axis.tick[0];
        const double lead = step / pow(10, floor(log10(step) + 1e-9));
        CHECK(fabs(lead - 1) < 1e-6 || fabs(lead - 2) < 1e-6 || fabs(lead - 5) < 1e-6,
              "%zu: a step of %g", r, step);
        for (int i = 0; i < axis.ticks; i++) {
            const double steps = axis.tick[i] / step;
            CHECK(fabs(steps - round(steps)) < 1e-6, "%zu: %g is not round", r,
                  axis.tick[i]);
            CHECK(axis.tick[i] >= ranges[r][0] - 1e-9 * step &&
                      axis.tick[i] <= ranges[r][1] + 1e-9 * step,
                  "%zu: %g is outside", r, axis.tick[i]);
        }
    }
}

TEST(log_ticks_are_powers_of_ten)
{
    struct lab_axis axis;
    lab_axis_fit(&axis, 1e-6, 1e6, 1, 6);
    CHECK(axis.ticks >= 4 && axis.ticks <= 8, "%d ticks", axis.ticks);
    for (int i = 0; i < axis.ticks; i++) {
        const double power = log10(axis.tick[i]);
        CHECK(fabs(power - round(power)) < 1e-9, "%g", axis.tick[i]);
    }
    CHECK(fabs(lab_axis_place(&axis, 1) - 0.5) < 1e-12, "1 is at %g",
          lab_axis_place(&axis, 1));
    CHECK(isnan(lab_axis_place(&axis, 0)) && isnan(lab_axis_place(&axis, -1)),
          "0 has a place");
    /* A single decade has ticks at 1, 2 and 5; a fraction of one also has ticks. */
    lab_axis_fit(&axis, 1, 10, 1, 6);
    CHECK(axis.ticks == 4 && fabs(axis.tick[1] - 2) < 1e-9 &&
              fabs(axis.tick[2] - 5) < 1e-9,
          "%d ticks", axis.ticks);
    lab_axis_fit(&axis, 3.1, 3.9, 1, 6);
    CHECK(axis.ticks >= 2, "%d ticks", axis.ticks);
}

TEST(no_width_gets_some)
{
    for (int log = 0; log < 2; log++) {
        struct lab_axis axis;
        lab_axis_fit(&axis, 3, 3, log, 5);
        CHECK(axis.lo < 3 && axis.hi > 3 && axis.ticks >= 2, "%g .. %g, %d ticks",
              axis.lo, axis.hi, axis.ticks);
    }
    struct lab_axis axis;
    lab_axis_fit(&axis, 0, 0, 0, 5);
    CHECK(axis.lo < 0 && axis.hi > 0, "%g .. %g", axis.lo, axis.hi);
}

TEST(labels_of_ticks)
{
    static const struct {
        double lo, hi;
        int log, tick;
        const char *label;
    } cases[] = {{0, 1, 0, 1, "0.2"},
                 {-1, 1, 0, 0, "\u22121.0"},
                 {0, 5e6, 0, 1, "10<tspan dy=\"-0.42em\" font-size=\"75%\">6</tspan>"},
                 {1, 1e6, 1, 0, "10<tspan dy=\"-0.42em\" font-size=\"75%\">0</tspan>"},
                 {0.01, 100, 1, 0, "0.01"}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct lab_axis axis;
        char text[128];
        lab_axis_fit(&axis, cases[c].lo, cases[c].hi, cases[c].log, 5);
        lab_axis_label(&axis, cases[c].tick, text, sizeof text);
        CHECK(!strcmp(text, cases[c].label), "%zu: '%s'", c, text);
    }
    struct lab_axis axis;
    char text[128];
    lab_axis_fit(&axis, -0.5, 2.5, 0, 5);
    lab_axis_name(&axis, "plain|a < b|last");
    CHECK(axis.ticks == 3, "%d names", axis.ticks);
    lab_axis_label(&axis, 1, text, sizeof text);
    CHECK(!strcmp(text, "a &lt; b"), "'%s'", text);
}

TEST(what_is_not_finite_is_skipped)
{
    FIGURE(figure);
    struct lab_series *series = lab_series_add(figure, LAB_LINE, "line");
    lab_series_point(series, 0, 1, 0);
    lab_series_point(series, 1, NAN, 0);
    lab_series_point(series, 2, 3, 0);
    lab_series_point(series, INFINITY, 3, 0);
    series = lab_series_add(figure, LAB_POINTS, "points");
    lab_series_point(series, 0, 1, NAN);
    lab_series_point(series, 1, -INFINITY, 1);
    lab_series_point(series, NAN, 1, 1);
    const char *svg = draw(figure);
    CHECK(well_formed(svg), "%s", svg);
    CHECK(!strstr(svg, "nan") && !strstr(svg, "inf"), "%s", svg);
    /* One point is drawn, and one is in the legend. */
    CHECK(count(svg, "class=\"point c1\"") == 2, "%d", count(svg, "class=\"point c1\""));
    CHECK(count(svg, "class=\"line c0\" d=\"M") == 2, "%s", svg);
}

TEST(log_axes_leave_out_what_is_not_positive)
{
    FIGURE(figure);
    figure->x_log = figure->y_log = 1;
    struct lab_series *const series = lab_series_add(figure, LAB_POINTS, "%s", "");
    lab_series_point(series, 0, 1, 0);
    lab_series_point(series, 1, 0, 0);
    lab_series_point(series, 1, -1, 0);
    lab_series_point(series, 10, 1e-5, 1e-4);
    lab_series_point(series, 1000, 10, 0);
    const char *const svg = draw(figure);
    CHECK(well_formed(svg) && !strstr(svg, "nan"), "%s", svg);
    CHECK(count(svg, "class=\"point") == 2, "%d points", count(svg, "class=\"point"));
    CHECK(count(svg, "class=\"error") == 1, "%d bars", count(svg, "class=\"error"));
}

TEST(nothing_to_draw_is_still_a_figure)
{
    auto_figures figures = {0};
    struct lab_figure *figure = lab_figure_add(&figures, "", "", "");
    CHECK(well_formed(draw(figure)), "%s", drawn);
    lab_series_add(figure, LAB_LINE, "no points");
    lab_series_add(figure, LAB_BARS, "no bars");
    lab_series_add(figure, LAB_STEPS, "no steps");
    lab_series_add(figure, LAB_POINTS, "no points either");
    CHECK(well_formed(draw(figure)) && !strstr(drawn, "nan"), "%s", drawn);
    figure->x_log = figure->y_log = 1;
    CHECK(well_formed(draw(figure)) && !strstr(drawn, "nan"), "%s", drawn);
    struct lab_heat *const heat = lab_heat_set(figure, 1, 1, "one cell");
    heat->value[0] = NAN;
    CHECK(well_formed(draw(figure)), "%s", drawn);
}

TEST(theory_and_measurement_share_a_colour)
{
    FIGURE(figure);
    const struct lab_curve two = lab_curve_add(figure, "n = %d", 2);
    fill(two.theory, 3);
    fill(two.measured, 3);
    fill(lab_theory_add(figure, "n = 10"), 3);
    fill(lab_series_about(lab_series_add(figure, LAB_POINTS, "ten, measured"), "n = 10"),
         3);
    CHECK(!strcmp(two.theory->label, "theory, n = 2"), "%s", two.theory->label);
    const char *const svg = draw(figure);
    CHECK(count(svg, "class=\"point c0\"") == 4 && count(svg, "class=\"point c1\"") == 4,
          "%s", svg);
    CHECK(count(svg, "class=\"line c0\"") == 2 && count(svg, "class=\"line c1\"") == 2,
          "%s", svg);
    CHECK(count(svg, ">n = 2<") == 1 && count(svg, ">n = 10<") == 1, "%s", svg);
}

/* The y of the first text from *at on whose tag has this prefix; sets *at behind it. */
static double next_text(const char **at, const char *tag)
{
    const char *const found = strstr(*at, tag);
    const char *const y = found ? strstr(found, " y=\"") : NULL;
    if (!y)
        return NAN;
    *at = y;
    return strtod(y + 4, NULL);
}

TEST(words_stand_below_each_other)
{
    auto_figures figures = {0};
    struct lab_figure *const figure = lab_figure_add(
        &figures,
        "A title of so many words that it needs a second line, but no third one", "x",
        "the variance");
    fill(lab_theory_add(figure, "n = 10"), 3);
    const char *at = draw(figure), *end = at;
    double last = next_text(&at, "<text class=\"title\"");
    CHECK(count(at, "<text class=\"title\"") == 1, "%s", drawn);
    static const char *const tags[] = {"<text class=\"title\"",
                                       "<text x=", "<text class=\"label\""};
    for (int i = 0; i < 3; i++) {
        const double y = next_text(i < 2 ? &at : &end, tags[i]);
        CHECK(y >= last + 10 && y <= last + 40, "%s: %g after %g", tags[i], y, last);
        last = y;
    }
}

TEST(more_series_than_colours)
{
    FIGURE(figure);
    for (int i = 0; i < 100; i++) {
        char label[16];
        snprintf(label, sizeof label, "s%d", i);
        fill(lab_series_add(figure, (enum lab_mark)(i % 4), "%s", label), 2);
    }
    CHECK(well_formed(draw(figure)), "not well-formed");
}

/* -2 .. 2, and a scale of both signs that one side fills: -3 .. 1, and -1 .. 3. */
TEST(heat_map)
{
    for (int lowest = -3; lowest < 0; lowest++) {
        FIGURE(figure);
        struct lab_heat *const heat = lab_heat_set(figure, 3, 2, "value");
        for (int i = 0; i < 3; i++)
            heat->x[i] = pow(10, i);
        heat->y[1] = 1;
        for (int i = 0; i < 6; i++)
            heat->value[i] = i + lowest;
        heat->value[5] = NAN;
        figure->x_log = 1;
        const char *const svg = draw(figure);
        CHECK(well_formed(svg) && !strstr(svg, "nan"), "%s", svg);
        CHECK(count(svg, "<path fill=\"#") == 5, "%d cells",
              count(svg, "<path fill=\"#"));
        CHECK(!strstr(svg, "<path fill=\"#00224e\"") == (lowest > -2), "%s", svg);
        CHECK(!strstr(svg, "<path fill=\"#feeb3c\"") == (lowest < -2), "%s", svg);
    }
}

/*
 * Luma of the fill colours, in the order of their levels: a greyscale print keeps the
 * order.
 */
TEST(colours_of_a_heat_map_rise_in_grey)
{
    for (int both_signs = 0; both_signs < 2; both_signs++) {
        FIGURE(figure);
        struct lab_heat *const heat = lab_heat_set(figure, 40, 1, "value");
        double before = -1;
        int cells = 0;
        for (int i = 0; i < 40; i++) {
            heat->x[i] = i;
            heat->value[i] = i - (both_signs ? 19.5 : 0);
        }
        const char *at = draw(figure);
        while ((at = strstr(at, "<path fill=\"#"))) {
            at += strlen("<path fill=\"#");
            const long rgb = strtol(at, NULL, 16);
            const double luma = 0.2126 * (double)(rgb >> 16) +
                                0.7152 * (double)(rgb >> 8 & 255) +
                                0.0722 * (double)(rgb & 255);
            CHECK(luma > before, "%d: %06lx is no lighter", cells, rgb);
            before = luma;
            cells++;
        }
        CHECK(cells == 40, "%d cells", cells);
    }
}

TEST(lines_on_a_heat_map_differ_by_their_dashes)
{
    FIGURE(figure);
    lab_heat_set(figure, 2, 2, "value");
    for (int s = 0; s < 3; s++)
        fill(lab_series_add(figure, LAB_LINE, "line %d", s), 2);
    draw(figure);
    /* Each in the plot and in the legend; the first is solid. */
    CHECK(count(drawn, "class=\"line over\"") == 6, "%s", drawn);
    CHECK(count(drawn, "stroke-dasharray=\"8 6\"") == 2 &&
              count(drawn, "stroke-dasharray=\"2 4\"") == 2,
          "%s", drawn);
}

TEST(notes_stand_in_the_plot_and_not_in_the_legend)
{
    FIGURE(figure);
    fill(lab_series_add(figure, LAB_LINE, "theory"), 3);
    lab_figure_annotate(figure, 2, 1, "%d%% < v_a", 40);
    draw(figure);
    CHECK(well_formed(drawn), "%s", drawn);
    CHECK(count(drawn, "class=\"note end\"") == 1 && count(drawn, "40% &lt; v") == 1,
          "%s", drawn);
}

TEST(an_axis_can_end_below_the_data)
{
    FIGURE(figure);
    struct lab_series *const series = lab_series_add(figure, LAB_BARS, "measured");
    for (int i = 0; i < 10; i++)
        lab_series_point(series, i, i ? 1 : 4000, 0);
    figure->y_top = 2;
    draw(figure);
    CHECK(!strstr(drawn, ">4000<") && strstr(drawn, ">2.0<"), "%s", drawn);
}

TEST(text_is_escaped)
{
    auto_figures figures = {0};
    struct lab_figure *const figure = lab_figure_add(&figures, "<b>&\"'", "x<y", "a & b");
    fill(lab_series_add(figure, LAB_LINE, "</svg>"), 2);
    snprintf(figure->caption, sizeof figure->caption, "<script>\001");
    const char *const svg = draw(figure);
    CHECK(well_formed(svg) && !strstr(svg, "<b>") && !strstr(svg, "<script>"), "%s", svg);
    CHECK(count(svg, "</svg>") == count(svg, "<svg "), "%s", svg);
    CHECK(strchr(svg, '\001') == NULL, "a control character");
}

/* The output of a function of text.h. */
static const char *written(const char *text, enum lab_markup markup)
{
    FILE *const out = open_drawn();
    lab_text_math(out, text, strlen(text), markup);
    fclose(out);
    return drawn;
}

TEST(formulas_are_set)
{
    static const char *const cases[][2] = {
        {"mu_a^T k", "\u03bc<sub>a</sub><sup>T</sup> k"},
        {"e^-C/(2e^C)", "e<sup>\u2212C</sup>/(2e<sup>C</sup>)"},
        {"(1-eps)^2 <= 1", "(1\u2212\u03b5)<sup>2</sup> \u2264 1"},
        {"var_w and p_outside_10_90", "var_w and p_outside_10_90"},
        {"1.5e-07, 1e+10, 3e8", "1.5\u00b710<sup>\u22127</sup>, 10<sup>10</sup>, "
                                "3\u00b710<sup>8</sup>"},
        {"two-head, n-1, -2", "two-head, n\u22121, \u22122"},
        {"sqrt d <b> beta 1", "\u221ad &lt;b&gt; \u03b2 1"},
        {"e^{-(gamma-1)C}, 1.5mu_a",
         "e<sup>\u2212(\u03b3\u22121)C</sup>, 1.5\u03bc<sub>a</sub>"},
        {"P_{1-1/m}^(n-m)", "P<sub>1\u22121/m</sub><sup>n\u2212m</sup>"},
        {"a_{open ^(never", "a_{open ^(never"},
        {"", ""}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        CHECK(!strcmp(written(cases[c][0], LAB_HTML), cases[c][1]), "'%s' became '%s'",
              cases[c][0], drawn);
    CHECK(!strcmp(
              written("p_j of", LAB_SVG),
              "p<tspan dy=\"3\" font-size=\"75%\">j</tspan><tspan dy=\"-3\"> </tspan>of"),
          "%s", drawn);
}

TEST(templates_are_filled_in)
{
    FILE *const out = open_drawn();
    lab_html(out, "<b>{s}</b>{h} {d}/{l} {n3} {.2g}%{p}{m}", "<i>", "<i>", -3,
             (int64_t)1 << 40, 1.23456e-7, 0.125, "mu_a", "`x`");
    fclose(out);
    CHECK(!strcmp(drawn,
                  "<b><i></b>&lt;i&gt; -3/1099511627776 1.23\u00b710<sup>\u22127</sup> "
                  "0.12%\u03bc<sub>a</sub><code>x</code>"),
          "%s", drawn);
}

TEST(lines_are_broken_at_spaces)
{
    CHECK(lab_text_break("one two", 100) == 7, "all of it fits");
    CHECK(lab_text_break("one two", 3) == 3, "%zu", lab_text_break("one two", 3));
    CHECK(lab_text_break("unbreakable", 1) == 11, "a word is not broken");
    CHECK(lab_text_width("\u03c3\u03c3", 4) < 2 * lab_text_width("ss", 2),
          "bytes are counted, not letters");
}

/* Markdown as HTML in `drawn`. */
static const char *mark_down(const char *text)
{
    FILE *const out = open_drawn();
    lab_text_markdown(out, text);
    fclose(out);
    return drawn;
}

TEST(tex_becomes_mathml)
{
    static const struct {
        const char *tex, *mathml;
    } cases[] = {
        {"x", "<mi>x</mi>"},
        {"12.5", "<mn>12.5</mn>"},
        {"a - 1", "<mi>a</mi><mo>\u2212</mo><mn>1</mn>"},
        {"p < 1", "<mi>p</mi><mo>&lt;</mo><mn>1</mn>"},
        {"\\mu_a^\\top", "<msubsup><mi>\u03bc</mi><mrow><mi>a</mi></mrow><mrow><mi>\u22a4"
                         "</mi></mrow></msubsup>"},
        {"e^{-D}", "<msup><mi>e</mi><mrow><mo>\u2212</mo><mi>D</mi></mrow></msup>"},
        {"\\frac12", "<mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac>"},
        {"\\sqrt{2 n}", "<msqrt><mrow><mn>2</mn><mi>n</mi></mrow></msqrt>"},
        {"\\sum_i p_i",
         "<munder><mo>\u2211</mo><mrow><mi>i</mi></mrow></munder><msub><mi>p"
         "</mi><mrow><mi>i</mi></mrow></msub>"},
        {"2 \\ln n", "<mn>2</mn><mspace width=\"0.17em\"/><mi>ln</mi><mspace "
                     "width=\"0.17em\"/><mi>n</mi>"},
        {"\\tilde{k}", "<mover accent=\"true\"><mrow><mi>k</mi></mrow><mo "
                       "stretchy=\"false\">~</mo></mover>"},
        {"\\mathbb{R}", "<mi mathvariant=\"normal\">\u211d</mi>"},
        {"\\mathcal{A}", "<mi mathvariant=\"normal\">\U0001d49c</mi>"},
        {"\\left( a \\right]", "<mrow><mo stretchy=\"true\">(</mo><mi>a</mi><mo "
                               "stretchy=\"true\">]</mo></mrow>"},
        {"\\begin{cases} a & b \\\\ c \\end{cases}",
         "<mrow><mo stretchy=\"true\">{</mo><mtable class=\"cases\"><mtr><mtd><mi>a</mi>"
         "</mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd><mi>c</mi></mtd></mtr></mtable>"
         "</mrow>"},
        {"a &= b \\\\ &= c",
         "<mtable class=\"lines\"><mtr><mtd><mi>a</mi></mtd><mtd><mo>=</mo><mi>b</mi>"
         "</mtd></mtr><mtr><mtd></mtd><mtd><mo>=</mo><mi>c</mi></mtd></mtr></mtable>"},
        {"\\text{ if } x", "<mtext>\u00a0if\u00a0</mtext><mi>x</mi>"},
        {"\\lim_{C \\to \\infty} p",
         "<munder><mo>lim</mo><mrow><mi>C</mi><mo>\u2192</mo><mi>\u221e</mi></mrow>"
         "</munder><mi>p</mi>"},
        {"\\mathrm{Var}(w)",
         "<mi mathvariant=\"normal\">Var</mi><mo stretchy=\"false\">(</mo><mi>w</mi>"
         "<mo stretchy=\"false\">)</mo>"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128], wanted[512];
        snprintf(text, sizeof text, "$%s$", cases[i].tex);
        snprintf(wanted, sizeof wanted, "<math><semantics><mrow>%s</mrow><annotation ",
                 cases[i].mathml);
        CHECK(!strncmp(mark_down(text), wanted, strlen(wanted)), "%s: %s", text, drawn);
        CHECK(well_formed(drawn), "%s", drawn);
    }
    CHECK(!strcmp(mark_down("a `b_c` < d"), "a <code>b_c</code> &lt; d"), "%s", drawn);
    CHECK(strstr(mark_down("of $x$, then"), "</math>,</span> then"), "%s", drawn);
}

/* Incomplete markup is printed in some form, without a read beyond its end. */
TEST(broken_tex_does_no_harm)
{
    static const char *const cases[] = {"$x$$",
                                        "$\\frac$",
                                        "$\\frac{a$",
                                        "$x_$",
                                        "$^^$",
                                        "$}{$",
                                        "$\\$",
                                        "$\\unknown$",
                                        "$x",
                                        "`code",
                                        "$\\sqrt$",
                                        "$_{^{_$",
                                        "$$",
                                        "$\\text{$",
                                        "$\\bar$",
                                        "$\\left($",
                                        "$\\begin{cases}$",
                                        "$\\begin{$",
                                        "$\\mathbb$",
                                        "$\\left$",
                                        "$a & $",
                                        "$\\\\$",
                                        "$\\right)$"};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        auto_free char *const copy = strdup(cases[i]);
        CHECK(well_formed(mark_down(copy)), "%s: %s", cases[i], drawn);
    }
}

AFTER_ALL { free(drawn); }
