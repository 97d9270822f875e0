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

/* Return the code for what a kernel has refused, and keep why. Inputs whose name begins with q are
 * configurations. */
int refuse(const liedyn_model *model, void *work, int64_t code, const array *inputs, int input_count,
           const array *outputs, int output_count);

/* Run a kernel, and return LIEDYN_OK or why it refused; inputs and outputs are lists of arrays. */
#define LIST(...) __VA_ARGS__
#define FINISH(call, inputs, outputs)                                                    \
  do {                                                                                   \
    const int64_t code_of_kernel = (call);                                               \
    if (code_of_kernel == 0) return LIEDYN_OK;                                           \
    const array of_inputs[] = {inputs}, of_outputs[] = {outputs};                        \
    return refuse(model, work, code_of_kernel, of_inputs,                                \
                  (int)(sizeof of_inputs / sizeof(array)),                               \
                  of_outputs, (int)(sizeof of_outputs / sizeof(array)));                 \
  } while (0)
#define NQ(array) {#array, array, liedyn_nq(model), NULL, 0}
#define NV(array) {#array, array, liedyn_nv(model), NULL, 0}
#define ORDERS(array) {#array, array, (int64_t)(order + 1) * liedyn_nv(model), NULL, 0}
#define GIVEN(array, wanted) \
  {#array, array, (int64_t)(order + 1) * liedyn_nv(model), prescribed, wanted}
#define SIZE(array, size) {#array, array, size, NULL, 0}
#define WRENCHES(order) {"external", external, (int64_t)(order + 1) * 6 * liedyn_bodies(model), NULL, 0}

#endif /* LIEDYN_ARRAYS_H_ */
