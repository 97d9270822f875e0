/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/**
 * liedyn.h for C++ and Eigen: header only. A Model reads a file, a Work belongs to one thread. Only
 * their constructors allocate; only they and calls that are refused throw liedyn::Error.
 */

#ifndef LIEDYN_HPP_
#define LIEDYN_HPP_

#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include <Eigen/Core>

#include "liedyn.h"

namespace liedyn {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Pose = Eigen::Matrix<double, 4, 4, Eigen::RowMajor>;
using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;
using Twist = Eigen::Matrix<double, 6, 1>;
using VectorIn = Eigen::Ref<const Vector>;   // contiguous: Eigen copies anything else
using MatrixIn = Eigen::Ref<const Matrix>;   // rows are orders, or bodies

/// The code of a call, and what was wrong.
class Error : public std::runtime_error {
 public:
  Error(int code, const std::string &text) : std::runtime_error(text), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

namespace detail {
struct Free {
  void operator()(void *memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

inline Memory aligned(std::size_t bytes) {
  Memory memory(std::aligned_alloc(LIEDYN_ALIGNMENT, (bytes / LIEDYN_ALIGNMENT + 1) * LIEDYN_ALIGNMENT));
  if (!memory) throw std::bad_alloc();
  return memory;
}

inline void require(int code) {
  if (code != LIEDYN_OK) throw Error(code, liedyn_message(code));
}

/// The memory of one thread for a machine, the sizes of its vectors, and what a refused call says.
template <class Machine, int (*explain)(const Machine *, const void *, char *, std::size_t)>
class Calls {
 public:
  /// For what has no method here: the argument `work` of liedyn.h.
  void *get() { return memory_.get(); }

 protected:
  Calls(const Machine *machine, std::size_t bytes, int nq = 0, int nv = 0)
      : machine_(machine), nq_(nq), nv_(nv), bytes_(bytes), memory_(aligned(bytes)) {
    if (bytes == 0) require(LIEDYN_RANGE);
  }

  [[noreturn]] static void wrong() {
    throw Error(LIEDYN_RANGE, "expected vectors of the machine's numbers, got others");
  }

  void sizes(const VectorIn &q, std::initializer_list<const VectorIn *> rates, Eigen::Index result) {
    if (q.size() != nq_ || result != nv_) wrong();
    for (const VectorIn *rate : rates) {
      if (rate->size() != nv_) wrong();
    }
  }

  void check(int code) {
    if (code == LIEDYN_OK) return;
    char text[256] = "";
    if (explain(machine_, memory_.get(), text, sizeof text) != code) require(code);
    throw Error(code, text);
  }

  const Machine *machine_;
  int nq_, nv_;
  std::size_t bytes_;
  Memory memory_;
};
}  // namespace detail

/// A machine, from a file that liedyn export wrote. Threads share it.
class Model {
 public:
  explicit Model(const std::string &path) {
    std::size_t bytes = 0;
    detail::require(liedyn_file_size(path.c_str(), &bytes));
    memory_ = detail::aligned(bytes);
    detail::require(liedyn_load(path.c_str(), memory_.get(), bytes, &model_));
  }

  const liedyn_model *get() const { return model_; }
  int nq() const { return liedyn_nq(model_); }
  int nv() const { return liedyn_nv(model_); }
  int bodies() const { return liedyn_bodies(model_); }

  Vector neutral() const {
    Vector q(nq());
    detail::require(liedyn_neutral(model_, q.data()));
    return q;
  }

  int frame(const std::string &name) const {
    int found = 0;
    detail::require(liedyn_find_frame(model_, name.c_str(), &found));
    return found;
  }

  liedyn_place joint(const std::string &name) const {
    liedyn_place found{};
    detail::require(liedyn_find_joint(model_, name.c_str(), &found));
    return found;
  }

 private:
  detail::Memory memory_;
  const liedyn_model *model_ = nullptr;
};

/// The calls on a model, with the memory of one thread. Results are written into what is given.
class Work : public detail::Calls<liedyn_model, liedyn_explain> {
 public:
  explicit Work(const Model &model, int order = 0)
      : Calls(model.get(), liedyn_work(model.get(), order), model.nq(), model.nv()) {
    detail::require(liedyn_init(machine_, order, memory_.get(), bytes_));
  }

  void inverse(const VectorIn &q, const VectorIn &v, const VectorIn &a, Eigen::Ref<Vector> tau,
               const double *external = nullptr) {
    sizes(q, {&v, &a}, tau.size());
    check(liedyn_inverse(machine_, memory_.get(), q.data(), v.data(), a.data(), external, tau.data()));
  }

  void bias(const VectorIn &q, const VectorIn &v, Eigen::Ref<Vector> tau,
            const double *external = nullptr) {
    sizes(q, {&v}, tau.size());
    check(liedyn_bias(machine_, memory_.get(), q.data(), v.data(), external, tau.data()));
  }

  void gravity(const VectorIn &q, Eigen::Ref<Vector> tau) {
    sizes(q, {}, tau.size());
    check(liedyn_gravity(machine_, memory_.get(), q.data(), tau.data()));
  }

  void forward(const VectorIn &q, const VectorIn &v, const VectorIn &tau, Eigen::Ref<Vector> a,
               const double *external = nullptr) {
    sizes(q, {&v, &tau}, a.size());
    check(liedyn_forward(machine_, memory_.get(), q.data(), v.data(), tau.data(), external, a.data()));
  }

  void mass_matrix(const VectorIn &q, Matrix &mass) {
    sizes(q, {}, nv_);
    mass.resize(nv_, nv_);
    check(liedyn_mass_matrix(machine_, memory_.get(), q.data(), mass.data()));
  }

  /// a and tau have a row for each order; tau is resized.
  void inverse_derivatives(const VectorIn &q, const VectorIn &v, const MatrixIn &a, Matrix &tau,
                           const double *external = nullptr) {
    sizes(q, {&v}, nv_);
    if (a.cols() != nv_ || a.outerStride() != nv_) wrong();
    tau.resize(a.rows(), nv_);
    check(liedyn_inverse_derivatives(machine_, memory_.get(), static_cast<int>(a.rows()) - 1, q.data(),
                                     v.data(), a.data(), external, tau.data()));
  }

  void inverse_jacobians(const VectorIn &q, const VectorIn &v, const VectorIn &a, Matrix &by_q,
                         Matrix &by_v, Matrix &by_a, const double *external = nullptr) {
    sizes(q, {&v, &a}, nv_);
    for (Matrix *each : {&by_q, &by_v, &by_a}) each->resize(nv_, nv_);
    check(liedyn_inverse_jacobians(machine_, memory_.get(), q.data(), v.data(), a.data(), external,
                                   by_q.data(), by_v.data(), by_a.data()));
  }

  void forward_jacobians(const VectorIn &q, const VectorIn &v, const VectorIn &tau,
                         Eigen::Ref<Vector> a, Matrix &by_q, Matrix &by_v, Matrix &by_tau,
                         const double *external = nullptr) {
    sizes(q, {&v, &tau}, a.size());
    for (Matrix *each : {&by_q, &by_v, &by_tau}) each->resize(nv_, nv_);
    check(liedyn_forward_jacobians(machine_, memory_.get(), q.data(), v.data(), tau.data(), external,
                                   a.data(), by_q.data(), by_v.data(), by_tau.data()));
  }

  void pose(const VectorIn &q, int frame, Pose &pose) {
    sizes(q, {}, nv_);
    check(liedyn_frame_pose(machine_, memory_.get(), q.data(), frame, pose.data()));
  }

  void jacobian(const VectorIn &q, int frame, liedyn_axes axes, Jacobian &jacobian) {
    sizes(q, {}, nv_);
    jacobian.resize(6, nv_);
    check(liedyn_frame_jacobian(machine_, memory_.get(), q.data(), frame, axes, jacobian.data()));
  }

  void integrate(const VectorIn &q, const VectorIn &dv, Eigen::Ref<Vector> result) {
    sizes(q, {&dv}, nv_);
    if (result.size() != nq_) wrong();
    check(liedyn_integrate(machine_, memory_.get(), q.data(), dv.data(), result.data()));
  }

  /// For what has no method here: liedyn.h with this model and memory.
  const liedyn_model *model() const { return machine_; }
};

/// A Stewart platform, from a file that liedyn export wrote of its geometry. Threads share it.
class Platform {
 public:
  explicit Platform(const std::string &path) {
    std::size_t bytes = 0;
    detail::require(liedyn_file_size(path.c_str(), &bytes));
    memory_ = detail::aligned(bytes);
    detail::require(liedyn_platform_load(path.c_str(), memory_.get(), bytes, &platform_));
  }

  const liedyn_platform *get() const { return platform_; }

  int leg(const std::string &name) const {
    int found = 0;
    detail::require(liedyn_find_leg(platform_, name.c_str(), &found));
    return found;
  }

 private:
  detail::Memory memory_;
  const liedyn_platform *platform_ = nullptr;
};

using Legs = Eigen::Matrix<double, 6, 1>;
using Square = Eigen::Matrix<double, 6, 6, Eigen::RowMajor>;

/// The calls on a platform, with the memory of one thread.
class PlatformWork : public detail::Calls<liedyn_platform, liedyn_platform_explain> {
 public:
  explicit PlatformWork(const Platform &platform, int order = 0)
      : Calls(platform.get(), liedyn_platform_work(platform.get(), order)) {
    detail::require(liedyn_platform_init(machine_, order, memory_.get(), bytes_));
  }

  void lengths(const Pose &pose, Legs &lengths) {
    check(liedyn_platform_lengths(machine_, memory_.get(), pose.data(), lengths.data()));
  }

  void jacobian(const Pose &pose, liedyn_axes axes, Square &jacobian) {
    check(liedyn_platform_jacobian(machine_, memory_.get(), pose.data(), axes, jacobian.data()));
  }

  liedyn_singularity singularity(const Pose &pose) {
    liedyn_singularity found{};
    check(liedyn_platform_singularity(machine_, memory_.get(), pose.data(), &found));
    return found;
  }

  /// Moves pose from a guess to the pose of the lengths; throws where the solver stops elsewhere.
  liedyn_solution solve(const Legs &lengths, Pose &pose) {
    liedyn_solution found{};
    check(liedyn_platform_solve(machine_, memory_.get(), lengths.data(), pose.data(), pose.data(),
                                &found));
    return found;
  }

  /// Begin to track, or forget the motion; leg_noise in m, 0 where it is not known.
  void restart(const Pose &home, double leg_noise = 0.0) {
    check(liedyn_platform_restart(machine_, memory_.get(), home.data(), leg_noise));
  }

  /// Take the last pose for the right one: clears LIEDYN_BRANCH_UNSURE after a start or a gap.
  void confirm() { check(liedyn_platform_confirm(machine_, memory_.get())); }

  /// Return whether a sample has a pose, and all about it; throws where the sample is refused.
  bool track(std::int64_t stamp_ns, const Legs &lengths, liedyn_tracked &tracked,
             const double *rates = nullptr) {
    const int code = liedyn_platform_track(machine_, memory_.get(), stamp_ns, lengths.data(), rates,
                                           &tracked);
    if (code != LIEDYN_NOT_CONVERGED) check(code);
    return code == LIEDYN_OK;
  }

  /// Return whether a pose is proved, and the proof.
  bool certify(const Pose &pose, const Legs &lengths, liedyn_certificate &proof) {
    const int code = liedyn_platform_certify(machine_, memory_.get(), pose.data(), lengths.data(),
                                             &proof);
    if (code != LIEDYN_NOT_PROVED) check(code);
    return code == LIEDYN_OK;
  }

  /// Leg forces of a motion; external is a wrench on the platform, or nullptr.
  void inverse(const Pose &pose, const Twist &twist, const Twist &a, Legs &forces,
               const double *external = nullptr) {
    Legs rates;
    check(liedyn_platform_inverse(machine_, memory_.get(), 0, pose.data(), twist.data(), a.data(),
                                  external, forces.data(), rates.data()));
  }

  /// The derivative of the twist under leg forces.
  void forward(const Pose &pose, const Twist &twist, const Legs &forces, Twist &a,
               const double *external = nullptr) {
    Legs rates;
    check(liedyn_platform_forward(machine_, memory_.get(), 0, pose.data(), twist.data(),
                                  forces.data(), external, a.data(), rates.data()));
  }

  /// For what has no method here: liedyn.h with this platform and memory.
  const liedyn_platform *platform() const { return machine_; }
};

}  // namespace liedyn

#endif  // LIEDYN_HPP_
