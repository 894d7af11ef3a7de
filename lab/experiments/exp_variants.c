/* SPDX-License-Identifier: MIT */
/* Variants of attention: Synthesizer, bottleneck of m latents, sigmoid weights. */
#include "lab/experiments/experiment_parts.h"

enum { NOISE_STREAM = 16 };

static const struct lab_flag flags[] = {
    LAB_FLAG_INTEGER("n", 16, 3, 256, "keys, the n axes"),
    LAB_FLAG_INTEGER("m", 2, 1, 256, "latents of the bottleneck, at most n"),
    LAB_FLAG_REAL("beta", 10, 0, 100, "query scale"),
    LAB_FLAG_REAL("sigma2", 0.5, 0, 100,
                  "magnitude noise of key a, for the weights of a and b"),
};

static int perform(struct lab_run *run)
{
    const double n = lab_real(run, "n"), m = lab_real(run, "m");

    if (m > n)
        return lab_misuse(&run->session, "--m %.0f: at most n = %.0f latents are allowed",
                          m, n);
    return lab_synthesizer_rows(run) || lab_bottleneck_rows(run) ||
           lab_sigmoid_rows(run, NOISE_STREAM);
}

static int sweep(struct lab_run *run)
{
    return lab_bottleneck_sweep(run) || lab_sigmoid_sweep(run, NOISE_STREAM + 1);
}

const struct lab_experiment lab_experiment_variants = {
    .name = "variants",
    .title = "Variants: Synthesizer, bottleneck, sigmoid",
    .shows =
        "A Synthesizer cannot find a key it does not read, a bottleneck of m latents "
        "hands m values through for 2 n m scores, and sigmoid weights do not compete.",
    .answers = "3g",
    LAB_FLAGS(flags),
    .trials = 20000,
    .perform = perform,
    .sweep = sweep,
};
