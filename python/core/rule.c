/* SPDX-License-Identifier: MIT */
/* A rule of the engine from a tuple. */
#include "core.h"

#include <string.h>

enum {
    RULE_SCALE,
    RULE_SOFTCAP,
    RULE_CAUSAL,
    RULE_OFFSET,
    RULE_LEFT,
    RULE_RIGHT,
    RULE_KEY_LENGTHS,
    RULE_MASK,
    RULE_BIAS,
    RULE_ALIBI,
    RULE_SINKS,
    RULE_ITEMS
};

/* A number of the tuple, unless it is None. */
static int get_real(PyObject *tuple, int item, const char *name, double *number)
{
    PyObject *const object = PyTuple_GetItem(tuple, item);

    if (object != Py_None)
        *number = PyFloat_AsDouble(object);
    return PyErr_Occurred() ? name_error(name) : 0;
}

static int get_integer(PyObject *tuple, int item, const char *name, int64_t *number)
{
    PyObject *const object = PyTuple_GetItem(tuple, item);

    if (object != Py_None)
        *number = PyLong_AsLongLong(object);
    return PyErr_Occurred() ? name_error(name) : 0;
}

/* `count` contiguous numbers of the tuple. */
static int get_numbers(PyObject *tuple, int item, const char *name, char type,
                       int64_t count, struct array *array, const void **numbers)
{
    return array_open(array, PyTuple_GetItem(tuple, item), name, ARRAY_READ) ||
                   array_as_numbers(array, name, type, count, numbers)
               ? -1
               : 0;
}

static int get_view(PyObject *tuple, int item, const char *name, struct array *array,
                    attend_view *view)
{
    return array_open(array, PyTuple_GetItem(tuple, item), name, ARRAY_READ) ||
                   array_as_view(array, name, LAYOUT_BHLD, view)
               ? -1
               : 0;
}

int rule_open(struct rule *rule, PyObject *tuple, int64_t nb, int64_t hq)
{
    attend_rule *const r = &rule->rule;
    int64_t causal = ATTEND_CAUSAL_NONE;

    memset(rule, 0, sizeof *rule);
    *r = attend_rule_default();
    if (tuple == Py_None)
        return 0;
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != RULE_ITEMS) {
        PyErr_SetString(PyExc_TypeError, "a rule is a tuple of 11");
        return -1;
    }
    r->scale_is_set = PyTuple_GetItem(tuple, RULE_SCALE) != Py_None;
    if (get_real(tuple, RULE_SCALE, "scale", &r->scale) ||
        get_real(tuple, RULE_SOFTCAP, "softcap", &r->softcap) ||
        get_integer(tuple, RULE_CAUSAL, "causal", &causal) ||
        get_integer(tuple, RULE_LEFT, "window", &r->window_left) ||
        get_integer(tuple, RULE_RIGHT, "window", &r->window_right))
        return -1;
    r->causal = (attend_causal)causal;
    return get_numbers(tuple, RULE_OFFSET, "causal", 'q', nb, &rule->offset,
                       (const void **)&r->causal_offset) ||
                   get_numbers(tuple, RULE_KEY_LENGTHS, "key_lengths", 'q', nb,
                               &rule->key_lengths, (const void **)&r->key_lengths) ||
                   get_numbers(tuple, RULE_ALIBI, "alibi", 'd', hq, &rule->alibi,
                               (const void **)&r->alibi) ||
                   get_numbers(tuple, RULE_SINKS, "sinks", 'd', hq, &rule->sinks,
                               (const void **)&r->sinks) ||
                   get_view(tuple, RULE_MASK, "mask", &rule->mask, &r->mask) ||
                   get_view(tuple, RULE_BIAS, "bias", &rule->bias, &r->bias)
               ? -1
               : 0;
}

void rule_close(struct rule *rule)
{
    array_close(&rule->mask);
    array_close(&rule->bias);
    array_close(&rule->key_lengths);
    array_close(&rule->offset);
    array_close(&rule->alibi);
    array_close(&rule->sinks);
}
