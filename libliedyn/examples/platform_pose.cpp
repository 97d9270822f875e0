/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

// The pose of a Stewart platform from its leg lengths at each cycle, with its proof, and the leg
// forces that hold it: platform_pose MODEL HEIGHT CYCLES. The platform swings about HEIGHT (m).

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "liedyn.hpp"

namespace {
liedyn::Pose pose_at(double height, double time) {
  const double angle = 0.1 * std::sin(time);
  liedyn::Pose pose = liedyn::Pose::Identity();
  pose(0, 0) = pose(1, 1) = std::cos(angle);
  pose(1, 0) = std::sin(angle), pose(0, 1) = -pose(1, 0);
  pose(0, 3) = 0.02 * std::sin(2.0 * time), pose(2, 3) = height + 0.02 * std::cos(time);
  return pose;
}
}  // namespace

int main(int count, char **arguments) try {
  if (count != 4) {
    std::fprintf(stderr, "platform_pose MODEL HEIGHT CYCLES\n");
    return 2;
  }
  const liedyn::Platform platform(arguments[1]);
  liedyn::PlatformWork work(platform);
  const double height = std::atof(arguments[2]);
  const int cycles = std::atoi(arguments[3]);
  liedyn::Pose pose = pose_at(height, 0.0);
  liedyn::Legs lengths, forces;
  liedyn_certificate proof{};
  double error = 0.0, least = 1e300;
  int proved = 0, iterations = 0;
  for (int k = 1; k <= cycles; ++k) {
    const liedyn::Pose truth = pose_at(height, 1e-3 * k);
    work.lengths(truth, lengths);  // a robot measures them
    const liedyn_solution solution = work.solve(lengths, pose);
    proved += work.certify(pose, lengths, proof);
    iterations += solution.iterations;
    least = std::min(least, solution.smallest_singular_value);
    error = std::max(error, (pose - truth).cwiseAbs().maxCoeff());
  }
  work.inverse(pose, liedyn::Twist::Zero(), liedyn::Twist::Zero(), forces);
  std::printf("largest error %.2e, %d of %d proved, %d iterations, least singular value %.3f\n",
              error, proved, cycles, iterations, least);
  std::printf("force of %s: %.2f N\n", liedyn_leg_name(platform.get(), 0), forces[0]);
  return 0;
} catch (const liedyn::Error &error) {
  std::fprintf(stderr, "platform_pose: %s\n", error.what());
  return 1;
}
