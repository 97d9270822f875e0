/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Answer every function on the states in a file: answers MODEL STATES ORDER RESULTS.
 *
 * A state is q, v, a and tau and external (order + 1 rows each), prescribed (nv numbers), dv. The
 * results are those of the functions below, one after the other. */

#include <stdio.h>
#include <stdlib.h>

#include "liedyn.h"

static double *numbers(size_t count) {
  double *found = aligned_alloc(LIEDYN_ALIGNMENT, (8 * count / LIEDYN_ALIGNMENT + 1) * LIEDYN_ALIGNMENT);
  if (found == NULL) abort();
  return found;
}

static void require(int code, const char *what, const liedyn_model *model, const void *work) {
  if (code == LIEDYN_OK) return;
  char text[256] = "";
  if (work != NULL) liedyn_explain(model, work, text, sizeof text);
  fprintf(stderr, "%s: code %d, %s (%s)\n", what, code, liedyn_message(code), text);
  exit(1);
}

static FILE *results;
static void put(const double *values, int count) {
  if (fwrite(values, 8, (size_t)count, results) != (size_t)count) exit(2);
}

#define RUN(call) require(call, #call, model, work)

int main(int count, char **arguments) {
  if (count != 5) return 2;
  const int order = atoi(arguments[3]);
  size_t bytes;
  require(liedyn_file_size(arguments[1], &bytes), "size", NULL, NULL);
  void *memory = numbers(bytes / 8 + 1);
  const liedyn_model *model;
  require(liedyn_load(arguments[1], memory, bytes, &model), "load", NULL, NULL);
  const size_t size = liedyn_work(model, order);
  void *work = numbers(size / 8);
  RUN(liedyn_init(model, order, work, size));
  const int nq = liedyn_nq(model), nv = liedyn_nv(model), bodies = liedyn_bodies(model);
  const int frames = liedyn_frames(model), rows = order + 1, wide = 6 * bodies;
  double *q = numbers(nq), *v = numbers(nv), *a = numbers(rows * nv), *tau = numbers(rows * nv);
  double *external = numbers(rows * wide), *flags = numbers(nv), *dv = numbers(nv);
  double *out = numbers(rows * nv + nv * nv + 6 * nv + 7 * nq), *other = numbers(rows * nv);
  double *jacobians = numbers((size_t)(3 * nv * nv));
  double *poses = numbers(16 * bodies), *twists = numbers(wide), *rates = numbers(wide);
  unsigned char *prescribed = malloc((size_t)nv + 1);
  FILE *states = fopen(arguments[2], "rb");
  results = fopen(arguments[4], "wb");
  if (states == NULL || results == NULL || prescribed == NULL) return 2;
  struct { double *at; int count; } inputs[] = {
      {q, nq}, {v, nv}, {a, rows * nv}, {tau, rows * nv}, {external, rows * wide}, {flags, nv}, {dv, nv}};
  for (;;) {
    for (int i = 0; i < 7; ++i) {
      const size_t read = fread(inputs[i].at, 8, (size_t)inputs[i].count, states);
      if (i == 0 && read == 0 && feof(states)) goto done;
      if (read != (size_t)inputs[i].count) return 3;
    }
    for (int k = 0; k < nv; ++k) prescribed[k] = flags[k] != 0.0;
    RUN(liedyn_inverse(model, work, q, v, a, external, out)); put(out, nv);
    RUN(liedyn_inverse(model, work, q, v, a, NULL, out)); put(out, nv);
    RUN(liedyn_bias(model, work, q, v, external, out)); put(out, nv);
    RUN(liedyn_gravity(model, work, q, out)); put(out, nv);
    RUN(liedyn_forward(model, work, q, v, tau, external, out)); put(out, nv);
    RUN(liedyn_mass_matrix(model, work, q, out)); put(out, nv * nv);
    RUN(liedyn_coriolis_matrix(model, work, q, v, out)); put(out, nv * nv);
    RUN(liedyn_inverse_derivatives(model, work, order, q, v, a, external, out)); put(out, rows * nv);
    RUN(liedyn_forward_derivatives(model, work, order, q, v, tau, external, out)); put(out, rows * nv);
    for (int k = 0; k < rows * nv; ++k) out[k] = a[k], other[k] = tau[k];
    RUN(liedyn_hybrid(model, work, q, v, prescribed, out, other, external));
    put(out, nv); put(other, nv);
    for (int k = 0; k < rows * nv; ++k) out[k] = a[k], other[k] = tau[k];
    RUN(liedyn_hybrid_derivatives(model, work, order, q, v, prescribed, out, other, external));
    put(out, rows * nv); put(other, rows * nv);
    RUN(liedyn_kinematics(model, work, q, v, a, poses, twists, rates));
    put(poses, 16 * bodies); put(twists, wide); put(rates, wide);
    const int frame = frames - 1;
    for (int axes = LIEDYN_WORLD; axes <= LIEDYN_LOCAL_WORLD_ALIGNED; ++axes) {
      RUN(liedyn_frame_pose(model, work, q, frame, out)); put(out, 16);
      RUN(liedyn_frame_twist(model, work, q, v, frame, axes, out)); put(out, 6);
      RUN(liedyn_frame_acceleration(model, work, q, v, a, frame, axes, axes, out)); put(out, 6);
      RUN(liedyn_frame_jacobian(model, work, q, frame, axes, out)); put(out, 6 * nv);
      RUN(liedyn_frame_jacobian_rate(model, work, q, v, frame, axes, out)); put(out, 6 * nv);
    }
    RUN(liedyn_integrate(model, work, q, dv, out)); put(out, nq);
    RUN(liedyn_difference(model, work, q, out, other)); put(other, nv);
    /* The direction is dv, tau, a; y is dv. */
    double *by[3];
    for (int k = 0; k < 3; ++k) by[k] = jacobians + k * nv * nv;
    RUN(liedyn_inverse_jacobians(model, work, q, v, a, external, by[0], by[1], by[2]));
    put(by[0], nv * nv), put(by[1], nv * nv), put(by[2], nv * nv);
    RUN(liedyn_inverse_product(model, work, q, v, a, external, dv, tau, a, out)); put(out, nv);
    RUN(liedyn_inverse_gradient(model, work, q, v, a, external, dv, by[0], by[1], by[2]));
    put(by[0], nv), put(by[1], nv), put(by[2], nv);
    RUN(liedyn_inverse_gradient_product(model, work, q, v, a, external, dv, dv, tau, a, by[0], by[1],
                                        by[2]));
    put(by[0], nv), put(by[1], nv), put(by[2], nv);
    RUN(liedyn_forward_jacobians(model, work, q, v, tau, external, out, by[0], by[1], by[2]));
    put(out, nv), put(by[0], nv * nv), put(by[1], nv * nv), put(by[2], nv * nv);
    RUN(liedyn_forward_product(model, work, q, v, tau, external, dv, tau, a, out, other));
    put(out, nv), put(other, nv);
    RUN(liedyn_forward_gradient(model, work, q, v, tau, external, dv, out, by[0], by[1], by[2]));
    put(out, nv), put(by[0], nv), put(by[1], nv), put(by[2], nv);
  }
done:
  return fclose(results) == 0 ? 0 : 4;
}
