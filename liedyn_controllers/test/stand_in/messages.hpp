/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/** The messages of the broadcaster, each with its text, and a publisher that does not wait. */

#ifndef MESSAGES_HPP_
#define MESSAGES_HPP_

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "controller_interface/chainable_controller_interface.hpp"

struct Header
{
  std::string frame_id;
  rclcpp::Time stamp;
};

namespace geometry_msgs::msg
{
struct Vector3 {double x, y, z;};
struct Quaternion {double x, y, z, w;};
struct PoseStamped
{
  Header header;
  struct {Vector3 position; Quaternion orientation;} pose{};
};
struct TwistStamped
{
  Header header;
  struct {Vector3 angular, linear;} twist{};
};
inline std::string text(const PoseStamped & message)
{
  return message.header.frame_id + " " + std::to_string(message.pose.position.z);
}
inline std::string text(const TwistStamped & message)
{
  return message.header.frame_id + " " + std::to_string(message.twist.linear.z);
}
}  // namespace geometry_msgs::msg

namespace liedyn_interfaces::msg
{
struct StewartStatus
{
  enum {CONVERGED = 0, REJECTED = 4};
  enum {FLAG_LEG_TRAVEL = 2048, FLAG_JOINT_ANGLE = 4096, FLAG_LEG_CLEARANCE = 8192};
  Header header;
  std::uint8_t status, start, branch_source;
  std::string message;
  std::uint16_t iterations;
  double residual, smallest_singular_value, prediction_gap, time_to_singularity;
  std::array<double, 6> length;
  std::uint32_t flags;
  std::int8_t determinant_sign, expected_determinant_sign;
};
inline std::string text(const StewartStatus & message)
{
  return std::to_string(message.status) + " " + std::to_string(message.flags) + " " +
         std::to_string(message.time_to_singularity) + " " + message.message;
}
}  // namespace liedyn_interfaces::msg

namespace realtime_tools
{
template<typename Message>
class RealtimePublisher
{
public:
  explicit RealtimePublisher(std::shared_ptr<rclcpp::Publisher<Message>> publisher)
  : publisher_(publisher) {}
  bool try_publish(const Message & message) {publisher_->publish(message); return true;}

private:
  std::shared_ptr<rclcpp::Publisher<Message>> publisher_;
};
}  // namespace realtime_tools

#endif  // MESSAGES_HPP_
