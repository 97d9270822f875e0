/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Answer every function of platforms on the states in a file: platforms MODEL STATES ORDER RESULTS.
 *
 * A state is pose, guess, twist, a and external (order + 1 rows each). The results are those of the
 * functions below, one after the other; a function that the platform has not gives none. */

#include <stdio.h>
#include <stdlib.h>

#include "liedyn.h"

static const liedyn_platform *platform;
static void *work;

static void *aligned(size_t bytes) {
  void *found = aligned_alloc(LIEDYN_ALIGNMENT, (bytes / LIEDYN_ALIGNMENT + 1) * LIEDYN_ALIGNMENT);
  if (found == NULL) abort();
  return found;
}

static void require(int code, const char *what) {
  if (code == LIEDYN_OK) return;
  char text[256] = "";
  if (work != NULL) liedyn_platform_explain(platform, work, text, sizeof text);
  fprintf(stderr, "%s: code %d, %s (%s)\n", what, code, liedyn_message(code), text);
  exit(1);
}

static FILE *results;
static void put(const double *values, int count) {
  if (fwrite(values, 8, (size_t)count, results) != (size_t)count) exit(2);
}

#define RUN(call) require(call, #call)

int main(int count, char **arguments) {
  if (count != 5) return 2;
  enum { LARGEST = LIEDYN_MAX_ORDER + 1 };
  static double pose[16], guess[16], twist[6], a[6 * LARGEST], external[6 * LARGEST];
  static double lengths[6], found[16], out[6 * LARGEST], back[6 * LARGEST], rates[6 * LARGEST];
  const int order = atoi(arguments[3]), rows = 6 * (order + 1);
  size_t bytes;
  RUN(liedyn_file_size(arguments[1], &bytes));
  void *memory = aligned(bytes);
  RUN(liedyn_platform_load(arguments[1], memory, bytes, &platform));
  const size_t size = liedyn_platform_work(platform, order);
  void *mine = aligned(size);
  RUN(liedyn_platform_init(platform, order, mine, size));
  work = mine;
  FILE *states = fopen(arguments[2], "rb");
  results = fopen(arguments[4], "wb");
  if (states == NULL || results == NULL) return 2;
  struct { double *at; int count; } inputs[] = {
      {pose, 16}, {guess, 16}, {twist, 6}, {a, rows}, {external, rows}};
  for (;;) {
    for (int i = 0; i < 5; ++i) {
      const size_t read = fread(inputs[i].at, 8, (size_t)inputs[i].count, states);
      if (i == 0 && read == 0 && feof(states)) return fclose(results) == 0 ? 0 : 4;
      if (read != (size_t)inputs[i].count) return 3;
    }
    RUN(liedyn_platform_lengths(platform, work, pose, lengths)); put(lengths, 6);
    double jacobian[36], margins[33];
    RUN(liedyn_platform_jacobian(platform, work, pose, LIEDYN_LOCAL, jacobian)); put(jacobian, 36);
    RUN(liedyn_platform_jacobian(platform, work, pose, LIEDYN_WORLD, jacobian)); put(jacobian, 36);
    RUN(liedyn_platform_margins(platform, work, pose, margins)); put(margins, 33);
    liedyn_singularity singular;
    RUN(liedyn_platform_singularity(platform, work, pose, &singular));
    put(&singular.signed_value, 1), put(&singular.slope, 1), put(singular.null_twist, 6);
    liedyn_solution solution;
    const int code = liedyn_platform_solve(platform, work, lengths, guess, found, &solution);
    if (code != LIEDYN_NOT_CONVERGED) RUN(code);
    const double numbers[] = {solution.status, solution.iterations, solution.residual};
    put(found, 16), put(numbers, 3), put(&solution.smallest_singular_value, 1);
    put(&solution.signed_value, 1), put(&solution.slope, 1);
    liedyn_certificate proof;
    const int proved = liedyn_platform_certify(platform, work, found, lengths, &proof);
    if (proved == LIEDYN_OK || proved == LIEDYN_NOT_PROVED) {
      put(&proof.error_radius, 1), put(&proof.uniqueness_radius, 1), put(&proof.regular_radius, 1);
      put(proof.bounds, 6);
    } else if (proved != LIEDYN_ABSENT) RUN(proved);
    const int moved = liedyn_platform_inverse(platform, work, order, pose, twist, a, external, out, rates);
    if (moved == LIEDYN_ABSENT) continue;
    RUN(moved); put(out, rows), put(rates, rows);
    RUN(liedyn_platform_forward(platform, work, order, pose, twist, a, external, back, rates));
    put(back, rows), put(rates, rows);
  }
}
