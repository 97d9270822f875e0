/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Partial derivatives of trees: calls whose results must share no memory with any argument. */

#include "arrays.h"

/* Run a kernel on arrays that are apart, as FINISH does; kernels do not compare them all. */
#define FINISH_APART(call, inputs, outputs)                                                    \
  do {                                                                                         \
    const array inputs_of[] = {inputs}, outputs_of[] = {outputs};                              \
    const int n_inputs = (int)(sizeof inputs_of / sizeof(array));                              \
    const int n_outputs = (int)(sizeof outputs_of / sizeof(array));                            \
    if (any_shared(inputs_of, n_inputs, outputs_of, n_outputs))                                \
      return refuse(model, work, -1, inputs_of, n_inputs, outputs_of, n_outputs);              \
    const int64_t code_of_call = (call);                                                       \
    return code_of_call == 0 ? LIEDYN_OK                                                       \
        : refuse(model, work, code_of_call, inputs_of, n_inputs, outputs_of, n_outputs);       \
  } while (0)

static int shares(const array *a, const array *b) {
  const uintptr_t x = (uintptr_t)a->values, y = (uintptr_t)b->values;
  return x && y && x < y + 8u * (uintptr_t)b->count && y < x + 8u * (uintptr_t)a->count;
}

static int any_shared(const array *inputs, int input_count, const array *outputs, int output_count) {
  for (int i = 0; i < output_count; ++i) {
    for (int k = 0; k < input_count; ++k) {
      if (shares(&outputs[i], &inputs[k])) return 1;
    }
    for (int k = 0; k < i; ++k) {
      if (shares(&outputs[i], &outputs[k])) return 1;
    }
  }
  return 0;
}

#define SQUARE(array) SIZE(array, nv * nv)

int liedyn_inverse_jacobians(const liedyn_model *model, void *work, const double *q, const double *v,
                             const double *a, const double *external, double *by_q, double *by_v,
                             double *by_a) {
  const int code = begin(model, work, 0, q && v && a && by_q && by_v && by_a);
  if (code) return code;
  const int64_t nv = liedyn_nv(model);
  FINISH_APART(kernels()->inverse_jacobians(words(model), area(work), in(q), in(v), in(a),
                                            in(external), by_q, by_v, by_a),
               LIST(NQ(q), NV(v), NV(a), WRENCHES(0)), LIST(SQUARE(by_q), SQUARE(by_v), SQUARE(by_a)));
}

int liedyn_inverse_product(const liedyn_model *model, void *work, const double *q, const double *v,
                           const double *a, const double *external, const double *dq,
                           const double *dv, const double *da, double *dtau) {
  const int code = begin(model, work, 0, q && v && a && dq && dv && da && dtau);
  if (code) return code;
  FINISH_APART(kernels()->inverse_product(words(model), area(work), in(q), in(v), in(a), in(external),
                                          in(dq), in(dv), in(da), dtau),
               LIST(NQ(q), NV(v), NV(a), WRENCHES(0), NV(dq), NV(dv), NV(da)), LIST(NV(dtau)));
}

int liedyn_inverse_gradient(const liedyn_model *model, void *work, const double *q, const double *v,
                            const double *a, const double *external, const double *y, double *by_q,
                            double *by_v, double *by_a) {
  const int code = begin(model, work, 0, q && v && a && y && by_q && by_v && by_a);
  if (code) return code;
  FINISH_APART(kernels()->inverse_gradient(words(model), area(work), in(q), in(v), in(a), in(external),
                                           in(y), by_q, by_v, by_a),
               LIST(NQ(q), NV(v), NV(a), WRENCHES(0), NV(y)), LIST(NV(by_q), NV(by_v), NV(by_a)));
}

int liedyn_inverse_gradient_product(const liedyn_model *model, void *work, const double *q,
                                    const double *v, const double *a, const double *external,
                                    const double *y, const double *dq, const double *dv,
                                    const double *da, double *by_q, double *by_v, double *by_a) {
  const int code = begin(model, work, 0,
                         q && v && a && y && dq && dv && da && by_q && by_v && by_a);
  if (code) return code;
  FINISH_APART(kernels()->inverse_gradient_product(words(model), area(work), in(q), in(v), in(a),
                                                   in(external), in(y), in(dq), in(dv), in(da), by_q,
                                                   by_v, by_a),
               LIST(NQ(q), NV(v), NV(a), WRENCHES(0), NV(y), NV(dq), NV(dv), NV(da)),
               LIST(NV(by_q), NV(by_v), NV(by_a)));
}

int liedyn_forward_jacobians(const liedyn_model *model, void *work, const double *q, const double *v,
                             const double *tau, const double *external, double *a, double *by_q,
                             double *by_v, double *by_tau) {
  const int code = begin(model, work, 0, q && v && tau && a && by_q && by_v && by_tau);
  if (code) return code;
  const int64_t nv = liedyn_nv(model);
  FINISH_APART(kernels()->forward_jacobians(words(model), area(work), in(q), in(v), in(tau),
                                            in(external), a, by_q, by_v, by_tau),
               LIST(NQ(q), NV(v), NV(tau), WRENCHES(0)),
               LIST(NV(a), SQUARE(by_q), SQUARE(by_v), SQUARE(by_tau)));
}

int liedyn_forward_product(const liedyn_model *model, void *work, const double *q, const double *v,
                           const double *tau, const double *external, const double *dq,
                           const double *dv, const double *dtau, double *a, double *da) {
  const int code = begin(model, work, 0, q && v && tau && dq && dv && dtau && a && da);
  if (code) return code;
  FINISH_APART(kernels()->forward_product(words(model), area(work), in(q), in(v), in(tau),
                                          in(external), in(dq), in(dv), in(dtau), a, da),
               LIST(NQ(q), NV(v), NV(tau), WRENCHES(0), NV(dq), NV(dv), NV(dtau)),
               LIST(NV(a), NV(da)));
}

int liedyn_forward_gradient(const liedyn_model *model, void *work, const double *q, const double *v,
                            const double *tau, const double *external, const double *y, double *a,
                            double *by_q, double *by_v, double *by_tau) {
  const int code = begin(model, work, 0, q && v && tau && y && a && by_q && by_v && by_tau);
  if (code) return code;
  FINISH_APART(kernels()->forward_gradient(words(model), area(work), in(q), in(v), in(tau),
                                           in(external), in(y), a, by_q, by_v, by_tau),
               LIST(NQ(q), NV(v), NV(tau), WRENCHES(0), NV(y)),
               LIST(NV(a), NV(by_q), NV(by_v), NV(by_tau)));
}
