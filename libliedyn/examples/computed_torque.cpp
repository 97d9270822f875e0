/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

// Computed torque at 1 kHz on a simulated robot: tau = M(q) (a_d + kd e' + kp e) + b(q, v), by one
// inverse dynamics. computed_torque MODEL SECONDS prints the largest error, and times of a cycle.

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "liedyn.hpp"

namespace {
constexpr double PERIOD = 1e-3, KP = 400.0, KD = 40.0;  // s, 1/s^2, 1/s: critically damped

double seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void sleep_until(double time) {
  timespec at{};
  at.tv_sec = static_cast<time_t>(time);
  at.tv_nsec = static_cast<long>(1e9 * (time - std::floor(time)));
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

void print(const char *what, std::vector<double> &times) {
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) { return 1e6 * times[static_cast<std::size_t>(
      share * static_cast<double>(times.size() - 1))]; };
  std::printf("%s: median %.1f us, 99.9 %% %.1f us, 99.99 %% %.1f us, most %.1f us\n", what, at(0.5),
              at(0.999), at(0.9999), at(1.0));
}
}  // namespace

int main(int count, char **arguments) try {
  if (count != 3) {
    std::fprintf(stderr, "computed_torque MODEL SECONDS\n");
    return 2;
  }
  const liedyn::Model model(arguments[1]);
  if (model.nq() != model.nv()) {
    std::fprintf(stderr, "expected joints of one coordinate each\n");
    return 2;
  }
  liedyn::Work work(model), robot(model);  // of the controller and of the simulated robot
  const int nv = model.nv(), cycles = static_cast<int>(std::atof(arguments[2]) / PERIOD);
  liedyn::Vector q = model.neutral(), v = liedyn::Vector::Zero(nv), a(nv), tau(nv), moved(nv);
  liedyn::Vector goal(nv), rate(nv), acceleration(nv);
  std::vector<double> late(static_cast<std::size_t>(cycles)), took(late);
  double error = 0.0, due = seconds();
  for (int k = 0; k < cycles; ++k) {
    due += PERIOD;
    sleep_until(due);
    const double begin = seconds();
    for (int i = 0; i < nv; ++i) {
      const double phase = k * PERIOD + 0.3 * i;  // a sine of 0.5 rad at 1 rad/s, from rest
      const double start = std::min(1.0, k * PERIOD);
      const double s = start * start * (3.0 - 2.0 * start), ds = 6.0 * start * (1.0 - start);
      const double dds = start < 1.0 ? 6.0 - 12.0 * start : 0.0;
      const double x = 0.5 * std::sin(phase), dx = 0.5 * std::cos(phase);
      goal[i] = s * x, rate[i] = ds * x + s * dx;
      acceleration[i] = dds * x + 2.0 * ds * dx - s * x;
      a[i] = acceleration[i] + KD * (rate[i] - v[i]) + KP * (goal[i] - q[i]);
      error = std::max(error, std::abs(goal[i] - q[i]));
    }
    work.inverse(q, v, a, tau);
    const double end = seconds();
    late[static_cast<std::size_t>(k)] = begin - due;
    took[static_cast<std::size_t>(k)] = end - begin;
    robot.forward(q, v, tau, a);  // the robot, by semi-implicit steps
    v += PERIOD * a;
    moved = PERIOD * v;
    robot.integrate(q, moved, goal);
    q = goal;
  }
  std::printf("largest error %.2e rad\n", error);
  print("begin after its time", late);
  print("controller", took);
  return 0;
} catch (const liedyn::Error &error) {
  std::fprintf(stderr, "computed_torque: %s\n", error.what());
  return 1;
}
