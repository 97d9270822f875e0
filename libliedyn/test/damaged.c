/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Open damaged model files: damaged MODEL ROUNDS SEED [Q]; Q is a file of a closed configuration,
 * from which loops are used. Bytes change at random, and the checksum is
 * made right again, so that every check of the content is reached. Each is refused with a code, or
 * runs. Prints how often each code came. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "liedyn.h"

static uint64_t state;
static uint64_t next(void) { /* xorshift64* */
  state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
  return state * 2685821657736338717u;
}

static uint32_t checksum(const unsigned char *bytes, size_t count) {
  static uint32_t table[256];
  for (uint32_t i = 0; table[255] == 0 && i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) {
      table[i] = (table[i] >> 1) ^ (0xedb88320u & (0u - (table[i] & 1u)));
    }
  }
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < count; ++i) crc = table[(crc ^ bytes[i]) & 255u] ^ (crc >> 8);
  return ~crc;
}

static void use(const liedyn_model *model) { /* a model that was accepted runs */
  const size_t size = liedyn_work(model, 1);
  if (size > 1u << 26) return;
  void *work = aligned_alloc(64, size / 64 * 64 + 64);
  const size_t numbers = (size_t)liedyn_nq(model) + (size_t)liedyn_nv(model) + 1;
  double *q = calloc(numbers, 8), *v = calloc(numbers, 8), *tau = calloc(numbers, 8);
  if (work == NULL || q == NULL || v == NULL || tau == NULL) exit(2);
  if (liedyn_init(model, 1, work, size) != LIEDYN_OK || liedyn_neutral(model, q)) exit(3);
  liedyn_inverse(model, work, q, v, NULL, NULL, tau);
  liedyn_forward(model, work, q, v, tau, NULL, v);
  for (int i = 0; i < liedyn_frames(model); ++i) {
    double pose[16];
    int frame;
    liedyn_frame_pose(model, work, q, i, pose);
    if (liedyn_find_frame(model, liedyn_frame_name(model, i), &frame)) exit(4);
  }
  free(work), free(q), free(v), free(tau);
}

static void use_platform(const liedyn_platform *platform) {
  const size_t size = liedyn_platform_work(platform, 1);
  void *work = aligned_alloc(64, size / 64 * 64 + 64);
  if (work == NULL) exit(2);
  if (liedyn_platform_init(platform, 1, work, size) != LIEDYN_OK) exit(3);
  double pose[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0.5, 0, 0, 0, 1}, lengths[6] = {1, 1, 1, 1, 1, 1};
  double twist[6] = {0}, a[12] = {0}, forces[12], rates[12], margins[33], jacobian[36];
  liedyn_singularity singular;
  liedyn_solution solution;
  liedyn_certificate proof;
  liedyn_platform_lengths(platform, work, pose, lengths);
  liedyn_platform_jacobian(platform, work, pose, LIEDYN_LOCAL, jacobian);
  liedyn_platform_singularity(platform, work, pose, &singular);
  liedyn_platform_margins(platform, work, pose, margins);
  liedyn_platform_certify(platform, work, pose, lengths, &proof);
  liedyn_platform_inverse(platform, work, 1, pose, twist, a, NULL, forces, rates);
  liedyn_platform_solve(platform, work, lengths, pose, pose, &solution);
  liedyn_tracked tracked;
  liedyn_platform_restart(platform, work, pose, 1e-4);
  for (int k = 0; k < 3; ++k) {
    liedyn_platform_track(platform, work, 1000000 * k, lengths, k == 1 ? twist : NULL, &tracked);
    lengths[k] += 1e-4;
  }
  for (int i = 0; i < 6; ++i) {
    int leg;
    if (liedyn_find_leg(platform, liedyn_leg_name(platform, i), &leg)) exit(4);
  }
  free(work);
}

static double closed[256]; /* a configuration of the good file */
static size_t numbers_of_closed;

static void use_loops(const liedyn_loops *loops) {
  const size_t size = liedyn_loops_work(loops);
  if (size > 1u << 26) return;
  const liedyn_model *tree = liedyn_loops_tree(loops);
  const size_t nq = (size_t)liedyn_nq(tree), nv = (size_t)liedyn_nv(tree), m = (size_t)liedyn_constraints(loops);
  const size_t rows = (size_t)liedyn_loops_order(loops) + 1;
  const int order = (int)rows - 1;
  void *work = aligned_alloc(64, size / 64 * 64 + 64);
  double *q = calloc(nq + 1, 8), *v = calloc(nv + 1, 8), *a = calloc(rows * nv + 1, 8);
  double *tau = calloc(rows * nv + 1, 8), *residual = calloc(m + 1, 8), *by = calloc(3 * nv * nv + nq + 1, 8);
  double *positions = calloc(nv + 1, 8);
  unsigned char *known = calloc(nv + 1, 1);
  if (!work || !q || !v || !a || !tau || !residual || !by || !positions || !known) exit(2);
  if (liedyn_loops_init(loops, work, size) != LIEDYN_OK || liedyn_neutral(tree, q)) exit(3);
  if (numbers_of_closed == nq) memcpy(q, closed, 8 * nq);
  liedyn_loops_residual(loops, work, q, residual, NULL);
  for (int k = 0; k < 2; ++k) liedyn_loops_assemble(loops, work, k, q, NULL, k, by, NULL);
  liedyn_loops_restart(loops, work, q);
  for (int k = 0; k < liedyn_measured(loops); ++k) {
    liedyn_place place;
    if (liedyn_find_joint(tree, liedyn_measured_name(loops, k), &place) == LIEDYN_OK && place.nq == 1)
      positions[k] = q[place.q] + 0.01;
  }
  liedyn_loops_track(loops, work, positions, v, by, v, NULL);
  liedyn_loops_complete_velocity(loops, work, q, NULL, v);
  liedyn_loops_complete_acceleration(loops, work, order, q, v, NULL, a);
  liedyn_loops_inverse(loops, work, order, q, v, a, NULL, tau, NULL);
  liedyn_loops_forward(loops, work, order, q, v, tau, NULL, a, NULL);
  if (nv > 0) known[0] = 1;
  liedyn_loops_hybrid(loops, work, order, q, v, known, a, tau, NULL, NULL);
  liedyn_loops_inverse_jacobians(loops, work, q, v, a, NULL, tau, by, by + nv * nv, by + 2 * nv * nv);
  liedyn_loops_forward_jacobians(loops, work, q, v, tau, NULL, a, by, by + nv * nv, by + 2 * nv * nv);
  free(work), free(q), free(v), free(a), free(tau), free(residual), free(by), free(positions), free(known);
}

enum kind { OF_TREE, OF_PLATFORM, OF_LOOPS };

/* Open the bytes as the machine of the good file, and use it. */
static int try(const void *memory, size_t length, enum kind kind) {
  const liedyn_model *model;
  const liedyn_platform *platform;
  const liedyn_loops *loops;
  const int code = kind == OF_PLATFORM ? liedyn_platform_open(memory, length, &platform)
                   : kind == OF_LOOPS ? liedyn_loops_open(memory, length, &loops)
                                      : liedyn_open(memory, length, &model);
  if (code != LIEDYN_OK) return code;
  if (kind == OF_PLATFORM) use_platform(platform);
  else if (kind == OF_LOOPS) use_loops(loops);
  else use(model);
  return code;
}

int main(int count, char **arguments) {
  if (count != 4 && count != 5) return 2;
  FILE *configuration = count == 5 ? fopen(arguments[4], "rb") : NULL;
  if (configuration != NULL) {
    numbers_of_closed = fread(closed, 8, sizeof closed / 8, configuration);
    fclose(configuration);
  }
  size_t bytes;
  if (liedyn_file_size(arguments[1], &bytes)) return 2;
  unsigned char *good = malloc(bytes), *memory = aligned_alloc(64, bytes / 64 * 64 + 64);
  FILE *file = fopen(arguments[1], "rb");
  if (good == NULL || memory == NULL || file == NULL || fread(good, 1, bytes, file) != bytes) return 2;
  fclose(file);
  memcpy(memory, good, bytes);
  const liedyn_platform *platform;
  const liedyn_loops *loops;
  const enum kind kind = liedyn_platform_open(memory, bytes, &platform) == LIEDYN_OK ? OF_PLATFORM
                         : liedyn_loops_open(memory, bytes, &loops) == LIEDYN_OK ? OF_LOOPS : OF_TREE;
  const long rounds = atol(arguments[2]);
  long codes[LIEDYN_INTERNAL + 1] = {0};
  state = 88172645463325252u ^ (uint64_t)atol(arguments[3]);
  for (long k = 0; k < rounds; ++k) {
    memcpy(memory, good, bytes);
    const size_t changes = 1 + next() % 4, length = next() % 16 ? bytes : next() % (bytes + 1);
    for (size_t i = 0; i < changes; ++i) {
      const size_t at = next() % 2 ? next() % bytes : next() % 512 % bytes;
      if (next() % 2) memory[at] = (unsigned char)next();
      else memory[at] ^= (unsigned char)(1u << next() % 8);
    }
    if (length == bytes && next() % 8) {
      const int64_t crc = checksum(memory + 64, bytes - 64);
      memcpy(memory + 32, &crc, 8);
    }
    const int code = try(memory, length, kind);
    if (code < 0 || code > LIEDYN_INTERNAL) return 5;
    ++codes[code];
  }
  for (int i = 0; i <= LIEDYN_INTERNAL; ++i) {
    if (codes[i]) printf("%ld times: %s\n", codes[i], liedyn_message(i));
  }
  free(good), free(memory);
  return 0;
}
