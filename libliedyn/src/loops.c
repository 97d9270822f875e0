/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Machines with closed loops: files opened, arguments checked, kernels run. */

#include <math.h>

#include "loops.h"

int liedyn_loops_open(const void *bytes, size_t count, const liedyn_loops **loops) {
  if (bytes == NULL || loops == NULL) return LIEDYN_NULL;
  const int code = check_file(bytes, count, LOOPS, LOOPS_SECTIONS);
  if (code) return code;
  const liedyn_loops *found = bytes;
  const section_row *row = found->sections;
  const liedyn_model *tree = liedyn_loops_tree(found);
  if (!is_tree(tree) || !are_texts(found, row + CLOSURES) || !are_texts(found, row + CONSTRAINTS)
      || row[WORK].bytes % 8
      || kernels()->loops_accepts(content_of(found, row + WORK), row[WORK].bytes / 8,
                                  liedyn_nq(tree), liedyn_nv(tree), liedyn_bodies(tree),
                                  row[CONSTRAINTS].rows, row[CLOSURES].rows) != 0) return LIEDYN_DAMAGED;
  *loops = found;
  return LIEDYN_OK;
}

int liedyn_loops_load(const char *path, void *memory, size_t bytes, const liedyn_loops **loops) {
  size_t length;
  if (path == NULL || memory == NULL || loops == NULL) return LIEDYN_NULL;
  const int code = read_file(path, memory, bytes, &length);
  return code ? code : liedyn_loops_open(memory, length, loops);
}

const liedyn_model *liedyn_loops_tree(const liedyn_loops *loops) { return (const void *)loops; }
int liedyn_loops_order(const liedyn_loops *loops) { return size_at(loops, ORDER); }
int liedyn_constraints(const liedyn_loops *loops) { return size_at(loops, NUMBER_OF_CONSTRAINTS); }
int liedyn_closures(const liedyn_loops *loops) { return size_at(loops, NUMBER_OF_CLOSURES); }

const char *liedyn_constraint_name(const liedyn_loops *loops, int constraint) {
  return text_at(loops, sections(loops) + CONSTRAINTS, constraint);
}

const char *liedyn_closure_name(const liedyn_loops *loops, int closure) {
  return text_at(loops, sections(loops) + CLOSURES, closure);
}

size_t liedyn_loops_work(const liedyn_loops *loops) {
  return loops == NULL ? 0 : sizeof(head) + (size_t)sections(loops)[WORK].bytes;
}

int liedyn_loops_init(const liedyn_loops *loops, void *work, size_t bytes) {
  if (loops == NULL || work == NULL) return LIEDYN_NULL;
  if ((uintptr_t)work % LIEDYN_ALIGNMENT) return LIEDYN_UNALIGNED;
  if (bytes < liedyn_loops_work(loops)) return LIEDYN_WORK_AREA;
  start_work(machine(loops), liedyn_loops_order(loops), work);
  const section_row *row = sections(loops) + WORK;
  memcpy(area(work), content_of(loops, row), (size_t)row->bytes);
  return LIEDYN_OK;
}

int liedyn_loops_explain(const liedyn_loops *loops, const void *work, char *text, size_t size) {
  if (loops == NULL || work == NULL || text == NULL || size == 0) return LIEDYN_NULL;
  const head *of = work;
  if (of->prepared != PREPARED || of->machine != machine(loops)) return LIEDYN_WORK_AREA;
  return explain_coordinates(liedyn_loops_tree(loops), of, text, size);
}

int liedyn_loops_inverse(const liedyn_loops *loops, void *work, int order, const double *q,
                         const double *v, const double *a, const double *external, double *tau,
                         liedyn_constraint_report *report) {
  double found[5];
  const int code = start(loops, work, order, q && v && a && tau);
  if (code) return code;
  const liedyn_model *model = liedyn_loops_tree(loops);
  const int64_t done = kernels()->loops_inverse(area(work), order, in(q), in(v), in(a), tau,
                                                in(external), found);
  keep(work, order, report, done, found);
  CONCLUDE(done, NQ(q), NV(v), ORDERS(a), WRENCHES(order));
}

int liedyn_loops_hybrid(const liedyn_loops *loops, void *work, int order, const double *q,
                        const double *v, const unsigned char *prescribed, double *a, double *tau,
                        const double *external, liedyn_constraint_report *report) {
  double found[5];
  const int code = start(loops, work, order, q && v && a && tau);
  if (code) return code;
  const liedyn_model *model = liedyn_loops_tree(loops);
  const int nv = liedyn_nv(model);
  for (int k = 0; prescribed != NULL && k < nv; ++k)
    if (prescribed[k] > 1) return refused(work, LIEDYN_RANGE, "prescribed", k, prescribed[k]);
  const int64_t done = kernels()->loops_hybrid(area(work), order, in(q), in(v),
                                               (unsigned char *)(uintptr_t)prescribed, a, tau, tau,
                                               in(external), found);
  keep(work, order, report, done, found);
  if (prescribed == NULL) CONCLUDE(done, NQ(q), NV(v), ORDERS(tau), WRENCHES(order));
  CONCLUDE(done, NQ(q), NV(v), GIVEN(a, 1), GIVEN(tau, 0), WRENCHES(order));
}

int liedyn_loops_forward(const liedyn_loops *loops, void *work, int order, const double *q,
                         const double *v, const double *tau, const double *external, double *a,
                         liedyn_constraint_report *report) {
  double found[5];
  const int code = start(loops, work, order, q && v && tau && a);
  if (code) return code;
  const liedyn_model *model = liedyn_loops_tree(loops);
  const int64_t done = kernels()->loops_hybrid(area(work), order, in(q), in(v), NULL, a, in(tau), NULL,
                                               in(external), found);
  keep(work, order, report, done, found);
  CONCLUDE(done, NQ(q), NV(v), ORDERS(tau), WRENCHES(order));
}

int liedyn_loops_forces(const liedyn_loops *loops, void *work, int order, double *multipliers,
                        double *wrenches) {
  const int code = start(loops, work, order, 1);
  if (code) return code;
  if (order >= ((const head *)work)->solved)
    return refused(work, LIEDYN_RANGE, "order", -1, (double)order);
  kernels()->loops_forces(area(work), order, multipliers, wrenches);
  return LIEDYN_OK;
}

int liedyn_loops_residual(const liedyn_loops *loops, void *work, const double *q, double *residual,
                          double *jacobian) {
  const int code = start(loops, work, 0, q && residual);
  if (code) return code;
  const liedyn_model *model = liedyn_loops_tree(loops);
  CONCLUDE(kernels()->loops_residual(area(work), in(q), residual, jacobian), NQ(q));
}

int liedyn_loops_complete_acceleration(const liedyn_loops *loops, void *work, int order,
                                       const double *q, const double *v,
                                       const unsigned char *known, double *a) {
  const int code = start(loops, work, order, q && v && a);
  if (code) return code;
  const liedyn_model *model = liedyn_loops_tree(loops);
  CONCLUDE(kernels()->loops_complete(area(work), order, in(q), in(v),
                                     (unsigned char *)(uintptr_t)known, a),
           NQ(q), NV(v), ORDERS(a));
}

int liedyn_loops_complete_velocity(const liedyn_loops *loops, void *work, const double *q,
                                   const unsigned char *known, double *v) {
  const int code = start(loops, work, 0, q && v);
  if (code) return code;
  const liedyn_model *model = liedyn_loops_tree(loops);
  CONCLUDE(kernels()->loops_complete(area(work), 0, in(q), NULL, (unsigned char *)(uintptr_t)known, v),
           NQ(q), NV(v));
}
