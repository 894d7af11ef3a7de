/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "theory/quadrature.h"

static const double pi = 3.14159265358979323846;

/* Kronrod's extension of the 7-point Gauss rule: nodes >= 0, those of Gauss odd. */
static const double node[8] = {
    0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
    0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
    0.586087235467691130294144691693013, 0.405845151377397166906606412076961,
    0.207784955007898467600689403773245, 0.0};
static const double kronrod[8] = {
    0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
    0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
    0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
    0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
static const double gauss[4] = {
    0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
    0.381830050505118944950369775488975, 0.417959183673469387755102040816327};

struct estimate {
    double value[THEORY_INTEGRANDS_MAX];
    double absolute[THEORY_INTEGRANDS_MAX]; /* integral of |f| */
    double error[THEORY_INTEGRANDS_MAX];
};

struct job {
    attendi_theory_integrand f;
    void *arg;
    int count;
    struct attendi_theory_accuracy accuracy;
    int halvings; /* remaining number of halvings */
    double scale[THEORY_INTEGRANDS_MAX];
    double sum[THEORY_INTEGRANDS_MAX], lost[THEORY_INTEGRANDS_MAX];
};

static struct estimate measure(const struct job *job, double lo, double hi)
{
    const double centre = 0.5 * (lo + hi), half = 0.5 * (hi - lo);
    double f[15][THEORY_INTEGRANDS_MAX];
    struct estimate e;

    for (int i = 0; i < 7; i++) {
        job->f(job->arg, centre - half * node[i], f[i]);
        job->f(job->arg, centre + half * node[i], f[14 - i]);
    }
    job->f(job->arg, centre, f[7]);
    for (int k = 0; k < job->count; k++) {
        double full = kronrod[7] * f[7][k], coarse = gauss[3] * f[7][k];
        double absolute = kronrod[7] * fabs(f[7][k]), spread;

        for (int i = 0; i < 7; i++) {
            full += kronrod[i] * (f[i][k] + f[14 - i][k]);
            absolute += kronrod[i] * (fabs(f[i][k]) + fabs(f[14 - i][k]));
            if (i % 2 == 1)
                coarse += gauss[i / 2] * (f[i][k] + f[14 - i][k]);
        }
        spread = kronrod[7] * fabs(f[7][k] - 0.5 * full);
        for (int i = 0; i < 7; i++)
            spread += kronrod[i] *
                      (fabs(f[i][k] - 0.5 * full) + fabs(f[14 - i][k] - 0.5 * full));
        e.value[k] = half * full;
        e.absolute[k] = half * absolute;
        /*
         * The difference of the two rules is the error of the coarse one; that of the
         * fine one is smaller.
         */
        e.error[k] = half * fabs(full - coarse);
        if (spread > 0.0 && e.error[k] > 0.0)
            e.error[k] =
                half * spread * fmin(1.0, pow(200.0 * e.error[k] / (half * spread), 1.5));
    }
    return e;
}

static void add(struct job *job, const double *value)
{
    for (int k = 0; k < job->count; k++) {
        const double t = job->sum[k] + value[k];

        job->lost[k] += fabs(job->sum[k]) >= fabs(value[k])
                            ? (job->sum[k] - t) + value[k]
                            : (value[k] - t) + job->sum[k];
        job->sum[k] = t;
    }
}

static void refine(struct job *job, double lo, double hi, const struct estimate *whole,
                   int depth)
{
    const double middle = 0.5 * (lo + hi);
    struct estimate part;
    int good = 1;

    for (int k = 0; k < job->count; k++)
        good = good && !(whole->error[k] > fmax(job->accuracy.absolute,
                                                job->accuracy.relative * job->scale[k]));
    if (good || depth == 0 || job->halvings == 0 || !(lo < middle && middle < hi)) {
        add(job, whole->value);
        return;
    }
    job->halvings--;
    part = measure(job, lo, middle);
    refine(job, lo, middle, &part, depth - 1);
    part = measure(job, middle, hi);
    refine(job, middle, hi, &part, depth - 1);
}

void attendi_theory_integrate(attendi_theory_integrand f, void *arg, int count,
                              const double *breaks, int points,
                              struct attendi_theory_accuracy accuracy, double *result)
{
    struct job job = {
        .f = f, .arg = arg, .count = count, .accuracy = accuracy, .halvings = 2000};
    struct estimate *pieces = malloc((size_t)points * sizeof *pieces);

    for (int k = 0; k < count; k++)
        result[k] = NAN;
    if (pieces == NULL)
        return;
    for (int i = 0; i + 1 < points; i++) {
        pieces[i] = measure(&job, breaks[i], breaks[i + 1]);
        for (int k = 0; k < count; k++)
            job.scale[k] += pieces[i].absolute[k];
    }
    for (int i = 0; i + 1 < points; i++)
        refine(&job, breaks[i], breaks[i + 1], &pieces[i], 40);
    for (int k = 0; k < count; k++)
        result[k] = job.sum[k] + job.lost[k];
    free(pieces);
}

struct normal_job {
    attendi_theory_integrand f;
    void *arg;
    int count;
    double mean, sd;
};

static void times_density(void *arg, double z, double *f)
{
    const struct normal_job *job = arg;
    const double density = exp(-0.5 * z * z) / sqrt(2.0 * pi);

    job->f(job->arg, job->mean + job->sd * z, f);
    for (int k = 0; k < job->count; k++)
        f[k] *= density;
}

int attendi_theory_ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

void attendi_theory_normal_mean(attendi_theory_integrand f, void *arg, int count,
                                double mean, double sd, double floor,
                                const struct attendi_theory_transition *transitions,
                                int transition_count,
                                struct attendi_theory_accuracy accuracy, double *result)
{
    static const double grid[] = {-39.0, -20.0, -12.0, -8.0, -5.0, -3.0, -1.5, 0.0,
                                  1.5,   3.0,   5.0,   8.0,  12.0, 20.0, 39.0};
    static const double steps[] = {-40.0, -8.0, -2.0, 0.0, 2.0, 8.0, 40.0};
    enum { GRID = sizeof grid / sizeof *grid, STEPS = sizeof steps / sizeof *steps };
    double breaks[GRID + STEPS * THEORY_TRANSITIONS_MAX + 1];
    struct normal_job job = {f, arg, count, mean, sd};
    /* exp(-z^2 / 2) is 0 beyond 39, and 1e-31 beyond 12. */
    const double high = accuracy.absolute > 0.0 ? 12.0 : 39.0;
    const double low = sd > 0.0 ? fmax(-high, (floor - mean) / sd) : 0.0;
    int points = 0;

    if (!(low < high) || !(sd > 0.0 || mean > floor)) {
        for (int k = 0; k < count; k++)
            result[k] = NAN;
        return;
    }
    if (sd == 0.0) {
        f(arg, mean, result);
        return;
    }
    breaks[points++] = low;
    for (int i = 1; i < GRID; i++)
        if (grid[i] > low && grid[i] <= high)
            breaks[points++] = grid[i];
    for (int t = 0; t < transition_count && t < THEORY_TRANSITIONS_MAX; t++)
        for (int i = 0; i < STEPS; i++) {
            const double z =
                (transitions[t].centre - mean + steps[i] * transitions[t].width) / sd;

            if (z > low && z < high)
                breaks[points++] = z;
        }
    qsort(breaks, (size_t)points, sizeof *breaks, attendi_theory_ascending);
    attendi_theory_integrate(times_density, &job, count, breaks, points, accuracy,
                             result);
    for (int k = 0; k < count; k++)
        result[k] /= 0.5 * erfc(low / sqrt(2.0));
}

void attendi_theory_panel(double x[THEORY_PANEL], double weight[THEORY_PANEL])
{
    for (int i = 0; i < THEORY_PANEL; i++) {
        double z = -cos(pi * (i + 0.75) / ((double)THEORY_PANEL + 0.5)), slope = 1.0;

        for (int step = 0; step < 8; step++) {
            double before = 1.0, p = z;

            for (int j = 2; j <= THEORY_PANEL; j++) {
                const double next = ((2 * j - 1) * z * p - (j - 1) * before) / j;

                before = p;
                p = next;
            }
            slope = (double)THEORY_PANEL * (z * p - before) / (z * z - 1.0);
            z -= p / slope;
        }
        x[i] = z;
        weight[i] = 2.0 / ((1.0 - z * z) * slope * slope);
    }
}
