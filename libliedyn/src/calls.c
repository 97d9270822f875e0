/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Calls on a work area: arguments checked, kernels run, and refusals explained. */

#include <math.h>

#include "arrays.h"

static int share(const array *a, const array *b) {
  if (strcmp(a->name, b->name) == 0) return 0; /* completed in its place */
  const uintptr_t x = (uintptr_t)a->values, y = (uintptr_t)b->values;
  return a->values != NULL && b->values != NULL && x < y + 8u * (uintptr_t)b->count
      && y < x + 8u * (uintptr_t)a->count;
}

int refuse(const liedyn_model *model, void *work, int64_t code, const array *inputs,
                  int input_count, const array *outputs, int output_count) {
  const int nv = liedyn_nv(model);
  if (code > 0) return refused(work, LIEDYN_SINGULAR, "coordinate", code - 1, 0.0);
  if (code < -1) return refused(work, LIEDYN_INTERNAL, "kernel", -1, (double)code);
  for (int i = 0; i < output_count; ++i) {
    for (int k = 0; k < input_count; ++k) {
      if (share(&outputs[i], &inputs[k]))
        return refused(work, LIEDYN_OVERLAP, inputs[k].name, -1, 0.0);
    }
    for (int k = 0; k < i; ++k) {
      if (share(&outputs[i], &outputs[k]))
        return refused(work, LIEDYN_OVERLAP, outputs[k].name, -1, 0.0);
    }
  }
  for (int i = 0; i < input_count; ++i) {
    const array *of = &inputs[i];
    for (int64_t k = 0; of->values != NULL && k < of->count; ++k) {
      if (!isfinite(of->values[k]) && (of->mask == NULL || !of->mask[k % nv] == !of->wanted))
        return refused(work, LIEDYN_NOT_FINITE, of->name, k, of->values[k]);
    }
  }
  for (int i = 0; i < input_count && inputs[i].name[0] == 'q'; ++i) {
    const int64_t at = kernels()->not_unit(words(model), in(inputs[i].values));
    if (at >= 0) {
      const double *x = inputs[i].values + at;
      return refused(work, LIEDYN_NOT_UNIT, inputs[i].name, at,
                     hypot(hypot(x[0], x[1]), hypot(x[2], x[3])));
    }
  }
  return refused(work, LIEDYN_TOO_LARGE, inputs[0].name, -1, 0.0);
}

size_t liedyn_work(const liedyn_model *model, int order) {
  if (model == NULL || order < 0 || order > LIEDYN_MAX_ORDER) return 0;
  return sizeof(head) + 8u * (size_t)kernels()->work_size(words(model), order);
}

int liedyn_init(const liedyn_model *model, int order, void *work, size_t bytes) {
  if (model == NULL || work == NULL) return LIEDYN_NULL;
  if ((uintptr_t)work % LIEDYN_ALIGNMENT) return LIEDYN_UNALIGNED;
  const size_t wanted = liedyn_work(model, order);
  if (wanted == 0) return LIEDYN_RANGE;
  if (bytes < wanted) return LIEDYN_WORK_AREA;
  start_work(model, order, work);
  kernels()->prepare(words(model), area(work));
  return LIEDYN_OK;
}

int liedyn_inverse(const liedyn_model *model, void *work, const double *q, const double *v,
                   const double *a, const double *external, double *tau) {
  const int code = begin(model, work, 0, q && v && tau);
  if (code) return code;
  FINISH(kernels()->inverse(words(model), area(work), in(q), in(v), in(a), in(external), tau),
         LIST(NQ(q), NV(v), NV(a), WRENCHES(0)), LIST(NV(tau)));
}

int liedyn_bias(const liedyn_model *model, void *work, const double *q, const double *v,
                const double *external, double *tau) {
  return liedyn_inverse(model, work, q, v, NULL, external, tau);
}

int liedyn_gravity(const liedyn_model *model, void *work, const double *q, double *tau) {
  const int code = begin(model, work, 0, q && tau);
  if (code) return code;
  FINISH(kernels()->gravity(words(model), area(work), in(q), tau), LIST(NQ(q)), LIST(NV(tau)));
}

int liedyn_forward(const liedyn_model *model, void *work, const double *q, const double *v,
                   const double *tau, const double *external, double *a) {
  const int code = begin(model, work, 0, q && v && tau && a);
  if (code) return code;
  FINISH(kernels()->forward(words(model), area(work), in(q), in(v), in(tau), in(external), a),
         LIST(NQ(q), NV(v), NV(tau), WRENCHES(0)), LIST(NV(a)));
}

int liedyn_hybrid(const liedyn_model *model, void *work, const double *q, const double *v,
                  const unsigned char *prescribed, double *a, double *tau, const double *external) {
  return liedyn_hybrid_derivatives(model, work, 0, q, v, prescribed, a, tau, external);
}

int liedyn_inverse_derivatives(const liedyn_model *model, void *work, int order, const double *q,
                               const double *v, const double *a, const double *external,
                               double *tau) {
  const int code = begin(model, work, order, q && v && a && tau);
  if (code) return code;
  FINISH(kernels()->inverse_series(words(model), area(work), order, in(q), in(v), in(a),
                                   in(external), tau),
         LIST(NQ(q), NV(v), ORDERS(a), WRENCHES(order)), LIST(ORDERS(tau)));
}

int liedyn_forward_derivatives(const liedyn_model *model, void *work, int order, const double *q,
                               const double *v, const double *tau, const double *external,
                               double *a) {
  const int code = begin(model, work, order, q && v && tau && a);
  if (code) return code;
  FINISH(kernels()->hybrid_series(words(model), area(work), order, in(q), in(v), NULL, a, in(tau),
                                  in(external)),
         LIST(NQ(q), NV(v), ORDERS(tau), WRENCHES(order)), LIST(ORDERS(a)));
}

int liedyn_hybrid_derivatives(const liedyn_model *model, void *work, int order, const double *q,
                              const double *v, const unsigned char *prescribed, double *a,
                              double *tau, const double *external) {
  const int code = begin(model, work, order, q && v && prescribed && a && tau);
  if (code) return code;
  for (int k = 0; k < liedyn_nv(model); ++k) {
    if (prescribed[k] > 1) return refused(work, LIEDYN_RANGE, "prescribed", k, prescribed[k]);
  }
  FINISH(kernels()->hybrid_series(words(model), area(work), order, in(q), in(v),
                                  (unsigned char *)(uintptr_t)prescribed, a, tau, in(external)),
         LIST(NQ(q), NV(v), GIVEN(a, 1), GIVEN(tau, 0), WRENCHES(order)),
         LIST(ORDERS(a), ORDERS(tau)));
}

int liedyn_mass_matrix(const liedyn_model *model, void *work, const double *q, double *mass) {
  const int code = begin(model, work, 0, q && mass);
  if (code) return code;
  const int64_t nv = liedyn_nv(model);
  FINISH(kernels()->mass_matrix(words(model), area(work), in(q), mass), LIST(NQ(q)),
         LIST(SIZE(mass, nv * nv)));
}

int liedyn_coriolis_matrix(const liedyn_model *model, void *work, const double *q, const double *v,
                           double *coriolis) {
  const int code = begin(model, work, 0, q && v && coriolis);
  if (code) return code;
  const int64_t nv = liedyn_nv(model);
  FINISH(kernels()->coriolis_matrix(words(model), area(work), in(q), in(v), coriolis),
         LIST(NQ(q), NV(v)), LIST(SIZE(coriolis, nv * nv)));
}

int liedyn_kinematics(const liedyn_model *model, void *work, const double *q, const double *v,
                      const double *a, double *poses, double *twists, double *accelerations) {
  const int code = begin(model, work, 0, q && poses && twists && accelerations);
  if (code) return code;
  const int64_t bodies = liedyn_bodies(model);
  FINISH(kernels()->body_motion(words(model), area(work), in(q), in(v), in(a), poses, twists,
                                accelerations),
         LIST(NQ(q), NV(v), NV(a)),
         LIST(SIZE(poses, 16 * bodies), SIZE(twists, 6 * bodies), SIZE(accelerations, 6 * bodies)));
}

/* Return LIEDYN_OK for a frame and axes that are there. */
static int check_frame(const liedyn_model *model, void *work, int frame, int axes) {
  if (frame < 0 || frame >= liedyn_frames(model))
    return refused(work, LIEDYN_RANGE, "frame", -1, frame);
  if (axes < LIEDYN_WORLD || axes > LIEDYN_LOCAL_WORLD_ALIGNED)
    return refused(work, LIEDYN_RANGE, "axes", -1, axes);
  return LIEDYN_OK;
}

int liedyn_frame_pose(const liedyn_model *model, void *work, const double *q, int frame,
                      double *pose) {
  int code = begin(model, work, 0, q && pose);
  if (!code) code = check_frame(model, work, frame, LIEDYN_LOCAL);
  if (code) return code;
  int64_t place = frame;
  FINISH(kernels()->frame_poses(words(model), in(q), &place, 1, pose), LIST(NQ(q)),
         LIST(SIZE(pose, 16)));
}

int liedyn_frame_twist(const liedyn_model *model, void *work, const double *q, const double *v,
                       int frame, int axes, double *twist) {
  int code = begin(model, work, 0, q && v && twist);
  if (!code) code = check_frame(model, work, frame, axes);
  if (code) return code;
  int64_t place = frame;
  FINISH(kernels()->frame_twists(words(model), in(q), in(v), &place, 1, axes, twist),
         LIST(NQ(q), NV(v)), LIST(SIZE(twist, 6)));
}

int liedyn_frame_acceleration(const liedyn_model *model, void *work, const double *q,
                              const double *v, const double *a, int frame, int axes, int classical,
                              double *acceleration) {
  int code = begin(model, work, 0, q && v && a && acceleration);
  if (!code) code = check_frame(model, work, frame, axes);
  if (code) return code;
  int64_t place = frame;
  FINISH(kernels()->frame_accelerations(words(model), in(q), in(v), in(a), &place, 1, axes,
                                        classical, acceleration),
         LIST(NQ(q), NV(v), NV(a)), LIST(SIZE(acceleration, 6)));
}

int liedyn_frame_jacobian(const liedyn_model *model, void *work, const double *q, int frame,
                          int axes, double *jacobian) {
  int code = begin(model, work, 0, q && jacobian);
  if (!code) code = check_frame(model, work, frame, axes);
  if (code) return code;
  FINISH(kernels()->frame_jacobian(words(model), in(q), frame, axes, jacobian), LIST(NQ(q)),
         LIST(SIZE(jacobian, 6 * (int64_t)liedyn_nv(model))));
}

int liedyn_frame_jacobian_rate(const liedyn_model *model, void *work, const double *q,
                               const double *v, int frame, int axes, double *rate) {
  int code = begin(model, work, 0, q && v && rate);
  if (!code) code = check_frame(model, work, frame, axes);
  if (code) return code;
  int64_t place = frame;
  FINISH(kernels()->frame_jacobian_rate(words(model), area(work), in(q), in(v), &place, axes, rate),
         LIST(NQ(q), NV(v)), LIST(SIZE(rate, 6 * (int64_t)liedyn_nv(model))));
}

int liedyn_integrate(const liedyn_model *model, void *work, const double *q, const double *dv,
                     double *result) {
  const int code = begin(model, work, 0, q && dv && result);
  if (code) return code;
  FINISH(kernels()->integrate(words(model), content(model, LINKS), in(q), in(dv), result),
         LIST(NQ(q), NV(dv)), LIST(NQ(result)));
}

int liedyn_difference(const liedyn_model *model, void *work, const double *q0, const double *q1,
                      double *dv) {
  const int code = begin(model, work, 0, q0 && q1 && dv);
  if (code) return code;
  FINISH(kernels()->difference(words(model), content(model, LINKS), in(q0), in(q1), dv),
         LIST(NQ(q0), NQ(q1)), LIST(NV(dv)));
}

const char *liedyn_processor(void) {
#if defined(__x86_64__)
  static const liedyn_kernels v2 = LIEDYN_X86_64_V2_KERNELS;
  const liedyn_kernels *run = kernels();
  return run == NULL ? NULL : run->inverse == v2.inverse ? "x86_64_v2" : "x86_64_v3";
#else
  return "aarch64";
#endif
}

const char *liedyn_message(int code) {
  static const char *const messages[] = {
      "done",
      "an input has a NaN or an infinity",
      "a quaternion is not of unit length",
      "the inputs are so large that a result is not finite",
      "a coordinate whose force is given moves no inertia",
      "a result shares memory with an input",
      "an array is NULL",
      "an order, a frame, axes or a flag is out of range",
      "the work area was not prepared for this model, or is too small",
      "the memory is not aligned to 64 bytes",
      "the model has no such name",
      "the file cannot be read, or is larger than the memory for it",
      "the bytes are not those of a model file",
      "the model file is of another format or layout; write it again by liedyn export",
      "the model file is damaged",
      "the processor is older than x86-64-v2",
      "the model file is of another kind of machine",
      "the matrix is no pose",
      "a rod does not reach the platform",
      "the solver did not converge",
      "nothing is proved",
      "the machine has no masses, or legs for which the library has no such function",
      "the state is not on the constraints",
      "the actuators or the known coordinates do not decide the motion",
      "the constraints do not allow the motion",
      "the constraints become dependent, so that there are no derivatives",
      "no motion that the loops allow leads to the measured joints",
      "the measured joints disagree",
      "a fault of libliedyn",
      "the sample is not later than the last one",
      "the tracker was given no home pose"};
  return code < 0 || code > LIEDYN_NOT_STARTED ? "not a code of libliedyn" : messages[code];
}

int explain_coordinates(const liedyn_model *model, const head *of, char *text, size_t size) {
  if (of->code == LIEDYN_SINGULAR)
    snprintf(text, size, "%s: %s", liedyn_coordinate_name(model, (int)of->entry),
             liedyn_message(LIEDYN_SINGULAR));
  else if (of->code == LIEDYN_NOT_UNIT)
    snprintf(text, size, "%s[%d:%d]: %s, its norm is %.9g", of->argument, (int)of->entry,
             (int)of->entry + 4, liedyn_message(LIEDYN_NOT_UNIT), of->value);
  else
    explain(of, text, size);
  return (int)of->code;
}

int liedyn_explain(const liedyn_model *model, const void *work, char *text, size_t size) {
  if (model == NULL || work == NULL || text == NULL || size == 0) return LIEDYN_NULL;
  const head *of = work;
  if (of->prepared != PREPARED || of->machine != model) return LIEDYN_WORK_AREA;
  return explain_coordinates(model, of, text, size);
}
