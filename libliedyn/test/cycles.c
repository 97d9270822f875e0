/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Watches the cycles of a program on rcl, as a library that is loaded before it (LD_PRELOAD). A cycle
 * is from the call that takes a message to the end of the publication that follows. LIEDYN_CYCLES
 * names the file that it writes at the end: for each cycle a row of
 * the allocations between both calls, the time between both calls, the time of the cycle, the age of
 * the message by its stamp, and the end; times are in ns. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 1000000 };
typedef struct { int64_t allocations, between, whole, age, end; } row;
static row rows[MOST];
static int64_t count, called, taken, stamp;
static __thread __attribute__((tls_model("initial-exec"))) int is_between;
static int64_t allocations;

static int64_t now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return INT64_C(1000000000) * time.tv_sec + time.tv_nsec;
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t number, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *malloc(size_t bytes) { allocations += is_between; return __libc_malloc(bytes); }
void *calloc(size_t number, size_t bytes) {
  allocations += is_between;
  return __libc_calloc(number, bytes);
}
void *realloc(void *memory, size_t bytes) {
  allocations += is_between;
  return __libc_realloc(memory, bytes);
}

int rcl_take(const void *subscription, void *message, void *info, void *reserved) {
  static int (*next)(const void *, void *, void *, void *);
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "rcl_take");
  called = now(CLOCK_MONOTONIC);
  const int code = next(subscription, message, info, reserved);
  const struct { int32_t sec; uint32_t nanosec; } *time = message; /* of its header */
  stamp = INT64_C(1000000000) * time->sec + time->nanosec;
  taken = now(CLOCK_MONOTONIC);
  allocations = 0, is_between = 1;
  return code;
}

int rcl_publish(const void *publisher, const void *message, void *reserved) {
  static int (*next)(const void *, const void *, void *);
  is_between = 0;
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "rcl_publish");
  const int64_t done = now(CLOCK_MONOTONIC);
  const int code = next(publisher, message, reserved);
  const int64_t end = now(CLOCK_MONOTONIC);
  if (count < MOST)
    rows[count++] = (row){allocations, done - taken, end - called, now(CLOCK_REALTIME) - stamp, end};
  return code;
}

__attribute__((destructor)) static void write_rows(void) {
  const char *path = getenv("LIEDYN_CYCLES");
  FILE *file = path == NULL || count == 0 ? NULL : fopen(path, "wb");
  if (file == NULL) return;
  fwrite(rows, sizeof(row), (size_t)count, file);
  fclose(file);
}
