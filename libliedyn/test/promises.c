/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* What the header promises: no allocation, threads, codes. promises MODEL CALLS: prints 'kept'. */

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "liedyn.h"

enum { LARGEST = 64, THREADS = 2 };
static const liedyn_model *model;
static size_t size;

/* Allocations are counted where the program is linked with --wrap=malloc and its like. */
static long allocations;
#ifdef COUNT_ALLOCATIONS
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes) { ++allocations; return __real_malloc(bytes); }
void *__wrap_calloc(size_t count, size_t bytes) { ++allocations; return __real_calloc(count, bytes); }
void *__wrap_realloc(void *memory, size_t bytes) {
  ++allocations;
  return __real_realloc(memory, bytes);
}
#endif

static void *aligned(size_t bytes) {
  void *found = aligned_alloc(LIEDYN_ALIGNMENT, (bytes / LIEDYN_ALIGNMENT + 1) * LIEDYN_ALIGNMENT);
  if (found == NULL) abort();
  return found;
}

#define REQUIRE(condition)                                               \
  do {                                                                   \
    if (!(condition)) {                                                  \
      fprintf(stderr, "line %d: expected %s\n", __LINE__, #condition);   \
      exit(1);                                                           \
    }                                                                    \
  } while (0)

/* One pass of the loop: answers of changing states, added up. */
static double run(void *work, int calls) {
  double q[LARGEST], v[LARGEST], a[LARGEST], tau[LARGEST], rows[4 * LARGEST], out[4 * LARGEST];
  const int nv = liedyn_nv(model);
  double sum = 0.0, mass[LARGEST * LARGEST];
  liedyn_neutral(model, q);
  for (int i = 0; i < 4 * nv; ++i) rows[i] = 0.1 * sin(i);
  for (int k = 0; k < calls; ++k) {
    for (int i = 0; i < nv; ++i) v[i] = sin(0.1 * k + i), a[i] = cos(0.2 * k - i);
    REQUIRE(liedyn_integrate(model, work, q, v, out) == LIEDYN_OK);
    REQUIRE(liedyn_inverse(model, work, out, v, a, NULL, tau) == LIEDYN_OK);
    REQUIRE(liedyn_forward(model, work, out, v, tau, NULL, a) == LIEDYN_OK);
    REQUIRE(liedyn_mass_matrix(model, work, out, mass) == LIEDYN_OK);
    sum += tau[nv - 1] + a[0] + mass[nv * nv - 1];
    REQUIRE(liedyn_inverse_derivatives(model, work, 3, q, v, rows, NULL, out) == LIEDYN_OK);
    sum += out[4 * nv - 1];
  }
  return sum;
}

static void *threaded(void *argument) {
  void *work = aligned(size);
  REQUIRE(liedyn_init(model, 3, work, size) == LIEDYN_OK);
  *(double *)argument = run(work, *(double *)argument > 1e6 ? 1000000 : (int)*(double *)argument);
  free(work);
  return NULL;
}

static void refusals(void *work, void *memory, size_t bytes) {
  double q[LARGEST], v[LARGEST] = {0}, tau[LARGEST];
  char text[160];
  const liedyn_model *other;
  liedyn_neutral(model, q);
  REQUIRE(liedyn_inverse(model, work, q, v, NULL, NULL, NULL) == LIEDYN_NULL);
  REQUIRE(liedyn_inverse(model, work, q, v, NULL, NULL, v) == LIEDYN_OVERLAP);
  REQUIRE(liedyn_explain(model, work, text, sizeof text) == LIEDYN_OVERLAP && text[0] == 'v');
  v[1] = NAN;
  REQUIRE(liedyn_inverse(model, work, q, v, NULL, NULL, tau) == LIEDYN_NOT_FINITE);
  REQUIRE(liedyn_explain(model, work, text, sizeof text) == LIEDYN_NOT_FINITE);
  REQUIRE(strncmp(text, "v[1]: ", 6) == 0);
  v[1] = 1e300;
  REQUIRE(liedyn_inverse(model, work, q, v, NULL, NULL, tau) == LIEDYN_TOO_LARGE);
  v[1] = 0.0;
  for (int i = 0; i < liedyn_nq(model); ++i) q[i] = 0.0; /* no quaternion is of unit length */
  const int code = liedyn_gravity(model, work, q, tau);
  liedyn_neutral(model, q);
  int has_quaternion = 0;
  for (int i = 0; i < liedyn_nq(model); ++i) has_quaternion |= q[i] != 0.0;
  REQUIRE(code == (has_quaternion ? LIEDYN_NOT_UNIT : LIEDYN_OK));
  REQUIRE(liedyn_inverse_derivatives(model, work, 4, q, v, v, NULL, tau) == LIEDYN_RANGE);
  REQUIRE(liedyn_frame_pose(model, work, q, liedyn_frames(model), tau) == LIEDYN_RANGE);
  REQUIRE(liedyn_frame_twist(model, work, q, v, 0, 3, tau) == LIEDYN_RANGE);
  REQUIRE(liedyn_init(model, LIEDYN_MAX_ORDER + 1, work, size) == LIEDYN_RANGE);
  REQUIRE(liedyn_init(model, 3, work, size - 1) == LIEDYN_WORK_AREA);
  REQUIRE(liedyn_init(model, 3, (char *)work + 8, size) == LIEDYN_UNALIGNED);
  REQUIRE(liedyn_open((char *)memory + 8, bytes, &other) == LIEDYN_UNALIGNED);
  REQUIRE(liedyn_open(memory, bytes - 1, &other) == LIEDYN_DAMAGED);
  REQUIRE(liedyn_open(memory, 7, &other) == LIEDYN_NO_MODEL);
  void *blank = aligned(size);
  memset(blank, 0, size);
  REQUIRE(liedyn_gravity(model, blank, q, tau) == LIEDYN_WORK_AREA);
  free(blank);
  liedyn_place place;
  int frame;
  REQUIRE(liedyn_find_joint(model, "no such joint", &place) == LIEDYN_UNKNOWN);
  for (int i = 0; i < liedyn_joints(model); ++i)
    REQUIRE(liedyn_find_joint(model, liedyn_joint_name(model, i), &place) == LIEDYN_OK
            && place.q + place.nq <= liedyn_nq(model) && place.v + place.nv <= liedyn_nv(model));
  for (int i = 0; i < liedyn_frames(model); ++i)
    REQUIRE(liedyn_find_frame(model, liedyn_frame_name(model, i), &frame) == LIEDYN_OK && frame == i);
  REQUIRE(liedyn_coordinate_name(model, liedyn_nv(model)) == NULL);
  REQUIRE(liedyn_load("no such file", memory, bytes, &other) == LIEDYN_FILE);
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  const int calls = atoi(arguments[2]);
  size_t bytes;
  REQUIRE(liedyn_file_size(arguments[1], &bytes) == LIEDYN_OK);
  void *memory = aligned(bytes);
  REQUIRE(liedyn_load(arguments[1], memory, bytes, &model) == LIEDYN_OK);
  REQUIRE(liedyn_nq(model) <= LARGEST);
  size = liedyn_work(model, 3);
  void *work = aligned(size);
  REQUIRE(liedyn_init(model, 3, work, size) == LIEDYN_OK);
  const long before = allocations;
  const double wanted = run(work, calls);
  printf("%s: %d rounds of 5 calls, %ld allocations\n", liedyn_processor(), calls,
         allocations - before);
  REQUIRE(allocations == before);
  pthread_t threads[THREADS];
  double sums[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    sums[i] = calls;
    REQUIRE(pthread_create(&threads[i], NULL, threaded, &sums[i]) == 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], NULL);
    REQUIRE(sums[i] == wanted);
  }
  refusals(work, memory, bytes);
  free(work);
  free(memory);
  puts("kept");
  return 0;
}
