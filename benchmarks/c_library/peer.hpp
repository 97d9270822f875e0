/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

// What the programs share: memory and codes of the library, and the time of calls.

#ifndef BENCHMARKS_C_LIBRARY_PEER_HPP_
#define BENCHMARKS_C_LIBRARY_PEER_HPP_

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <liedyn.h>

#include "pinocchio_model.hpp"

using Vector = Eigen::VectorXd;

inline void *aligned(std::size_t bytes) {
  void *memory = std::aligned_alloc(LIEDYN_ALIGNMENT, (bytes / LIEDYN_ALIGNMENT + 1) * LIEDYN_ALIGNMENT);
  if (memory == nullptr) std::abort();
  return memory;
}

inline void require(int code) {
  if (code == LIEDYN_OK) return;
  std::fprintf(stderr, "%s\n", liedyn_message(code));
  std::exit(1);
}

// Processor time of this thread, us: another program's work is not counted.
inline double now() {
  timespec at;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return 1e6 * static_cast<double>(at.tv_sec) + 1e-3 * static_cast<double>(at.tv_nsec);
}

inline double micros(const std::function<void(std::size_t)> &call, std::size_t states, int repeats) {
  const double begin = now();
  for (int r = 0; r < repeats; ++r) {
    for (std::size_t k = 0; k < states; ++k) call(k);
  }
  return (now() - begin) / (repeats * static_cast<double>(states));
}

struct Row { std::string name; std::function<void(std::size_t)> ours, theirs; };

// Print a line for each algorithm and round: its name, and the times of a call of each library (us).
inline void time(const std::vector<Row> &rows, std::size_t states, int rounds) {
  for (const Row &row : rows) {
    const double guess = micros(row.ours, states, 20) + micros(row.theirs, states, 20);
    const int repeats = std::max(1, static_cast<int>(1000.0 / (guess * static_cast<double>(states))));
    for (int r = 0; r < rounds; ++r) {
      const double ours = micros(row.ours, states, repeats);
      const double theirs = micros(row.theirs, states, repeats);
      std::printf("%s\t%.6f\t%.6f\n", row.name.c_str(), ours, theirs);
    }
  }
}

#endif  // BENCHMARKS_C_LIBRARY_PEER_HPP_
