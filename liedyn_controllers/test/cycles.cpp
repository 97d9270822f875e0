/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/** A controller manager in small: cycles LIBRARY MODEL LAG PERIOD HOME START [JOINT ...].
 *
 * It loads the plugin, configures it, and activates it at the first state on stdin, alone; where that
 * fails, at the next one. After the
 * update of that cycle, and before its write, it restarts the plugin in a chain, as the manager of
 * ros2_control does where a controller before it is activated, and at the end out of it. HOME is "x,y,z" or "-", START a text or "-";
 * a broadcaster reads velocities where LAG is above 0. A state is
 * positions and velocities of the measured joints, then position, velocity and acceleration for
 * each joint with an effort, as the controller before it writes them; NaN where it writes nothing.
 * For each state it writes whether the cycle succeeded, the
 * number of efforts, these, and the exported states. */

#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"

using controller_interface::CallbackReturn;
using controller_interface::ChainableControllerInterface;
using Interfaces = std::vector<hardware_interface::CommandInterface>;

static void require(bool kept, const char * what)
{
  if (kept) {return;}
  std::fprintf(stderr, "expected %s\n", what);
  std::exit(1);
}

static Interfaces interfaces(const controller_interface::InterfaceConfiguration & wanted)
{
  require(wanted.type != controller_interface::interface_configuration_type::ALL, "names");
  Interfaces result;
  for (const std::string & name : wanted.names) {
    const auto at = name.rfind('/');
    result.emplace_back(name.substr(0, at), name.substr(at + 1));
  }
  return result;
}

static bool read(std::vector<double> & values)
{
  return std::fread(values.data(), sizeof(double), values.size(), stdin) == values.size();
}

int main(int count, char ** arguments)
{
  if (count < 7) {return 2;}
  void * library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  require(library != nullptr, "a library that loads");
  const auto make = reinterpret_cast<ChainableControllerInterface * (*)()>(
    dlsym(library, "make_plugin"));
  require(make != nullptr, "a plugin");
  std::unique_ptr<ChainableControllerInterface> controller(make());
  require(controller->on_init() == CallbackReturn::SUCCESS, "parameters");
  auto & values = controller->get_node()->values;
  values["model_file"] = std::string(arguments[2]);
  values["lag"] = std::vector<double>{std::atof(arguments[3])};
  values["use_rates"] = std::atof(arguments[3]) > 0.0;
  double x, y, z;
  if (std::sscanf(arguments[5], "%lf,%lf,%lf", &x, &y, &z) == 3) {
    values["home"] = std::vector<double>{x, y, z};
  }
  if (std::string(arguments[6]) != "-") {values["start"] = std::string(arguments[6]);}
  values["joints"] = std::vector<std::string>(arguments + 7, arguments + count);
  const auto configured = controller->on_configure({});
  require(configured != CallbackReturn::ERROR, "a failure, after which it may be configured again");
  if (configured != CallbackReturn::SUCCESS) {return 3;}
  controller->command_interfaces_ = interfaces(controller->command_interface_configuration());
  controller->state_interfaces_ = interfaces(controller->state_interface_configuration());
  controller->export_interfaces();
  auto & states = controller->state_interfaces_;
  const auto & references = controller->references();
  const std::size_t c = controller->command_interfaces_.size();
  const bool rates = states[1].name.ends_with("/velocity");
  const std::size_t n = rates ? states.size() / 2 : states.size();
  const auto & exported = controller->exported();
  require(references.size() == 3 * c, "three references a joint");
  std::vector<double> state(states.size()), reference(3 * c), answer(2 + c + exported.size());
  int cycle = 0;
  bool first = true;
  while (read(state) && read(reference)) {
    for (std::size_t i = 0; i < n; ++i) {  // interfaces are a joint's position, then its velocity
      require(states[rates ? 2 * i : i].set_value(state[i]), "a position");
      require(!rates || states[2 * i + 1].set_value(state[n + i]), "a velocity");
    }
    if (first) {
      const auto activated = controller->on_activate({});
      require(activated != CallbackReturn::ERROR, "a failure, after which it may be activated again");
      if (activated != CallbackReturn::SUCCESS) {continue;}
    }
    for (std::size_t k = 0; k < 3 * c; ++k) {
      require(references[k]->set_value(reference[k]), "a reference");
    }
    const double period = std::atof(arguments[4]);
    const auto done = controller->update(
      rclcpp::Time(++cycle * period), rclcpp::Duration(period));
    answer[0] = done == controller_interface::return_type::OK, answer[1] = static_cast<double>(c);
    if (first) {  // the chain changes between update and write
      require(controller->on_deactivate({}) == CallbackReturn::SUCCESS, "a deactivation");
      controller->chained = true;
      require(controller->on_activate({}) == CallbackReturn::SUCCESS, "a restart");
      for (const auto & each : references) {require(std::isnan(*each->get_optional()), "no reference");}
    }
    for (std::size_t i = 0; i < c; ++i) {
      answer[2 + i] = *controller->command_interfaces_[i].get_optional();
    }
    for (std::size_t i = 0; i < exported.size(); ++i) {
      answer[2 + c + i] = *exported[i]->get_optional();
    }
    std::fwrite(answer.data(), sizeof(double), answer.size(), stdout);
    first = false;
  }
  if (first) {return 5;}
  require(controller->on_deactivate({}) == CallbackReturn::SUCCESS, "a deactivation");
  controller->chained = false;  // as where the controller before it ends, within a cycle
  if (c == 0) {return 0;}  // a broadcaster
  require(controller->on_activate({}) == CallbackReturn::SUCCESS, "a restart");
  const auto held = controller->command_interfaces_;
  bool holds = false;
  require(controller->update(rclcpp::Time(++cycle * 1e-3), rclcpp::Duration(1e-3)) ==
    controller_interface::return_type::OK, "a hold");
  for (std::size_t i = 0; i < c; ++i) {
    const double effort = *held[i].get_optional();
    holds = holds || effort != 0.0;
    require(effort == *controller->command_interfaces_[i].get_optional(), "the same effort alone");
  }
  require(holds, "no cycle without effort");
  require(controller->on_deactivate({}) == CallbackReturn::SUCCESS, "a deactivation");
  for (const auto & command : controller->command_interfaces_) {
    require(*command.get_optional() == 0.0, "no effort");
  }
  controller.reset();
  return dlclose(library) == 0 ? 0 : 4;
}
