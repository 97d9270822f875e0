/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* The pose of a Stewart platform, sample by sample. */

#include <math.h>

#include "platforms.h"

/* Codes of liedyn_ros/export/kernels/platform.py, and what following.py writes. */
enum { NO_POSE = 1, NOT_REACHED, NOT_CONVERGED, NOT_STARTED = 6, LATE, BEYOND };
enum { TWIST = 6, TWIST_SPAN = 12, START, FLAGS, SIGN, RATE, GAP, SOURCE, TRACKED };

int liedyn_platform_restart(const liedyn_platform *platform, void *work, const double *home,
                            double leg_noise) {
  int code = begin(platform, work, 0, home != NULL);
  if (!code) code = require_finite(work, "home", home, 16);
  if (!code) code = require_finite(work, "leg_noise", &leg_noise, 1);
  if (!code && leg_noise < 0.0) code = refused(work, LIEDYN_RANGE, "leg_noise", -1, leg_noise);
  if (code) return code;
  switch (kernels()->platform_restart(numbers(platform), area(work), in(home), &leg_noise)) {
    case NO_POSE: return refused(work, LIEDYN_NOT_POSE, "home", -1, 0.0);
    case NOT_REACHED: return refused(work, LIEDYN_NOT_REACHED, "home", -1, 0.0);
    default: return LIEDYN_OK;
  }
}

int liedyn_platform_confirm(const liedyn_platform *platform, void *work) {
  const int code = begin(platform, work, 0, 1);
  if (code) return code;
  return kernels()->platform_confirm(area(work)) == NOT_STARTED
      ? refused(work, LIEDYN_NOT_STARTED, "tracker", -1, 0.0) : LIEDYN_OK;
}

static int conclude_sample(const liedyn_platform *platform, void *work, int64_t code,
                           const double *lengths, const double *found) {
  const int leg = code == BEYOND ? (int)found[0] : 0;
  switch (code) {
    case 0: return LIEDYN_OK;
    case NOT_CONVERGED: return refused(work, LIEDYN_NOT_CONVERGED, "pose", -1, 0.0);
    case NOT_STARTED: return refused(work, LIEDYN_NOT_STARTED, "tracker", -1, 0.0);
    case LATE: return refused(work, LIEDYN_LATE, "stamp_ns", -1, 0.0);
    case BEYOND: return refused(work, LIEDYN_RANGE, liedyn_leg_name(platform, leg), leg, lengths[leg]);
    case -1: return refused(work, LIEDYN_TOO_LARGE, "lengths", -1, 0.0);
    default: return refused(work, LIEDYN_INTERNAL, "kernel", -1, (double)code);
  }
}

int liedyn_platform_track(const liedyn_platform *platform, void *work, int64_t stamp_ns,
                          const double *lengths, const double *rates, liedyn_tracked *tracked) {
  double found[TRACKED];
  int code = begin(platform, work, 0, lengths && tracked);
  if (!code) code = require_finite(work, "lengths", lengths, 6);
  if (!code) code = require_finite(work, "rates", rates, 6);
  if (!code) code = apart(work, "lengths", lengths, SIX_BYTES, tracked, sizeof *tracked);
  if (!code) code = apart(work, "rates", rates, SIX_BYTES, tracked, sizeof *tracked);
  if (code) return code;
  const int64_t done = kernels()->platform_track(numbers(platform), area(work), stamp_ns, in(lengths),
                                                 in(rates), tracked->pose, found);
  if (done == 0 || done == NOT_CONVERGED) {
    tracked->solution = (liedyn_solution){(int)found[0], (int)found[1], found[2], found[3], found[4],
                                          found[5]};
    memcpy(tracked->twist, found + TWIST, SIX_BYTES);
    tracked->twist_span = found[TWIST_SPAN];
    tracked->start = (int)found[START], tracked->flags = (int)found[FLAGS];
    tracked->sign = (int)found[SIGN], tracked->rate = found[RATE], tracked->gap = found[GAP];
    tracked->branch_source = (int)found[SOURCE];
  }
  return conclude_sample(platform, work, done, lengths, found);
}
