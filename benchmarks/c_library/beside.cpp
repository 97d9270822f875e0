/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

// libliedyn beside Pinocchio, both called from C++, in turns: beside MODEL PINOCCHIO_MODEL STATES
// ROUNDS. Pinocchio's model has a line for each joint: type, parent, placement (rotation by rows,
// position), axis, ten dynamic parameters. A state is q, v, a, tau of the library, then those of
// Pinocchio. Prints a line for each
// algorithm and round: its name, and the times of a call of each library (us).

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

#include <liedyn.h>

namespace {
using Vector = Eigen::VectorXd;
struct Motion { Vector q, v, a, tau; };

void *aligned(std::size_t bytes) {
  void *memory = std::aligned_alloc(LIEDYN_ALIGNMENT, (bytes / LIEDYN_ALIGNMENT + 1) * LIEDYN_ALIGNMENT);
  if (memory == nullptr) std::abort();
  return memory;
}

void require(int code) {
  if (code == LIEDYN_OK) return;
  std::fprintf(stderr, "%s\n", liedyn_message(code));
  std::exit(1);
}

template <typename Joint>
void add(pinocchio::Model &model, std::size_t parent, const Joint &joint, const pinocchio::SE3 &placement,
         const Eigen::VectorXd &parameters) {
  const auto index = model.addJoint(parent, joint, placement, "joint" + std::to_string(model.njoints));
  model.appendBodyToJoint(index, pinocchio::Inertia::FromDynamicParameters(parameters),
                          pinocchio::SE3::Identity());
}

pinocchio::Model model_of(const char *path) {
  std::ifstream file(path);
  pinocchio::Model model;
  std::string type;
  std::size_t parent = 0;
  while (file >> type >> parent) {
    pinocchio::SE3 placement;
    Eigen::Vector3d axis;
    Eigen::VectorXd parameters(10);
    for (int i = 0; i < 9; ++i) file >> placement.rotation()(i / 3, i % 3);
    for (int i = 0; i < 3; ++i) file >> placement.translation()[i];
    for (int i = 0; i < 3; ++i) file >> axis[i];
    for (int i = 0; i < 10; ++i) file >> parameters[i];
    if (!file) std::exit(4);
    const auto put = [&](const auto &joint) { add(model, parent, joint, placement, parameters); };
    if (type == "JointModelFreeFlyer") put(pinocchio::JointModelFreeFlyer());
    else if (type == "JointModelRX") put(pinocchio::JointModelRX());
    else if (type == "JointModelRY") put(pinocchio::JointModelRY());
    else if (type == "JointModelRZ") put(pinocchio::JointModelRZ());
    else if (type == "JointModelPX") put(pinocchio::JointModelPX());
    else if (type == "JointModelPY") put(pinocchio::JointModelPY());
    else if (type == "JointModelPZ") put(pinocchio::JointModelPZ());
    else if (type == "JointModelRevoluteUnaligned") put(pinocchio::JointModelRevoluteUnaligned(axis));
    else if (type == "JointModelPrismaticUnaligned") put(pinocchio::JointModelPrismaticUnaligned(axis));
    else {
      std::fprintf(stderr, "%s: a joint that this program does not add\n", type.c_str());
      std::exit(4);
    }
  }
  return model;
}

std::vector<Motion> read(std::ifstream &file, int count, int nq, int nv, int other_nq,
                         std::vector<Motion> &others) {
  std::vector<Motion> mine;
  const auto vector = [&](int size) {
    Vector values(size);
    file.read(reinterpret_cast<char *>(values.data()), 8 * size);
    if (!file) std::exit(2);
    return values;
  };
  for (int k = 0; k < count; ++k) {
    Motion motion{vector(nq), vector(nv), vector(nv), vector(nv)};
    mine.push_back(motion);
    Motion other{vector(other_nq), vector(nv), vector(nv), vector(nv)};
    others.push_back(other);
  }
  return mine;
}

double micros(const std::function<void(std::size_t)> &call, std::size_t states, int repeats) {
  const auto begin = std::chrono::steady_clock::now();
  for (int r = 0; r < repeats; ++r) {
    for (std::size_t k = 0; k < states; ++k) call(k);
  }
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
  return taken.count() / (repeats * static_cast<double>(states));
}
}  // namespace

int main(int count, char **arguments) {
  if (count != 5) return 2;
  std::size_t bytes = 0;
  require(liedyn_file_size(arguments[1], &bytes));
  const liedyn_model *mine = nullptr;
  require(liedyn_load(arguments[1], aligned(bytes), bytes, &mine));
  const std::size_t size = liedyn_work(mine, 0);
  void *work = aligned(size);
  require(liedyn_init(mine, 0, work, size));
  const pinocchio::Model model = model_of(arguments[2]);
  pinocchio::Data data(model);
  const int nv = liedyn_nv(mine), states = 16, rounds = std::atoi(arguments[4]);
  if (nv != model.nv) return 3;
  std::ifstream file(arguments[3], std::ios::binary);
  std::vector<Motion> others;
  const auto motions = read(file, states, liedyn_nq(mine), nv, model.nq, others);
  Vector out(nv);
  const auto square = static_cast<std::size_t>(nv) * static_cast<std::size_t>(nv);
  std::vector<double> matrix(3 * square);
  using pinocchio::Convention;
  struct Row { std::string name; std::function<void(std::size_t)> ours, theirs; };
  const std::vector<Row> rows = {
      {"rnea",
       [&](std::size_t k) { const auto &m = motions[k];
         require(liedyn_inverse(mine, work, m.q.data(), m.v.data(), m.a.data(), nullptr, out.data())); },
       [&](std::size_t k) { const auto &m = others[k]; pinocchio::rnea(model, data, m.q, m.v, m.a); }},
      {"aba, world",
       [&](std::size_t k) { const auto &m = motions[k];
         require(liedyn_forward(mine, work, m.q.data(), m.v.data(), m.tau.data(), nullptr, out.data())); },
       [&](std::size_t k) { const auto &m = others[k];
         pinocchio::aba(model, data, m.q, m.v, m.tau, Convention::WORLD); }},
      {"aba, local",
       [&](std::size_t k) { const auto &m = motions[k];
         require(liedyn_forward(mine, work, m.q.data(), m.v.data(), m.tau.data(), nullptr, out.data())); },
       [&](std::size_t k) { const auto &m = others[k];
         pinocchio::aba(model, data, m.q, m.v, m.tau, Convention::LOCAL); }},
      {"crba, world",
       [&](std::size_t k) {
         require(liedyn_mass_matrix(mine, work, motions[k].q.data(), matrix.data())); },
       [&](std::size_t k) { pinocchio::crba(model, data, others[k].q, Convention::WORLD); }},
      {"crba, local",
       [&](std::size_t k) {
         require(liedyn_mass_matrix(mine, work, motions[k].q.data(), matrix.data())); },
       [&](std::size_t k) { pinocchio::crba(model, data, others[k].q, Convention::LOCAL); }},
      {"rnea derivatives",
       [&](std::size_t k) { const auto &m = motions[k];
         require(liedyn_inverse_jacobians(mine, work, m.q.data(), m.v.data(), m.a.data(), nullptr,
                                          matrix.data(), matrix.data() + square,
                                          matrix.data() + 2 * square)); },
       [&](std::size_t k) { const auto &m = others[k];
         pinocchio::computeRNEADerivatives(model, data, m.q, m.v, m.a); }},
      {"aba derivatives",
       [&](std::size_t k) { const auto &m = motions[k];
         require(liedyn_forward_jacobians(mine, work, m.q.data(), m.v.data(), m.tau.data(), nullptr,
                                          out.data(), matrix.data(), matrix.data() + square,
                                          matrix.data() + 2 * square)); },
       [&](std::size_t k) { const auto &m = others[k];
         pinocchio::computeABADerivatives(model, data, m.q, m.v, m.tau); }},
  };
  for (const Row &row : rows) {
    const double guess = micros(row.ours, states, 20) + micros(row.theirs, states, 20);
    const int repeats = std::max(1, static_cast<int>(1000.0 / (guess * states)));
    for (int r = 0; r < rounds; ++r) {
      const double ours = micros(row.ours, states, repeats);
      const double theirs = micros(row.theirs, states, repeats);
      std::printf("%s\t%.6f\t%.6f\n", row.name.c_str(), ours, theirs);
    }
  }
  // The last results of both, so that they can be compared.
  const auto &m = motions[0];
  const auto &o = others[0];
  require(liedyn_inverse(mine, work, m.q.data(), m.v.data(), m.a.data(), nullptr, out.data()));
  const double rnea = (pinocchio::rnea(model, data, o.q, o.v, o.a) - o.tau).cwiseAbs().maxCoeff();
  std::printf("differences\t%.3e\t%.3e\n", (out - m.tau).cwiseAbs().maxCoeff(), rnea);
  require(liedyn_forward(mine, work, m.q.data(), m.v.data(), m.tau.data(), nullptr, out.data()));
  const double aba = (pinocchio::aba(model, data, o.q, o.v, o.tau) - o.a).cwiseAbs().maxCoeff();
  std::printf("differences\t%.3e\t%.3e\n", (out - m.a).cwiseAbs().maxCoeff(), aba);
  return 0;
}
