/* SPDX-License-Identifier: MIT */
/* Every kernel set of the build runs, or the machine lacks one of its features. */
#include "support/oracle.h"

static attend_isa set = {.struct_size = sizeof(attend_isa)};

/* The words of `needs` that are missing in `has`, separated by spaces. */
static void lacking(const char *needs, const char *has, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (const char *word = needs; *word != '\0';) {
        const size_t length = strcspn(word, " ");
        int found = 0;

        for (const char *at = has; *at != '\0' && !found;) {
            const size_t n = strcspn(at, " ");
            found = n == length && memcmp(at, word, n) == 0;
            at += n + (at[n] == ' ');
        }
        if (!found && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%.*s", used ? " " : "",
                                     (int)length, word);
        word += length + (word[length] == ' ');
    }
}

TEST(lacking_words)
{
    char text[64];

    lacking("avx2 amx_tile amx_bf16", "avx2 amx_bf1", text, sizeof text);
    CHECK(strcmp(text, "amx_tile amx_bf16") == 0, "got \"%s\"", text);
    lacking("avx2", "fma avx2", text, sizeof text);
    CHECK(strcmp(text, "") == 0, "got \"%s\"", text);
}

static void check_shapes(attend_context *ctx, attend_dtype dtype)
{
    static const shape shapes[] = {{1, 2, 1, 1, 300, 64, 64},
                                   {1, 2, 1, 70, 300, 64, 64},
                                   {1, 1, 1, 129, 161, 33, 17}};

    for (size_t x = 0; x < sizeof shapes / sizeof shapes[0]; x++) {
        auto_problem p = problem_make(shapes[x], dtype, x + 1);

        p.rule.causal = ATTEND_CAUSAL_BOTTOM_RIGHT;
        p.close = CLOSE_DERIVED;
        problem_check(&p, ctx);
    }
}

static void set_computes(void)
{
    char features[512], text[512];

    attend_cpu_features(features, sizeof features);
    lacking(set.needs, features, text, sizeof text);
    if (!set.runs) {
        CHECK(text[0] != '\0', "%s does not run, and nothing is lacking", set.name);
        SKIP("kernel set %s: this machine lacks %s", set.name, text);
    }
    CHECK(text[0] == '\0', "%s runs without %s", set.name, text);
    auto_context const ctx = open_set(set.name, 1);
    for (int x = 0; ctx != NULL && x < FLOAT_DTYPES; x++)
        check_shapes(ctx, float_dtypes[x]);
}

int main(void)
{
    test_run_all();
    for (int x = 0; attend_isa_get(x, &set) == ATTEND_OK; x++)
        test_run(set.name, set_computes);
    return test_finish();
}
