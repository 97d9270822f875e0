/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Calls on a work area: arguments checked, kernels run, and refusals explained. */

#include <math.h>

#include "arrays.h"

static int share_memory(const array *a, const array *b) {
  return strcmp(a->name, b->name) && share(a->values, a->count, b->values, b->count);
}

int refuse(const liedyn_model *model, void *work, int64_t code, const array *inputs,
           int input_count, const array *outputs, int output_count) {
  const int nv = liedyn_nv(model);
  if (code > 0) return refused(work, LIEDYN_SINGULAR, "coordinate", code - 1, 0.0);
  if (code == -4) return refused(work, LIEDYN_BROKEN, "held", -1, 0.0); /* of velocity_within */
  if (code < -1) return refused(work, LIEDYN_INTERNAL, "kernel", -1, (double)code);
  for (int i = 0; i < output_count; ++i) {
    for (int k = 0; k < input_count; ++k) {
      if (share_memory(&outputs[i], &inputs[k]))
        return refused(work, LIEDYN_OVERLAP, inputs[k].name, -1, 0.0);
    }
    for (int k = 0; k < i; ++k) {
      if (share_memory(&outputs[i], &outputs[k]))
        return refused(work, LIEDYN_OVERLAP, outputs[k].name, -1, 0.0);
    }
  }
  for (int i = 0; i < input_count; ++i) {
    const array *of = &inputs[i];
    for (int64_t k = 0; of->values != NULL && k < of->count; ++k) {
      if (!isfinite(of->values[k]) && (of->mask == NULL || !of->mask[k % nv] == !of->wanted))
        return refused(work, LIEDYN_NOT_FINITE, of->name, k, of->values[k]);
    }
  }
  for (int i = 0; i < input_count && inputs[i].name[0] == 'q'; ++i) {
    const int64_t at = kernels()->not_unit(words(model), in(inputs[i].values));
    if (at >= 0) {
      const double *x = inputs[i].values + at;
      return refused(work, LIEDYN_NOT_UNIT, inputs[i].name, at,
                     hypot(hypot(x[0], x[1]), hypot(x[2], x[3])));
    }
  }
  return refused(work, LIEDYN_TOO_LARGE, inputs[0].name, -1, 0.0);
}

size_t liedyn_work(const liedyn_model *model, int order) {
  if (model == NULL || order < 0 || order > LIEDYN_MAX_ORDER) return 0;
  return sizeof(head) + 8u * (size_t)kernels()->work_size(words(model), order);
}

int liedyn_init(const liedyn_model *model, int order, void *work, size_t bytes) {
  if (model == NULL || work == NULL) return LIEDYN_NULL;
  if ((uintptr_t)work % LIEDYN_ALIGNMENT) return LIEDYN_UNALIGNED;
  const size_t wanted = liedyn_work(model, order);
  if (wanted == 0) return LIEDYN_RANGE;
  if (bytes < wanted) return LIEDYN_WORK_AREA;
  start_work(model, order, work);
  kernels()->prepare(words(model), area(work));
  return LIEDYN_OK;
}

const char *liedyn_processor(void) {
#if defined(__x86_64__)
  static const liedyn_kernels v2 = LIEDYN_X86_64_V2_KERNELS;
  const liedyn_kernels *run = kernels();
  return run == NULL ? NULL : run->inverse == v2.inverse ? "x86_64_v2" : "x86_64_v3";
#else
  return "aarch64";
#endif
}

int explain_coordinates(const liedyn_model *model, const head *of, char *text, size_t size) {
  if (of->code == LIEDYN_SINGULAR)
    snprintf(text, size, "%s: %s", liedyn_coordinate_name(model, (int)of->entry),
             liedyn_message(LIEDYN_SINGULAR));
  else if (of->code == LIEDYN_NOT_UNIT)
    snprintf(text, size, "%s[%d:%d]: %s, its norm is %.9g", of->argument, (int)of->entry,
             (int)of->entry + 4, liedyn_message(LIEDYN_NOT_UNIT), of->value);
  else
    explain(of, text, size);
  return (int)of->code;
}

int liedyn_explain(const liedyn_model *model, const void *work, char *text, size_t size) {
  if (model == NULL || work == NULL || text == NULL || size == 0) return LIEDYN_NULL;
  const head *of = work;
  if (of->prepared != PREPARED || of->machine != model) return LIEDYN_WORK_AREA;
  return explain_coordinates(model, of, text, size);
}
