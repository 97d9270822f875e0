/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/** The kinds of machines that the controller knows, each by the calls of libliedyn for it. */

#ifndef MACHINE_HPP_
#define MACHINE_HPP_

#include <liedyn.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace liedyn_controllers
{

struct Free
{
  void operator()(void * memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

/// Memory as libliedyn asks for it.
inline Memory aligned(std::size_t bytes)
{
  const std::size_t lines = bytes / LIEDYN_ALIGNMENT + 1;
  Memory memory(std::aligned_alloc(LIEDYN_ALIGNMENT, lines * LIEDYN_ALIGNMENT));
  if (!memory) {throw std::runtime_error("memory: expected more of it");}
  return memory;
}

inline void require(int code, const std::string & what)
{
  if (code != LIEDYN_OK) {throw std::runtime_error(what + ": " + liedyn_message(code));}
}

/// Memory for a model file, whose size is written. Throws std::runtime_error.
Memory memory_for(const std::string & path, std::size_t & bytes);

/// The pose (4, 4) of a platform at x, y, z (m) with level axes. Throws std::runtime_error.
std::array<double, 16> home_pose(const std::vector<double> & home);

/// Positions of joints by name.
using Positions = std::vector<std::pair<std::string, double>>;

/// A machine with the memory of one thread; n joints are measured, c of them get efforts.
class Machine
{
public:
  virtual ~Machine() = default;

  /// Begin anew at positions (n) of the measured joints, which may be anywhere.
  virtual int begin(const double *) noexcept {return LIEDYN_OK;}
  /// Return where the machine is, to be read; it allocates.
  virtual std::string configuration() const {return {};}
  /// Take positions and velocities (n) of the measured joints, and keep the state that they give.
  virtual int read(const double * position, const double * velocity) noexcept = 0;
  /// Write positions and velocities (c) of the joints that get efforts.
  virtual void state(double * position, double * velocity) const noexcept = 0;
  /// Write efforts (c) of accelerations (c), and for order 1 their rates, by the jerk too.
  virtual int effort(
    int order, const double * acceleration, const double * jerk, double * effort,
    double * rate) noexcept = 0;
  /**
   * Write the efforts (n) of what touches the machine (12.67), a time dt (s) after the last state,
   * at a gain (1/s); the last efforts have acted since. Return LIEDYN_ABSENT for a machine all of
   * whose joints get efforts: these then tell its inertia.
   */
  virtual int observe(double, double, double *) noexcept {return LIEDYN_ABSENT;}
  /// Write why the last call of libliedyn was refused; return its code.
  virtual int explain(char * text, std::size_t size) const noexcept = 0;

  std::vector<std::string> measured, commanded;
  bool direct = false;  ///< The measured joints are the coordinates.
};

/// The machine of a model file, whichever kind it is. Throws std::runtime_error.
std::unique_ptr<Machine> open_machine(
  const std::string & path, const std::vector<std::string> & joints,
  const std::vector<double> & home, const std::string & start);

std::unique_ptr<Machine> make_tree(
  Memory content, const liedyn_model * model, const std::vector<std::string> & joints);
std::unique_ptr<Machine> make_loops(
  Memory content, const liedyn_loops * loops, const std::vector<std::string> & joints,
  const Positions & start);
std::unique_ptr<Machine> make_platform(
  Memory content, const liedyn_platform * platform, const std::vector<std::string> & joints,
  const std::vector<double> & home);

}  // namespace liedyn_controllers

#endif  // MACHINE_HPP_
