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
}  // namespace detail

/// A machine, from a file that liedyn_export wrote. Threads share it.
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
class Work {
 public:
  explicit Work(const Model &model, int order = 0)
      : model_(model.get()), nq_(model.nq()), nv_(model.nv()), bodies_(model.bodies()) {
    const std::size_t bytes = liedyn_work(model_, order);
    if (bytes == 0) detail::require(LIEDYN_RANGE);
    memory_ = detail::aligned(bytes);
    detail::require(liedyn_init(model_, order, memory_.get(), bytes));
  }

  void inverse(const VectorIn &q, const VectorIn &v, const VectorIn &a, Eigen::Ref<Vector> tau,
               const double *external = nullptr) {
    sizes(q, {&v, &a}, tau.size());
    check(liedyn_inverse(model_, memory_.get(), q.data(), v.data(), a.data(), external, tau.data()));
  }

  void bias(const VectorIn &q, const VectorIn &v, Eigen::Ref<Vector> tau,
            const double *external = nullptr) {
    sizes(q, {&v}, tau.size());
    check(liedyn_bias(model_, memory_.get(), q.data(), v.data(), external, tau.data()));
  }

  void gravity(const VectorIn &q, Eigen::Ref<Vector> tau) {
    sizes(q, {}, tau.size());
    check(liedyn_gravity(model_, memory_.get(), q.data(), tau.data()));
  }

  void forward(const VectorIn &q, const VectorIn &v, const VectorIn &tau, Eigen::Ref<Vector> a,
               const double *external = nullptr) {
    sizes(q, {&v, &tau}, a.size());
    check(liedyn_forward(model_, memory_.get(), q.data(), v.data(), tau.data(), external, a.data()));
  }

  void mass_matrix(const VectorIn &q, Matrix &mass) {
    sizes(q, {}, nv_);
    mass.resize(nv_, nv_);
    check(liedyn_mass_matrix(model_, memory_.get(), q.data(), mass.data()));
  }

  /// a and tau have a row for each order; tau is resized.
  void inverse_derivatives(const VectorIn &q, const VectorIn &v, const MatrixIn &a, Matrix &tau,
                           const double *external = nullptr) {
    sizes(q, {&v}, nv_);
    if (a.cols() != nv_ || a.outerStride() != nv_) wrong();
    tau.resize(a.rows(), nv_);
    check(liedyn_inverse_derivatives(model_, memory_.get(), static_cast<int>(a.rows()) - 1, q.data(),
                                     v.data(), a.data(), external, tau.data()));
  }

  void inverse_jacobians(const VectorIn &q, const VectorIn &v, const VectorIn &a, Matrix &by_q,
                         Matrix &by_v, Matrix &by_a, const double *external = nullptr) {
    sizes(q, {&v, &a}, nv_);
    for (Matrix *each : {&by_q, &by_v, &by_a}) each->resize(nv_, nv_);
    check(liedyn_inverse_jacobians(model_, memory_.get(), q.data(), v.data(), a.data(), external,
                                   by_q.data(), by_v.data(), by_a.data()));
  }

  void forward_jacobians(const VectorIn &q, const VectorIn &v, const VectorIn &tau,
                         Eigen::Ref<Vector> a, Matrix &by_q, Matrix &by_v, Matrix &by_tau,
                         const double *external = nullptr) {
    sizes(q, {&v, &tau}, a.size());
    for (Matrix *each : {&by_q, &by_v, &by_tau}) each->resize(nv_, nv_);
    check(liedyn_forward_jacobians(model_, memory_.get(), q.data(), v.data(), tau.data(), external,
                                   a.data(), by_q.data(), by_v.data(), by_tau.data()));
  }

  void pose(const VectorIn &q, int frame, Pose &pose) {
    sizes(q, {}, nv_);
    check(liedyn_frame_pose(model_, memory_.get(), q.data(), frame, pose.data()));
  }

  void jacobian(const VectorIn &q, int frame, liedyn_axes axes, Jacobian &jacobian) {
    sizes(q, {}, nv_);
    jacobian.resize(6, nv_);
    check(liedyn_frame_jacobian(model_, memory_.get(), q.data(), frame, axes, jacobian.data()));
  }

  void integrate(const VectorIn &q, const VectorIn &dv, Eigen::Ref<Vector> result) {
    sizes(q, {&dv}, nv_);
    if (result.size() != nq_) wrong();
    check(liedyn_integrate(model_, memory_.get(), q.data(), dv.data(), result.data()));
  }

  /// For what has no method here: liedyn.h with this model and memory.
  const liedyn_model *model() const { return model_; }
  void *get() { return memory_.get(); }

 private:
  [[noreturn]] static void wrong() {
    throw Error(LIEDYN_RANGE, "expected vectors of nq and nv numbers, got others");
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
    if (liedyn_explain(model_, memory_.get(), text, sizeof text) != code) detail::require(code);
    throw Error(code, text);
  }

  const liedyn_model *model_;
  int nq_, nv_, bodies_;
  detail::Memory memory_;
};

/// A Stewart platform, from a file that liedyn_export wrote of its geometry. Threads share it.
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
class PlatformWork {
 public:
  explicit PlatformWork(const Platform &platform, int order = 0) : platform_(platform.get()) {
    const std::size_t bytes = liedyn_platform_work(platform_, order);
    if (bytes == 0) detail::require(LIEDYN_RANGE);
    memory_ = detail::aligned(bytes);
    detail::require(liedyn_platform_init(platform_, order, memory_.get(), bytes));
  }

  void lengths(const Pose &pose, Legs &lengths) {
    check(liedyn_platform_lengths(platform_, memory_.get(), pose.data(), lengths.data()));
  }

  void jacobian(const Pose &pose, liedyn_axes axes, Square &jacobian) {
    check(liedyn_platform_jacobian(platform_, memory_.get(), pose.data(), axes, jacobian.data()));
  }

  liedyn_singularity singularity(const Pose &pose) {
    liedyn_singularity found{};
    check(liedyn_platform_singularity(platform_, memory_.get(), pose.data(), &found));
    return found;
  }

  /// Moves pose from a guess to the pose of the lengths; throws where the solver stops elsewhere.
  liedyn_solution solve(const Legs &lengths, Pose &pose) {
    liedyn_solution found{};
    check(liedyn_platform_solve(platform_, memory_.get(), lengths.data(), pose.data(), pose.data(),
                                &found));
    return found;
  }

  /// Return whether a pose is proved, and the proof.
  bool certify(const Pose &pose, const Legs &lengths, liedyn_certificate &proof) {
    const int code = liedyn_platform_certify(platform_, memory_.get(), pose.data(), lengths.data(),
                                             &proof);
    if (code != LIEDYN_NOT_PROVED) check(code);
    return code == LIEDYN_OK;
  }

  /// Leg forces of a motion; external is a wrench on the platform, or nullptr.
  void inverse(const Pose &pose, const Twist &twist, const Twist &a, Legs &forces,
               const double *external = nullptr) {
    Legs rates;
    check(liedyn_platform_inverse(platform_, memory_.get(), 0, pose.data(), twist.data(), a.data(),
                                  external, forces.data(), rates.data()));
  }

  /// The derivative of the twist under leg forces.
  void forward(const Pose &pose, const Twist &twist, const Legs &forces, Twist &a,
               const double *external = nullptr) {
    Legs rates;
    check(liedyn_platform_forward(platform_, memory_.get(), 0, pose.data(), twist.data(),
                                  forces.data(), external, a.data(), rates.data()));
  }

  /// For what has no method here: liedyn.h with this platform and memory.
  const liedyn_platform *platform() const { return platform_; }
  void *get() { return memory_.get(); }

 private:
  void check(int code) {
    if (code == LIEDYN_OK) return;
    char text[256] = "";
    if (liedyn_platform_explain(platform_, memory_.get(), text, sizeof text) != code)
      detail::require(code);
    throw Error(code, text);
  }

  const liedyn_platform *platform_;
  detail::Memory memory_;
};

}  // namespace liedyn

#endif  // LIEDYN_HPP_
