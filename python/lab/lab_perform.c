/* SPDX-License-Identifier: MIT */
/* The list of experiments, and the performance of one. */
#include "lab_module.h"

#include "lab/experiments/experiment.h"

PyObject *lab_py_experiments(PyObject *module, PyObject *args)
{
    struct lab_json json;

    (void)module;
    (void)args;
    lab_begin(&json, '[');
    for (int x = 0; lab_experiments[x]; x++) {
        lab_json_begin(&json, '{');
        lab_json_experiment(&json, lab_experiments[x]);
        lab_json_end(&json, '}');
    }
    return lab_end(&json, ']');
}

struct performance {
    struct lab_work work; /* first: `user` points to both structs */
    struct lab_run run;
    struct lab_json json;
};

static void on_row(void *user, const struct lab_row *row)
{
    struct performance *const p = user;

    lab_json_begin(&p->json, '{');
    lab_json_row(&p->json, &p->run, row);
    lab_json_put(&p->json, "own:b }", row->is_own);
}

/* Values by flag, in their order: a number, a text, or None for the default. */
static int read_values(struct lab_run *run, PyObject *values)
{
    for (int f = 0; f < run->experiment->flag_count; f++) {
        PyObject *const value = PyTuple_GetItem(values, f);

        if (!value)
            return -1;
        if (PyUnicode_Check(value))
            run->texts[f] = PyUnicode_AsUTF8AndSize(value, NULL);
        else if (value != Py_None)
            run->numbers[f] = PyFloat_AsDouble(value);
        if (PyErr_Occurred())
            return -1;
    }
    return 0;
}

/*
 * perform(name, values, seed, trials, sweeps, threads, progress): {"rows": [...],
 * "conclusion": "..."}
 */
PyObject *lab_py_perform(PyObject *module, PyObject *args)
{
    struct performance p = {.work = {.stop = 0}};
    const char *name;
    PyObject *values, *progress;
    unsigned long long seed;
    long long trials;
    int sweeps, threads;

    (void)module;
    if (!PyArg_ParseTuple(args, "sO!KLpiO", &name, &PyTuple_Type, &values, &seed, &trials,
                          &sweeps, &threads, &progress))
        return NULL;
    const struct lab_experiment *const experiment = lab_find(name);
    lab_begin(&p.json, '{');
    if (!experiment)
        return lab_drop(&p.json, 1, "no such experiment");
    lab_run_init(&p.run, experiment);
    if (read_values(&p.run, values))
        return lab_drop(&p.json, 1, "values");
    p.run.session.seed = seed;
    p.run.session.threads = threads;
    p.run.trials = trials;
    p.run.sweeps = sweeps;
    p.run.row = on_row;
    lab_json_put(&p.json, "rows:[");
    lab_work_enter(&p.work, progress, &p.run.session);
    const int failed = lab_perform(&p.run);
    lab_work_leave(&p.work);
    if (failed || PyErr_Occurred())
        return lab_drop(&p.json, p.run.session.refused, p.run.session.error);
    lab_json_put(&p.json, "] conclusion:s",
                 *p.run.conclusion ? p.run.conclusion : experiment->shows);
    return lab_end(&p.json, '}');
}
