/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/** Efforts for states on stdin: efforts MODEL LAG [JOINT ...]. A state is positions and velocities of
 * the measured joints, then position, velocity, acceleration and jerk of those with efforts. Each is
 * answered at once on stdout. Ends with 3 where update() has allocated. */

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "liedyn_controllers/computed_torque.hpp"

static long allocations = 0;

extern "C" void * __real_malloc(std::size_t size);
extern "C" void * __wrap_malloc(std::size_t size)  // the linker's --wrap=malloc
{
  ++allocations;
  return __real_malloc(size);
}

// The usual one is in a shared library, whose malloc is not wrapped.
__attribute__((noinline)) void * operator new(std::size_t size)
{
  void * memory = std::malloc(size);
  if (memory == nullptr) {throw std::bad_alloc();}
  return memory;
}
__attribute__((noinline)) void operator delete(void * memory) noexcept {std::free(memory);}
__attribute__((noinline)) void operator delete(void * memory, std::size_t) noexcept
{
  std::free(memory);
}

int main(int count, char ** arguments)
{
  if (count < 3) {return 2;}
  liedyn_controllers::Options options;
  options.lag = {std::atof(arguments[2])};
  options.joints.assign(arguments + 3, arguments + count);
  options.home = {0.0, 0.0, 0.5};
  try {
    liedyn_controllers::ComputedTorque law(arguments[1], options);
    const std::size_t n = law.measured().size(), c = law.commanded().size();
    std::vector<double> state(2 * n + 4 * c), effort(c);
    const double * given = state.data() + 2 * n;
    const liedyn_controllers::Reference reference{
      given, given + c, given + 2 * c, given + 3 * c};
    const long before = allocations;
    while (std::fread(state.data(), sizeof(double), state.size(), stdin) == state.size()) {
      const int code = law.update(state.data(), state.data() + n, reference, effort.data());
      if (code != 0) {
        char text[200];
        law.explain(text, sizeof text);
        std::fprintf(stderr, "%d: %s\n", code, text);
        return 1;
      }
      std::fwrite(effort.data(), sizeof(double), effort.size(), stdout);
      std::fflush(stdout);
    }
    return allocations == before ? 0 : 3;
  } catch (const std::exception & error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
