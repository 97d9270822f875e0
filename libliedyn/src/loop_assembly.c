/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Configurations that close the loops of a machine. */

#include <math.h>

#include "loops.h"

int liedyn_loops_assemble(const liedyn_loops *loops, void *work, int attempt, const double *q_start,
                          const unsigned char *held, int within_limits, double *q,
                          liedyn_assembly *report) {
  double found[3];
  const int code = start(loops, work, 0, q != NULL);
  if (code) return code;
  const liedyn_model *model = liedyn_loops_tree(loops);
  const size_t bytes = 8 * (size_t)liedyn_nq(model);
  if (q_start != NULL && q_start != q && (uintptr_t)q_start < (uintptr_t)q + bytes
      && (uintptr_t)q < (uintptr_t)q_start + bytes) return refused(work, LIEDYN_OVERLAP, "q_start", -1, 0.0);
  if (attempt < 0) return refused(work, LIEDYN_RANGE, "attempt", -1, attempt);
  for (int k = 0; held != NULL && k < liedyn_nv(model); ++k)
    if (held[k] > 1) return refused(work, LIEDYN_RANGE, "held", k, held[k]);
  const int64_t done = kernels()->loops_assemble(area(work), attempt, in(q_start),
                                                 (unsigned char *)(uintptr_t)held, within_limits, q, found);
  if (done != 0 && done != NOT_CLOSED) return conclude_of(loops, work, done, "q_start", q_start);
  if (report != NULL) *report = (liedyn_assembly){found[0], (int)found[1], (int)found[2]};
  return done == 0 ? LIEDYN_OK
                   : refused(work, LIEDYN_NOT_CONVERGED, liedyn_constraint_name(loops, (int)found[1]),
                             (int64_t)found[1], found[0]);
}
