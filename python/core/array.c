/* SPDX-License-Identifier: MIT */
/* Arrays of Python as strided memory: the buffer protocol first, then DLPack. */
#include "core.h"

#include <stdbool.h>
#include <string.h>

enum { DIMS_MAX = 8 };

/* ---- DLPack's binary interface, versions 0 and 1 ---------------------------- */

struct dl_device {
    int32_t type, id;
};
struct dl_type {
    uint8_t code, bits;
    uint16_t lanes;
};
struct dl_tensor {
    void *data;
    struct dl_device device;
    int32_t ndim;
    struct dl_type type;
    int64_t *shape, *strides; /* strides NULL: contiguous */
    uint64_t byte_offset;
};
struct dl_managed {
    struct dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *self);
};
struct dl_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct dl_versioned *self);
    uint64_t flags;
    struct dl_tensor tensor;
};

enum { DL_CPU = 1, DL_INT = 0, DL_FLOAT = 2, DL_BFLOAT = 4, DL_BOOL = 6 };
enum { DL_READ_ONLY = 1 };

/* Exactly one of the two is set. */
struct dlpack {
    struct dl_managed *managed;
    struct dl_versioned *versioned;
};

/* ---- the buffer protocol ------------------------------------------------------ */

#define KNOWN "dtype %S; float64, float32, float16, bfloat16 and bool are known"

static int type_error(const char *name, const char *got)
{
    PyObject *const text = PyUnicode_FromString(got);

    if (text)
        PyErr_Format(PyExc_TypeError, "%s has " KNOWN, name, text);
    Py_XDECREF(text);
    return -1;
}

/* The type of a format of one native letter. */
static int set_format(struct array *array, const char *name, const char *format,
                      Py_ssize_t item)
{
    const char *letter = format ? format : "B";

    if (*letter == '@' || *letter == '=' || *letter == '<')
        letter++;
    if (letter[0] != '\0' && letter[1] == '\0') {
        array->dtype = *letter == 'd'   ? ATTEND_F64
                       : *letter == 'f' ? ATTEND_F32
                       : *letter == 'e' ? ATTEND_F16
                       : *letter == '?' ? ATTEND_BOOL
                                        : (attend_dtype)0;
        if (strchr("ilq", *letter))
            array->integer = item == 8 ? 'q' : item == 4 ? 'i' : 0;
    }
    if (array->dtype || array->integer)
        return 0;
    return type_error(name, format ? format : "bytes");
}

static int open_buffer(struct array *array, PyObject *object, const char *name,
                       enum array_use use)
{
    Py_buffer *const buffer = &array->buffer;

    if (PyObject_GetBuffer(object, buffer, PyBUF_STRIDES | PyBUF_FORMAT))
        return -1;
    array->has_buffer = 1;
    if (use == ARRAY_WRITE && buffer->readonly) {
        PyErr_Format(PyExc_ValueError, "%s is read-only", name);
        return -1;
    }
    if (buffer->ndim > DIMS_MAX) {
        PyErr_Format(PyExc_ValueError, "%s has %d dimensions; 4 are the most", name,
                     buffer->ndim);
        return -1;
    }
    /* Before the axes, which are divided by the size of the type. */
    if (set_format(array, name, buffer->format, buffer->itemsize))
        return -1;
    array->data = buffer->buf;
    array->ndim = buffer->ndim;
    for (int axis = 0; axis < buffer->ndim; axis++) {
        if (!buffer->shape || !buffer->strides) {
            PyErr_Format(PyExc_ValueError, "%s: its buffer has no shape or strides",
                         name);
            return -1;
        }
        array->size[axis] = buffer->shape[axis];
        array->stride[axis] = buffer->strides[axis] / buffer->itemsize;
        if (buffer->shape[axis] > 1 && buffer->strides[axis] % buffer->itemsize) {
            PyErr_Format(PyExc_ValueError,
                         "%s: stride %zd of axis %d is not a multiple of its %zd bytes",
                         name, buffer->strides[axis], axis, buffer->itemsize);
            return -1;
        }
    }
    return 0;
}

/*
 * For a dtype that buffers have no letter for, which NumPy refuses by ValueError.  The 16
 * bits of bfloat16 are taken as float16 of the same strides.
 */
static int open_unlettered(struct array *array, PyObject *object, const char *name,
                           enum array_use use)
{
    PyObject *const dtype = PyObject_GetAttrString(object, "dtype");
    PyObject *const text = dtype ? PyObject_Str(dtype) : NULL;
    int status = -1;

    if (text && PyUnicode_CompareWithASCIIString(text, "bfloat16") == 0) {
        array->owner = PyObject_CallMethod(object, "view", "s", "float16");
        status =
            array->owner ? open_buffer(array, array->owner, name, use) : name_error(name);
        array->dtype = ATTEND_BF16;
    } else if (text) {
        PyErr_Format(PyExc_TypeError, "%s has " KNOWN, name, text);
    } else {
        name_error(name);
    }
    Py_XDECREF(text);
    Py_XDECREF(dtype);
    return status;
}

/* ---- DLPack ------------------------------------------------------------------- */

/* object.__dlpack__(max_version=(1, 1)), or of a producer without versions. */
static PyObject *dlpack_capsule(PyObject *object)
{
    PyObject *const method = PyObject_GetAttrString(object, "__dlpack__");
    PyObject *const none = PyTuple_New(0);
    PyObject *const version = Py_BuildValue("{s:(ii)}", "max_version", 1, 1);
    PyObject *capsule = NULL;

    if (method && none && version) {
        capsule = PyObject_Call(method, none, version);
        if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            capsule = PyObject_Call(method, none, NULL);
        }
    }
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(version);
    return capsule;
}

/* Takes the capsule's tensor; its deleter is then called by this module. */
static int take_capsule(struct array *array, PyObject *capsule, const char *name)
{
    struct dlpack *const taken = PyMem_Calloc(1, sizeof *taken);

    if (!taken) {
        PyErr_NoMemory();
        return -1;
    }
    array->dlpack = taken;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        taken->versioned = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        PyCapsule_SetName(capsule, "used_dltensor_versioned");
        if (taken->versioned->major == 1)
            return 0;
        PyErr_Format(PyExc_ValueError, "%s: DLPack version %u is not known", name,
                     (unsigned)taken->versioned->major);
        return -1;
    }
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        taken->managed = PyCapsule_GetPointer(capsule, "dltensor");
        PyCapsule_SetName(capsule, "used_dltensor");
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "%s: __dlpack__() gave no DLPack capsule", name);
    return -1;
}

static int set_dl_type(struct array *array, const char *name, struct dl_type type)
{
    char got[64];

    if (type.lanes == 1 && type.code == DL_FLOAT)
        array->dtype = type.bits == 64   ? ATTEND_F64
                       : type.bits == 32 ? ATTEND_F32
                       : type.bits == 16 ? ATTEND_F16
                                         : (attend_dtype)0;
    else if (type.lanes == 1 && type.code == DL_BFLOAT && type.bits == 16)
        array->dtype = ATTEND_BF16;
    else if (type.lanes == 1 && type.code == DL_BOOL && type.bits == 8)
        array->dtype = ATTEND_BOOL;
    else if (type.lanes == 1 && type.code == DL_INT)
        array->integer = type.bits == 64 ? 'q' : type.bits == 32 ? 'i' : 0;
    if (array->dtype || array->integer)
        return 0;
    PyOS_snprintf(got, sizeof got, "(DLPack code %d, %d bits, %d lanes)", type.code,
                  type.bits, type.lanes);
    return type_error(name, got);
}

static int open_dlpack(struct array *array, PyObject *object, const char *name,
                       enum array_use use)
{
    PyObject *const capsule = dlpack_capsule(object);
    const int taken = capsule ? take_capsule(array, capsule, name) : -1;

    Py_XDECREF(capsule);
    if (taken)
        return -1;
    const struct dlpack *const dlpack = array->dlpack;
    const struct dl_tensor *const t =
        dlpack->versioned ? &dlpack->versioned->tensor : &dlpack->managed->tensor;
    int64_t dense = 1;

    if (t->device.type != DL_CPU) {
        PyErr_Format(PyExc_ValueError,
                     "%s is on a device (DLPack type %d), not in host memory", name,
                     (int)t->device.type);
        return -1;
    }
    if (t->ndim < 0 || t->ndim > DIMS_MAX) {
        PyErr_Format(PyExc_ValueError, "%s has %d dimensions; 4 are the most", name,
                     (int)t->ndim);
        return -1;
    }
    if (use == ARRAY_WRITE && dlpack->versioned &&
        (dlpack->versioned->flags & DL_READ_ONLY)) {
        PyErr_Format(PyExc_ValueError, "%s is read-only", name);
        return -1;
    }
    array->data = t->data ? (char *)t->data + t->byte_offset : NULL;
    array->ndim = t->ndim;
    for (int axis = t->ndim - 1; axis >= 0; axis--) {
        array->size[axis] = t->shape[axis];
        array->stride[axis] = t->strides ? t->strides[axis] : dense;
        dense *= t->shape[axis];
    }
    return set_dl_type(array, name, t->type);
}

/* ---- memory that Python describes ------------------------------------------------- */

/* Whether a tuple is a description of memory, not one that a user took for an array. */
static bool is_described(PyObject *object)
{
    return PyTuple_Check(object) && PyTuple_Size(object) == 5 &&
           PyUnicode_Check(PyTuple_GetItem(object, 0)) &&
           PyUnicode_CompareWithASCIIString(PyTuple_GetItem(object, 0), "memory") == 0;
}

/* The caller keeps the memory alive. */
static int open_described(struct array *array, PyObject *tuple, const char *name)
{
    unsigned long long address;
    int dtype;
    PyObject *tag, *sizes, *strides;

    if (!PyArg_ParseTuple(tuple, "OKiOO", &tag, &address, &dtype, &sizes, &strides))
        return name_error(name);
    const Py_ssize_t ndim = PySequence_Size(sizes);
    if (ndim < 0 || PySequence_Size(strides) != ndim || ndim > DIMS_MAX) {
        PyErr_Format(PyExc_ValueError, "%s: sizes and strides do not match", name);
        return -1;
    }
    array->data = (void *)(uintptr_t)address;
    if (dtype == 'i' || dtype == 'q')
        array->integer = (char)dtype;
    else
        array->dtype = (attend_dtype)dtype;
    array->ndim = (int)ndim;
    for (Py_ssize_t axis = 0; axis < ndim; axis++) {
        PyObject *const size = PySequence_GetItem(sizes, axis);
        PyObject *const stride = PySequence_GetItem(strides, axis);

        array->size[axis] = size ? PyLong_AsLongLong(size) : 0;
        array->stride[axis] = stride ? PyLong_AsLongLong(stride) : 0;
        Py_XDECREF(size);
        Py_XDECREF(stride);
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- opening -------------------------------------------------------------------- */

int name_error(const char *name)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    PyObject *const text = value ? PyObject_Str(value) : NULL;
    const bool of_type = type && PyErr_GivenExceptionMatches(type, PyExc_TypeError);

    PyErr_Format(of_type ? PyExc_TypeError : PyExc_ValueError, "%s: %S", name,
                 text ? text : Py_None);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return -1;
}

static int open_array(struct array *array, PyObject *object, const char *name,
                      enum array_use use)
{
    memset(array, 0, sizeof *array);
    if (object == Py_None)
        return 0;
    if (is_described(object))
        return open_described(array, object, name);
    if (PyObject_CheckBuffer(object)) {
        if (!open_buffer(array, object, name, use))
            return 0;
        if (array->has_buffer)
            return -1;
        if (!PyErr_ExceptionMatches(PyExc_ValueError))
            return name_error(name);
        PyErr_Clear();
        return open_unlettered(array, object, name, use);
    }
    if (PyObject_HasAttrString(object, "__dlpack__")) {
        if (!open_dlpack(array, object, name, use))
            return 0;
        return array->dlpack ? -1 : name_error(name);
    }
    PyErr_Format(PyExc_TypeError,
                 "%s is not an array: it has neither a buffer nor __dlpack__", name);
    return -1;
}

/* Calls the producer's deleter, which may run Python, with no exception set. */
static void give_back(struct dlpack *dlpack)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    if (dlpack->versioned && dlpack->versioned->deleter)
        dlpack->versioned->deleter(dlpack->versioned);
    if (dlpack->managed && dlpack->managed->deleter)
        dlpack->managed->deleter(dlpack->managed);
    PyErr_Restore(type, value, trace);
    PyMem_Free(dlpack);
}

static void close_array(struct array *array)
{
    if (array->has_buffer)
        PyBuffer_Release(&array->buffer);
    if (array->dlpack)
        give_back(array->dlpack);
    Py_XDECREF(array->owner);
    memset(array, 0, sizeof *array);
}

/* ---- views ------------------------------------------------------------------------ */

static int as_tensor(const struct array *array, const char *name, enum layout layout,
                     attend_tensor *tensor)
{
    const int missing = 4 - array->ndim;

    if (!array->ndim && !array->data)
        return 0;
    if (!array->dtype)
        return type_error(name, array->integer == 'q' ? "int64" : "int32");
    if (missing < 0 || (layout == LAYOUT_BLHD && missing > 2)) {
        PyErr_Format(PyExc_ValueError, "%s has %d dimensions; %s", name, array->ndim,
                     layout == LAYOUT_BLHD ? "2 to 4 are allowed" : "4 are the most");
        return -1;
    }
    tensor->data = array->data;
    tensor->dtype = array->dtype;
    for (int axis = 0; axis < 4; axis++) {
        tensor->size[axis] = axis < missing ? 1 : array->size[axis - missing];
        tensor->stride[axis] = axis < missing ? 0 : array->stride[axis - missing];
        if (tensor->size[axis] == 1)
            tensor->stride[axis] = 0;
    }
    if (layout == LAYOUT_BLHD) { /* (b, l, h, d), (l, h, d) or (l, d) */
        const int l = missing == 2 ? 2 : 1, h = missing == 2 ? 1 : 2;
        const int64_t size = tensor->size[l], stride = tensor->stride[l];

        tensor->size[1] = tensor->size[h];
        tensor->stride[1] = tensor->stride[h];
        tensor->size[2] = size;
        tensor->stride[2] = stride;
    }
    return 0;
}

static int check_numbers(const struct array *array, const char *name, char type,
                         int64_t count)
{
    const char got = array->integer               ? array->integer
                     : array->dtype == ATTEND_F64 ? 'd'
                                                  : '?';

    if (!array->ndim && !array->data)
        return 0;
    if (got != type) {
        PyErr_Format(PyExc_TypeError, "%s must be %s", name,
                     type == 'q'   ? "int64"
                     : type == 'i' ? "int32"
                                   : "float64");
        return -1;
    }
    int64_t have = 1;

    for (int axis = array->ndim - 1; axis >= 0; axis--) {
        if (array->size[axis] > 1 && array->stride[axis] != have) {
            PyErr_Format(PyExc_ValueError, "%s must be contiguous", name);
            return -1;
        }
        have *= array->size[axis];
    }
    if (have != count) {
        PyErr_Format(PyExc_ValueError, "%s has %lld numbers, %lld are needed", name,
                     (long long)have, (long long)count);
        return -1;
    }
    return 0;
}

/* ---- the arrays of a call ---------------------------------------------------- */

enum layout layout_of(PyObject *number)
{
    return PyLong_AsLong(number) == LAYOUT_BLHD ? LAYOUT_BLHD : LAYOUT_BHLD;
}

int arrays_open(struct arrays *arrays, Py_ssize_t most)
{
    *arrays = (struct arrays){.most = most};
    arrays->list = PyMem_Calloc((size_t)most + 1, sizeof *arrays->list);
    if (!arrays->list)
        PyErr_NoMemory();
    return arrays->list ? 0 : -1;
}

void arrays_close(struct arrays *arrays)
{
    for (Py_ssize_t x = 0; x < arrays->count; x++)
        close_array(&arrays->list[x]);
    PyMem_Free(arrays->list);
}

/* The next of the pool; NULL with an exception. */
static struct array *take(struct arrays *arrays, PyObject *object, const char *name,
                          enum array_use use)
{
    if (arrays->count == arrays->most) {
        PyErr_SetString(PyExc_SystemError, "more arrays than the call has");
        return NULL;
    }
    struct array *const array = &arrays->list[arrays->count++];
    return open_array(array, object, name, use) ? NULL : array;
}

int take_view(struct arrays *arrays, PyObject *object, const char *name,
              enum layout layout, attend_view *view)
{
    attend_tensor tensor = {NULL, ATTEND_F32, {0, 0, 0, 0}, {0, 0, 0, 0}};
    const struct array *const array = take(arrays, object, name, ARRAY_READ);

    if (!array || as_tensor(array, name, layout, &tensor))
        return -1;
    *view = attend_view_of(&tensor);
    return 0;
}

int take_tensor(struct arrays *arrays, PyObject *object, const char *name,
                enum layout layout, attend_tensor *tensor)
{
    const struct array *const array = take(arrays, object, name, ARRAY_WRITE);

    return array ? as_tensor(array, name, layout, tensor) : -1;
}

const struct array *take_numbers(struct arrays *arrays, PyObject *object,
                                 const char *name, enum array_use use, char type,
                                 int64_t count)
{
    const struct array *const array = take(arrays, object, name, use);

    if (array && count < 0)
        count = array->ndim == 2 ? -count * array->size[0] : 0;
    return array && !check_numbers(array, name, type, count) ? array : NULL;
}
