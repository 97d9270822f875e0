/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

// The code that Pinocchio generates for one robot by CppADCodeGen: `generated JOINTS FOLDER GCC`
// compiles a library each for inverse and forward dynamics and the mass matrix.

#include <pinocchio/codegen/cppadcg-algo.hpp>

#include "pinocchio_model.hpp"

template <typename Generator>
struct Library : Generator {
  Library(const pinocchio::Model &model, const std::string &folder, const std::string &name,
          const std::string &gcc)
      : Generator(model, name, folder + "/pinocchio_" + name) {
    this->build_jacobian = false;
    this->initLib();
    CppAD::cg::GccCompiler<double> compiler(gcc);
    compiler.setCompileFlags({"-Ofast", "-march=x86-64-v3", "-fPIC"});
    compiler.setTemporaryFolder(folder + "/sources_" + name);
    this->dynamicLibManager_ptr->createDynamicLibrary(compiler, false);
  }
};

int main(int, char **argument) {
  std::ifstream file(argument[1]);
  const pinocchio::Model model = model_of(file);
  Library<pinocchio::CodeGenRNEA<double>>(model, argument[2], "inverse", argument[3]);
  Library<pinocchio::CodeGenABA<double>>(model, argument[2], "forward", argument[3]);
  Library<pinocchio::CodeGenCRBA<double>>(model, argument[2], "mass_matrix", argument[3]);
}
