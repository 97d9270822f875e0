/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

#include <array>
#include <algorithm>
#include <cmath>
#include <sstream>

#include "machine.hpp"

namespace liedyn_controllers
{
namespace
{

constexpr int SIX = 6;

/// Factors of a matrix (6, 6) by rows, with the largest pivot of each column.
class Factors
{
public:
  /// Take a matrix; return whether it is regular.
  bool factor(const double * matrix) noexcept
  {
    std::copy_n(matrix, SIX * SIX, a_.begin());
    for (int k = 0; k < SIX; ++k) {
      int p = k;
      for (int i = k + 1; i < SIX; ++i) {
        if (std::fabs(at(i, k)) > std::fabs(at(p, k))) {p = i;}
      }
      row_[k] = p;
      if (!(std::fabs(at(p, k)) > 0.0)) {return false;}
      for (int j = 0; j < SIX; ++j) {std::swap(at(k, j), at(p, j));}
      for (int i = k + 1; i < SIX; ++i) {
        at(i, k) /= at(k, k);
        for (int j = k + 1; j < SIX; ++j) {at(i, j) -= at(i, k) * at(k, j);}
      }
    }
    return true;
  }

  /// Replace b (6) by the solution.
  void solve(double * b) const noexcept
  {
    for (int k = 0; k < SIX; ++k) {std::swap(b[k], b[row_[k]]);}
    for (int i = 0; i < SIX; ++i) {
      for (int k = 0; k < i; ++k) {b[i] -= a_[SIX * i + k] * b[k];}
    }
    for (int i = SIX - 1; i >= 0; --i) {
      for (int k = i + 1; k < SIX; ++k) {b[i] -= a_[SIX * i + k] * b[k];}
      b[i] /= a_[SIX * i + i];
    }
  }

private:
  double & at(int i, int k) noexcept {return a_[SIX * i + k];}

  std::array<double, SIX * SIX> a_;
  std::array<int, SIX> row_;
};

/// A Stewart platform: its pose from the leg lengths, from the last one on.
class Platform : public Machine
{
public:
  Platform(
    Memory content, const liedyn_platform * platform, const std::vector<std::string> & joints,
    const std::vector<double> & home)
  : content_(std::move(content)), platform_(platform)
  {
    for (int k = 0; k < SIX; ++k) {measured.push_back(liedyn_leg_name(platform, k));}
    if (!joints.empty() && joints != measured) {
      throw std::runtime_error("joints: expected the legs in the order of the file, or none named");
    }
    commanded = measured;
    pose_ = home_pose(home);
    const std::size_t bytes = liedyn_platform_work(platform, 1);
    work_ = aligned(bytes);
    require(liedyn_platform_init(platform, 1, work_.get(), bytes), "model");
    const int code = liedyn_platform_inverse(
      platform, work_.get(), 0, pose_.data(), twist_.data(), a_.data(), nullptr, forces_.data(),
      length_rates_.data());
    if (code == LIEDYN_ABSENT) {require(code, "model");}
  }

  int read(const double * position, const double * velocity) noexcept override
  {
    liedyn_solution found;
    double pose[16], jacobian[SIX * SIX];
    int code = liedyn_platform_solve(
      platform_, work_.get(), position, pose_.data(), pose, &found);
    if (code == LIEDYN_OK) {
      code = liedyn_platform_jacobian(platform_, work_.get(), pose, LIEDYN_LOCAL, jacobian);
    }
    if (code != LIEDYN_OK) {return code;}
    if (!factors_.factor(jacobian)) {return LIEDYN_NOT_CONVERGED;}
    std::copy_n(pose, 16, pose_.begin());
    std::copy_n(position, SIX, lengths_.begin());
    std::copy_n(velocity, SIX, rates_.begin());
    std::copy_n(velocity, SIX, twist_.begin());
    factors_.solve(twist_.data());
    return LIEDYN_OK;
  }

  std::string configuration() const override
  {
    std::ostringstream text;
    text << "platform at " << pose_[3] << ' ' << pose_[7] << ' ' << pose_[11] << " m, its z axis "
         << pose_[2] << ' ' << pose_[6] << ' ' << pose_[10];
    return text.str();
  }

  void state(double * position, double * velocity) const noexcept override
  {
    std::copy_n(lengths_.begin(), SIX, position);
    std::copy_n(rates_.begin(), SIX, velocity);
  }

  /// The legs' accelerations are J a and what the twist adds; so are their later derivatives.
  int effort(
    int order, const double * acceleration, const double * jerk, double * effort,
    double * rate) noexcept override
  {
    const double * wanted[] = {acceleration, jerk};
    a_.fill(0.0);
    for (int k = 0; k <= order; ++k) {
      const int code = inverse(k);
      if (code != LIEDYN_OK) {return code;}
      for (int i = 0; i < SIX; ++i) {a_[SIX * k + i] = wanted[k][i] - length_rates_[SIX * k + i];}
      factors_.solve(&a_[SIX * k]);
    }
    const int code = inverse(order);
    std::copy_n(forces_.begin(), SIX, effort);
    std::copy_n(forces_.begin() + SIX, SIX, rate);
    return code;
  }

  int explain(char * text, std::size_t size) const noexcept override
  {
    return liedyn_platform_explain(platform_, work_.get(), text, size);
  }

private:
  int inverse(int order) noexcept
  {
    return liedyn_platform_inverse(
      platform_, work_.get(), order, pose_.data(), twist_.data(), a_.data(), nullptr,
      forces_.data(), length_rates_.data());
  }

  Memory content_, work_;
  const liedyn_platform * platform_;
  Factors factors_;
  std::array<double, 16> pose_;
  std::array<double, SIX> lengths_{}, rates_{}, twist_{};
  std::array<double, 2 * SIX> a_{}, forces_{}, length_rates_{};
};

}  // namespace

std::array<double, 16> home_pose(const std::vector<double> & home)
{
  if (home.size() != 3) {
    throw std::runtime_error(
      "home: expected x, y, z (m) of the platform near its first pose, got " +
      (home.empty() ? std::string("none") : std::to_string(home.size()) + " numbers"));
  }
  return {1, 0, 0, home[0], 0, 1, 0, home[1], 0, 0, 1, home[2], 0, 0, 0, 1};
}

std::unique_ptr<Machine> make_platform(
  Memory content, const liedyn_platform * platform, const std::vector<std::string> & joints,
  const std::vector<double> & home)
{
  return std::make_unique<Platform>(std::move(content), platform, joints, home);
}

}  // namespace liedyn_controllers
