/* SPDX-License-Identifier: MIT */
/* Variants of attention: Synthesizer, bottleneck of m latents, sigmoid weights. */
#include "lab/experiments/experiment.h"
#include "lab/experiments/variants.h"

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
    const struct lab_variant variant = {.n = lab_integer(run, "n"),
                                        .m = lab_integer(run, "m"),
                                        .beta = lab_real(run, "beta"),
                                        .sigma2 = lab_real(run, "sigma2"),
                                        .seed = run->session.seed,
                                        .stream = NOISE_STREAM};

    if (variant.m > variant.n)
        return lab_misuse(&run->session, "--m %lld: at most n = %lld latents are allowed",
                          (long long)variant.m, (long long)variant.n);
    attend_context *const ctx = lab_context(&run->session);
    int failed = !ctx || lab_synthesizer_rows(run, &variant) ||
                 lab_bottleneck_rows(run, ctx, &variant) ||
                 lab_sigmoid_rows(run, ctx, &variant);
    if (!failed && run->sweeps)
        failed =
            lab_bottleneck_sweep(run, ctx, &variant) || lab_sigmoid_sweep(run, &variant);
    attend_context_destroy(ctx);
    return failed ? -1 : 0;
}

const struct lab_experiment lab_experiment_variants = {
    .name = "variants",
    .title = "Variants: Synthesizer, bottleneck, sigmoid",
    .shows =
        "A Synthesizer cannot find a key it does not read, a bottleneck of m latents "
        "hands m values through for 2 n m scores, and sigmoid weights do not "
        "compete.",
    .answers = "3g",
    LAB_FLAGS(flags),
    .trials = 20000,
    .perform = perform,
};
