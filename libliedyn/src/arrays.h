/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Arguments of calls on trees, and how a call ends. */

#ifndef LIEDYN_ARRAYS_H_
#define LIEDYN_ARRAYS_H_

#include "internal.h"

typedef struct { /* an argument; with a mask (nv), those entries alone that are as wanted are read */
  const char *name;
  const double *values;
  int64_t count;
  const unsigned char *mask;
  int wanted;
} array;

/* Return whether two arrays share memory. */
static inline int share(const double *a, int64_t a_count, const double *b, int64_t b_count) {
  const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return x && y && x < y + 8u * (uintptr_t)b_count && y < x + 8u * (uintptr_t)a_count;
}

enum { REFUSED = -1, FAILED = -99 }; /* what kernels return, beside 0 and coordinates */

/* Return LIEDYN_OK for what is there: a frame, axes, and flags (nv) that are 0 or 1, or NULL. */
static inline int check_frame(const liedyn_model *model, void *work, int frame) {
  return frame < 0 || frame >= model->sections[FRAMES].rows
      ? refused(work, LIEDYN_RANGE, "frame", -1, frame) : LIEDYN_OK;
}

static inline int check_axes(void *work, int axes) {
  return axes < LIEDYN_WORLD || axes > LIEDYN_LOCAL_WORLD_ALIGNED
      ? refused(work, LIEDYN_RANGE, "axes", -1, axes) : LIEDYN_OK;
}

static inline int check_tasks(void *work, int tasks) {
  return tasks < 1 || tasks > 0xffff ? refused(work, LIEDYN_RANGE, "tasks", -1, tasks) : LIEDYN_OK;
}

static inline int check_most(void *work, const char *name, int most, int value) {
  return value < 0 || value > most ? refused(work, LIEDYN_RANGE, name, -1, value) : LIEDYN_OK;
}

static inline int check_flags(const liedyn_model *model, void *work, const char *name, const unsigned char *flags) {
  for (int k = 0; flags != NULL && k < size_of(model, NV); ++k)
    if (flags[k] > 1) return refused(work, LIEDYN_RANGE, name, k, flags[k]);
  return LIEDYN_OK;
}

/* Return the code for what a kernel has refused, and keep why. Inputs whose name begins with q are
 * configurations. */
int refuse(const liedyn_model *model, void *work, int64_t code, const array *inputs, int input_count,
           const array *outputs, int output_count);

#endif /* LIEDYN_ARRAYS_H_ */
