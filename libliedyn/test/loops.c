/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Answer every function of closed loops on the states in a file: loops MODEL STATES RESULTS.
 *
 * A state is q, v, then a, tau and external (a row for each order of the file), and flags of known
 * and of prescribed coordinates. Accelerations are those that the loops allow. */

#include <stdio.h>
#include <stdlib.h>

#include "liedyn.h"

static const liedyn_loops *loops;
static void *work;
static FILE *results;

enum { MOST = 64 };
static void *allocated[MOST]; /* freed at the end */
static int allocations;

static void *numbers(size_t count) {
  void *found = aligned_alloc(LIEDYN_ALIGNMENT, (8 * count / LIEDYN_ALIGNMENT + 1) * LIEDYN_ALIGNMENT);
  if (found == NULL || allocations == MOST) abort();
  return allocated[allocations++] = found;
}

static int end(void) {
  while (allocations > 0) free(allocated[--allocations]);
  return fclose(results) == 0 ? 0 : 4;
}

static void require(int code, const char *what) {
  if (code == LIEDYN_OK) return;
  char text[256] = "";
  if (work != NULL) liedyn_loops_explain(loops, work, text, sizeof text);
  fprintf(stderr, "%s: code %d, %s (%s)\n", what, code, liedyn_message(code), text);
  exit(1);
}

static void put(const double *values, int count) {
  if (fwrite(values, 8, (size_t)count, results) != (size_t)count) exit(2);
}

static void put_report(const liedyn_constraint_report *report) {
  const double numbers_of[] = {report->rank, report->status, report->inverse_condition_number,
                               report->actuation_inverse_condition_number};
  put(numbers_of, 4);
}

#define RUN(call) require(call, #call)

/* The whole state from the measured joints, where the file has them. */
static void track(const double *q, const double *v, int nq, int nv) {
  static double *positions, *rates, *all_q, *all_v;
  const liedyn_model *tree = liedyn_loops_tree(loops);
  if (liedyn_measured(loops) == 0) return;
  if (positions == NULL) positions = numbers(nv), rates = numbers(nv), all_q = numbers(nq), all_v = numbers(nv);
  for (int k = 0; k < liedyn_measured(loops); ++k) {
    liedyn_place place;
    RUN(liedyn_find_joint(tree, liedyn_measured_name(loops, k), &place));
    positions[k] = q[place.q], rates[k] = v[place.v];
  }
  RUN(liedyn_loops_restart(loops, work, q));
  RUN(liedyn_loops_track(loops, work, positions, rates, all_q, all_v, NULL));
  put(all_q, nq), put(all_v, nv);
}

/* The configuration that closes the loops near one that is beside q. */
static void assemble(const double *q, const double *v, int nq, int nv) {
  static double *work_of_tree, *step, *start, *end;
  const liedyn_model *tree = liedyn_loops_tree(loops);
  if (start == NULL) {
    const size_t size = liedyn_work(tree, 0);
    work_of_tree = numbers(size / 8), step = numbers(nv), start = numbers(nq), end = numbers(nq);
    RUN(liedyn_init(tree, 0, work_of_tree, size));
  }
  for (int k = 0; k < nv; ++k) step[k] = 0.05 * v[k];
  RUN(liedyn_integrate(tree, work_of_tree, q, step, start));
  RUN(liedyn_loops_assemble(loops, work, 0, start, NULL, 0, end, NULL));
  put(end, nq);
}

/* Partial derivatives by every function; directions and weights are what comes to hand. */
static void partials(const double *q, const double *v, const double *a, const double *free_a,
                     const double *tau, const double *external, const unsigned char *prescribed, int nv) {
  static double *by[3], *x[2], *in_place[2];
  const int size = nv * nv;
  if (x[0] == NULL) {
    for (int i = 0; i < 3; ++i) by[i] = numbers(size);
    for (int i = 0; i < 2; ++i) x[i] = numbers(nv), in_place[i] = numbers(nv);
  }
  RUN(liedyn_loops_inverse_jacobians(loops, work, q, v, a, external, x[0], by[0], by[1], by[2]));
  put(x[0], nv), put(by[0], size), put(by[1], size), put(by[2], size);
  RUN(liedyn_loops_inverse_product(loops, work, q, v, a, external, v, a, tau, x[0], x[1])); put(x[1], nv);
  RUN(liedyn_loops_inverse_gradient(loops, work, q, v, a, external, tau, x[0], by[0], by[1], by[2]));
  put(by[0], nv), put(by[1], nv), put(by[2], nv);
  RUN(liedyn_loops_forward_jacobians(loops, work, q, v, tau, external, x[0], by[0], by[1], by[2]));
  put(x[0], nv), put(by[0], size), put(by[1], size), put(by[2], size);
  RUN(liedyn_loops_forward_product(loops, work, q, v, tau, external, v, a, tau, x[0], x[1])); put(x[1], nv);
  RUN(liedyn_loops_forward_gradient(loops, work, q, v, tau, external, a, x[0], by[0], by[1], by[2]));
  put(by[0], nv), put(by[1], nv), put(by[2], nv);
  for (int call = 0; call < 3; ++call) {
    for (int k = 0; k < nv; ++k) in_place[0][k] = free_a[k], in_place[1][k] = tau[k];
    if (call == 0)
      RUN(liedyn_loops_hybrid_jacobians(loops, work, q, v, prescribed, in_place[0], in_place[1],
                                        external, by[0], by[1], by[2]));
    if (call == 1)
      RUN(liedyn_loops_hybrid_product(loops, work, q, v, prescribed, in_place[0], in_place[1], external,
                                      v, a, tau, x[0], x[1]));
    if (call == 2)
      RUN(liedyn_loops_hybrid_gradient(loops, work, q, v, prescribed, in_place[0], in_place[1], external,
                                       a, by[0], by[1], by[2]));
    for (int i = 0; call != 1 && i < 3; ++i) put(by[i], call == 0 ? size : nv);
    if (call == 1) put(x[0], nv), put(x[1], nv);
  }
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  size_t bytes;
  RUN(liedyn_file_size(arguments[1], &bytes));
  void *memory = numbers(bytes / 8);
  RUN(liedyn_loops_load(arguments[1], memory, bytes, &loops));
  const size_t size = liedyn_loops_work(loops);
  void *mine = numbers(size / 8);
  RUN(liedyn_loops_init(loops, mine, size));
  work = mine;
  const liedyn_model *tree = liedyn_loops_tree(loops);
  const int order = liedyn_loops_order(loops), rows = order + 1, nq = liedyn_nq(tree);
  const int nv = liedyn_nv(tree), m = liedyn_constraints(loops), wide = 6 * liedyn_bodies(tree);
  const int closed = 6 * liedyn_closures(loops);
  double *q = numbers(nq), *v = numbers(nv), *a = numbers(rows * nv), *tau = numbers(rows * nv);
  double *external = numbers(rows * wide), *flags = numbers(2 * nv), *out = numbers(rows * nv);
  double *full = numbers(rows * nv);
  double *multipliers = numbers(rows * m), *wrenches = numbers(rows * closed);
  double *residual = numbers(m), *jacobian = numbers(m * nv);
  unsigned char *known = numbers(nv), *prescribed = numbers(nv);
  FILE *states = fopen(arguments[2], "rb");
  results = fopen(arguments[3], "wb");
  if (states == NULL || results == NULL) return 2;
  struct { double *at; int count; } inputs[] = {
      {q, nq}, {v, nv}, {a, rows * nv}, {tau, rows * nv}, {external, rows * wide}, {flags, 2 * nv}};
  liedyn_constraint_report report;
  for (;;) {
    for (int i = 0; i < 6; ++i) {
      const size_t read = fread(inputs[i].at, 8, (size_t)inputs[i].count, states);
      if (i == 0 && read == 0 && feof(states)) return fclose(states) == 0 ? end() : 4;
      if (read != (size_t)inputs[i].count) return 3;
    }
    for (int k = 0; k < nv; ++k) known[k] = flags[k] != 0.0, prescribed[k] = flags[nv + k] != 0.0;
    RUN(liedyn_loops_residual(loops, work, q, residual, jacobian)); put(residual, m), put(jacobian, m * nv);
    for (int k = 0; k < nv; ++k) out[k] = v[k];
    RUN(liedyn_loops_complete_velocity(loops, work, q, known, out)); put(out, nv);
    for (int k = 0; k < rows * nv; ++k) full[k] = a[k];
    RUN(liedyn_loops_complete_acceleration(loops, work, order, q, v, known, full)); put(full, rows * nv);
    RUN(liedyn_loops_inverse(loops, work, order, q, v, full, external, out, &report));
    put(out, rows * nv), put_report(&report);
    RUN(liedyn_loops_inverse(loops, work, 0, q, v, a, NULL, out, NULL)); put(out, nv);
    RUN(liedyn_loops_forward(loops, work, order, q, v, tau, external, out, &report));
    put(out, rows * nv), put_report(&report);
    RUN(liedyn_loops_forces(loops, work, order, multipliers, wrenches));
    put(multipliers, rows * m), put(wrenches, rows * closed);
    track(q, v, nq, nv);
    assemble(q, v, nq, nv);
    partials(q, v, full, a, tau, external, prescribed, nv);
    RUN(liedyn_loops_hybrid(loops, work, order, q, v, prescribed, a, tau, external, NULL));
    put(a, rows * nv), put(tau, rows * nv);
  }
}
