/* SPDX-License-Identifier: MIT */
#include "lab/experiments/parts.h"

#include <math.h>

/* Draws that are shown: enough for the shape, few enough to be seen one by one. */
enum { DRAWS = 400, STREAM = 900 };
/* Heads that are averaged; the one after them is the single one. */
enum { TWO = 2 };

/* Coefficients of v_a and v_b in c: its coordinates, the values being orthonormal. */
struct outputs {
    double a[DRAWS], b[DRAWS];
    int count;
};

struct cloud {
    struct outputs one, two;
};

static void keep(struct outputs *outputs, double a, double b)
{
    if (outputs->count == DRAWS)
        return;
    outputs->a[outputs->count] = a;
    outputs->b[outputs->count++] = b;
}

/* `arg` is written: the session has one thread, in one process. */
static void observe(void *arg, const struct lab_outcome *outcome, double *values)
{
    struct cloud *const cloud = arg;
    const double *const one = outcome->weight[TWO];

    keep(&cloud->one, one[0], one[1]);
    keep(&cloud->two, outcome->coefficient[0], outcome->coefficient[1]);
    values[0] = 0;
}

static int draw(struct lab_run *run, const struct lab_scene *scene, struct cloud *cloud)
{
    struct lab_session alone = run->session;
    struct lab_moments unused;

    alone.threads = 1;
    alone.peers = NULL;
    alone.progress = NULL;
    if (lab_scene_measure(&alone, scene, STREAM, DRAWS, observe, cloud, 1, &unused, NULL))
        return lab_fail(&run->session, "%s", alone.error);
    return 0;
}

/* Outputs within 0.1 of (a, b) in the plane. */
static int count_near(const struct outputs *outputs, double a, double b)
{
    int found = 0;

    for (int i = 0; i < outputs->count; i++)
        found += hypot(outputs->a[i] - a, outputs->b[i] - b) < 0.1;
    return found;
}

static int count_ends(const struct outputs *outputs)
{
    return count_near(outputs, 1, 0) + count_near(outputs, 0, 1);
}

static void add_points(struct lab_figure *figure, const char *label,
                       const struct outputs *outputs)
{
    struct lab_series *const series = lab_series_add(figure, LAB_POINTS, "%s", label);

    for (int i = 0; i < outputs->count; i++)
        lab_series_point(series, outputs->a[i], outputs->b[i], 0);
}

int lab_output_cloud(struct lab_run *run, const struct lab_scene *scene)
{
    struct cloud cloud = {.one = {.count = 0}};

    if (!run->figures)
        return 0;
    if (draw(run, scene, &cloud))
        return -1;
    struct lab_figure *const figure =
        lab_plot(run, "outputs", "Outputs in the plane of v_a and v_b",
                 "coefficient of v_a in c", "coefficient of v_b in c", 0,
                 "%d draws of the keys, n = %g, C = %g. One head: %d outputs lie within "
                 "0.1 of v_a or v_b, %d within 0.1 of the average. Two heads on the same "
                 "keys: %d and %d.",
                 cloud.one.count, (double)scene->n, scene->query[TWO][0],
                 count_ends(&cloud.one), count_near(&cloud.one, 0.5, 0.5),
                 count_ends(&cloud.two), count_near(&cloud.two, 0.5, 0.5));
    if (!figure)
        return 0;
    figure->square = 1;
    lab_line_add(figure, "segment from v_a to v_b", 1, 0, 0, 1);
    add_points(figure, "one head", &cloud.one);
    add_points(figure, "two heads", &cloud.two);
    lab_figure_annotate(figure, 1, 0.13, "v_a");
    lab_figure_annotate(figure, 0.02, 1, "v_b");
    lab_figure_annotate(figure, 0.49, 0.54, "(v_a + v_b)/2");
    return 0;
}
