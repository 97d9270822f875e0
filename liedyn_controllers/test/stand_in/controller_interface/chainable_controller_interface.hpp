/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/** What of ros2_control and rclcpp the controller uses, to run it where neither is installed.
 *
 * The names, arguments and results are those of ros2_control 4.46 to 6.8, and nothing behind them is. */

#ifndef CONTROLLER_INTERFACE__CHAINABLE_CONTROLLER_INTERFACE_HPP_
#define CONTROLLER_INTERFACE__CHAINABLE_CONTROLLER_INTERFACE_HPP_

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#define RCLCPP_ERROR(logger, ...) \
  (void)(logger), std::fprintf(stderr, __VA_ARGS__), std::fputc('\n', stderr)
#define RCLCPP_INFO RCLCPP_ERROR
#define RCLCPP_ERROR_THROTTLE(logger, clock, period, ...) (void)(clock), RCLCPP_ERROR(logger, __VA_ARGS__)

namespace rclcpp
{
class Time
{
public:
  explicit Time(double seconds = 0.0)
  : nanoseconds_(std::llround(1e9 * seconds)) {}
  std::int64_t nanoseconds() const {return nanoseconds_;}

private:
  std::int64_t nanoseconds_;
};
struct SensorDataQoS {};
template<typename Message>
class Publisher
{
public:
  explicit Publisher(const std::string & topic)
  : topic_(topic) {}
  void publish(const Message & message) const
  {
    std::fprintf(stderr, "%s %s\n", topic_.c_str(), text(message).c_str());
  }

private:
  std::string topic_;
};
class Logger {};
class Clock {};
class Duration
{
public:
  explicit Duration(double seconds)
  : seconds_(seconds) {}
  double seconds() const {return seconds_;}

private:
  double seconds_;
};

using Value = std::variant<
  std::string, std::vector<std::string>, std::vector<double>, double, bool>;
class Parameter
{
public:
  explicit Parameter(Value value)
  : value_(std::move(value)) {}
  double as_double() const {return std::get<double>(value_);}
  bool as_bool() const {return std::get<bool>(value_);}
  const std::string & as_string() const {return std::get<std::string>(value_);}
  const std::vector<std::string> & as_string_array() const
  {
    return std::get<std::vector<std::string>>(value_);
  }
  const std::vector<double> & as_double_array() const {return std::get<std::vector<double>>(value_);}

private:
  Value value_;
};
}  // namespace rclcpp

namespace rclcpp_lifecycle
{
class State {};
class LifecycleNode
{
public:
  const char * get_name() const {return "controller";}
  rclcpp::Logger get_logger() const {return {};}
  std::shared_ptr<rclcpp::Clock> get_clock() {return std::make_shared<rclcpp::Clock>();}
  rclcpp::Parameter get_parameter(const std::string & name) const
  {
    return rclcpp::Parameter(values.at(name));
  }
  template<typename Message>
  std::shared_ptr<rclcpp::Publisher<Message>> create_publisher(
    const std::string & topic, const rclcpp::SensorDataQoS &)
  {
    return std::make_shared<rclcpp::Publisher<Message>>(topic);
  }
  std::map<std::string, rclcpp::Value> values;
};
}  // namespace rclcpp_lifecycle

namespace hardware_interface
{
class Handle
{
public:
  using SharedPtr = std::shared_ptr<Handle>;
  Handle(const std::string & prefix, const std::string & interface)
  : name(prefix + "/" + interface) {}
  [[nodiscard]] bool set_value(double value) {value_ = value; return true;}
  [[nodiscard]] std::optional<double> get_optional() const {return value_;}
  std::string name;

private:
  double value_ = 0.0;
};
using CommandInterface = Handle;
using StateInterface = Handle;
}  // namespace hardware_interface

namespace controller_interface
{
enum class CallbackReturn {SUCCESS, FAILURE, ERROR};
enum class return_type {OK, ERROR};
enum class interface_configuration_type {ALL, INDIVIDUAL, NONE};
struct InterfaceConfiguration
{
  interface_configuration_type type;
  std::vector<std::string> names;
};

class ChainableControllerInterface
{
public:
  virtual ~ChainableControllerInterface() = default;
  virtual CallbackReturn on_init() = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State & state) = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State & state) = 0;
  virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State & state) = 0;

  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() const {return node_;}
  bool is_in_chained_mode() const {return chained;}
  void export_interfaces()
  {
    ordered_exported_reference_interfaces_ = on_export_reference_interfaces_list();
    ordered_exported_state_interfaces_ = on_export_state_interfaces_list();
  }
  const std::vector<hardware_interface::StateInterface::SharedPtr> & exported() const
  {
    return ordered_exported_state_interfaces_;
  }
  const std::vector<hardware_interface::CommandInterface::SharedPtr> & references() const
  {
    return ordered_exported_reference_interfaces_;
  }
  return_type update(const rclcpp::Time & time, const rclcpp::Duration & period)
  {
    if (!chained && update_reference_from_subscribers(time, period) != return_type::OK) {
      return return_type::ERROR;
    }
    return update_and_write_commands(time, period);
  }

  std::vector<hardware_interface::CommandInterface> command_interfaces_, state_interfaces_;
  bool chained = false;

protected:
  virtual std::vector<hardware_interface::CommandInterface::SharedPtr>
  on_export_reference_interfaces_list() {return {};}
  virtual std::vector<hardware_interface::StateInterface::SharedPtr>
  on_export_state_interfaces_list() {return {};}
  virtual return_type update_reference_from_subscribers(
    const rclcpp::Time & time, const rclcpp::Duration & period) = 0;
  virtual return_type update_and_write_commands(
    const rclcpp::Time & time, const rclcpp::Duration & period) = 0;
  template<typename T>
  void auto_declare(const std::string & name, const T & value) {node_->values.insert({name, value});}

  std::vector<hardware_interface::CommandInterface::SharedPtr>
  ordered_exported_reference_interfaces_, ordered_exported_state_interfaces_;

private:
  std::shared_ptr<rclcpp_lifecycle::LifecycleNode> node_ =
    std::make_shared<rclcpp_lifecycle::LifecycleNode>();
};
}  // namespace controller_interface

#endif  // CONTROLLER_INTERFACE__CHAINABLE_CONTROLLER_INTERFACE_HPP_
