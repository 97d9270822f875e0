/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Gravity compensation and computed torque, in C on rcl: c_controller MODEL [--joints NAME ...]
 * [--kp 1/s^2] [--kd 1/s] [--ros-args ...].
 *
 * Each sensor_msgs/JointState on joint_states gives a std_msgs/Float64MultiArray of efforts on
 * effort_controller/commands, in the order of --joints; by default in the order of the model. The
 * newest state is answered, older ones that wait are dropped.
 *
 * The first point of a trajectory_msgs/JointTrajectory on reference is what the joints shall do now.
 * For 0.1 s it gives tau = M(q) (a_d + kd (v_d - v) + kp (q_d - q)) + b(q, v), by one inverse
 * dynamics; without a reference, tau holds the robot against gravity. A message that is not complete
 * and finite is refused, with a warning. From a state to its efforts nothing is allocated here. */

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <liedyn.h>
#include <rcl/error_handling.h>
#include <rcl/rcl.h>
#include <rcutils/logging_macros.h>
#include <rcutils/time.h>
#include <rosidl_runtime_c/primitives_sequence_functions.h>
#include <sensor_msgs/msg/joint_state.h>
#include <std_msgs/msg/float64_multi_array.h>
#include <trajectory_msgs/msg/joint_trajectory.h>

enum { MOST = 64 }; /* joints */
static const int64_t MAX_AGE = 100000000, TICK = 100000000; /* ns: of a reference, of a look at signals */
static const double KP = 400.0, KD = 40.0;                  /* 1/s^2, 1/s: critically damped */

typedef rosidl_runtime_c__double__Sequence numbers;
typedef rosidl_runtime_c__String__Sequence texts;

static struct {
  const liedyn_model *model;
  void *memory, *work;
  int nv, commanded;
  const char *names[MOST];                 /* of the coordinates, as in the model */
  size_t in_state[MOST], in_reference[MOST]; /* their places in the last messages */
  int order[MOST];                         /* the coordinates of the commands */
  double kp, kd;
  double q[MOST], v[MOST], a[MOST], tau[MOST];
  double goal[MOST], rate[MOST], acceleration[MOST];
  int64_t until;                           /* ns: the reference holds until then */
} robot;

static struct {
  rcl_context_t context;
  rcl_node_t node;
  rcl_subscription_t states, references;
  rcl_publisher_t commands;
  rcl_wait_set_t waiting;
  sensor_msgs__msg__JointState state;
  trajectory_msgs__msg__JointTrajectory reference;
  std_msgs__msg__Float64MultiArray command;
} ros;

static volatile sig_atomic_t stopped;

static void stop(int number) {
  (void)number;
  stopped = 1;
}

static _Noreturn void refuse(const char *what, const char *why) {
  fprintf(stderr, "c_controller: %s: %s\n", what, why);
  exit(1);
}

static void require(int code, const char *what) {
  if (code != LIEDYN_OK) refuse(what, liedyn_message(code));
}

static void require_ros(rcl_ret_t code, const char *what) {
  if (code != RCL_RET_OK) refuse(what, rcl_get_error_string().str);
}

#define WARN(...) RCUTILS_LOG_WARN_THROTTLE_NAMED(rcutils_steady_time_now, 1000, "c_controller", __VA_ARGS__)

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return INT64_C(1000000000) * time.tv_sec + time.tv_nsec;
}

/* ---- In the loop: no allocation ---------------------------------------------------------------- */

/* Find the coordinates in the names of a message, where the last message had them or elsewhere. */
static int is_complete(const char *what, const texts *names, size_t *places) {
  for (int k = 0; k < robot.nv; ++k) {
    size_t at = places[k];
    if (at >= names->size || strcmp(names->data[at].data, robot.names[k]) != 0) {
      for (at = 0; at < names->size && strcmp(names->data[at].data, robot.names[k]) != 0; ++at) {}
      if (at == names->size) {
        WARN("%s: expected joint '%s', got %zu other names", what, robot.names[k], names->size);
        return 0;
      }
      places[k] = at;
    }
  }
  return 1;
}

/* Copy the numbers of a message by the places of its names: zeros for none. */
static int is_taken(const char *what, const numbers *from, const texts *names, const size_t *places,
                    double *to) {
  if (from->size != 0 && from->size != names->size) {
    WARN("%s: expected %zu numbers as names, got %zu", what, names->size, from->size);
    return 0;
  }
  for (int k = 0; k < robot.nv; ++k) {
    to[k] = from->size ? from->data[places[k]] : 0.0;
    if (!isfinite(to[k])) {
      WARN("%s: expected a finite number for '%s', got %g", what, robot.names[k], to[k]);
      return 0;
    }
  }
  return 1;
}

static void take_reference(void) {
  const trajectory_msgs__msg__JointTrajectory *message = &ros.reference;
  const texts *names = &message->joint_names;
  size_t *places = robot.in_reference;
  robot.until = 0;
  if (message->points.size == 0 || message->points.data[0].positions.size != names->size) {
    WARN("reference: expected a point with a position for each joint");
    return;
  }
  const trajectory_msgs__msg__JointTrajectoryPoint *point = message->points.data;
  if (is_complete("reference", names, places)
      && is_taken("positions of reference", &point->positions, names, places, robot.goal)
      && is_taken("velocities of reference", &point->velocities, names, places, robot.rate)
      && is_taken("accelerations of reference", &point->accelerations, names, places,
                  robot.acceleration))
    robot.until = now() + MAX_AGE;
}

/* Write the efforts of the state into the command; return whether there are any. */
static int is_answered(void) {
  const sensor_msgs__msg__JointState *state = &ros.state;
  const texts *names = &state->name;
  size_t *places = robot.in_state;
  const int follows = now() < robot.until;
  int code;
  if (!is_complete("joint_states", names, places)) return 0;
  if (state->position.size != names->size || (follows && state->velocity.size != names->size)) {
    WARN("joint_states: expected a position and a velocity for each joint");
    return 0;
  }
  if (!is_taken("position of joint_states", &state->position, names, places, robot.q)) return 0;
  if (follows) {
    if (!is_taken("velocity of joint_states", &state->velocity, names, places, robot.v)) return 0;
    for (int k = 0; k < robot.nv; ++k)
      robot.a[k] = robot.acceleration[k] + robot.kd * (robot.rate[k] - robot.v[k])
                   + robot.kp * (robot.goal[k] - robot.q[k]);
    code = liedyn_inverse(robot.model, robot.work, robot.q, robot.v, robot.a, NULL, robot.tau);
  } else {
    code = liedyn_gravity(robot.model, robot.work, robot.q, robot.tau);
  }
  if (code != LIEDYN_OK) {
    char text[160];
    liedyn_explain(robot.model, robot.work, text, sizeof text);
    WARN("joint_states: %s (%s)", liedyn_message(code), text);
    return 0;
  }
  for (int i = 0; i < robot.commanded; ++i) ros.command.data.data[i] = robot.tau[robot.order[i]];
  return 1;
}

static void cycle(void) {
  require_ros(rcl_wait_set_clear(&ros.waiting), "wait");
  require_ros(rcl_wait_set_add_subscription(&ros.waiting, &ros.states, NULL), "wait");
  require_ros(rcl_wait_set_add_subscription(&ros.waiting, &ros.references, NULL), "wait");
  const rcl_ret_t code = rcl_wait(&ros.waiting, TICK);
  if (code == RCL_RET_TIMEOUT || stopped) return;
  require_ros(code, "wait");
  const int referred = ros.waiting.subscriptions[1] != NULL;
  if (referred && rcl_take(&ros.references, &ros.reference, NULL, NULL) == RCL_RET_OK) take_reference();
  if (ros.waiting.subscriptions[0] != NULL && rcl_take(&ros.states, &ros.state, NULL, NULL) == RCL_RET_OK
      && is_answered())
    require_ros(rcl_publish(&ros.commands, &ros.command, NULL), "publish");
  rcl_reset_error(); /* a message that another thread took first is no error */
}

/* ---- Before the loop --------------------------------------------------------------------------- */

static void *aligned(size_t bytes) {
  void *memory = aligned_alloc(LIEDYN_ALIGNMENT, (bytes / LIEDYN_ALIGNMENT + 1) * LIEDYN_ALIGNMENT);
  if (memory == NULL) refuse("memory", "expected more of it");
  return memory;
}

static void load(const char *path) {
  size_t bytes;
  require(liedyn_file_size(path, &bytes), path);
  robot.memory = aligned(bytes);
  require(liedyn_load(path, robot.memory, bytes, &robot.model), path);
  robot.nv = robot.commanded = liedyn_nv(robot.model);
  if (robot.nv == 0 || robot.nv > MOST || robot.nv != liedyn_nq(robot.model))
    refuse(path, "expected 1 to 64 joints of one coordinate each");
  bytes = liedyn_work(robot.model, 0);
  robot.work = aligned(bytes);
  require(liedyn_init(robot.model, 0, robot.work, bytes), path);
  for (int k = 0; k < robot.nv; ++k) {
    liedyn_place place;
    robot.names[k] = liedyn_coordinate_name(robot.model, k);
    robot.order[k] = k;
    if (liedyn_find_joint(robot.model, robot.names[k], &place) != LIEDYN_OK || place.nv != 1)
      refuse(robot.names[k], "expected joints of one coordinate each");
  }
}

static double gain(const char *name, const char *text) {
  char *end;
  const double value = text == NULL ? NAN : strtod(text, &end);
  if (!isfinite(value) || value < 0.0 || end == text || *end != '\0') refuse(name, "expected a number of 0 or more");
  return value;
}

/* Read the arguments before --ros-args, which rcl reads. */
static void read_arguments(int count, char **arguments) {
  if (count < 2) refuse("arguments", "expected MODEL [--joints NAME ...] [--kp 1/s^2] [--kd 1/s]");
  load(arguments[1]);
  robot.kp = KP, robot.kd = KD;
  for (int i = 2; i < count && strcmp(arguments[i], "--ros-args") != 0; ++i) {
    if (strcmp(arguments[i], "--kp") == 0) {
      robot.kp = gain("--kp", arguments[++i]);
    } else if (strcmp(arguments[i], "--kd") == 0) {
      robot.kd = gain("--kd", arguments[++i]);
    } else if (strcmp(arguments[i], "--joints") == 0) {
      for (robot.commanded = 0; i + 1 < count && arguments[i + 1][0] != '-'; ++robot.commanded) {
        liedyn_place place;
        const char *name = arguments[++i];
        if (liedyn_find_joint(robot.model, name, &place) != LIEDYN_OK || place.nv != 1)
          refuse(name, "expected a joint of the model that moves");
        for (int k = 0; k < robot.commanded; ++k)
          if (robot.order[k] == place.v) refuse(name, "expected each joint once");
        robot.order[robot.commanded] = place.v;
      }
      if (robot.commanded == 0) refuse("--joints", "expected names");
    } else {
      refuse(arguments[i], "expected --joints, --kp, --kd or --ros-args");
    }
  }
}

static void open_node(int count, char **arguments) {
  const rcl_allocator_t allocator = rcl_get_default_allocator();
  rcl_init_options_t options = rcl_get_zero_initialized_init_options();
  const rcl_node_options_t node = rcl_node_get_default_options();
  rcl_subscription_options_t newest = rcl_subscription_get_default_options();
  rcl_publisher_options_t sent = rcl_publisher_get_default_options();
  newest.qos = rmw_qos_profile_sensor_data; /* best effort */
  newest.qos.depth = sent.qos.depth = 1;
  ros.context = rcl_get_zero_initialized_context();
  ros.node = rcl_get_zero_initialized_node();
  ros.states = ros.references = rcl_get_zero_initialized_subscription();
  ros.commands = rcl_get_zero_initialized_publisher();
  ros.waiting = rcl_get_zero_initialized_wait_set();
  require_ros(rcl_init_options_init(&options, allocator), "rcl");
  require_ros(rcl_init(count, (const char *const *)arguments, &options, &ros.context), "rcl");
  require_ros(rcl_init_options_fini(&options), "rcl");
  if (rcl_arguments_get_count_unparsed_ros(&ros.context.global_arguments) != 0)
    refuse("--ros-args", "expected options of ROS, such as -r joint_states:=/joint_states");
  require_ros(rcl_node_init(&ros.node, "c_controller", "", &ros.context, &node), "node");
  require_ros(rcl_subscription_init(
      &ros.states, &ros.node, ROSIDL_GET_MSG_TYPE_SUPPORT(sensor_msgs, msg, JointState),
      "joint_states", &newest), "joint_states");
  require_ros(rcl_subscription_init(
      &ros.references, &ros.node, ROSIDL_GET_MSG_TYPE_SUPPORT(trajectory_msgs, msg, JointTrajectory),
      "reference", &newest), "reference");
  require_ros(rcl_publisher_init(
      &ros.commands, &ros.node, ROSIDL_GET_MSG_TYPE_SUPPORT(std_msgs, msg, Float64MultiArray),
      "effort_controller/commands", &sent), "effort_controller/commands");
  require_ros(rcl_wait_set_init(&ros.waiting, 2, 0, 0, 0, 0, 0, &ros.context, allocator), "wait");
  if (!sensor_msgs__msg__JointState__init(&ros.state)
      || !trajectory_msgs__msg__JointTrajectory__init(&ros.reference)
      || !std_msgs__msg__Float64MultiArray__init(&ros.command)
      || !rosidl_runtime_c__double__Sequence__init(&ros.command.data, (size_t)robot.commanded))
    refuse("memory", "expected more of it");
}

static void close_all(void) {
  sensor_msgs__msg__JointState__fini(&ros.state);
  trajectory_msgs__msg__JointTrajectory__fini(&ros.reference);
  std_msgs__msg__Float64MultiArray__fini(&ros.command);
  require_ros(rcl_wait_set_fini(&ros.waiting), "wait");
  require_ros(rcl_publisher_fini(&ros.commands, &ros.node), "effort_controller/commands");
  require_ros(rcl_subscription_fini(&ros.references, &ros.node), "reference");
  require_ros(rcl_subscription_fini(&ros.states, &ros.node), "joint_states");
  require_ros(rcl_node_fini(&ros.node), "node");
  require_ros(rcl_shutdown(&ros.context), "rcl");
  require_ros(rcl_context_fini(&ros.context), "rcl");
  free(robot.work);
  free(robot.memory);
}

int main(int count, char **arguments) {
  signal(SIGINT, stop);
  signal(SIGTERM, stop);
  read_arguments(count, arguments);
  open_node(count, arguments);
  while (!stopped) cycle();
  close_all();
  return 0;
}
