/* SPDX-License-Identifier: MIT */
/* Experiments: what there is, and one performance. */
#include "lab_module.h"

#include "lab/experiments/experiment.h"

/* ---- what there is -------------------------------------------------------- */

/* (name, type, preset, min, max, text, choices, help) */
static PyObject *flag_tuple(const struct lab_flag *flag)
{
    return Py_BuildValue("(sidddzzs)", flag->name, (int)flag->type, flag->preset,
                         flag->min, flag->max, flag->text, flag->choices, flag->help);
}

static PyObject *flag_list(const struct lab_experiment *experiment)
{
    PyObject *list = PyList_New(0);

    for (int f = 0; list && f < experiment->flag_count; f++)
        if (lab_append(list, flag_tuple(&experiment->flags[f])))
            Py_CLEAR(list);
    return list;
}

static PyObject *quantity_list(const struct lab_experiment *experiment)
{
    PyObject *list = PyList_New(0);
    const struct lab_quantity *known = lab_quantities(experiment->name);

    for (; list && known->name; known++)
        if (lab_append(list, Py_BuildValue("(ss)", known->name, known->meaning)))
            Py_CLEAR(list);
    return list;
}

/* [(name, title, shows, answers, headline, trials, flags, quantities)] */
PyObject *lab_py_experiments(PyObject *module, PyObject *args)
{
    PyObject *list = PyList_New(0);

    (void)module;
    (void)args;
    for (int x = 0; list && lab_experiments[x]; x++) {
        const struct lab_experiment *const e = lab_experiments[x];
        PyObject *const flags = flag_list(e);
        PyObject *const quantities = flags ? quantity_list(e) : NULL;

        if (!quantities) {
            Py_XDECREF(flags);
            Py_CLEAR(list);
        } else if (lab_append(list,
                              Py_BuildValue("(sssszLNN)", e->name, e->title, e->shows,
                                            e->answers, e->headline, (long long)e->trials,
                                            flags, quantities)))
            Py_CLEAR(list);
    }
    return list;
}

/* ---- one performance ------------------------------------------------------- */

struct performance {
    struct lab_work work; /* first: the session's user is the work, and this */
    struct lab_run run;
    PyObject *rows;
};

static PyObject *param_value(const struct lab_flag *flag, const struct lab_param *param)
{
    if (param->text)
        return lab_text_of(param->text);
    return flag->type == LAB_INTEGER ? PyLong_FromDouble(param->number)
                                     : PyFloat_FromDouble(param->number);
}

static PyObject *param_dict(const struct lab_run *run, const struct lab_row *row)
{
    PyObject *dict = PyDict_New();

    for (int p = 0; dict && p < row->param_count; p++) {
        PyObject *const value = param_value(&run->experiment->flags[p], &row->params[p]);

        if (!value || PyDict_SetItemString(dict, row->params[p].name, value))
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

/*
 * (params, quantity, kind, theory, measured, se, z, distance, holds, rare, low, high,
 * is_own); holds is 1, 0 or -1.
 */
static void on_row(void *user, const struct lab_row *row)
{
    struct performance *const p = user;

    lab_work_take(&p->work);
    PyObject *const params = PyErr_Occurred() ? NULL : param_dict(&p->run, row);
    if (!params ||
        lab_append(p->rows, Py_BuildValue("(Nssdddddiiddi)", params, row->quantity,
                                          lab_kind_name(row->kind), row->theory,
                                          row->measured, row->se, lab_row_z(row),
                                          lab_row_distance(row), lab_row_holds(row),
                                          row->rare, row->low, row->high, row->is_own)))
        p->work.stop = 1;
    lab_work_give(&p->work);
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

/* perform(name, values, seed, trials, sweeps, threads, progress): (rows, conclusion) */
PyObject *lab_py_perform(PyObject *module, PyObject *args)
{
    struct performance p = {.rows = NULL};
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
    if (!experiment)
        return lab_raise(1, "no such experiment");
    lab_run_init(&p.run, experiment);
    if (read_values(&p.run, values) || !(p.rows = PyList_New(0)))
        return NULL;
    p.run.session.seed = seed;
    p.run.session.threads = threads;
    p.run.trials = trials;
    p.run.sweeps = sweeps;
    p.run.row = on_row;
    lab_work_enter(&p.work, progress, &p.run.session);
    const int failed = lab_perform(&p.run);
    lab_work_leave(&p.work);
    if (failed && !PyErr_Occurred())
        lab_raise(p.run.session.refused, p.run.session.error);
    if (PyErr_Occurred()) {
        Py_DECREF(p.rows);
        return NULL;
    }
    return Py_BuildValue("(Ns)", p.rows,
                         *p.run.conclusion ? p.run.conclusion : experiment->shows);
}
