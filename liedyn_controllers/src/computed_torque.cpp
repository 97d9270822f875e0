/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

#include "liedyn_controllers/computed_torque.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "machine.hpp"

namespace liedyn_controllers
{
namespace
{

/// One number for each joint, 0 or more.
std::vector<double> spread(const char * name, const std::vector<double> & given, std::size_t count)
{
  for (const double value : given) {
    if (!std::isfinite(value) || value < 0.0) {
      throw std::runtime_error(std::string(name) + ": expected numbers of 0 or more");
    }
  }
  if (given.size() == 1) {return std::vector<double>(count, given[0]);}
  if (given.size() != count) {
    throw std::runtime_error(std::string(name) + ": expected one number, or one for each joint");
  }
  return given;
}

}  // namespace

ComputedTorque::ComputedTorque(const std::string & model, const Options & options)
: machine_(open_machine(model, options.joints, options.home, options.start))
{
  const std::size_t count = machine_->commanded.size();
  kp_ = spread("kp", options.kp, count);
  kd_ = spread("kd", options.kd, count);
  lag_ = spread("lag", options.lag, count);
  observer_gain_ = spread("observer_gain", {options.observer_gain}, 1)[0];
  for (const double lag : lag_) {
    if (lag > 0.0) {order_ = 1;}
  }
  for (std::vector<double> * each : {&at_, &rate_, &acceleration_, &jerk_, &effort_rate_}) {
    each->resize(count);
  }
  for (std::vector<double> * each :
    {&applied_, &bias_, &bias_before_, &rate_before_, &sum_, &column_})
  {
    each->resize(count);
  }
  mass_.resize(count * count);
  mass_before_ = mass_;
  still_.resize(machine_->measured.size());
  external_.resize(machine_->measured.size());
}

ComputedTorque::~ComputedTorque() = default;
ComputedTorque::ComputedTorque(ComputedTorque &&) noexcept = default;

const std::vector<std::string> & ComputedTorque::measured() const {return machine_->measured;}
const std::vector<std::string> & ComputedTorque::commanded() const {return machine_->commanded;}

int ComputedTorque::begin(const double * position) noexcept
{
  observed_ = false;
  return code_ = machine_->begin(position);
}

std::string ComputedTorque::configuration() const {return machine_->configuration();}

int ComputedTorque::read(const double * position, double * commanded) noexcept
{
  code_ = machine_->read(position, still_.data());
  if (code_ == LIEDYN_OK) {machine_->state(commanded, rate_.data());}
  return code_;
}

int ComputedTorque::observe(double dt) noexcept
{
  int code = machine_->observe(dt, observer_gain_, external_.data());
  if (code != LIEDYN_ABSENT) {return code;}
  // M a + b is the effort of an acceleration a; (M v)' = tau - b + M' v + external.
  const std::size_t count = at_.size();
  std::fill(acceleration_.begin(), acceleration_.end(), 0.0);
  code = machine_->effort(
    0, acceleration_.data(), still_.data(), bias_.data(), effort_rate_.data());
  for (std::size_t i = 0; code == LIEDYN_OK && i < count; ++i) {
    acceleration_[i] = 1.0;
    code = machine_->effort(
      0, acceleration_.data(), still_.data(), column_.data(), effort_rate_.data());
    acceleration_[i] = 0.0;
    for (std::size_t k = 0; k < count; ++k) {mass_[count * k + i] = column_[k] - bias_[k];}
  }
  for (std::size_t k = 0; code == LIEDYN_OK && k < count; ++k) {
    double momentum = 0.0, turned = 0.0;  // and the integral of M' v
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = count * k + i;
      momentum += mass_[at] * rate_[i];
      turned += 0.5 * (mass_[at] - mass_before_[at]) * (rate_[i] + rate_before_[i]);
    }
    if (observed_) {
      sum_[k] += turned + dt * (applied_[k] - 0.5 * (bias_[k] + bias_before_[k]));
      external_[k] = observer_gain_ * (momentum - sum_[k]) / (1.0 + observer_gain_ * dt);
      sum_[k] += dt * external_[k];
    } else {
      sum_[k] = momentum, external_[k] = 0.0;
    }
  }
  observed_ = code == LIEDYN_OK;
  mass_before_ = mass_, bias_before_ = bias_, rate_before_ = rate_;
  return code;
}

int ComputedTorque::update(
  const double * position, const double * velocity, const Reference & reference,
  double * effort, double dt) noexcept
{
  code_ = machine_->read(position, velocity);
  if (code_ != LIEDYN_OK) {return code_;}
  machine_->state(at_.data(), rate_.data());
  code_ = observe(dt);
  if (code_ != LIEDYN_OK) {return code_;}
  const std::size_t count = at_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const double late = reference.velocity[i] - rate_[i];
    acceleration_[i] = reference.acceleration[i] + kd_[i] * late +
      kp_[i] * (reference.position[i] - at_[i]);
    // Its rate, where the joint moves as is commanded.
    jerk_[i] = reference.jerk[i] + kd_[i] * (reference.acceleration[i] - acceleration_[i]) +
      kp_[i] * late;
  }
  code_ = machine_->effort(
    order_, acceleration_.data(), jerk_.data(), effort, effort_rate_.data());
  for (std::size_t i = 0; code_ == LIEDYN_OK && i < count; ++i) {
    applied_[i] = effort[i];
    if (lag_[i] > 0.0) {effort[i] += lag_[i] * effort_rate_[i];}
    if (!std::isfinite(effort[i])) {code_ = LIEDYN_TOO_LARGE;}
  }
  return code_;
}

void ComputedTorque::explain(char * text, std::size_t size) const noexcept
{
  if (machine_->explain(text, size) != code_) {
    std::snprintf(text, size, "%s", liedyn_message(code_));
  }
  char label[16], rest[200];
  std::size_t index = 0;
  if (std::sscanf(text, "%15[a-z_][%zu]%199[^\n]", label, &index, rest) != 3) {return;}
  const std::string of = label;
  const bool named = of == "positions" || of == "rates" || of == "lengths" ||
    of == "length_rates" || (machine_->direct && (of == "q" || of == "v"));
  if (named && index < machine_->measured.size()) {
    std::snprintf(text, size, "%s%s", machine_->measured[index].c_str(), rest);
  }
}

}  // namespace liedyn_controllers
