/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */


/** The pose of a Stewart platform from its legs, as state interfaces and as messages. */

#include <liedyn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "controller_interface/chainable_controller_interface.hpp"
#include "geometry_msgs/msg/pose_stamped.hpp"
#include "geometry_msgs/msg/twist_stamped.hpp"
#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "liedyn_interfaces/msg/stewart_status.hpp"
#include "machine.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "realtime_tools/realtime_publisher.hpp"

namespace liedyn_controllers
{

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;
using geometry_msgs::msg::PoseStamped;
using geometry_msgs::msg::TwistStamped;
using liedyn_interfaces::msg::StewartStatus;

namespace
{

constexpr std::size_t LEGS = 6, POSE = 7, TWIST = 6;  // numbers in interfaces; then the flags
constexpr double NONE = std::numeric_limits<double>::quiet_NaN();
constexpr double NEAR = 0.05;  // the signed value up to which libliedyn flags a singularity
// As semantic_components::PoseSensor and IMUSensor have them.
const char * const NAMES[] = {
  "position.x", "position.y", "position.z", "orientation.x", "orientation.y", "orientation.z",
  "orientation.w", "angular_velocity.x", "angular_velocity.y", "angular_velocity.z",
  "linear_velocity.x", "linear_velocity.y", "linear_velocity.z", "flags"};

/// Write position and quaternion x, y, z, w (7) of a pose (4, 4): Shepperd's method.
void place(const double * pose, double * result)
{
  const auto at = [pose](int i, int k) {return pose[4 * i + k];};
  int i = 0;
  for (int k = 1; k < 3; ++k) {
    if (at(k, k) > at(i, i)) {i = k;}
  }
  const double trace = at(0, 0) + at(1, 1) + at(2, 2);
  const int j = (i + 1) % 3, k = (i + 2) % 3;
  double q[4];
  if (trace > at(i, i)) {
    q[0] = at(2, 1) - at(1, 2), q[1] = at(0, 2) - at(2, 0), q[2] = at(1, 0) - at(0, 1);
    q[3] = 1.0 + trace;
  } else {
    q[i] = 1.0 + at(i, i) - at(j, j) - at(k, k);
    q[j] = at(j, i) + at(i, j), q[k] = at(k, i) + at(i, k), q[3] = at(k, j) - at(j, k);
  }
  const double norm = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (int n = 0; n < 3; ++n) {result[n] = pose[4 * n + 3];}
  for (int n = 0; n < 4; ++n) {result[3 + n] = q[n] / norm;}
}

template<typename Message>
class Output
{
public:
  void open(rclcpp_lifecycle::LifecycleNode & node, const char * topic)
  {
    publisher_ = std::make_unique<realtime_tools::RealtimePublisher<Message>>(
      node.create_publisher<Message>(topic, rclcpp::SensorDataQoS()));
  }
  /// Publish without waiting: realtime_tools renamed it.
  void publish()
  {
    if constexpr (requires {publisher_->try_publish(message);}) {
      publisher_->try_publish(message);
    } else {
      publisher_->tryPublish(message);
    }
  }
  Message message;

private:
  std::unique_ptr<realtime_tools::RealtimePublisher<Message>> publisher_;
};

}  // namespace

/**
 * The pose that leads on from `home`, its twist and its flags, from `<leg>/position`, and from
 * `<leg>/velocity` with `use_rates`. Interfaces are NaN where a sample has no pose; it goes on with
 * the next. Topics and messages are those of stewart_pose.
 */
class PlatformPoseBroadcaster : public controller_interface::ChainableControllerInterface
{
public:
  CallbackReturn on_init() override
  {
    try {
      auto_declare<std::string>("model_file", "");
      auto_declare<std::vector<double>>("home", {});
      auto_declare<double>("leg_noise", 0.0);
      auto_declare<bool>("use_rates", false);
      auto_declare<std::string>("base_frame", "stewart_base");
      auto_declare<std::string>("platform_frame", "stewart_platform");
    } catch (const std::exception & error) {
      return failed(error, CallbackReturn::ERROR);
    }
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override
  {
    const auto node = get_node();
    try {
      const std::string path = node->get_parameter("model_file").as_string();
      std::size_t bytes = 0;
      content_ = memory_for(path, bytes);
      require(liedyn_platform_load(path.c_str(), content_.get(), bytes, &platform_), path);
      const std::size_t size = liedyn_platform_work(platform_, 0);
      work_ = aligned(size);
      require(liedyn_platform_init(platform_, 0, work_.get(), size), path);
      home_ = home_pose(node->get_parameter("home").as_double_array());
      leg_noise_ = node->get_parameter("leg_noise").as_double();
      use_rates_ = node->get_parameter("use_rates").as_bool();
      require(restart(), "home, leg_noise");
      pose_.message.header.frame_id = status_.message.header.frame_id =
        node->get_parameter("base_frame").as_string();
      twist_.message.header.frame_id = node->get_parameter("platform_frame").as_string();
      pose_.open(*node, "~/pose"), twist_.open(*node, "~/twist"), status_.open(*node, "~/status");
    } catch (const std::exception & error) {
      return failed(error, CallbackReturn::FAILURE);
    }
    return CallbackReturn::SUCCESS;
  }

  InterfaceConfiguration command_interface_configuration() const override
  {
    return {interface_configuration_type::NONE, {}};
  }

  InterfaceConfiguration state_interface_configuration() const override
  {
    InterfaceConfiguration result{interface_configuration_type::INDIVIDUAL, {}};
    for (std::size_t k = 0; k < LEGS; ++k) {
      const std::string leg = liedyn_leg_name(platform_, static_cast<int>(k));
      result.names.push_back(leg + "/" + hardware_interface::HW_IF_POSITION);
      if (use_rates_) {result.names.push_back(leg + "/" + hardware_interface::HW_IF_VELOCITY);}
    }
    return result;
  }

  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
  {
    return restart() == LIEDYN_OK && write(nullptr) ? CallbackReturn::SUCCESS
           : CallbackReturn::FAILURE;
  }

  CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override
  {
    return write(nullptr) ? CallbackReturn::SUCCESS : CallbackReturn::FAILURE;
  }

protected:
  std::vector<hardware_interface::StateInterface::SharedPtr>
  on_export_state_interfaces_list() override
  {
    std::vector<hardware_interface::StateInterface::SharedPtr> result;
    for (const char * name : NAMES) {
      result.push_back(
        std::make_shared<hardware_interface::StateInterface>(get_node()->get_name(), name));
    }
    return result;
  }

  return_type update_reference_from_subscribers(
    const rclcpp::Time &, const rclcpp::Duration &) override
  {
    return return_type::OK;
  }

  return_type update_and_write_commands(const rclcpp::Time & time, const rclcpp::Duration &) override
  {
    const auto stamp = time.nanoseconds();
    if (stamp == last_) {return return_type::OK;}  // simulated time stands still
    std::array<double, LEGS> lengths, rates;
    const std::size_t step = use_rates_ ? 2 : 1;
    for (std::size_t k = 0; k < LEGS; ++k) {
      lengths[k] = state_interfaces_[step * k].get_optional().value_or(NONE);
      rates[k] = use_rates_ ? state_interfaces_[step * k + 1].get_optional().value_or(NONE) : 0.0;
    }
    const double * measured = use_rates_ ? rates.data() : nullptr;
    if (stamp < last_) {restart();}  // the clock was set back
    last_ = stamp;
    liedyn_tracked found{};
    const int code = liedyn_platform_track(
      platform_, work_.get(), stamp, lengths.data(), measured, &found);
    if (code == LIEDYN_OK) {found.flags |= exceeded(found.pose);}
    const bool written = write(code == LIEDYN_OK ? &found : nullptr);
    pose_.message.header.stamp = twist_.message.header.stamp = status_.message.header.stamp = time;
    tell(code, found, lengths);
    return written ? return_type::OK : return_type::ERROR;
  }

private:
  CallbackReturn failed(const std::exception & error, CallbackReturn result)
  {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return result;
  }

  int restart()
  {
    last_ = std::numeric_limits<std::int64_t>::min();
    return liedyn_platform_restart(platform_, work_.get(), home_.data(), leg_noise_);
  }

  /// The flags of the limits that a pose exceeds.
  int exceeded(const double * pose)
  {
    double margins[33];
    if (liedyn_platform_margins(platform_, work_.get(), pose, margins) != LIEDYN_OK) {return 0;}
    const auto below = [&margins](int from, int to) {
        return std::any_of(margins + from, margins + to, [](double one) {return one < 0.0;});
      };
    return (below(0, 6) ? StewartStatus::FLAG_LEG_TRAVEL : 0) |
           (below(6, 18) ? StewartStatus::FLAG_JOINT_ANGLE : 0) |
           (below(18, 33) ? StewartStatus::FLAG_LEG_CLEARANCE : 0);
  }

  /// Write the interfaces, NaN without a pose; return whether all of them took it.
  bool write(const liedyn_tracked * found)
  {
    values_.fill(NONE);
    if (found != nullptr) {
      place(found->pose, values_.data());
      std::copy_n(found->twist, TWIST, values_.begin() + POSE);
      values_[POSE + TWIST] = found->flags;
    }
    bool all = true;
    for (std::size_t k = 0; k < ordered_exported_state_interfaces_.size(); ++k) {
      all = ordered_exported_state_interfaces_[k]->set_value(values_[k]) && all;
    }
    return all;
  }

  /// Publish what was found, or why nothing was.
  void tell(int code, const liedyn_tracked & found, const std::array<double, LEGS> & lengths)
  {
    StewartStatus & status = status_.message;
    status.message.clear();
    const bool solved = code == LIEDYN_OK || code == LIEDYN_NOT_CONVERGED;
    status.status = code == LIEDYN_OK ? StewartStatus::CONVERGED : StewartStatus::REJECTED;
    if (code != LIEDYN_OK) {
      char text[200];
      liedyn_platform_explain(platform_, work_.get(), text, sizeof text);
      status.message = text;
    }
    if (code == LIEDYN_NOT_CONVERGED) {status.status = static_cast<std::uint8_t>(found.solution.status);}
    const double signed_value = found.solution.signed_value, sign = signed_value < 0.0 ? -1.0 : 1.0;
    const bool followed = code == LIEDYN_OK && found.sign != 0;
    const double room = std::fabs(signed_value) - NEAR, nearer = -sign * found.rate;
    status.start = static_cast<std::uint8_t>(found.start);
    status.iterations = static_cast<std::uint16_t>(found.solution.iterations);
    status.residual = found.solution.residual;
    status.smallest_singular_value = found.solution.smallest_singular_value;
    for (std::size_t k = 0; k < LEGS; ++k) {status.length[k] = solved ? lengths[k] : 0.0;}
    status.flags = static_cast<std::uint32_t>(found.flags);
    status.determinant_sign = static_cast<std::int8_t>(code == LIEDYN_OK ? sign : 0.0);
    status.expected_determinant_sign = static_cast<std::int8_t>(followed ? found.sign : 0);
    status.prediction_gap = followed && std::isfinite(found.gap) ? found.gap : 0.0;
    status.time_to_singularity = !followed || room <= 0.0 ? 0.0 :
      nearer > 0.0 ? room / nearer : std::numeric_limits<double>::infinity();
    status.branch_source = static_cast<std::uint8_t>(found.branch_source);
    status_.publish();
    if (code != LIEDYN_OK) {return;}
    auto & position = pose_.message.pose.position;
    auto & turn = pose_.message.pose.orientation;
    position.x = values_[0], position.y = values_[1], position.z = values_[2];
    turn.x = values_[3], turn.y = values_[4], turn.z = values_[5], turn.w = values_[6];
    pose_.publish();
    if (!std::isfinite(values_[POSE])) {return;}
    auto & angular = twist_.message.twist.angular;
    auto & linear = twist_.message.twist.linear;
    angular.x = values_[7], angular.y = values_[8], angular.z = values_[9];
    linear.x = values_[10], linear.y = values_[11], linear.z = values_[12];
    twist_.publish();
  }

  Memory content_, work_;
  const liedyn_platform * platform_ = nullptr;
  std::array<double, 16> home_{};
  std::array<double, POSE + TWIST + 1> values_{};
  double leg_noise_ = 0.0;
  bool use_rates_ = false;
  std::int64_t last_ = 0;  // ns, of the last sample
  Output<PoseStamped> pose_;
  Output<TwistStamped> twist_;
  Output<StewartStatus> status_;
};

}  // namespace liedyn_controllers

PLUGINLIB_EXPORT_CLASS(
  liedyn_controllers::PlatformPoseBroadcaster, controller_interface::ChainableControllerInterface)
