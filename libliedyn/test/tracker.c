/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Follow a platform through the samples of a file: tracker MODEL START SAMPLES RESULTS.
 *
 * START has the home pose and the noise of a length (m). A sample is its time (a whole number, ns),
 * six lengths, and six rates, NaN where none are measured. A time below zero confirms the last pose.
 * A row of the results is the code, pose, solution, twist and its span, start, flags, sign, rate, gap
 * and source. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "liedyn.h"

static void *aligned(size_t bytes) {
  void *found = aligned_alloc(LIEDYN_ALIGNMENT, (bytes / LIEDYN_ALIGNMENT + 1) * LIEDYN_ALIGNMENT);
  if (found == NULL) abort();
  return found;
}

static void require(int code, const char *what) {
  if (code == LIEDYN_OK) return;
  fprintf(stderr, "%s: %s\n", what, liedyn_message(code));
  exit(1);
}

#define RUN(call) require(call, #call)

int main(int count, char **arguments) {
  if (count != 5) return 2;
  const liedyn_platform *platform;
  double start[17], sample[13];
  size_t bytes;
  RUN(liedyn_file_size(arguments[1], &bytes));
  void *memory = aligned(bytes);
  RUN(liedyn_platform_load(arguments[1], memory, bytes, &platform));
  const size_t size = liedyn_platform_work(platform, 0);
  void *work = aligned(size);
  RUN(liedyn_platform_init(platform, 0, work, size));
  liedyn_tracked tracked;
  memset(&tracked, 0, sizeof tracked);
  FILE *begin = fopen(arguments[2], "rb"), *samples = fopen(arguments[3], "rb");
  FILE *results = fopen(arguments[4], "wb");
  if (begin == NULL || samples == NULL || results == NULL || fread(start, 8, 17, begin) != 17) return 2;
  fclose(begin);
  if (liedyn_platform_track(platform, work, 0, start, NULL, &tracked) != LIEDYN_NOT_STARTED) return 3;
  RUN(liedyn_platform_restart(platform, work, start, start[16]));
  if (liedyn_platform_confirm(platform, work) != LIEDYN_NOT_STARTED) return 3;
  while (fread(sample, 8, 13, samples) == 13) {
    int64_t stamp;
    memcpy(&stamp, sample, 8);
    if (stamp < 0) {
      RUN(liedyn_platform_confirm(platform, work));
      continue;
    }
    const int code = liedyn_platform_track(platform, work, stamp, sample + 1,
                                           isnan(sample[7]) ? NULL : sample + 7, &tracked);
    const liedyn_solution *of = &tracked.solution;
    double row[36] = {code};
    const double solution[] = {of->status, of->iterations, of->residual, of->smallest_singular_value,
                               of->signed_value, of->slope};
    const double rest[] = {tracked.twist_span, tracked.start, tracked.flags, tracked.sign, tracked.rate,
                           tracked.gap, tracked.branch_source};
    memcpy(row + 1, tracked.pose, sizeof tracked.pose);
    memcpy(row + 17, solution, sizeof solution);
    memcpy(row + 23, tracked.twist, sizeof tracked.twist);
    memcpy(row + 29, rest, sizeof rest);
    if (fwrite(row, sizeof row, 1, results) != 1) return 4;
  }
  fclose(samples), free(work), free(memory);
  return fclose(results) == 0 ? 0 : 4;
}
