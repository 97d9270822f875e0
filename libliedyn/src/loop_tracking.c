/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* All joints of a machine with closed loops from the measured ones. */

#include <math.h>

#include "loops.h"

/* Codes and columns of liedyn_ros/dynamics/constrained/tracking/kernels/tracking.py. */
enum { BLOCKED = 2, DISAGREEING = 3, UNDECIDED = 4 };
enum { INVERSE_CONDITION, EXCESS, TIME, PATH_FRACTION, WORST, ERROR, REPORT };

static int count_measured(const liedyn_loops *loops) {
  return (int)kernels()->loops_measured(content_of(loops, sections(loops) + WORK), -1);
}

int liedyn_measured(const liedyn_loops *loops) {
  const int count = count_measured(loops);
  return count < 0 ? 0 : count;
}

const char *liedyn_measured_name(const liedyn_loops *loops, int joint) {
  if (joint < 0 || joint >= count_measured(loops)) return NULL;
  return liedyn_coordinate_name(liedyn_loops_tree(loops), (int)kernels()->loops_measured(
      content_of(loops, sections(loops) + WORK), joint));
}

/* Return the code for a machine whose file has no measured joints. */
static int require_tracker(const liedyn_loops *loops, void *work) {
  return count_measured(loops) < 0 ? refused(work, LIEDYN_ABSENT, "measured joints", -1, 0.0) : LIEDYN_OK;
}

static int require_finite(void *work, const char *name, const double *values, int count) {
  for (int k = 0; values != NULL && k < count; ++k)
    if (!isfinite(values[k])) return refused(work, LIEDYN_NOT_FINITE, name, k, values[k]);
  return LIEDYN_OK;
}

static int conclude_sample(const liedyn_loops *loops, void *work, int64_t code, const double *q,
                           double error) {
  switch (code) {
    case BLOCKED: return refused(work, LIEDYN_BLOCKED, "positions", -1, 0.0);
    case DISAGREEING: return refused(work, LIEDYN_DISAGREEING, "positions", -1, error);
    case UNDECIDED: return refused(work, LIEDYN_UNMOVED, "measured joints", -1, 0.0);
    default:
      if (q != NULL) return conclude_of(loops, work, code, "q", q);
      return code == 0 ? LIEDYN_OK : refused(work, LIEDYN_INTERNAL, "kernel", -1, (double)code);
  }
}

int liedyn_loops_track(const liedyn_loops *loops, void *work, const double *positions,
                       const double *rates, double *q, double *v, liedyn_loop_sample *sample) {
  double found[REPORT];
  int code = start(loops, work, 0, positions && q && (rates == NULL) == (v == NULL));
  if (!code) code = require_tracker(loops, work);
  const int count = code ? 0 : liedyn_measured(loops);
  if (!code) code = require_finite(work, "positions", positions, count);
  if (!code) code = require_finite(work, "rates", rates, count);
  if (code) return code;
  const int64_t done = kernels()->loops_track(area(work), in(positions), in(rates), q, v, found);
  if (sample != NULL)
    *sample = (liedyn_loop_sample){found[INVERSE_CONDITION], found[TIME], found[EXCESS] != 0.0,
                                   done == BLOCKED ? found[PATH_FRACTION] : 1.0, found[ERROR]};
  return conclude_sample(loops, work, done, NULL, found[ERROR]);
}

int liedyn_loops_restart(const liedyn_loops *loops, void *work, const double *q) {
  int code = start(loops, work, 0, q != NULL);
  if (!code) code = require_tracker(loops, work);
  return code ? code : conclude_sample(loops, work, kernels()->loops_restart(area(work), in(q)), q, 0.0);
}
