/* SPDX-License-Identifier: MIT */
/*
 * Not a header: the place of stats_tmpl.h in a set that leaves problems with statistics
 * to its base.  Parameters: forward_tmpl.h.
 */

static struct N(note) * N(carve_note)(const struct problem *p, char *base, size_t *used)
{
    (void)p, (void)base, (void)used;
    return NULL;
}

static struct N(tally) * N(carve_tally)(const struct problem *p, char *base, size_t *used)
{
    (void)p, (void)base, (void)used;
    return NULL;
}

static void N(begin_tally)(const STATE *s, ROWS *g) { (void)s, (void)g; }

static void N(save_sums)(const STATE *s, const ROWS *g) { (void)s, (void)g; }

static const REAL *N(ramp)(const STATE *s)
{
    (void)s;
    return NULL;
}
