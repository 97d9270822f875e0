/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/** Computed torque by libliedyn: the core of the controller, without ROS. */

#ifndef LIEDYN_CONTROLLERS__COMPUTED_TORQUE_HPP_
#define LIEDYN_CONTROLLERS__COMPUTED_TORQUE_HPP_

#include <memory>
#include <string>
#include <vector>

namespace liedyn_controllers
{

class Machine;

struct Options
{
  /// Joints that get efforts; by default all of a tree, and those that are measured otherwise.
  std::vector<std::string> joints;
  /// 1/s^2, 1/s, s: one number for all joints, or one for each.
  std::vector<double> kp{400.0}, kd{40.0}, lag{0.0};
  /// Position of a platform (m) from which its first pose is searched; it must be given.
  std::vector<double> home{};
  /// Rough positions that choose the assembly of closed loops: 'knee:=0.5 ankle:=-1.2', else 0.
  std::string start{};
  /// 1/s: external efforts are followed with the time constant of its inverse.
  double observer_gain = 50.0;
};

/// What the joints that get efforts shall do now, each in their order.
struct Reference
{
  const double * position;
  const double * velocity;
  const double * acceleration;
  const double * jerk;
};

/**
 * Efforts that let the joints follow a reference: acceleration a = a_d + kd (v_d - v) + kp (q_d - q).
 *
 * Joints without effort move freely: hybrid dynamics finds their accelerations. Closed loops are
 * completed from the measured joints, and the pose of a Stewart platform from its legs. Where drives
 * lag, T d(tau)/dt + tau = u, the effort is u = tau + T d(tau)/dt, by time derivatives of order one.
 *
 * The constructor reads the file and allocates. No other call allocates, waits or throws.
 */
class ComputedTorque
{
public:
  /// Throws std::runtime_error, which names what was expected, for a file or options that do not fit.
  ComputedTorque(const std::string & model, const Options & options);
  ~ComputedTorque();
  ComputedTorque(ComputedTorque &&) noexcept;

  const std::vector<std::string> & measured() const;   ///< Joints whose state update() reads.
  const std::vector<std::string> & commanded() const;  ///< Joints that get efforts.

  /// Begin anew at positions of the measured joints: loops are assembled near `start`. 0, or a code.
  int begin(const double * position) noexcept;
  /// Return where the machine is, for a log; empty for a tree. It allocates.
  std::string configuration() const;
  /// Write where the commanded joints are (n) at positions of the measured ones: 0, or a code.
  int read(const double * position, double * commanded) noexcept;
  /// Write the efforts (n), a time dt (s) after the last call: 0, or a code; then they mean nothing.
  int update(
    const double * position, const double * velocity, const Reference & reference,
    double * effort, double dt = 0.0) noexcept;
  /// Efforts (n) of what touches the machine at the measured joints, as of update().
  const std::vector<double> & external() const {return external_;}
  /// Write why the last call was refused, by the names of the measured joints.
  void explain(char * text, std::size_t size) const noexcept;

private:
  int observe(double dt) noexcept;

  std::unique_ptr<Machine> machine_;
  std::vector<double> kp_, kd_, lag_, at_, rate_, acceleration_, jerk_, effort_rate_, still_;
  std::vector<double> external_, applied_, mass_, mass_before_, bias_, bias_before_, rate_before_,
    sum_, column_;
  double observer_gain_;
  int order_ = 0, code_ = 0;
  bool observed_ = false;
};

}  // namespace liedyn_controllers

#endif  // LIEDYN_CONTROLLERS__COMPUTED_TORQUE_HPP_
