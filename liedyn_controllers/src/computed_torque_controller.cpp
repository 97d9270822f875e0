/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

#include "liedyn_controllers/computed_torque_controller.hpp"

#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "pluginlib/class_list_macros.hpp"

namespace liedyn_controllers
{

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::return_type;
using hardware_interface::HW_IF_ACCELERATION;
using hardware_interface::HW_IF_EFFORT;
using hardware_interface::HW_IF_POSITION;
using hardware_interface::HW_IF_VELOCITY;

namespace
{

constexpr double NONE = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t WIDTH = 3;  // references of a joint: position, velocity, acceleration

InterfaceConfiguration interfaces(
  const std::vector<std::string> & joints, const std::vector<std::string> & kinds)
{
  InterfaceConfiguration result{controller_interface::interface_configuration_type::INDIVIDUAL, {}};
  for (const std::string & joint : joints) {
    for (const std::string & kind : kinds) {result.names.push_back(joint + "/" + kind);}
  }
  return result;
}

}  // namespace

CallbackReturn ComputedTorqueController::on_init()
{
  const Options usual;
  try {
    auto_declare<std::string>("model_file", "");
    auto_declare<std::vector<std::string>>("joints", usual.joints);
    auto_declare<std::vector<double>>("kp", usual.kp);
    auto_declare<std::vector<double>>("kd", usual.kd);
    auto_declare<std::vector<double>>("lag", usual.lag);
    auto_declare<std::vector<double>>("home", usual.home);
    auto_declare<std::string>("start", usual.start);
    auto_declare<double>("observer_gain", usual.observer_gain);
  } catch (const std::exception & error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  return CallbackReturn::SUCCESS;
}

CallbackReturn ComputedTorqueController::on_configure(const rclcpp_lifecycle::State &)
{
  const auto node = get_node();
  try {
    Options options;
    options.joints = node->get_parameter("joints").as_string_array();
    options.kp = node->get_parameter("kp").as_double_array();
    options.kd = node->get_parameter("kd").as_double_array();
    options.lag = node->get_parameter("lag").as_double_array();
    options.home = node->get_parameter("home").as_double_array();
    options.start = node->get_parameter("start").as_string();
    options.observer_gain = node->get_parameter("observer_gain").as_double();
    law_ = std::make_unique<ComputedTorque>(
      node->get_parameter("model_file").as_string(), options);
  } catch (const std::exception & error) {
    RCLCPP_ERROR(node->get_logger(), "%s", error.what());
    return CallbackReturn::FAILURE;
  }
  position_.assign(law_->measured().size(), NONE);
  velocity_ = position_;
  goal_.assign(law_->commanded().size(), NONE);
  rate_ = acceleration_ = before_ = jerk_ = effort_ = goal_;
  return CallbackReturn::SUCCESS;
}

InterfaceConfiguration ComputedTorqueController::command_interface_configuration() const
{
  return interfaces(law_->commanded(), {HW_IF_EFFORT});
}

InterfaceConfiguration ComputedTorqueController::state_interface_configuration() const
{
  return interfaces(law_->measured(), {HW_IF_POSITION, HW_IF_VELOCITY});
}

std::vector<hardware_interface::CommandInterface::SharedPtr>
ComputedTorqueController::on_export_reference_interfaces_list()
{
  std::vector<hardware_interface::CommandInterface::SharedPtr> result;
  for (const std::string & joint : law_->commanded()) {
    for (const char * kind : {HW_IF_POSITION, HW_IF_VELOCITY, HW_IF_ACCELERATION}) {
      result.push_back(
        std::make_shared<hardware_interface::CommandInterface>(
          std::string(get_node()->get_name()) + "/" + joint, kind));
    }
  }
  return result;
}

std::vector<hardware_interface::StateInterface::SharedPtr>
ComputedTorqueController::on_export_state_interfaces_list()
{
  std::vector<hardware_interface::StateInterface::SharedPtr> result;
  for (std::size_t i = 0; i < law_->external().size(); ++i) {
    result.push_back(
      std::make_shared<hardware_interface::StateInterface>(
        std::string(get_node()->get_name()) + "/" + law_->measured()[i], "external_effort"));
  }
  return result;
}

CallbackReturn ComputedTorqueController::on_activate(const rclcpp_lifecycle::State &)
{
  for (const auto & reference : ordered_exported_reference_interfaces_) {
    if (!reference->set_value(NONE)) {return CallbackReturn::FAILURE;}
  }
  followed_ = false;
  // The manager activates after the updates of a cycle and before it writes, also where it
  // restarts a controller whose chain changes: so what holds the joints is written here.
  if (!read()) {
    RCLCPP_ERROR(get_node()->get_logger(), "state: expected position and velocity of all joints");
    return CallbackReturn::FAILURE;
  }
  if (law_->begin(position_.data()) != 0 || !hold() || !write_efforts(0.0)) {
    char text[200];
    law_->explain(text, sizeof text);
    RCLCPP_ERROR(
      get_node()->get_logger(), "state: %s; a platform begins near `home`, loops near `start`",
      text);
    return CallbackReturn::FAILURE;
  }
  const std::string where = law_->configuration();
  if (!where.empty()) {RCLCPP_INFO(get_node()->get_logger(), "%s", where.c_str());}
  return CallbackReturn::SUCCESS;
}

CallbackReturn ComputedTorqueController::on_deactivate(const rclcpp_lifecycle::State &)
{
  bool all = true;
  for (auto & command : command_interfaces_) {all = command.set_value(0.0) && all;}
  for (auto & touch : ordered_exported_state_interfaces_) {all = touch->set_value(NONE) && all;}
  return all ? CallbackReturn::SUCCESS : CallbackReturn::FAILURE;
}

bool ComputedTorqueController::write_efforts(double dt)
{
  const Reference reference{goal_.data(), rate_.data(), acceleration_.data(), jerk_.data()};
  if (law_->update(position_.data(), velocity_.data(), reference, effort_.data(), dt) != 0) {
    return false;
  }
  bool all = true;
  const auto & touches = ordered_exported_state_interfaces_;
  for (std::size_t i = 0; i < touches.size(); ++i) {
    all = touches[i]->set_value(law_->external()[i]) && all;
  }
  for (std::size_t i = 0; i < effort_.size(); ++i) {
    all = command_interfaces_[i].set_value(effort_[i]) && all;
  }
  return all;
}

bool ComputedTorqueController::read()
{
  for (std::size_t i = 0; i < position_.size(); ++i) {
    const auto position = state_interfaces_[2 * i].get_optional();
    const auto velocity = state_interfaces_[2 * i + 1].get_optional();
    if (!position.has_value() || !velocity.has_value()) {return false;}
    position_[i] = *position, velocity_[i] = *velocity;
  }
  return true;
}

bool ComputedTorqueController::hold()
{
  if (law_->read(position_.data(), goal_.data()) != 0) {return false;}
  for (std::size_t i = 0; i < goal_.size(); ++i) {rate_[i] = acceleration_[i] = jerk_[i] = 0.0;}
  return true;
}

bool ComputedTorqueController::follow()
{
  for (std::size_t i = 0; i < goal_.size(); ++i) {
    double values[WIDTH];
    for (std::size_t k = 0; k < WIDTH; ++k) {
      values[k] = ordered_exported_reference_interfaces_[WIDTH * i + k]->get_optional()
        .value_or(NONE);
    }
    if (!std::isfinite(values[0])) {return false;}  // nothing has been written yet
    goal_[i] = values[0];
    rate_[i] = std::isfinite(values[1]) ? values[1] : 0.0;
    acceleration_[i] = std::isfinite(values[2]) ? values[2] : 0.0;
  }
  return true;
}

return_type ComputedTorqueController::update_reference_from_subscribers(
  const rclcpp::Time &, const rclcpp::Duration &)
{
  return return_type::OK;  // alone it holds what it had at its activation
}

return_type ComputedTorqueController::update_and_write_commands(
  const rclcpp::Time &, const rclcpp::Duration & period)
{
  if (!read()) {return return_type::ERROR;}
  if (is_in_chained_mode() && follow()) {
    const double step = period.seconds();
    for (std::size_t i = 0; i < jerk_.size(); ++i) {
      jerk_[i] = followed_ && step > 0.0 ? (acceleration_[i] - before_[i]) / step : 0.0;
      before_[i] = acceleration_[i];
    }
    followed_ = true;
  }
  if (!write_efforts(period.seconds())) {
    char text[200];
    law_->explain(text, sizeof text);
    RCLCPP_ERROR_THROTTLE(
      get_node()->get_logger(), *get_node()->get_clock(), 1000, "state: %s", text);
    return return_type::ERROR;
  }
  return return_type::OK;
}

}  // namespace liedyn_controllers

PLUGINLIB_EXPORT_CLASS(
  liedyn_controllers::ComputedTorqueController, controller_interface::ChainableControllerInterface)
