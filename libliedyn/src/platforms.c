/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Stewart platforms: files opened, arguments checked, kernels run. */

#include <math.h>

#include "platforms.h"

/* Codes of liedyn_ros/export/functions/platforms.py. */
enum { NO_POSE = 1, NOT_REACHED, NOT_CONVERGED, NOT_PROVED, SINGULAR };
enum { PROVABLE = 2, MASSES = 3 };         /* parts */
enum { INVERSE, FORWARD };                 /* tasks */

int liedyn_platform_open(const void *bytes, size_t count, const liedyn_platform **platform) {
  if (bytes == NULL || platform == NULL) return LIEDYN_NULL;
  const int code = check_file(bytes, count, PLATFORM, PLATFORM_SECTIONS);
  if (code) return code;
  const liedyn_platform *found = bytes;
  const section_row *of = &found->sections[NUMBERS], *legs = &found->sections[LEGS];
  if (of->bytes % 8 || kernels()->platform_accepts(numbers(found), of->bytes / 8) != 0
      || legs->rows != 6 || !are_texts(found, legs)) return LIEDYN_DAMAGED;
  *platform = found;
  return LIEDYN_OK;
}

int liedyn_platform_load(const char *path, void *memory, size_t bytes,
                         const liedyn_platform **platform) {
  size_t length;
  if (path == NULL || memory == NULL || platform == NULL) return LIEDYN_NULL;
  const int code = read_file(path, memory, bytes, &length);
  return code ? code : liedyn_platform_open(memory, length, platform);
}

const char *liedyn_leg_name(const liedyn_platform *platform, int leg) {
  return text_at(platform, &platform->sections[LEGS], leg);
}

int liedyn_find_leg(const liedyn_platform *platform, const char *name, int *leg) {
  if (platform == NULL || name == NULL || leg == NULL) return LIEDYN_NULL;
  const int found = place_of(platform, &platform->sections[LEGS], name);
  if (found < 0) return LIEDYN_UNKNOWN;
  *leg = found;
  return LIEDYN_OK;
}

size_t liedyn_platform_work(const liedyn_platform *platform, int order) {
  if (platform == NULL || order < 0 || order > LIEDYN_MAX_ORDER) return 0;
  return sizeof(head) + 8u * (size_t)kernels()->platform_work_size(order);
}

int liedyn_platform_init(const liedyn_platform *platform, int order, void *work, size_t bytes) {
  if (platform == NULL || work == NULL) return LIEDYN_NULL;
  if ((uintptr_t)work % LIEDYN_ALIGNMENT) return LIEDYN_UNALIGNED;
  const size_t wanted = liedyn_platform_work(platform, order);
  if (wanted == 0) return LIEDYN_RANGE;
  if (bytes < wanted) return LIEDYN_WORK_AREA;
  start_work(platform, order, work);
  kernels()->platform_prepare(numbers(platform), area(work), order);
  return LIEDYN_OK;
}

int liedyn_platform_explain(const liedyn_platform *platform, const void *work, char *text,
                            size_t size) {
  if (platform == NULL || work == NULL || text == NULL || size == 0) return LIEDYN_NULL;
  const head *of = work;
  if (of->prepared != PREPARED || of->machine != platform) return LIEDYN_WORK_AREA;
  return explain(of, text, size);
}

/* Return the code of a call whose kernel was given a pose. */
static int conclude(void *work, int64_t code, const double *pose) {
  switch (code) {
    case 0: return LIEDYN_OK;
    case NO_POSE: {
      const int found = require_finite(work, "pose", pose, 16);
      return found ? found : refused(work, LIEDYN_NOT_POSE, "pose", -1, 0.0);
    }
    case NOT_REACHED: return refused(work, LIEDYN_NOT_REACHED, "pose", -1, 0.0);
    case SINGULAR: return refused(work, LIEDYN_SINGULAR, "pose", -1, 0.0);
    case -1: return refused(work, LIEDYN_TOO_LARGE, "pose", -1, 0.0);
    default: return refused(work, LIEDYN_INTERNAL, "kernel", -1, (double)code);
  }
}

int liedyn_platform_lengths(const liedyn_platform *platform, void *work, const double *pose,
                            double *lengths) {
  int code = begin(platform, work, 0, pose && lengths);
  if (!code) code = apart(work, "pose", pose, POSE_BYTES, lengths, SIX_BYTES);
  if (code) return code;
  return conclude(work, kernels()->platform_lengths(numbers(platform), area(work), in(pose),
                                                    lengths), pose);
}

int liedyn_platform_jacobian(const liedyn_platform *platform, void *work, const double *pose,
                             int axes, double *jacobian) {
  int code = begin(platform, work, 0, pose && jacobian);
  if (!code && axes != LIEDYN_WORLD && axes != LIEDYN_LOCAL)
    code = refused(work, LIEDYN_RANGE, "axes", -1, axes);
  if (!code) code = apart(work, "pose", pose, POSE_BYTES, jacobian, 6 * SIX_BYTES);
  if (code) return code;
  return conclude(work, kernels()->platform_jacobian(numbers(platform), area(work), in(pose),
                                                     axes == LIEDYN_WORLD, jacobian), pose);
}

int liedyn_platform_singularity(const liedyn_platform *platform, void *work, const double *pose,
                                liedyn_singularity *singularity) {
  double found[8];
  int code = begin(platform, work, 0, pose && singularity);
  if (!code) code = conclude(work, kernels()->platform_singularity(
      numbers(platform), area(work), in(pose), found), pose);
  if (code) return code;
  singularity->signed_value = found[0], singularity->slope = found[1];
  memcpy(singularity->null_twist, found + 2, SIX_BYTES);
  return LIEDYN_OK;
}

int liedyn_platform_margins(const liedyn_platform *platform, void *work, const double *pose,
                            double *margins) {
  int code = begin(platform, work, 0, pose && margins);
  if (!code) code = apart(work, "pose", pose, POSE_BYTES, margins, 33 * sizeof(double));
  if (code) return code;
  return conclude(work, kernels()->platform_margins(numbers(platform), area(work), in(pose),
                                                    margins), pose);
}

int liedyn_platform_solve(const liedyn_platform *platform, void *work, const double *lengths,
                          const double *guess, double *pose, liedyn_solution *solution) {
  double found[6];
  int code = begin(platform, work, 0, lengths && guess && pose && solution);
  if (!code) code = apart(work, "lengths", lengths, SIX_BYTES, pose, POSE_BYTES);
  if (!code && guess != pose) code = apart(work, "guess", guess, POSE_BYTES, pose, POSE_BYTES);
  if (code) return code;
  const int64_t done = kernels()->platform_solve(numbers(platform), area(work), in(lengths),
                                                 in(guess), pose, found);
  if (done == -1 || done == NO_POSE) { /* the guess is still there, as the pose begins as a copy of it */
    code = require_finite(work, "lengths", lengths, 6);
    if (!code) code = require_finite(work, "guess", guess, 16);
    if (!code && done == NO_POSE) code = refused(work, LIEDYN_NOT_POSE, "guess", -1, 0.0);
    for (int k = 0; !code && k < 6; ++k) {
      if (lengths[k] <= 0.0) code = refused(work, LIEDYN_RANGE, liedyn_leg_name(platform, k), k, lengths[k]);
    }
    return code ? code : refused(work, LIEDYN_TOO_LARGE, "lengths", -1, 0.0);
  }
  *solution = (liedyn_solution){(int)found[0], (int)found[1], found[2], found[3], found[4], found[5]};
  if (done == 0) return LIEDYN_OK;
  return done == NOT_CONVERGED ? refused(work, LIEDYN_NOT_CONVERGED, "pose", -1, 0.0)
                               : refused(work, LIEDYN_INTERNAL, "kernel", -1, (double)done);
}

int liedyn_platform_certify(const liedyn_platform *platform, void *work, const double *pose,
                            const double *lengths, liedyn_certificate *certificate) {
  double found[9];
  const int code = begin(platform, work, 0, pose && lengths && certificate);
  if (code) return code;
  if (!kernels()->platform_part(numbers(platform), PROVABLE))
    return refused(work, LIEDYN_ABSENT, "certificate", -1, 0.0);
  const int64_t done = kernels()->platform_certify(numbers(platform), area(work), in(pose),
                                                   in(lengths), found);
  certificate->error_radius = found[0], certificate->uniqueness_radius = found[1];
  certificate->regular_radius = found[2];
  memcpy(certificate->bounds, found + 3, SIX_BYTES);
  return done == 0 ? LIEDYN_OK : refused(work, LIEDYN_NOT_PROVED, "pose", -1, 0.0);
}

static int move(const liedyn_platform *platform, void *work, int order, int task, const double *pose,
                const double *twist, const double *known, const double *external, double *found,
                double *length_rates) {
  int code = begin(platform, work, order, pose && twist && known && found && length_rates);
  if (code) return code;
  if (!kernels()->platform_part(numbers(platform), MASSES))
    return refused(work, LIEDYN_ABSENT, "masses", -1, 0.0);
  const char *name = task == INVERSE ? "a" : "forces";
  const int count = 6 * (order + 1);
  const size_t rows = (size_t)count * sizeof(double);
  const struct { const char *name; const double *values; int count; } inputs[] = {
      {"twist", twist, 6}, {name, known, count}, {"external", external, count}, {"pose", pose, 16}};
  for (int k = 0; !code && k < 4; ++k) {
    const size_t bytes = (size_t)inputs[k].count * sizeof(double);
    code = apart(work, inputs[k].name, inputs[k].values, bytes, found, rows);
    if (!code) code = apart(work, inputs[k].name, inputs[k].values, bytes, length_rates, rows);
    if (!code) code = require_finite(work, inputs[k].name, inputs[k].values, inputs[k].count);
  }
  if (!code) code = apart(work, "length_rates", found, rows, length_rates, rows);
  if (code) return code;
  return conclude(work, kernels()->platform_dynamics(
      numbers(platform), area(work), order, task, in(pose), in(twist),
      task == INVERSE ? in(known) : found, task == INVERSE ? found : in(known), in(external),
      length_rates), pose);
}

int liedyn_platform_inverse(const liedyn_platform *platform, void *work, int order,
                            const double *pose, const double *twist, const double *a,
                            const double *external, double *forces, double *length_rates) {
  return move(platform, work, order, INVERSE, pose, twist, a, external, forces, length_rates);
}

int liedyn_platform_forward(const liedyn_platform *platform, void *work, int order,
                            const double *pose, const double *twist, const double *forces,
                            const double *external, double *a, double *length_rates) {
  return move(platform, work, order, FORWARD, pose, twist, forces, external, a, length_rates);
}
