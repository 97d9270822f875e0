/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

#include "machine.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace liedyn_controllers
{
namespace
{

using Names = std::vector<std::string>;

/// Throw unless joints are none, or the same as some names.
void require_same(const Names & joints, Names names, const char * what)
{
  Names given = joints;
  std::sort(given.begin(), given.end());
  std::sort(names.begin(), names.end());
  if (!joints.empty() && given != names) {
    throw std::runtime_error(std::string("joints: expected ") + what + ", or none named");
  }
}

/// Joints of one coordinate each; those without effort are free.
class Tree : public Machine
{
public:
  Tree(Memory content, const liedyn_model * model, const Names & joints)
  : content_(std::move(content)), model_(model), nv_(liedyn_nv(model))
  {
    for (int k = 0; k < nv_; ++k) {
      liedyn_place place;
      const std::string name = liedyn_coordinate_name(model, k);
      if (liedyn_find_joint(model, name.c_str(), &place) || place.nv != 1 || place.nq != 1) {
        throw std::runtime_error(name + ": expected joints of one coordinate each");
      }
      measured.push_back(name);
    }
    direct = true;
    commanded = joints.empty() ? measured : joints;
    prescribed_.resize(nv_);
    for (const std::string & name : commanded) {
      const auto at = std::find(measured.begin(), measured.end(), name);
      const auto k = static_cast<std::size_t>(at - measured.begin());
      if (at == measured.end() || prescribed_[k]) {
        throw std::runtime_error(name + ": expected joints of the model that move, each once");
      }
      prescribed_[k] = 1;
      at_.push_back(k);
    }
    q_.resize(nv_), v_.resize(nv_), a_.resize(2 * nv_), tau_.resize(2 * nv_);
    mass_.resize(nv_ * nv_), coriolis_.resize(nv_ * nv_);
    observer_.resize(2 * nv_);
    const std::size_t bytes = liedyn_work(model, 1);
    work_ = aligned(bytes);
    require(liedyn_init(model, 1, work_.get(), bytes), "model");
  }

  int read(const double * position, const double * velocity) noexcept override
  {
    std::copy_n(position, nv_, q_.begin());
    std::copy_n(velocity, nv_, v_.begin());
    return LIEDYN_OK;
  }

  int begin(const double *) noexcept override
  {
    observed_ = false;
    return LIEDYN_OK;
  }

  int observe(double dt, double gain, double * external) noexcept override
  {
    const double settings[] = {gain, observed_ ? dt : 0.0};
    observed_ = true;
    return liedyn_observe_external(
      model_, work_.get(), q_.data(), v_.data(), tau_.data(), nullptr, settings, observer_.data(),
      mass_.data(), coriolis_.data(), external);
  }

  void state(double * position, double * velocity) const noexcept override
  {
    for (std::size_t i = 0; i < at_.size(); ++i) {
      position[i] = q_[at_[i]], velocity[i] = v_[at_[i]];
    }
  }

  int effort(
    int order, const double * acceleration, const double * jerk, double * effort,
    double * rate) noexcept override
  {
    std::fill(tau_.begin(), tau_.end(), 0.0);
    for (std::size_t i = 0; i < at_.size(); ++i) {
      a_[at_[i]] = acceleration[i], a_[nv_ + at_[i]] = jerk[i];
    }
    const int code = at_.size() == static_cast<std::size_t>(nv_) ?
      liedyn_inverse_derivatives(
      model_, work_.get(), order, q_.data(), v_.data(), a_.data(), nullptr, tau_.data()) :
      liedyn_hybrid_derivatives(
      model_, work_.get(), order, q_.data(), v_.data(), prescribed_.data(), a_.data(), tau_.data(),
      nullptr);
    for (std::size_t i = 0; code == LIEDYN_OK && i < at_.size(); ++i) {
      effort[i] = tau_[at_[i]], rate[i] = tau_[nv_ + at_[i]];
    }
    return code;
  }

  int explain(char * text, std::size_t size) const noexcept override
  {
    return liedyn_explain(model_, work_.get(), text, size);
  }

private:
  Memory content_, work_;
  const liedyn_model * model_;
  int nv_;
  std::vector<unsigned char> prescribed_;
  std::vector<std::size_t> at_;
  std::vector<double> q_, v_, a_, tau_, mass_, coriolis_, observer_;
  bool observed_ = false;
};

/// Closed loops and mimic joints, from the measured joints, which are the actuators.
class Loops : public Machine
{
public:
  Loops(
    Memory content, const liedyn_loops * loops, const Names & joints, const Positions & start)
  : content_(std::move(content)), loops_(loops), nv_(liedyn_nv(liedyn_loops_tree(loops)))
  {
    const liedyn_model * tree = liedyn_loops_tree(loops);
    const int count = liedyn_measured(loops);
    if (count == 0) {throw std::runtime_error("model: expected actuators that decide the others");}
    if (liedyn_loops_order(loops) < 1) {
      throw std::runtime_error("model: expected a file written with --order 1 or more");
    }
    known_.resize(nv_);
    for (int k = 0; k < count; ++k) {
      liedyn_place place;
      measured.push_back(liedyn_measured_name(loops, k));
      require(liedyn_find_joint(tree, measured.back().c_str(), &place), measured.back());
      at_q_.push_back(place.q), at_.push_back(place.v);
      known_[place.v] = 1;
    }
    require_same(joints, measured, "the measured joints of the file");
    commanded = measured;
    q_.resize(liedyn_nq(tree)), v_.resize(nv_), a_.resize(2 * nv_), tau_.resize(2 * nv_);
    position_.resize(count), velocity_.resize(count), start_.resize(q_.size());
    require(liedyn_neutral(tree, start_.data()), "model");
    for (const auto & [name, value] : start) {
      liedyn_place place;
      if (liedyn_find_joint(tree, name.c_str(), &place) || place.nq != 1) {
        throw std::runtime_error("start: " + name + ": expected a joint of one coordinate");
      }
      start_[place.q] = value;
    }
    for (int k = 0; k < nv_ && liedyn_nq(tree) == nv_; ++k) {
      names_.push_back(liedyn_coordinate_name(tree, k));
    }
    const std::size_t bytes = liedyn_loops_work(loops);
    work_ = aligned(bytes);
    require(liedyn_loops_init(loops, work_.get(), bytes), "model");
  }

  int read(const double * position, const double * velocity) noexcept override
  {
    const int code = liedyn_loops_track(
      loops_, work_.get(), position, velocity, q_.data(), v_.data(), nullptr);
    if (code != LIEDYN_OK) {return code;}
    std::copy_n(position, at_.size(), position_.begin());
    std::copy_n(velocity, at_.size(), velocity_.begin());
    return LIEDYN_OK;
  }

  /// As measured: the tracker's joints may be whole turns away from it.
  void state(double * position, double * velocity) const noexcept override
  {
    std::copy(position_.begin(), position_.end(), position);
    std::copy(velocity_.begin(), velocity_.end(), velocity);
  }

  /// Assemble the loops at the measured joints, all others near the start.
  int begin(const double * position) noexcept override
  {
    std::copy(start_.begin(), start_.end(), q_.begin());
    for (std::size_t i = 0; i < at_.size(); ++i) {q_[at_q_[i]] = position[i];}
    int code = liedyn_loops_assemble(
      loops_, work_.get(), 0, q_.data(), known_.data(), 0, q_.data(), nullptr);
    if (code == LIEDYN_OK) {code = liedyn_loops_restart(loops_, work_.get(), q_.data());}
    return code;
  }

  std::string configuration() const override
  {
    std::ostringstream text;
    text << "joints at";
    for (std::size_t k = 0; k < names_.size(); ++k) {text << ' ' << names_[k] << ' ' << q_[k];}
    return text.str();
  }

  int effort(
    int order, const double * acceleration, const double * jerk, double * effort,
    double * rate) noexcept override
  {
    std::fill(a_.begin(), a_.end(), 0.0);
    for (std::size_t i = 0; i < at_.size(); ++i) {
      a_[at_[i]] = acceleration[i], a_[nv_ + at_[i]] = jerk[i];
    }
    int code = liedyn_loops_complete_acceleration(
      loops_, work_.get(), order, q_.data(), v_.data(), known_.data(), a_.data());
    if (code == LIEDYN_OK) {
      code = liedyn_loops_inverse(
        loops_, work_.get(), order, q_.data(), v_.data(), a_.data(), nullptr, tau_.data(), nullptr);
    }
    for (std::size_t i = 0; code == LIEDYN_OK && i < at_.size(); ++i) {
      effort[i] = tau_[at_[i]], rate[i] = tau_[nv_ + at_[i]];
    }
    return code;
  }

  int explain(char * text, std::size_t size) const noexcept override
  {
    return liedyn_loops_explain(loops_, work_.get(), text, size);
  }

private:
  Memory content_, work_;
  const liedyn_loops * loops_;
  int nv_;
  std::vector<unsigned char> known_;
  std::vector<std::size_t> at_q_, at_;
  std::vector<double> q_, v_, a_, tau_, position_, velocity_, start_;
  Names names_;  // of the coordinates, where each is a joint
};

}  // namespace

std::unique_ptr<Machine> make_tree(Memory content, const liedyn_model * model, const Names & joints)
{
  return std::make_unique<Tree>(std::move(content), model, joints);
}

std::unique_ptr<Machine> make_loops(
  Memory content, const liedyn_loops * loops, const Names & joints, const Positions & start)
{
  return std::make_unique<Loops>(std::move(content), loops, joints, start);
}

/// Joints and positions of a text such as 'knee:=0.5 ankle:=-1.2'.
Positions positions_of(const std::string & text)
{
  Positions result;
  std::istringstream words(text);
  for (std::string word; words >> word; ) {
    const auto at = word.find(":=");
    char * end = nullptr;
    const double value =
      at == std::string::npos ? 0.0 : std::strtod(word.c_str() + at + 2, &end);
    if (at == 0 || end == nullptr || end == word.c_str() + at + 2 || *end != 0 ||
      !std::isfinite(value))
    {
      throw std::runtime_error("start: expected joint:=position, got " + word);
    }
    result.emplace_back(word.substr(0, at), value);
  }
  return result;
}

Memory memory_for(const std::string & path, std::size_t & bytes)
{
  if (path.empty()) {
    throw std::runtime_error("model_file: expected a file of liedyn export, got none");
  }
  const int found = liedyn_file_size(path.c_str(), &bytes);
  if (found != LIEDYN_OK && !std::ifstream(path)) {
    throw std::runtime_error(path + ": expected a model file, got none that can be opened");
  }
  require(found, path);
  return aligned(bytes);
}

std::unique_ptr<Machine> open_machine(
  const std::string & path, const Names & joints, const std::vector<double> & home,
  const std::string & start_text)
{
  const Positions start = positions_of(start_text);
  std::size_t bytes = 0;
  Memory memory = memory_for(path, bytes);
  const liedyn_model * model = nullptr;
  const liedyn_loops * loops = nullptr;
  const liedyn_platform * platform = nullptr;
  int code = liedyn_load(path.c_str(), memory.get(), bytes, &model);
  if (code == LIEDYN_OK && !start.empty()) {
    throw std::runtime_error("start: expected none for a machine without loops");
  }
  if (code == LIEDYN_OK) {return make_tree(std::move(memory), model, joints);}
  if (code == LIEDYN_KIND) {code = liedyn_loops_open(memory.get(), bytes, &loops);}
  if (code == LIEDYN_OK) {return make_loops(std::move(memory), loops, joints, start);}
  if (code == LIEDYN_KIND) {code = liedyn_platform_open(memory.get(), bytes, &platform);}
  require(code, path);
  return make_platform(std::move(memory), platform, joints, home);
}

}  // namespace liedyn_controllers
