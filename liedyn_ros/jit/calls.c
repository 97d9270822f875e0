/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* How Python calls compiled kernels: a Function calls one on its arguments, a Call on the tables of one object.
 * A Method of a class stands for a Call of each object, and for a function in Python where arguments do not fit it.
 *
 * A room is a shared library with a table `liedyn_room` of its kernels (liedyn_ros.build writes it): names and the
 * kinds of arguments and results, as text. `d`, `q`, `b` and `z` are a float, a whole number, a truth value and a complex
 * number, with a digit behind it an array of these with so many axes, `(...)` is a tuple. A kernel takes words of eight bytes: of an
 * array its address and its lengths, of a number itself. So no kernel knows of Python, and no Python of a kernel. */

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#include <Python.h>
#include <dlfcn.h>
#include <numpy/arrayobject.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 256 /* of arguments, and of results, at most: the build refuses more */
#define AXES 4    /* of a result that is made, at most */
#define COPIES 32 /* arrays of one call that are converted, at most */
#define PLACES 16 /* arguments with names, at most */

typedef union {
  double number;
  int64_t whole;
  void *address;
} Word;

typedef struct {
  const char *module, *name, *arguments, *results;
  int64_t unlocked; /* whether other threads run meanwhile */
  int64_t (*run)(const Word *arguments, Word *results); /* returns 0, or another number where an index is wrong */
} Row;

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  const Row *row; /* the first of them: a kernel that takes a tuple or None has one for each */
  int rows;
  PyObject *kernel; /* the Kernel of jit/decorators.py that the function stands for */
} Function;

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  Function *function;
  PyObject *tables, *otherwise;
  const char *kinds; /* of the arguments behind the tables */
  int64_t wanted;
  int chooses, filled; /* whether a code is wanted; how many words the tables fill */
  int axes; /* of the result, an array that is the last argument and is made where None is given; 0 for none */
  int alone; /* whether the kernel takes it as a row of an array with one axis more */
  npy_intp shape[AXES];
  PyObject *names, *defaults; /* of the arguments, and of the last of them; tuples, empty where none have names */
  Py_ssize_t places, named;   /* how many arguments there are; which one is replaced by what `known` has for it */
  PyObject *known;            /* a dict or None */
  Word words[];
} Call;

typedef struct { /* the base of classes with Methods: what it holds for their names */
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *calls; /* a dict of Calls, what `_direct_calls` of the object returned, or NULL before */
} Direct;

typedef struct {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *function, *name;
} Method;

static PyTypeObject FunctionType, CallType, DirectType, MethodType;

/* ---- Arguments as they come: an array of another type, or a subclass, is refused without an error. */

static int dtype_of(char kind) {
  return kind == 'd' ? NPY_DOUBLE : kind == 'q' ? NPY_INT64 : kind == 'z' ? NPY_CDOUBLE : NPY_BOOL;
}

static inline Word *fill(Word *words, PyArrayObject *array, int axes) {
  (words++)->address = PyArray_DATA(array);
  for (int axis = 0; axis < axes; axis++) (words++)->whole = PyArray_DIM(array, axis);
  return words;
}

static inline Word *read_plain(const char **kinds, PyObject *given, Word *words) {
  const char kind = *(*kinds)++;
  if (**kinds >= '1' && **kinds <= '9') {
    const int axes = *(*kinds)++ - '0';
    PyArrayObject *array = (PyArrayObject *)given;
    if (Py_TYPE(given) != &PyArray_Type || PyArray_NDIM(array) != axes || PyArray_TYPE(array) != dtype_of(kind)
        || !PyArray_ISCARRAY(array))
      return NULL;
    return fill(words, array, axes);
  }
  switch (kind) {
    case 'd':
      if (!PyFloat_CheckExact(given)) return NULL;
      (words++)->number = PyFloat_AS_DOUBLE(given);
      return words;
    case 'q': {
      int overflow;
      if (!PyLong_CheckExact(given)) return NULL;
      (words++)->whole = PyLong_AsLongLongAndOverflow(given, &overflow);
      return overflow ? NULL : words;
    }
    case 'z':
      if (!PyComplex_CheckExact(given)) return NULL;
      (words++)->number = PyComplex_RealAsDouble(given);
      (words++)->number = PyComplex_ImagAsDouble(given);
      return words;
    case 'b':
      if (given != Py_True && given != Py_False) return NULL;
      (words++)->whole = given == Py_True;
      return words;
    case 'n': return given == Py_None ? words : NULL;
    default: { /* a tuple, or one with names */
      if (!PyTuple_Check(given)) return NULL;
      Py_ssize_t at = 0;
      for (; **kinds != ')'; at++)
        if (at == PyTuple_GET_SIZE(given) || !(words = read_plain(kinds, PyTuple_GET_ITEM(given, at), words)))
          return NULL;
      (*kinds)++;
      return at == PyTuple_GET_SIZE(given) ? words : NULL;
    }
  }
}

/* ---- Arguments that are converted: what holds the same numbers is copied, and the copy written back. */

typedef struct {
  PyArrayObject *held[COPIES];
  int count;
} Copies;

static Word *refuse(const Row *row, const char *expected, PyObject *given) {
  if (!PyErr_Occurred())
    PyErr_Format(PyExc_TypeError, "%s: expected %s, got %.200R of type %s", row->name, expected, given,
                 Py_TYPE(given)->tp_name);
  return NULL;
}

static Word *read_array(const Row *row, char kind, int axes, PyObject *given, Word *words, Copies *copies) {
  char expected[64];
  PyOS_snprintf(expected, sizeof expected, "an array of %s with %d axes",
                kind == 'd' ? "float64" : kind == 'q' ? "int64" : kind == 'z' ? "complex128" : "bool", axes);
  if (!PyArray_Check(given) || PyArray_NDIM((PyArrayObject *)given) != axes
      || (!PyArray_CheckExact(given) && PyObject_HasAttrString(given, "mask")) || copies->count == COPIES)
    return refuse(row, expected, given);
  PyArrayObject *array = (PyArrayObject *)given;
  PyArray_Descr *dtype = PyArray_DescrFromType(dtype_of(kind));
  int flags = NPY_ARRAY_CARRAY;
  if (!PyArray_EquivTypes(PyArray_DESCR(array), dtype)) {
    if (!PyArray_CanCastTo(PyArray_DESCR(array), dtype)) {
      Py_DECREF(dtype);
      return refuse(row, expected, given);
    }
  } else if (PyArray_ISWRITEABLE(array))
    flags |= NPY_ARRAY_WRITEBACKIFCOPY;
  array = (PyArrayObject *)PyArray_FromArray(array, dtype, flags);
  if (!array) return NULL;
  copies->held[copies->count++] = array;
  return fill(words, array, axes);
}

static Word *read_any(const Row *row, const char **kinds, PyObject *given, Word *words, Copies *copies) {
  const char *before = *kinds;
  Word *after = read_plain(kinds, given, words);
  if (after) return after;
  *kinds = before;
  const char kind = *(*kinds)++;
  if (**kinds >= '1' && **kinds <= '9') return read_array(row, kind, *(*kinds)++ - '0', given, words, copies);
  switch (kind) {
    case 'd':
      if (!PyNumber_Check(given) || PyArray_Check(given)) return refuse(row, "a number", given);
      (words++)->number = PyFloat_AsDouble(given);
      return PyErr_Occurred() ? NULL : words;
    case 'q': {
      PyObject *whole = PyIndex_Check(given) && !PyArray_Check(given) ? PyNumber_Index(given) : NULL;
      if (!whole) return refuse(row, "a whole number", given);
      (words++)->whole = PyLong_AsLongLong(whole);
      Py_DECREF(whole);
      return PyErr_Occurred() ? NULL : words;
    }
    case 'z': {
      const Py_complex number = PyComplex_AsCComplex(given);
      if (PyErr_Occurred()) return NULL;
      (words++)->number = number.real;
      (words++)->number = number.imag;
      return words;
    }
    case 'b':
      if (!PyArray_IsScalar(given, Bool)) return refuse(row, "True or False", given);
      (words++)->whole = PyObject_IsTrue(given);
      return words;
    case 'n': return refuse(row, "None", given);
    default: {
      if (!PyTuple_Check(given)) return refuse(row, "a tuple", given);
      Py_ssize_t at = 0;
      for (; **kinds != ')'; at++) {
        if (at == PyTuple_GET_SIZE(given)) return refuse(row, "a longer tuple", given);
        if (!(words = read_any(row, kinds, PyTuple_GET_ITEM(given, at), words, copies))) return NULL;
      }
      (*kinds)++;
      return at == PyTuple_GET_SIZE(given) ? words : refuse(row, "a shorter tuple", given);
    }
  }
}

/* ---- The call itself, and what it returns. */

static PyObject *result_of(const char **kinds, const Word **words) {
  switch (*(*kinds)++) {
    case 'd': return PyFloat_FromDouble((*words)++->number);
    case 'q': return PyLong_FromLongLong((*words)++->whole);
    case 'b': return PyBool_FromLong((*words)++->whole != 0);
    case '(': {
      PyObject *items[WORDS], *tuple = NULL;
      Py_ssize_t count = 0;
      while (**kinds != ')' && (items[count] = result_of(kinds, words))) count++;
      if (*(*kinds) == ')' && (tuple = PyTuple_New(count)))
        for (Py_ssize_t at = 0; at < count; at++) PyTuple_SET_ITEM(tuple, at, items[at]);
      else
        while (count) Py_DECREF(items[--count]);
      (*kinds)++;
      return tuple;
    }
    default: Py_RETURN_NONE;
  }
}

static inline int64_t run(const Row *row, const Word *arguments, Word *results) {
  if (!row->unlocked) return row->run(arguments, results);
  int64_t failed;
  Py_BEGIN_ALLOW_THREADS failed = row->run(arguments, results);
  Py_END_ALLOW_THREADS return failed;
}

/* Return the kinds behind the first. */
static const char *behind(const char *kinds) {
  int depth = 0;
  do depth += *kinds == '(' ? 1 : *kinds == ')' ? -1 : 0;
  while (*++kinds && (depth || (*kinds >= '1' && *kinds <= '9')));
  return kinds;
}

/* Return whether a row has None where None is given, and nowhere else. */
static int is_for(const Row *row, PyObject *const *given, Py_ssize_t count) {
  const char *kinds = row->arguments;
  for (Py_ssize_t at = 0; *kinds && at < count; at++, kinds = behind(kinds))
    if ((*kinds == 'n') != (given[at] == Py_None)) return 0;
  return 1;
}

static PyObject *function_call(PyObject *self, PyObject *const *given, size_t flags, PyObject *names) {
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  const Row *row = ((Function *)self)->row, *last = row + ((Function *)self)->rows - 1;
  while (row < last && !is_for(row, given, count)) row++;
  const char *kinds = row->arguments;
  Word arguments[WORDS], results[WORDS], *words = arguments;
  Copies copies = {.count = 0};
  PyObject *result = NULL;
  Py_ssize_t at = 0;
  if (names && PyTuple_GET_SIZE(names))
    return PyErr_Format(PyExc_TypeError, "%s: expected arguments without names", row->name);
  for (; *kinds && at < count; at++)
    if (!(words = read_any(row, &kinds, given[at], words, &copies))) goto end;
  if (*kinds || at != count) {
    PyErr_Format(PyExc_TypeError, "%s: expected arguments of kinds %s, got %zd", row->name, row->arguments, count);
    goto end;
  }
  if (run(row, arguments, results))
    PyErr_Format(PyExc_IndexError, "%s: an index is out of range", row->name);
  else {
    const char *returned = row->results;
    const Word *from = results;
    result = result_of(&returned, &from);
  }
end:
  while (copies.count) {
    PyArrayObject *array = copies.held[--copies.count];
    if (!result)
      PyArray_DiscardWritebackIfCopy(array);
    else if (PyArray_ResolveWritebackIfCopy(array) < 0)
      Py_CLEAR(result);
    Py_DECREF(array);
  }
  return result;
}

/* Return the array of a result: a new one for None, the given one if it has the shape, else NULL. */
static PyObject *result_array(const Call *call, PyObject *given) {
  if (given == Py_None) return PyArray_SimpleNew(call->axes, (npy_intp *)call->shape, NPY_DOUBLE);
  PyArrayObject *array = (PyArrayObject *)given;
  if (Py_TYPE(given) != &PyArray_Type || PyArray_NDIM(array) != call->axes || PyArray_TYPE(array) != NPY_DOUBLE
      || !PyArray_ISCARRAY(array))
    return NULL;
  for (int axis = 0; axis < call->axes; axis++)
    if (PyArray_DIM(array, axis) != call->shape[axis]) return NULL;
  return Py_NewRef(given);
}

/* Return the arguments in their places, with defaults, or NULL where Python has to judge the call. */
static PyObject *const *placed(const Call *call, PyObject *const *given, Py_ssize_t count, PyObject *names,
                               PyObject **taken) {
  const Py_ssize_t all = PyTuple_GET_SIZE(call->names), named = names ? PyTuple_GET_SIZE(names) : 0;
  const Py_ssize_t needed = all - PyTuple_GET_SIZE(call->defaults);
  if (count == call->places && !named) return given;
  if (count > all || !all) return NULL;
  memcpy(taken, given, count * sizeof *taken);
  for (Py_ssize_t at = count; at < call->places; at++)
    taken[at] = at < needed ? NULL : at < all ? PyTuple_GET_ITEM(call->defaults, at - needed) : Py_None;
  for (Py_ssize_t k = 0; k < named; k++) { /* names of a call and of a function are the same object */
    Py_ssize_t at = count;
    while (at < all && PyTuple_GET_ITEM(call->names, at) != PyTuple_GET_ITEM(names, k)) at++;
    if (at == all) return NULL;
    taken[at] = given[count + k];
  }
  for (Py_ssize_t at = count; at < needed; at++)
    if (!taken[at]) return NULL;
  return taken;
}

/* Return the result of a call of arguments that fit and are accepted, or NULL, without an error but for memory. */
static PyObject *attempt(const Call *call, PyObject *const *given, Py_ssize_t count, PyObject *names) {
  const Row *row = call->function->row;
  const char *kinds = call->kinds;
  const Py_ssize_t last = call->axes ? call->places - 1 : call->places, defaults = PyTuple_GET_SIZE(call->defaults);
  const Py_ssize_t needed = defaults ? PyTuple_GET_SIZE(call->names) - defaults : call->places;
  Word arguments[WORDS], results[WORDS], *words = arguments + call->filled;
  PyObject *taken[PLACES], *made = NULL;
  if (!(given = placed(call, given, count, names, taken))) return NULL;
  memcpy(arguments, call->words, call->filled * sizeof(Word));
  for (Py_ssize_t at = 0; at < last; at++) {
    PyObject *each = given[at];
    if (at == call->named && (PyUnicode_CheckExact(each) || PyLong_CheckExact(each))) {
      if (!(each = PyDict_GetItemWithError(call->known, each))) return NULL;
    } else if (each == Py_None && at >= needed && kinds[1] >= '1' && kinds[1] <= '9') { /* an array without rows */
      memset(words, 0, (kinds[1] - '0' + 1) * sizeof *words);
      words += kinds[1] - '0' + 1;
      kinds += 2;
      continue;
    }
    if (!(words = read_plain(&kinds, each, words))) return NULL;
  }
  if (call->axes) {
    if (!(made = result_array(call, given[last]))) return NULL;
    Word *shape = fill(words, (PyArrayObject *)made, 0);
    if (call->alone) (shape++)->whole = 1;
    for (int axis = 0; axis < call->axes; axis++) (shape++)->whole = call->shape[axis];
  }
  if (run(row, arguments, results) || (call->chooses && results->whole != call->wanted)) {
    Py_XDECREF(made);
    return NULL;
  }
  if (call->chooses) return made ? made : Py_NewRef(Py_None);
  const char *returned = row->results;
  const Word *from = results;
  return result_of(&returned, &from);
}

static PyObject *call_call(PyObject *self, PyObject *const *given, size_t flags, PyObject *names) {
  Call *call = (Call *)self;
  PyObject *result = attempt(call, given, PyVectorcall_NARGS(flags), names);
  if (result || PyErr_Occurred()) return result;
  if (call->otherwise == Py_None) Py_RETURN_NONE;
  return PyObject_Vectorcall(call->otherwise, given, flags, names);
}

/* ---- The types. */

static PyObject *function_of_kernel(PyObject *self, void *name) {
  return PyObject_GetAttrString(((Function *)self)->kernel, name);
}

static PyObject *function_getattro(PyObject *self, PyObject *name) {
  PyObject *found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyErr_Clear();
  return PyObject_GetAttr(((Function *)self)->kernel, name);
}

static PyObject *function_repr(PyObject *self) {
  const Row *row = ((Function *)self)->row;
  return PyUnicode_FromFormat("<kernel %s.%s(%s)>", row->module, row->name, row->arguments);
}

static PyObject *function_reduce(PyObject *self, PyObject *unused) {
  return PyUnicode_FromString(((Function *)self)->row->name); /* a global name of its module */
}

static int function_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(((Function *)self)->kernel);
  return 0;
}

static int function_clear(PyObject *self) {
  Py_CLEAR(((Function *)self)->kernel);
  return 0;
}

static void function_dealloc(PyObject *self) {
  PyObject_GC_UnTrack(self);
  function_clear(self);
  PyObject_GC_Del(self);
}

static PyGetSetDef function_properties[] = {
  {"__doc__", function_of_kernel, NULL, NULL, "__doc__"},
  {"__module__", function_of_kernel, NULL, NULL, "__module__"},
  {0}};
static PyMethodDef function_methods[] = {{"__reduce__", function_reduce, METH_NOARGS, NULL}, {0}};
static PyTypeObject FunctionType = {
  PyVarObject_HEAD_INIT(NULL, 0).tp_name = "liedyn_ros.jit.calls.Function",
  .tp_basicsize = sizeof(Function),
  .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC,
  .tp_vectorcall_offset = offsetof(Function, vectorcall),
  .tp_call = PyVectorcall_Call,
  .tp_repr = function_repr,
  .tp_getattro = function_getattro,
  .tp_getset = function_properties,
  .tp_methods = function_methods,
  .tp_traverse = function_traverse,
  .tp_clear = function_clear,
  .tp_dealloc = function_dealloc};

static int call_traverse(PyObject *self, visitproc visit, void *arg) {
  Call *call = (Call *)self;
  Py_VISIT(call->function);
  Py_VISIT(call->tables);
  Py_VISIT(call->otherwise);
  Py_VISIT(call->known);
  return 0;
}

static int call_clear(PyObject *self) {
  Call *call = (Call *)self;
  Py_CLEAR(call->otherwise);
  Py_CLEAR(call->known);
  return 0;
}

static void call_dealloc(PyObject *self) {
  Call *call = (Call *)self;
  PyObject_GC_UnTrack(self);
  Py_XDECREF(call->function);
  Py_XDECREF(call->tables);
  Py_XDECREF(call->otherwise);
  Py_XDECREF(call->names);
  Py_XDECREF(call->defaults);
  Py_XDECREF(call->known);
  PyObject_GC_Del(self);
}

static PyTypeObject CallType = {
  PyVarObject_HEAD_INIT(NULL, 0).tp_name = "liedyn_ros.jit.calls.Call",
  .tp_basicsize = sizeof(Call),
  .tp_itemsize = sizeof(Word),
  .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC,
  .tp_vectorcall_offset = offsetof(Call, vectorcall),
  .tp_call = PyVectorcall_Call,
  .tp_traverse = call_traverse,
  .tp_clear = call_clear,
  .tp_dealloc = call_dealloc};

static PyObject *named_call, *named_calls; /* "__call__", "_direct_calls" */

/* Return the result of an object's call by a name, or NULL where it has none or arguments do not fit. */
static PyObject *attempt_of(PyObject *self, PyObject *name, PyObject *const *given, Py_ssize_t count, PyObject *names) {
  Direct *direct = (Direct *)self;
  if (!direct->calls) {
    PyObject *calls = PyObject_CallMethodNoArgs(self, named_calls);
    if (calls && !PyDict_CheckExact(calls)) {
      PyErr_Format(PyExc_TypeError, "_direct_calls: expected a dict, got %.200R", calls);
      Py_CLEAR(calls);
    }
    if (!calls) return NULL;
    Py_XSETREF(direct->calls, calls);
  }
  PyObject *call = Py_XNewRef(PyDict_GetItemWithError(direct->calls, name));
  if (!call) return NULL;
  PyObject *result = Py_TYPE(call) == &CallType ? attempt((Call *)call, given, count, names) : NULL;
  Py_DECREF(call);
  return result;
}

static PyObject *direct_call(PyObject *self, PyObject *const *given, size_t flags, PyObject *names) {
  PyObject *result = attempt_of(self, named_call, given, PyVectorcall_NARGS(flags), names);
  if (result || PyErr_Occurred()) return result;
  PyObject *bound = PyObject_GetAttr(self, named_call);
  if (!bound) return NULL;
  result = PyObject_Vectorcall(bound, given, flags, names);
  Py_DECREF(bound);
  return result;
}

static PyObject *direct_new(PyTypeObject *type, PyObject *arguments, PyObject *names) {
  Direct *direct = (Direct *)type->tp_alloc(type, 0);
  if (direct) direct->vectorcall = direct_call;
  return (PyObject *)direct;
}

static int direct_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(((Direct *)self)->calls);
  return 0;
}

static int direct_clear(PyObject *self) {
  Py_CLEAR(((Direct *)self)->calls);
  return 0;
}

static void direct_dealloc(PyObject *self) {
  PyObject_GC_UnTrack(self);
  direct_clear(self);
  Py_TYPE(self)->tp_free(self);
}

/* A copy has its attributes alone; its calls are made again. */
static PyObject *direct_new_arguments(PyObject *self, PyObject *unused) { return PyTuple_New(0); }

static PyMethodDef direct_methods[] = {{"__getnewargs__", direct_new_arguments, METH_NOARGS, NULL}, {0}};
static PyTypeObject DirectType = {
  PyVarObject_HEAD_INIT(NULL, 0).tp_name = "liedyn_ros.jit.calls.Direct",
  .tp_doc = "The base of classes whose methods are kernels on the tables of an object.",
  .tp_basicsize = sizeof(Direct),
  .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
  .tp_vectorcall_offset = offsetof(Direct, vectorcall),
  .tp_new = direct_new,
  .tp_methods = direct_methods,
  .tp_traverse = direct_traverse,
  .tp_clear = direct_clear,
  .tp_dealloc = direct_dealloc,
  .tp_free = PyObject_GC_Del};

static PyObject *method_call(PyObject *self, PyObject *const *given, size_t flags, PyObject *names) {
  Method *method = (Method *)self;
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (count && PyObject_TypeCheck(given[0], &DirectType)) {
    PyObject *result = attempt_of(given[0], method->name, given + 1, count - 1, names);
    if (result || PyErr_Occurred()) return result;
  }
  return PyObject_Vectorcall(method->function, given, flags, names);
}

static PyObject *method_get(PyObject *self, PyObject *of, PyObject *type) {
  return of && of != Py_None ? PyMethod_New(self, of) : Py_NewRef(((Method *)self)->function);
}

static PyObject *method_getattro(PyObject *self, PyObject *name) {
  PyObject *found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyErr_Clear();
  return PyObject_GetAttr(((Method *)self)->function, name);
}

static PyObject *method_function(PyObject *self, void *unused) { return Py_NewRef(((Method *)self)->function); }

static PyObject *method_of_function(PyObject *self, void *name) {
  return PyObject_GetAttrString(((Method *)self)->function, name);
}

/* An object of a class whose `__call__` is a Method is itself called by vectorcall. */
static PyObject *method_set_name(PyObject *self, PyObject *arguments) {
  PyTypeObject *owner;
  PyObject *name;
  if (!PyArg_ParseTuple(arguments, "O!U", &PyType_Type, &owner, &name)) return NULL;
  if (PyType_IsSubtype(owner, &DirectType) && !PyUnicode_Compare(name, named_call)) {
    owner->tp_vectorcall_offset = offsetof(Direct, vectorcall);
    owner->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  }
  Py_RETURN_NONE;
}

static PyObject *method_new(PyTypeObject *type, PyObject *arguments, PyObject *names) {
  PyObject *function;
  if (!PyArg_ParseTuple(arguments, "O", &function)) return NULL;
  PyObject *name = PyObject_GetAttrString(function, "__name__");
  Method *method = name ? (Method *)type->tp_alloc(type, 0) : NULL;
  if (!method) {
    Py_XDECREF(name);
    return NULL;
  }
  method->vectorcall = method_call;
  method->function = Py_NewRef(function);
  method->name = name;
  return (PyObject *)method;
}

static int method_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(((Method *)self)->function);
  return 0;
}

static int method_clear(PyObject *self) {
  Py_CLEAR(((Method *)self)->function);
  return 0;
}

static void method_dealloc(PyObject *self) {
  PyObject_GC_UnTrack(self);
  method_clear(self);
  Py_XDECREF(((Method *)self)->name);
  Py_TYPE(self)->tp_free(self);
}

static PyGetSetDef method_properties[] = {
  {"__wrapped__", method_function, NULL, NULL, NULL},
  {"__doc__", method_of_function, NULL, NULL, "__doc__"},
  {"__module__", method_of_function, NULL, NULL, "__module__"},
  {0}};
static PyMethodDef method_methods[] = {{"__set_name__", method_set_name, METH_VARARGS, NULL}, {0}};
static PyTypeObject MethodType = {
  PyVarObject_HEAD_INIT(NULL, 0).tp_name = "liedyn_ros.jit.calls.Method",
  .tp_basicsize = sizeof(Method),
  .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_HAVE_GC,
  .tp_vectorcall_offset = offsetof(Method, vectorcall),
  .tp_call = PyVectorcall_Call,
  .tp_descr_get = method_get,
  .tp_getattro = method_getattro,
  .tp_getset = method_properties,
  .tp_methods = method_methods,
  .tp_new = method_new,
  .tp_traverse = method_traverse,
  .tp_clear = method_clear,
  .tp_dealloc = method_dealloc,
  .tp_free = PyObject_GC_Del};

/* ---- The module. */

static PyObject *load(PyObject *module, PyObject *argument) {
  const char *path = PyUnicode_AsUTF8(argument);
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  const Row *row = library ? dlsym(library, "liedyn_room") : NULL;
  if (!row) return path ? PyErr_Format(PyExc_ImportError, "%s", dlerror()) : NULL;
  PyObject *found = PyDict_New();
  for (int rows = 1; found && row->module; row += rows, rows = 1) {
    while (row[rows].module && !strcmp(row->module, row[rows].module) && !strcmp(row->name, row[rows].name)) rows++;
    Function *function = PyObject_GC_New(Function, &FunctionType);
    PyObject *name = function ? PyUnicode_FromFormat("%s:%s", row->module, row->name) : NULL;
    if (function) {
      function->vectorcall = function_call;
      function->row = row;
      function->rows = rows;
      function->kernel = Py_NewRef(Py_None);
      PyObject_GC_Track(function);
    }
    if (!name || PyDict_SetItem(found, name, (PyObject *)function) < 0) Py_CLEAR(found);
    Py_XDECREF(name);
    Py_XDECREF(function);
  }
  return found;
}

static PyObject *stand_for(PyObject *module, PyObject *arguments) {
  PyObject *function, *kernel;
  if (!PyArg_ParseTuple(arguments, "O!O", &FunctionType, &function, &kernel)) return NULL;
  Py_XSETREF(((Function *)function)->kernel, Py_NewRef(kernel));
  Py_RETURN_NONE;
}

static PyObject *bind(PyObject *module, PyObject *arguments) {
  PyObject *function, *tables, *wanted, *otherwise, *shape, *names, *defaults, *known;
  Py_ssize_t named;
  if (!PyArg_ParseTuple(arguments, "O!O!OOO!O!O!nO", &FunctionType, &function, &PyTuple_Type, &tables, &wanted,
                        &otherwise, &PyTuple_Type, &shape, &PyTuple_Type, &names, &PyTuple_Type, &defaults, &named,
                        &known))
    return NULL;
  const Row *row = ((Function *)function)->row;
  const char *kinds = row->arguments;
  Word words[WORDS], *end = words;
  for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(tables); at++)
    if (!*kinds || !(end = read_plain(&kinds, PyTuple_GET_ITEM(tables, at), end)))
      return PyErr_Format(PyExc_TypeError, "%s: expected tables of kinds %s, got %.200R", row->name, row->arguments,
                          tables);
  const char *of_result = kinds;
  Py_ssize_t places = 0;
  for (const char *rest = kinds; *rest; places++) rest = behind(of_result = rest);
  const Py_ssize_t axes = PyTuple_GET_SIZE(shape), all = PyTuple_GET_SIZE(names);
  const int alone = axes && of_result[1] == '1' + axes;
  if (axes > AXES || places > PLACES || all > places || all + !!axes < (all ? places : 0) || named >= all
      || PyTuple_GET_SIZE(defaults) > all || (axes && (of_result[0] != 'd' || of_result[1] != '0' + axes + alone))
      || (named >= 0 && !PyDict_CheckExact(known)))
    return PyErr_Format(PyExc_ValueError, "%s: expected names %R and a result of shape %R that fit kinds %s", row->name,
                        names, shape, kinds);
  const int64_t code = wanted == Py_None ? 0 : PyLong_AsLongLong(wanted);
  if (PyErr_Occurred()) return NULL;
  Call *call = PyObject_GC_NewVar(Call, &CallType, end - words);
  if (!call) return NULL;
  call->vectorcall = call_call;
  call->function = (Function *)Py_NewRef(function);
  call->tables = Py_NewRef(tables);
  call->otherwise = Py_NewRef(otherwise);
  call->names = Py_NewRef(names);
  call->defaults = Py_NewRef(defaults);
  call->known = Py_NewRef(known);
  call->named = named;
  call->places = places;
  call->kinds = kinds;
  call->wanted = code;
  call->chooses = wanted != Py_None;
  call->filled = (int)(end - words);
  memcpy(call->words, words, call->filled * sizeof(Word));
  call->axes = (int)axes;
  call->alone = alone;
  for (int axis = 0; axis < call->axes; axis++) call->shape[axis] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, axis));
  PyObject_GC_Track(call);
  return (PyObject *)call;
}

static PyObject *processor(PyObject *module, PyObject *unused) {
#if defined(__x86_64__)
  static const char *KINDS[] = {"x86_64_v2", "x86_64_v3"};
  const char *asked = getenv("LIEDYN_PROCESSOR");
  __builtin_cpu_init();
  int newest = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
      && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (asked == NULL || *asked == '\0') return PyUnicode_FromString(KINDS[newest]);
  for (int kind = 0; kind <= newest; kind++)
    if (strcmp(asked, KINDS[kind]) == 0) return PyUnicode_FromString(asked);
  return PyErr_Format(
      PyExc_ImportError, "LIEDYN_PROCESSOR: expected none, or one of at most %s, which this processor is, got '%s'",
      KINDS[newest], asked);
#else
  return PyUnicode_FromString("aarch64");
#endif
}

static PyMethodDef methods[] = {
  {"load", load, METH_O, "Return the kernels of a room, by module:name."},
  {"stand_for", stand_for, METH_VARARGS, "Give a function the Kernel that it stands for."},
  {"bind", bind, METH_VARARGS,
   "Return a call of a function on tables. With a wanted code it returns None, or its last argument where that has a "
   "shape. What does not fit goes to otherwise; where this is None, the call returns None. Arguments may have names, "
   "and the last of them defaults; that in one place is replaced by what a dict has for it."},
  {"processor", processor, METH_NOARGS, "Return the best kind of processor whose rooms run here."},
  {0}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "liedyn_ros.jit.calls", NULL, -1, methods};

PyMODINIT_FUNC PyInit_calls(void) {
  import_array();
  PyTypeObject *const types[] = {&FunctionType, &CallType, &DirectType, &MethodType};
  PyObject *module = NULL;
  for (int at = 0; at < 4; at++)
    if (PyType_Ready(types[at]) < 0) return NULL;
  named_call = PyUnicode_InternFromString("__call__");
  named_calls = PyUnicode_InternFromString("_direct_calls");
  if (named_call && named_calls) module = PyModule_Create(&definition);
  if (module && (PyModule_AddType(module, &FunctionType) < 0 || PyModule_AddType(module, &DirectType) < 0
                 || PyModule_AddType(module, &MethodType) < 0))
    Py_CLEAR(module);
  return module;
}
