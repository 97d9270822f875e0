/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Partial derivatives of machines with closed loops: each follows a solution of order zero. */

#include "loops.h"

enum task { HYBRID_TASK, INVERSE_TASK };

/* Solve inverse dynamics at order zero, where it has derivatives. */
static int solve_inverse(const liedyn_loops *loops, void *work, const double *q, const double *v,
                         const double *a, const double *external, double *tau) {
  double found[5];
  const liedyn_model *model = liedyn_loops_tree(loops);
  const int order = 0;
  int64_t done = kernels()->loops_inverse(area(work), 0, in(q), in(v), in(a), tau, in(external), found);
  keep(work, 0, NULL, done, found);
  if (done == 0) done = kernels()->loops_differentiable(area(work), INVERSE_TASK, found);
  CONCLUDE(done, NQ(q), NV(v), ORDERS(a), WRENCHES(order));
}

/* The same of hybrid dynamics; NULL prescribes nothing, and then tau stays as it is. */
static int solve_hybrid(const liedyn_loops *loops, void *work, const double *q, const double *v,
                        const unsigned char *prescribed, double *a, double *tau,
                        const double *external) {
  double found[5];
  const liedyn_model *model = liedyn_loops_tree(loops);
  const int nv = liedyn_nv(model), order = 0;
  for (int k = 0; prescribed != NULL && k < nv; ++k)
    if (prescribed[k] > 1) return refused(work, LIEDYN_RANGE, "prescribed", k, prescribed[k]);
  int64_t done = kernels()->loops_hybrid(area(work), 0, in(q), in(v),
                                         (unsigned char *)(uintptr_t)prescribed, a, tau,
                                         prescribed == NULL ? NULL : tau, in(external), found);
  keep(work, 0, NULL, done, found);
  if (done == 0) done = kernels()->loops_differentiable(area(work), HYBRID_TASK, found);
  if (prescribed == NULL) CONCLUDE(done, NQ(q), NV(v), ORDERS(tau), WRENCHES(order));
  CONCLUDE(done, NQ(q), NV(v), GIVEN(a, 1), GIVEN(tau, 0), WRENCHES(order));
}

static int multiply(const liedyn_loops *loops, void *work, enum task task, const double *dq,
                    const double *dv, const double *change, double *da, double *dtau) {
  const liedyn_model *model = liedyn_loops_tree(loops);
  CONCLUDE(kernels()->loops_product(area(work), task, in(dq), in(dv), in(change), da, dtau),
           NV(dq), NV(dv), NV(change));
}

static int pull(const liedyn_loops *loops, void *work, enum task task, const double *y, double *by_q,
                double *by_v, double *by_given) {
  const liedyn_model *model = liedyn_loops_tree(loops);
  CONCLUDE(kernels()->loops_gradient(area(work), task, in(y), by_q, by_v, by_given), NV(y));
}

/* Write all Jacobians at once, at a motion that is solved. */
static int differentiate(const liedyn_loops *loops, void *work, enum task task, const double *q,
                         const double *v, const double *a, const double *external, double *by_q,
                         double *by_v, double *by_given) {
  const liedyn_model *model = liedyn_loops_tree(loops);
  const int order = 0;
  CONCLUDE(kernels()->loops_jacobians(words(model), area(work), task, in(q), in(v), in(a), in(external),
                                      by_q, by_v, by_given), NQ(q), NV(v), NV(a), WRENCHES(order));
}

int liedyn_loops_inverse_product(const liedyn_loops *loops, void *work, const double *q,
                                 const double *v, const double *a, const double *external,
                                 const double *dq, const double *dv, const double *da, double *tau,
                                 double *dtau) {
  int code = start(loops, work, 0, q && v && a && dq && dv && da && tau && dtau);
  if (!code) code = solve_inverse(loops, work, q, v, a, external, tau);
  return code ? code : multiply(loops, work, INVERSE_TASK, dq, dv, da, NULL, dtau);
}

int liedyn_loops_inverse_gradient(const liedyn_loops *loops, void *work, const double *q,
                                  const double *v, const double *a, const double *external,
                                  const double *y, double *tau, double *by_q, double *by_v,
                                  double *by_a) {
  int code = start(loops, work, 0, q && v && a && y && tau && by_q && by_v && by_a);
  if (!code) code = solve_inverse(loops, work, q, v, a, external, tau);
  return code ? code : pull(loops, work, INVERSE_TASK, y, by_q, by_v, by_a);
}

int liedyn_loops_inverse_jacobians(const liedyn_loops *loops, void *work, const double *q,
                                   const double *v, const double *a, const double *external,
                                   double *tau, double *by_q, double *by_v, double *by_a) {
  int code = start(loops, work, 0, q && v && a && tau && by_q && by_v && by_a);
  if (!code) code = solve_inverse(loops, work, q, v, a, external, tau);
  return code ? code : differentiate(loops, work, INVERSE_TASK, q, v, a, external, by_q, by_v, by_a);
}

int liedyn_loops_forward_product(const liedyn_loops *loops, void *work, const double *q,
                                 const double *v, const double *tau, const double *external,
                                 const double *dq, const double *dv, const double *dtau, double *a,
                                 double *da) {
  int code = start(loops, work, 0, q && v && tau && dq && dv && dtau && a && da);
  if (!code) code = solve_hybrid(loops, work, q, v, NULL, a, in(tau), external);
  return code ? code : multiply(loops, work, HYBRID_TASK, dq, dv, dtau, da, NULL);
}

int liedyn_loops_forward_gradient(const liedyn_loops *loops, void *work, const double *q,
                                  const double *v, const double *tau, const double *external,
                                  const double *y, double *a, double *by_q, double *by_v,
                                  double *by_tau) {
  int code = start(loops, work, 0, q && v && tau && y && a && by_q && by_v && by_tau);
  if (!code) code = solve_hybrid(loops, work, q, v, NULL, a, in(tau), external);
  return code ? code : pull(loops, work, HYBRID_TASK, y, by_q, by_v, by_tau);
}

int liedyn_loops_forward_jacobians(const liedyn_loops *loops, void *work, const double *q,
                                   const double *v, const double *tau, const double *external,
                                   double *a, double *by_q, double *by_v, double *by_tau) {
  return liedyn_loops_hybrid_jacobians(loops, work, q, v, NULL, a, in(tau), external, by_q, by_v, by_tau);
}

int liedyn_loops_hybrid_product(const liedyn_loops *loops, void *work, const double *q,
                                const double *v, const unsigned char *prescribed, double *a,
                                double *tau, const double *external, const double *dq,
                                const double *dv, const double *given, double *da, double *dtau) {
  int code = start(loops, work, 0, q && v && a && tau && dq && dv && given && da && dtau);
  if (!code) code = solve_hybrid(loops, work, q, v, prescribed, a, tau, external);
  return code ? code : multiply(loops, work, HYBRID_TASK, dq, dv, given, da, dtau);
}

int liedyn_loops_hybrid_gradient(const liedyn_loops *loops, void *work, const double *q,
                                 const double *v, const unsigned char *prescribed, double *a,
                                 double *tau, const double *external, const double *y,
                                 double *by_q, double *by_v, double *by_given) {
  int code = start(loops, work, 0, q && v && a && tau && y && by_q && by_v && by_given);
  if (!code) code = solve_hybrid(loops, work, q, v, prescribed, a, tau, external);
  return code ? code : pull(loops, work, HYBRID_TASK, y, by_q, by_v, by_given);
}

int liedyn_loops_hybrid_jacobians(const liedyn_loops *loops, void *work, const double *q,
                                  const double *v, const unsigned char *prescribed, double *a,
                                  double *tau, const double *external, double *by_q, double *by_v,
                                  double *by_given) {
  int code = start(loops, work, 0, q && v && a && tau && by_q && by_v && by_given);
  if (!code) code = solve_hybrid(loops, work, q, v, prescribed, a, tau, external);
  return code ? code : differentiate(loops, work, HYBRID_TASK, q, v, a, external, by_q, by_v, by_given);
}
