/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Arguments of calls on platforms. */

#ifndef LIEDYN_PLATFORMS_H_
#define LIEDYN_PLATFORMS_H_

#include <math.h>

#include "internal.h"

enum { POSE_BYTES = 16 * sizeof(double), SIX_BYTES = 6 * sizeof(double) };

static inline double *numbers(const liedyn_platform *platform) {
  return content_of(platform, &platform->sections[NUMBERS]);
}

/* Return LIEDYN_OK where all values are finite. */
static inline int require_finite(void *work, const char *name, const double *values, int count) {
  for (int k = 0; values != NULL && k < count; ++k) {
    if (!isfinite(values[k])) return refused(work, LIEDYN_NOT_FINITE, name, k, values[k]);
  }
  return LIEDYN_OK;
}

/* Return LIEDYN_OK where two arrays share no memory. */
static inline int apart(void *work, const char *name, const void *a, size_t a_bytes, const void *b,
                 size_t b_bytes) {
  const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
  return a != NULL && b != NULL && x < y + b_bytes && y < x + a_bytes
      ? refused(work, LIEDYN_OVERLAP, name, -1, 0.0) : LIEDYN_OK;
}

#endif /* LIEDYN_PLATFORMS_H_ */
