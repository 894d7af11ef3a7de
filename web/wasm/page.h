/* SPDX-License-Identifier: MIT */
/*
 * The functions that the page calls.  Arguments are strings, results JSON; tensors lie in
 * the module's memory.  One caller, one thread.  A function with a JSON result returns
 * NULL when out of memory, and {"error": "..."} for invalid arguments; the text is valid
 * until the next call.
 */
#ifndef PAGE_H
#define PAGE_H

#include <stdint.h>

#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#define PAGE_API EMSCRIPTEN_KEEPALIVE
#else
#define PAGE_API
#endif

/* ---- page_catalogue.c ------------------------------------------------------ */

/* Everything that does not depend on a computation. */
PAGE_API const char *page_catalogue(void);
/* The kernel set that the engine chose: "scalar", "simd128". */
PAGE_API const char *page_isa(void);

/* ---- page_perform.c -------------------------------------------------------- */

/* Selects an experiment with its defaults: 0, or -1 if the name is unknown. */
PAGE_API int page_run_open(const char *experiment);
/* Sets a flag of the experiment: "" or an error message. */
PAGE_API const char *page_run_set(const char *flag, const char *value);
/*
 * Performs it.  Rows come as they are measured, by Module.onRow(text of JSON), and
 * progress by Module.onProgress(done, total).  {conclusion, figures, count}
 */
PAGE_API const char *page_run(double seed, double trials, int sweeps, int figures);

/* ---- page_sheets.c --------------------------------------------------------- */

/* Statement 0 .. 98; reading 0: charity, 1: letter. */
PAGE_API const char *page_judge(int index, int reading);
/* Point 0 .. 12 on which the sheets disagree, after all were judged by charity. */
PAGE_API const char *page_dispute(int index);

/* ---- page_answers.c -------------------------------------------------------- */

/* The answers of a file of `attend grade`: {student, texts of every part} */
PAGE_API const char *page_form(const char *text);
/* Stores text k of a part for page_grade(): "" or the reason why it cannot be graded. */
PAGE_API const char *page_answer(int part, int k, const char *text);
/* Removes every stored text. */
PAGE_API void page_answer_clear(void);
/* Grades the stored texts: worlds derive from seed and name. */
PAGE_API const char *page_grade(double seed, const char *name);

/* ---- page_solution.c ------------------------------------------------------- */

/*
 * A solution as it was written, judged: claims, letters, conflicts, points, coverage, and
 * `shown`, the marked sheet as HTML.
 */
PAGE_API const char *page_mark(const char *text, const char *name);

/* ---- page_plane.c ---------------------------------------------------------- */

/*
 * One query over n keys, in double: weights [n], out [dv], and numbers [4]: entropy,
 * effective keys, largest weight, log of the sum of exponentials.  0, or -1.
 */
PAGE_API int page_weights(int n, int d, int dv, const double *q, const double *k,
                          const double *v, double scale, double *weights, double *out,
                          double *numbers);
/*
 * The same for `draws` noisy copies of the keys: every entry gets variance alpha, key 0
 * the factor 1 + sqrt(sigma2) x.  out [draws][dv]; first [draws]: weight of key 0.
 */
PAGE_API int page_cloud(int n, int d, int dv, const double *q, const double *k,
                        const double *v, double scale, double alpha, double sigma2,
                        int draws, double seed, double *out, double *first);
/* n keys of d columns with normal entries of variance 1 / d. */
PAGE_API void page_random(int n, int d, double seed, double *to);

/* ---- page_tensors.c -------------------------------------------------------- */

/*
 * Tensor 0, 1 or 2 (q, k, v) of a layer: dtype as attend_dtype, sizes in the order
 * batch, head, row, column, strides in elements.  "" or an error message.
 */
PAGE_API const char *page_tensor(int which, void *data, int dtype, const double *size,
                                 const double *stride);
/*
 * causal: 0 none, 1 top-left, 2 bottom-right; scale NaN: 1 / sqrt(d); window -1: open.
 */
PAGE_API void page_rule(int causal, double scale, double window, double softcap,
                        double noise);
/* Statistics of head (b, h), its character, its place, its pooled map. */
PAGE_API const char *page_head(int b, int h, int cells);
/* Pooled map of the last head: f32, row by row; its sizes are in its JSON. */
PAGE_API const float *page_map(void);
/* Weights of rows x columns from (query, key) on of head (b, h), f32; NULL: none. */
PAGE_API const float *page_zoom(int b, int h, double query, double key, int rows,
                                int columns);
/* The error message of the last call of page_zoom(). */
PAGE_API const char *page_zoom_error(void);
/* Figures of the heads seen since the last page_tensor(): the phase diagram first. */
PAGE_API const char *page_places(void);

/* ---- page_bench.c ---------------------------------------------------------- */

/* Least seconds of a causal f32 prefill of `heads` heads among `calls`; -1: it failed. */
PAGE_API double page_prefill(int heads, int n, int d, int calls);

#endif
