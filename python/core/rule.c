/* SPDX-License-Identifier: MIT */
/* A rule of the engine from a tuple. */
#include "core.h"

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

int take_integer(PyObject *object, const char *name, int64_t *number)
{
    if (object != Py_None)
        *number = PyLong_AsLongLong(object);
    return PyErr_Occurred() ? name_error(name) : 0;
}

static int take_real(PyObject *object, const char *name, double *number)
{
    if (object != Py_None)
        *number = PyFloat_AsDouble(object);
    return PyErr_Occurred() ? name_error(name) : 0;
}

/* Contiguous numbers that the rule points to. */
static int take_vector(struct arrays *arrays, PyObject *object, const char *name,
                       char type, int64_t count, const void **numbers)
{
    const struct array *const array =
        take_numbers(arrays, object, name, ARRAY_READ, type, count);

    *numbers = array ? array->data : NULL;
    return array ? 0 : -1;
}

int take_rule(struct arrays *arrays, PyObject *tuple, int64_t nb, int64_t hq,
              attend_rule *r)
{
    PyObject *item[RULE_ITEMS];
    int64_t causal = ATTEND_CAUSAL_NONE;

    *r = attend_rule_default();
    if (tuple == Py_None)
        return 0;
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != RULE_ITEMS) {
        PyErr_SetString(PyExc_TypeError, "a rule is a tuple of 11");
        return -1;
    }
    for (int x = 0; x < RULE_ITEMS; x++)
        item[x] = PyTuple_GetItem(tuple, x);
    r->scale_is_set = item[RULE_SCALE] != Py_None;
    if (take_real(item[RULE_SCALE], "scale", &r->scale) ||
        take_real(item[RULE_SOFTCAP], "softcap", &r->softcap) ||
        take_integer(item[RULE_CAUSAL], "causal", &causal) ||
        take_integer(item[RULE_LEFT], "window", &r->window_left) ||
        take_integer(item[RULE_RIGHT], "window", &r->window_right) ||
        take_vector(arrays, item[RULE_OFFSET], "causal", 'q', nb,
                    (const void **)&r->causal_offset) ||
        take_vector(arrays, item[RULE_KEY_LENGTHS], "key_lengths", 'q', nb,
                    (const void **)&r->key_lengths) ||
        take_vector(arrays, item[RULE_ALIBI], "alibi", 'd', hq,
                    (const void **)&r->alibi) ||
        take_vector(arrays, item[RULE_SINKS], "sinks", 'd', hq,
                    (const void **)&r->sinks) ||
        take_view(arrays, item[RULE_MASK], "mask", LAYOUT_BHLD, &r->mask) ||
        take_view(arrays, item[RULE_BIAS], "bias", LAYOUT_BHLD, &r->bias))
        return -1;
    r->causal = (attend_causal)causal;
    return 0;
}
