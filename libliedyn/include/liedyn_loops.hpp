/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/** liedyn.hpp for machines with closed loops. */

#ifndef LIEDYN_LOOPS_HPP_
#define LIEDYN_LOOPS_HPP_

#include "liedyn.hpp"

namespace liedyn {

/// A machine with closed loops, from a file that liedyn export wrote. Threads share it.
class Loops {
 public:
  explicit Loops(const std::string &path) {
    std::size_t bytes = 0;
    detail::require(liedyn_file_size(path.c_str(), &bytes));
    memory_ = detail::aligned(bytes);
    detail::require(liedyn_loops_load(path.c_str(), memory_.get(), bytes, &loops_));
  }

  const liedyn_loops *get() const { return loops_; }
  const liedyn_model *tree() const { return liedyn_loops_tree(loops_); }
  int nq() const { return liedyn_nq(tree()); }
  int nv() const { return liedyn_nv(tree()); }
  int constraints() const { return liedyn_constraints(loops_); }

 private:
  detail::Memory memory_;
  const liedyn_loops *loops_ = nullptr;
};

/// The calls on closed loops, with the memory of one thread.
class LoopsWork : public detail::Calls<liedyn_loops, liedyn_loops_explain> {
 public:
  explicit LoopsWork(const Loops &loops)
      : Calls(loops.get(), liedyn_loops_work(loops.get()), loops.nq(), loops.nv()),
        m_(loops.constraints()) {
    detail::require(liedyn_loops_init(machine_, memory_.get(), bytes_));
  }

  /// The forces of the actuators for a motion that the loops allow.
  liedyn_constraint_report inverse(const VectorIn &q, const VectorIn &v, const VectorIn &a,
                                   Eigen::Ref<Vector> tau, const double *external = nullptr) {
    sizes(q, {&v, &a}, tau.size());
    liedyn_constraint_report found{};
    check(liedyn_loops_inverse(machine_, memory_.get(), 0, q.data(), v.data(), a.data(), external,
                               tau.data(), &found));
    return found;
  }

  liedyn_constraint_report forward(const VectorIn &q, const VectorIn &v, const VectorIn &tau,
                                   Eigen::Ref<Vector> a, const double *external = nullptr) {
    sizes(q, {&v, &tau}, a.size());
    liedyn_constraint_report found{};
    check(liedyn_loops_forward(machine_, memory_.get(), 0, q.data(), v.data(), tau.data(), external,
                               a.data(), &found));
    return found;
  }

  /// All joints from the measured ones, on the branch of the last sample.
  liedyn_loop_sample track(const VectorIn &positions, const VectorIn &rates, Eigen::Ref<Vector> q,
                           Eigen::Ref<Vector> v) {
    const int count = liedyn_measured(machine_);
    if (positions.size() != count || rates.size() != count || q.size() != nq_ || v.size() != nv_) wrong();
    liedyn_loop_sample found{};
    check(liedyn_loops_track(machine_, memory_.get(), positions.data(), rates.data(), q.data(), v.data(),
                             &found));
    return found;
  }

  /// Moves q to the first of so many starts that closes; throws where none does.
  liedyn_assembly assemble(Eigen::Ref<Vector> q, int attempts = 50, bool within_limits = false) {
    if (q.size() != nq_) wrong();
    liedyn_assembly found{};
    int code = LIEDYN_NOT_CONVERGED;
    for (int k = 0; k < attempts && code == LIEDYN_NOT_CONVERGED; ++k)
      code = liedyn_loops_assemble(machine_, memory_.get(), k, q.data(), nullptr, within_limits, q.data(),
                                   &found);
    check(code);
    return found;
  }

  void residual(const VectorIn &q, Eigen::Ref<Vector> residual, Matrix &jacobian) {
    sizes(q, {}, nv_);
    if (residual.size() != m_) wrong();
    jacobian.resize(m_, nv_);
    check(liedyn_loops_residual(machine_, memory_.get(), q.data(), residual.data(), jacobian.data()));
  }

  /// Completes v from the rates of the actuators.
  void complete_velocity(const VectorIn &q, Eigen::Ref<Vector> v) {
    sizes(q, {}, v.size());
    check(liedyn_loops_complete_velocity(machine_, memory_.get(), q.data(), nullptr, v.data()));
  }

  /// Completes a from the accelerations of the actuators.
  void complete_acceleration(const VectorIn &q, const VectorIn &v, Eigen::Ref<Vector> a) {
    sizes(q, {&v}, a.size());
    check(liedyn_loops_complete_acceleration(machine_, memory_.get(), 0, q.data(), v.data(), nullptr,
                                             a.data()));
  }

  /// For what has no method here: liedyn.h with this machine and memory.
  const liedyn_loops *loops() const { return machine_; }

 private:
  int m_;
};

}  // namespace liedyn

#endif  // LIEDYN_LOOPS_HPP_
