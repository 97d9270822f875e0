/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

// A model of Pinocchio from the file of its joints.

#ifndef BENCHMARKS_C_LIBRARY_PINOCCHIO_MODEL_HPP_
#define BENCHMARKS_C_LIBRARY_PINOCCHIO_MODEL_HPP_

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include <pinocchio/multibody.hpp>

template <typename Joint>
void add(pinocchio::Model &model, std::size_t parent, const Joint &joint, const pinocchio::SE3 &placement,
         const Eigen::VectorXd &parameters) {
  const auto index = model.addJoint(parent, joint, placement, "joint" + std::to_string(model.njoints));
  model.appendBodyToJoint(index, pinocchio::Inertia::FromDynamicParameters(parameters),
                          pinocchio::SE3::Identity());
}

// Read the joints of a model, up to the line that ends them, or to the end.
inline pinocchio::Model model_of(std::ifstream &file) {
  pinocchio::Model model;
  std::string type;
  std::size_t parent = 0;
  while (file >> type && type != "closures" && file >> parent) {
    pinocchio::SE3 placement;
    Eigen::Vector3d axis;
    Eigen::VectorXd parameters(10);
    for (int i = 0; i < 9; ++i) file >> placement.rotation()(i / 3, i % 3);
    for (int i = 0; i < 3; ++i) file >> placement.translation()[i];
    for (int i = 0; i < 3; ++i) file >> axis[i];
    Eigen::Vector3d second = Eigen::Vector3d::Zero();
    if (type == "JointModelUniversal") for (int i = 0; i < 3; ++i) file >> second[i];
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
    else if (type == "JointModelUniversal") put(pinocchio::JointModelUniversal(axis, second));
    else {
      std::fprintf(stderr, "%s: a joint that this program does not add\n", type.c_str());
      std::exit(4);
    }
  }
  return model;
}

#endif  // BENCHMARKS_C_LIBRARY_PINOCCHIO_MODEL_HPP_
