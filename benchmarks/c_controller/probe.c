/* Copyright 2026 The liedyn_ros authors
 * Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
 * in compliance with the License. You may obtain a copy of the License at
 * http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
 * writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
 * language governing permissions and limitations under the License. */

/* Sends joint states at 1 kHz and counts the efforts that come back: probe SECONDS NAME ... */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rcl/error_handling.h>
#include <rcl/rcl.h>
#include <rosidl_runtime_c/primitives_sequence_functions.h>
#include <rosidl_runtime_c/string_functions.h>
#include <sensor_msgs/msg/joint_state.h>
#include <std_msgs/msg/float64_multi_array.h>

static const int64_t PERIOD = 1000000; /* ns */

static int64_t now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return INT64_C(1000000000) * time.tv_sec + time.tv_nsec;
}

static void require(rcl_ret_t code) {
  if (code == RCL_RET_OK) return;
  fprintf(stderr, "probe: %s\n", rcl_get_error_string().str);
  exit(1);
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  const long states = 1000 * atol(arguments[1]);
  const rcl_allocator_t allocator = rcl_get_default_allocator();
  const rcl_node_options_t options = rcl_node_get_default_options();
  rcl_init_options_t init = rcl_get_zero_initialized_init_options();
  rcl_context_t context = rcl_get_zero_initialized_context();
  rcl_node_t node = rcl_get_zero_initialized_node();
  rcl_publisher_t publisher = rcl_get_zero_initialized_publisher();
  rcl_subscription_t subscription = rcl_get_zero_initialized_subscription();
  rcl_publisher_options_t sent = rcl_publisher_get_default_options();
  rcl_subscription_options_t got = rcl_subscription_get_default_options();
  sent.qos = rmw_qos_profile_sensor_data;
  require(rcl_init_options_init(&init, allocator));
  require(rcl_init(0, NULL, &init, &context));
  require(rcl_node_init(&node, "probe", "", &context, &options));
  require(rcl_publisher_init(&publisher, &node, ROSIDL_GET_MSG_TYPE_SUPPORT(
      sensor_msgs, msg, JointState), "joint_states", &sent));
  require(rcl_subscription_init(&subscription, &node, ROSIDL_GET_MSG_TYPE_SUPPORT(
      std_msgs, msg, Float64MultiArray), "effort_controller/commands", &got));
  sensor_msgs__msg__JointState state;
  std_msgs__msg__Float64MultiArray efforts;
  const size_t joints = (size_t)(count - 2);
  if (!sensor_msgs__msg__JointState__init(&state) || !std_msgs__msg__Float64MultiArray__init(&efforts)
      || !rosidl_runtime_c__String__Sequence__init(&state.name, joints)
      || !rosidl_runtime_c__double__Sequence__init(&state.position, joints)
      || !rosidl_runtime_c__double__Sequence__init(&state.velocity, joints)) return 3;
  for (size_t k = 0; k < joints; ++k)
    if (!rosidl_runtime_c__String__assign(&state.name.data[k], arguments[2 + k])) return 3;
  size_t listeners = 0, answers = 0;
  while (listeners == 0) require(rcl_publisher_get_subscription_count(&publisher, &listeners));
  int64_t due = now(CLOCK_MONOTONIC);
  for (long i = 0; i < states; ++i) {
    due += PERIOD;
    const struct timespec at = {due / 1000000000, due % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    for (size_t k = 0; k < joints; ++k) state.position.data[k] = 1e-3 * (double)((i + (long)k) % 1000);
    const int64_t stamp = now(CLOCK_REALTIME);
    state.header.stamp.sec = (int32_t)(stamp / 1000000000);
    state.header.stamp.nanosec = (uint32_t)(stamp % 1000000000);
    require(rcl_publish(&publisher, &state, NULL));
    while (rcl_take(&subscription, &efforts, NULL, NULL) == RCL_RET_OK) ++answers;
    rcl_reset_error();
  }
  printf("%ld %zu\n", states, answers);
  return 0;
}
