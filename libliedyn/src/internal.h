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

#include "liedyn.h"
#include "liedyn_kernels.h" /* written beside the objects by python -m liedyn_ros.export */

enum section { CONSTANTS, LINKS, JOINTS, COORDINATES, FRAMES, PLACES, SECTIONS };
typedef struct { int64_t at, bytes, rows, zero; } section_row;

struct liedyn_model { /* the header of a model file: liedyn_ros/export/model_file.py describes it */
  char magic[8];
  int64_t format, layout, length, checksum, kind, number_of_sections, zero;
  section_row sections[SECTIONS];
};

/* Return the content of a section; kernels take pointers that are not const, and write none. */
static inline void *content(const liedyn_model *model, enum section section) {
  return (char *)(uintptr_t)model + model->sections[section].at;
}

static inline double *words(const liedyn_model *model) { return content(model, CONSTANTS); }

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
