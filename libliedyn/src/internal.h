/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* What the files of the library share. */

#ifndef LIEDYN_INTERNAL_H_
#define LIEDYN_INTERNAL_H_

#include <stdio.h>
#include <string.h>

#include "liedyn.h"
/* These are written beside the objects by python -m liedyn_ros.build.c_library. */
#include "liedyn_columns.h"
#include "liedyn_kernels.h"

enum kind { TREE = 1, PLATFORM = 2, LOOPS = 3 };
enum section { CONSTANTS, LINKS, JOINTS, COORDINATES, FRAMES, PLACES, SECTIONS };
enum loops_section { WORK = SECTIONS, CLOSURES, CONSTRAINTS, LOOPS_SECTIONS };
enum platform_section { NUMBERS, LEGS, PLATFORM_SECTIONS };
typedef struct { int64_t at, bytes, rows, zero; } section_row;

typedef struct { /* of a model file: liedyn_ros/export/model_file.py describes it */
  char magic[8];
  int64_t format, layout, length, checksum, kind, number_of_sections, zero;
} file_header;

struct liedyn_model {
  file_header header;
  section_row sections[SECTIONS];
};

struct liedyn_platform {
  file_header header;
  section_row sections[PLATFORM_SECTIONS];
};

struct liedyn_loops { /* begins as the model of its spanning tree */
  file_header header;
  section_row sections[LOOPS_SECTIONS];
};

typedef struct { /* the first line of a work area */
  uint64_t prepared;
  const void *machine;
  int64_t order;
  const char *argument; /* of the last refusal, with entry, value and code */
  int64_t entry;
  double value;
  int64_t code, zero;
} head;

static const uint64_t PREPARED = 0x31306e7964656c69u;

static inline double *area(void *work) { return (double *)((char *)work + sizeof(head)); }
static inline void *in(const void *values) { return (void *)(uintptr_t)values; }

static inline int refused(void *work, int code, const char *argument, int64_t entry, double value) {
  head *of = work;
  of->argument = argument, of->entry = entry, of->value = value, of->code = code;
  return code;
}

/* Return LIEDYN_OK where a call can run: its arrays are there, and the work area is the machine's. */
static inline int begin(const void *machine, void *work, int64_t order, int arrays) {
  if (machine == NULL || work == NULL) return LIEDYN_NULL;
  const head *of = work;
  if ((uintptr_t)work % LIEDYN_ALIGNMENT || of->prepared != PREPARED || of->machine != machine)
    return LIEDYN_WORK_AREA;
  if (!arrays) return refused(work, LIEDYN_NULL, "arrays", -1, 0.0);
  if (order < 0 || order > of->order)
    return refused(work, LIEDYN_RANGE, "order", -1, (double)order);
  return LIEDYN_OK;
}

/* Prepare the first line of a work area. */
static inline void start_work(const void *machine, int order, void *work) {
  memset(work, 0, sizeof(head));
  head *of = work;
  of->prepared = PREPARED, of->machine = machine, of->order = order;
}

/* Write what the last refusal was, for all codes without words of their own. */
static inline int explain(const head *of, char *text, size_t size) {
  const char *message = liedyn_message((int)of->code);
  if (of->code == LIEDYN_OK)
    snprintf(text, size, "%s", message);
  else if (of->code == LIEDYN_NOT_FINITE)
    snprintf(text, size, "%s[%d]: %s, %g", of->argument, (int)of->entry, message, of->value);
  else if (of->code == LIEDYN_RANGE)
    snprintf(text, size, "%s: %s, %g", of->argument, message, of->value);
  else
    snprintf(text, size, "%s: %s", of->argument, message);
  return (int)of->code;
}

/* Names in the archive that a program could have as well. */
#define check_file liedyn_internal_check_file
#define read_file liedyn_internal_read_file
#define are_texts liedyn_internal_are_texts
#define text_at liedyn_internal_text_at
#define place_of liedyn_internal_place_of
#define refuse liedyn_internal_refuse
#define is_tree liedyn_internal_is_tree
#define explain_coordinates liedyn_internal_explain_coordinates

/* Check header, length and checksum of a file, and where its sections are. */
int check_file(const void *bytes, size_t count, enum kind kind, int sections);
/* Return whether the first sections of a file are those of a tree. */
int is_tree(const liedyn_model *found);
/* Write what the last refusal of a call with coordinates was; return its code. */
int explain_coordinates(const liedyn_model *model, const head *of, char *text, size_t size);
/* Read a file into memory; return LIEDYN_OK and its length, or LIEDYN_FILE. */
int read_file(const char *path, void *memory, size_t bytes, size_t *length);
/* Return whether a section is a number of texts, each ended by a zero byte. */
int are_texts(const void *file, const section_row *section);
const char *text_at(const void *file, const section_row *section, int index);
int place_of(const void *file, const section_row *section, const char *name);

/* Return the content of a section; kernels take pointers that are not const, and write none. */
static inline void *content_of(const void *file, const section_row *section) {
  return (char *)(uintptr_t)file + section->at;
}

static inline void *content(const liedyn_model *model, enum section section) {
  return content_of(model, &model->sections[section]);
}

static inline double *words(const liedyn_model *model) { return content(model, CONSTANTS); }

/* Return a size of a model, by its column. */
static inline int64_t size_of(const liedyn_model *model, int column) {
  return ((const int64_t *)content(model, CONSTANTS))[column];
}

/* Return the kernels for this processor, NULL if there are none. No state: two bits are read. */
static inline const liedyn_kernels *kernels(void) {
#if defined(__x86_64__)
  static const liedyn_kernels v2 = LIEDYN_X86_64_V2_KERNELS;
#ifndef LIEDYN_V2_ALONE
  static const liedyn_kernels v3 = LIEDYN_X86_64_V3_KERNELS;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
      && __builtin_cpu_supports("bmi2")) return &v3;
#endif
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") ? &v2 : NULL;
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  static const liedyn_kernels only = LIEDYN_AARCH64_KERNELS;
  return &only;
#else
#error "libliedyn: expected x86-64 or little-endian AArch64"
#endif
}

#endif /* LIEDYN_INTERNAL_H_ */
