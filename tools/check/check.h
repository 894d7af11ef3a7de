/* SPDX-License-Identifier: MIT */
/*
 * The numerical checks: named tests, run on every kernel set of this machine, `ref`
 * included, through the public interface.  Sets with splits run once with their splits,
 * and once with splits so small that short problems have several.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "check/call.h"
#include "check/dense.h"
#include "check/sample.h"

enum { CHECK_SETS_MAX = 32 };

/* Keys of a forced split: the least that all sets but `amx` take, which rounds it up. */
enum { CHECK_SPLIT_KEYS = 128 };

/* One test on one kernel set. */
struct check_tally {
    int64_t cases;
    int64_t split; /* calls of a forced set in which a row saw more than one split */
    /*
     * Largest error over its bound; 0 for equal bits, infinite for unequal ones and
     * for a call that failed.
     */
    double worst;
    int ok;
    char detail[1024]; /* the first failure, with the problem to replay it */
};

struct check_set {
    const char *name, *needs; /* from attend_isa_get() */
    char label[32];           /* the name, with "/split" where splits are forced */
    int split;                /* whether splits are forced */
    int device;               /* whether a GPU computes it */
    int model;                /* CHECK_KERNELS or CHECK_REF */
    attend_context *ctx;
    struct check_tally tally; /* of the last test */
};

struct check_run {
    struct check_set sets[CHECK_SETS_MAX];
    int count, plain; /* sets, and how many of them, the first, have plain splits */
    int all;          /* whether every set that runs here is among them */
    uint64_t seed;
    double effort;     /* multiplies the number of cases; 1 for `attend check` */
    int64_t exp2_step; /* one float in this many, the first of them chosen by the seed */
    int exp2_threads;
    struct check_blocks blocks;
    void (*progress)(void *user); /* called often; NULL: none */
    void *progress_user;
};

/* The two runs of a set. */
enum { CHECK_PLAIN = 1, CHECK_SPLIT = 2, CHECK_BOTH = CHECK_PLAIN | CHECK_SPLIT };

/*
 * Opens every set that runs here, or the named one, for `runs`; `ref`, which has no
 * splits, is plain.  `threads` 0: one thread for the many small problems, and the default
 * for exp2.  On failure there is nothing to close.
 */
attend_status check_open(struct check_run *run, const char *isa, int runs, int threads,
                         attend_error *error);
void check_close(struct check_run *run);

/*
 * A context of the set with its splits.  Sets ATTEND_SPLIT temporarily: no other thread
 * may read the environment.
 */
attend_status check_context(const struct check_set *set, int threads,
                            attend_context **ctx, attend_error *error);

/* Case n of a test: its random problem, which it may change, and further numbers. */
struct check_case {
    int64_t n;
    struct check_problem p;
    struct check_random random;
};

/* It runs as a whole, or case by case. */
typedef struct check_test {
    const char *name;
    const char *what; /* one line */
    int runs;         /* CHECK_BOTH, or CHECK_PLAIN where nothing is split */
    void (*perform)(struct check_run *run);
    void (*one)(struct check_run *run, struct check_case *c);
    int64_t cases; /* at effort 1 */
    uint64_t salt;
    int64_t length, every_fourth; /* check_law_sample()'s max_length, that of case 4 n */
} check_test;

/* All tests, in the order to run them. */
extern const check_test check_tests[];
extern const int check_test_count;

/* Number of sets, from the first, that a test runs on. */
int check_set_count(const struct check_run *run, const check_test *test);
/*
 * Runs a test on its sets and stores the results of each.  A forced set fails if
 * no problem of the test had more than one split.
 */
void check_perform(struct check_run *run, const check_test *test);

/* ---- for the tests ------------------------------------------------------ */

/*
 * The first cases of a test are its core: they run at any effort and are the same for
 * every seed, so that every path is taken.
 */
enum { CHECK_CORE = 12 };

/* base cases times the effort, the core at least. */
int64_t check_cases(const struct check_run *run, int64_t base);
/* The seed of case `n` of a test; `salt` is the test's own. */
uint64_t check_case_seed(const struct check_run *run, uint64_t salt, int64_t n);
/* Records the ratio of a case, with its problem (or NULL); `where` is for the message. */
void check_note(struct check_set *set, double ratio, const struct check_problem *p,
                const char *where);
/* Runs a call and records its failure; 0 if it failed. */
int check_try(struct check_run *run, struct check_set *set, attend_context *ctx,
              const struct check_problem *p, struct check_outputs *outputs);
/* Runs on all sets and compares with expected values, or with the dense evaluation. */
void check_against(struct check_run *run, const struct check_problem *p,
                   const struct check_expect *expect);
void check_all(struct check_run *run, const struct check_problem *p);
void check_tick(const struct check_run *run);

/*
 * A random problem with at least one row, all outputs asked for at times.  Two of five
 * have fewer rows and 2 to 5 splits of the least size, whatever max_length is.
 */
struct check_problem check_law_sample(const struct check_run *run, uint64_t salt,
                                      int64_t n, int64_t max_length);

/*
 * Removes weights and statistics, which parts of the keys do not have; then the problem
 * over keys from .. end - 1, with unchanged positions; one part has the sink.
 */
void check_make_divisible(struct check_problem *p);
struct check_problem check_part_of(const struct check_problem *p, int64_t from,
                                   int64_t end, int keeps_sink);

/*
 * A new contiguous tensor (nb, hq, nq, columns) of `values` or zeros; and all values of a
 * tensor.
 */
attend_tensor check_new_tensor(const struct check_problem *p, attend_dtype dtype,
                               int64_t columns, const double *values);
double *check_tensor_values(const attend_tensor *tensor);

/* Equal bits, or both NaN. */
int check_same_bits(double a, double b);

/*
 * A ratio of 0 if all outputs of `a` and `b` are the same bits, infinite if not.  Rows
 * where skip[row] is set are left out; `skip` may be NULL.  Weights are compared over the
 * keys that both have; beyond them they must be 0.
 */
void check_same_outputs(const struct check_problem *pa, const struct check_outputs *a,
                        const struct check_problem *pb, const struct check_outputs *b,
                        const unsigned char *skip, struct check_worst *worst);

/* Runs both problems on every set and records whether their bits are equal. */
void check_compare_bits(struct check_run *run, const struct check_problem *pa,
                        const struct check_problem *pb, const unsigned char *skip);

#define CHECK_TEST(name, perform, ...) void perform(struct check_run *run);
#define CHECK_LAW(name, one, ...) void one(struct check_run *run, struct check_case *c);
#include "check/check_tests.inc"
#undef CHECK_TEST
#undef CHECK_LAW

#endif
