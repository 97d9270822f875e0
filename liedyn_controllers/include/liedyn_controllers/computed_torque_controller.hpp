/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/** The core as a controller of ros2_control, to stand behind a joint_trajectory_controller. */

#ifndef LIEDYN_CONTROLLERS__COMPUTED_TORQUE_CONTROLLER_HPP_
#define LIEDYN_CONTROLLERS__COMPUTED_TORQUE_CONTROLLER_HPP_

#include <memory>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"
#include "liedyn_controllers/computed_torque.hpp"

namespace liedyn_controllers
{

/**
 * Efforts from `<joint>/position` and `<joint>/velocity`, and from the references of the same names
 * and `acceleration`, which a controller before it writes. Without one it holds the joints where they
 * are at its activation, which writes the efforts for that, too. Of a tree it exports the efforts of
 * what touches it, `<joint>/external_effort`, by its momentum.
 */
class ComputedTorqueController : public controller_interface::ChainableControllerInterface
{
public:
  controller_interface::CallbackReturn on_init() override;
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;
  controller_interface::CallbackReturn on_configure(const rclcpp_lifecycle::State & state) override;
  controller_interface::CallbackReturn on_activate(const rclcpp_lifecycle::State & state) override;
  controller_interface::CallbackReturn on_deactivate(
    const rclcpp_lifecycle::State & state) override;

protected:
  std::vector<hardware_interface::CommandInterface::SharedPtr>
  on_export_reference_interfaces_list() override;
  std::vector<hardware_interface::StateInterface::SharedPtr>
  on_export_state_interfaces_list() override;
  controller_interface::return_type update_reference_from_subscribers(
    const rclcpp::Time & time, const rclcpp::Duration & period) override;
  controller_interface::return_type update_and_write_commands(
    const rclcpp::Time & time, const rclcpp::Duration & period) override;

private:
  /// Read the state; return whether all of it is there.
  bool read();
  /// Read the reference; return whether all of it is there.
  bool follow();
  /// Write the efforts of the state and the reference; return whether there are any.
  bool write_efforts(double dt);
  /// Hold the joints where they are; return whether they are anywhere.
  bool hold();

  std::unique_ptr<ComputedTorque> law_;
  std::vector<double> position_, velocity_;                              // measured joints
  std::vector<double> goal_, rate_, acceleration_, before_, jerk_, effort_;  // joints with efforts
  bool followed_ = false;  // before_ has accelerations of the last cycle
};

}  // namespace liedyn_controllers

#endif  // LIEDYN_CONTROLLERS__COMPUTED_TORQUE_CONTROLLER_HPP_
