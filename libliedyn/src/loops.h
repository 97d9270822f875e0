/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* What the files for closed loops share. */

#ifndef LIEDYN_LOOPS_INTERNAL_H_
#define LIEDYN_LOOPS_INTERNAL_H_

#include "arrays.h"

/* Codes of liedyn_ros/export/kernels/loops.py, and columns of its sizes. */
enum { UNMOVED = -2, NOT_CLOSED = -3, BREAKS = -4, DEPENDENT = -5, NO_GROUND = -6, NO_POSE = -7,
       NOT_REACHED = -8 };
enum size { ORDER, NUMBER_OF_CONSTRAINTS, NUMBER_OF_CLOSURES, SOLVED = 5 };

static inline const section_row *sections(const liedyn_loops *loops) { return loops->sections; }

static inline int size_at(const liedyn_loops *loops, enum size what) {
  return (int)kernels()->loops_size(content_of(loops, sections(loops) + WORK), what);
}

/* The machine of a work area is not that of the tree, which has the same address as the file. */
static inline const void *machine(const liedyn_loops *loops) { return loops->sections; }

static inline int start(const liedyn_loops *loops, void *work, int order, int arrays) {
  return loops == NULL ? LIEDYN_NULL : begin(machine(loops), work, order, arrays);
}

static inline int check_closure(const liedyn_loops *loops, void *work, int closure) {
  return closure < 0 || closure >= liedyn_closures(loops)
      ? refused(work, LIEDYN_RANGE, "closure", -1, closure) : LIEDYN_OK;
}

/* Return the code of a call whose kernel returned one, and keep why. */
static inline int conclude(const liedyn_loops *loops, void *work, int64_t code, const array *inputs,
                           int input_count, const array *results, int result_count) {
  switch (code) {
    case 0: return LIEDYN_OK;
    case NOT_CLOSED: return refused(work, LIEDYN_OPEN, "q, v", -1, 0.0);
    case UNMOVED: return refused(work, LIEDYN_UNMOVED, "constraints", -1, 0.0);
    case BREAKS: return refused(work, LIEDYN_BROKEN, "a", -1, 0.0);
    case DEPENDENT: return refused(work, LIEDYN_DEPENDENT, "constraints", -1, 0.0);
    case NO_GROUND: return refused(work, LIEDYN_RANGE, "closure", -1, NO_GROUND);
    case NOT_REACHED: return refused(work, LIEDYN_NOT_CONVERGED, "targets", -1, 0.0);
    case NO_POSE: return refused(work, LIEDYN_NOT_POSE, "pose", -1, 0.0);
    default: return refuse(liedyn_loops_tree(loops), work, code, inputs, input_count, results, result_count);
  }
}

/* Return the code of a call with a configuration alone. */
static inline int conclude_of(const liedyn_loops *loops, void *work, int64_t code, const char *name,
                              const double *q) {
  const array inputs[] = {{name, q, liedyn_nq(liedyn_loops_tree(loops)), NULL, 0}};
  return conclude(loops, work, code, inputs, 1, NULL, 0);
}

static inline liedyn_constraint_report as_report(const double found[5]) {
  return (liedyn_constraint_report){(int)found[0], (int)found[4], found[1], found[2], found[3]};
}

#endif /* LIEDYN_LOOPS_INTERNAL_H_ */
