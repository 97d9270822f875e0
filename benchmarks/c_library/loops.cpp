/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

// Closed loops of libliedyn beside constraintDynamics and lcaba of Pinocchio, in turns: loops MODEL
// PINOCCHIO_MODEL STATE ROUNDS. After the joints comes the word closures, and for each closure two
// joints, each with a placement (rotation by rows, position). A state is q, v, tau, q, v, tau of
// Pinocchio, and a of the library. Prints a line for each algorithm and round.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include <pinocchio/algorithm/constrained-dynamics-derivatives.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>

#include "peer.hpp"

namespace {
constexpr double ACCURACY = 1e-12, PROXIMAL = 1e-12, LOOSE = 1e-6;  // as benchmarks.algorithms.constrained
constexpr int ITERATIONS = 10;

pinocchio::SE3 placement_of(std::ifstream &file) {
  pinocchio::SE3 placement;
  for (int i = 0; i < 9; ++i) file >> placement.rotation()(i / 3, i % 3);
  for (int i = 0; i < 3; ++i) file >> placement.translation()[i];
  return placement;
}

std::vector<pinocchio::RigidConstraintModel> closures_of(std::ifstream &file, const pinocchio::Model &model) {
  std::vector<pinocchio::RigidConstraintModel> closures;
  std::size_t first = 0, second = 0;
  while (file >> first) {
    const pinocchio::SE3 of_first = placement_of(file);
    file >> second;
    const pinocchio::SE3 of_second = placement_of(file);
    closures.emplace_back(pinocchio::CONTACT_3D, model, first, of_first, second, of_second, pinocchio::LOCAL);
  }
  return closures;
}

Vector vector(std::ifstream &file, int size) {
  Vector values(size);
  file.read(reinterpret_cast<char *>(values.data()), 8 * size);
  if (!file) std::exit(2);
  return values;
}
}  // namespace

int main(int count, char **arguments) {
  if (count != 5) return 2;
  std::size_t bytes = 0;
  require(liedyn_file_size(arguments[1], &bytes));
  const liedyn_loops *mine = nullptr;
  require(liedyn_loops_load(arguments[1], aligned(bytes), bytes, &mine));
  const std::size_t size = liedyn_loops_work(mine);
  void *work = aligned(size);
  require(liedyn_loops_init(mine, work, size));
  std::ifstream joints(arguments[2]), file(arguments[3], std::ios::binary);
  const pinocchio::Model model = model_of(joints);
  const auto closures = closures_of(joints, model);
  std::vector<pinocchio::RigidConstraintData> datas;
  for (const auto &closure : closures) datas.push_back(closure.createData());
  const int nv = model.nv, nq = liedyn_nq(liedyn_loops_tree(mine));
  if (nv != liedyn_nv(liedyn_loops_tree(mine)) || nq != model.nq) return 3;
  const Vector q = vector(file, nq), v = vector(file, nv), tau = vector(file, nv);
  const Vector their_q = vector(file, nq), their_v = vector(file, nv), their_tau = vector(file, nv);
  const Vector wanted = vector(file, nv), their_wanted = vector(file, nv);
  Vector a(nv), same(nv);
  std::vector<double> by(3 * static_cast<std::size_t>(nv * nv));
  pinocchio::Data data(model), looped(model);
  pinocchio::initConstraintDynamics(model, data, closures, datas);
  pinocchio::computeJointMinimalOrdering(model, looped, closures);
  auto looped_datas = datas;
  const auto forward = [&](std::size_t) {
    require(liedyn_loops_forward(mine, work, 0, q.data(), v.data(), tau.data(), nullptr, a.data(), nullptr)); };
  const auto constraint = [&](std::size_t) {
    pinocchio::ProximalSettings settings(ACCURACY, PROXIMAL, ITERATIONS);
    pinocchio::constraintDynamics(model, data, their_q, their_v, their_tau, closures, datas, settings); };
  const auto lcaba = [&](std::size_t) {
    pinocchio::ProximalSettings settings(ACCURACY, LOOSE, ITERATIONS);
    pinocchio::lcaba(model, looped, their_q, their_v, their_tau, closures, looped_datas, settings); };
  time({{"constrained dynamics, constraintDynamics", forward, constraint},
        {"constrained dynamics, lcaba", forward, lcaba},
        {"constrained derivatives",
         [&](std::size_t) {
           const std::size_t square = static_cast<std::size_t>(nv * nv);
           require(liedyn_loops_forward_jacobians(mine, work, q.data(), v.data(), tau.data(), nullptr, same.data(),
                                                  by.data(), by.data() + square, by.data() + 2 * square)); },
         [&](std::size_t k) {
           constraint(k);
           pinocchio::computeConstraintDynamicsDerivatives(model, data, closures, datas); }}},
       1, std::atoi(arguments[4]));
  std::printf("differences\t%.3e\t%.3e\n", (a - wanted).cwiseAbs().maxCoeff(),
              (data.ddq - their_wanted).cwiseAbs().maxCoeff());
  std::printf("differences\t%.3e\t%.3e\n", (same - wanted).cwiseAbs().maxCoeff(),
              (looped.ddq - their_wanted).cwiseAbs().maxCoeff());
  return 0;
}
