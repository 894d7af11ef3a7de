/* SPDX-License-Identifier: MIT */
/* Solutions as they were written. */
#include "lab_module.h"

#include "lab/door/objects_reading.h"

static PyObject *put_reading(const struct lab_reading *reading)
{
    struct lab_json json;

    lab_begin(&json, '{');
    lab_json_put(&json, "claims:[");
    for (int c = 0; c < reading->claims; c++) {
        lab_json_begin(&json, '{');
        lab_json_claim(&json, &reading->claim[c]);
        lab_json_end(&json, '}');
    }
    lab_json_end(&json, ']');
    lab_json_reading(&json, reading);
    return lab_end(&json, '}');
}

/* judge(solution, place): a text in UTF-8, and the prefix of its error messages. */
PyObject *lab_py_judge(PyObject *module, PyObject *args)
{
    struct lab_reading reading = {0};
    Py_buffer text;
    const char *place;
    PyObject *judged = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "y*s", &text, &place))
        return NULL;
    if (text.len > LAB_READING_BYTES)
        PyErr_Format(PyExc_ValueError, "%s%zd bytes: more than %d", place, text.len,
                     (int)LAB_READING_BYTES);
    else {
        int failed;

        Py_BEGIN_ALLOW_THREADS failed =
            lab_reading_open(&reading, text.buf, (size_t)text.len);
        Py_END_ALLOW_THREADS judged = failed ? PyErr_NoMemory() : put_reading(&reading);
    }
    lab_reading_close(&reading);
    PyBuffer_Release(&text);
    return judged;
}
