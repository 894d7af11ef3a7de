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

static struct lab_variant variant_of(const struct lab_run *run)
{
    return (struct lab_variant){.n = lab_integer(run, "n"),
                                .m = lab_integer(run, "m"),
                                .beta = lab_real(run, "beta"),
                                .sigma2 = lab_real(run, "sigma2"),
                                .seed = run->session.seed,
                                .stream = NOISE_STREAM};
}

static int perform(struct lab_run *run)
{
    const struct lab_variant variant = variant_of(run);

    if (variant.m > variant.n)
        return lab_misuse(&run->session, "--m %lld: at most n = %lld latents are allowed",
                          (long long)variant.m, (long long)variant.n);
    return lab_synthesizer_rows(run, &variant) || lab_bottleneck_rows(run, &variant) ||
           lab_sigmoid_rows(run, &variant);
}

static int sweep(struct lab_run *run)
{
    const struct lab_variant variant = variant_of(run);

    return lab_bottleneck_sweep(run, &variant) || lab_sigmoid_sweep(run, &variant);
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
