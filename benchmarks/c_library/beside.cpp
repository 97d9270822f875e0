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

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "peer.hpp"

namespace {
struct Motion { Vector q, v, a, tau; };

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
  std::ifstream joints(arguments[2]);
  const pinocchio::Model model = model_of(joints);
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
  time(rows, states, rounds);
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
