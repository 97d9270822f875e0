# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The elements and attributes of URDF 1.0 to 1.2, of its dialects, and of <gazebo>."""

from liedyn_ros.model.io.vocabulary import Vocabulary

WORDS = Vocabulary(read="""
robot: @name @version link joint virtual_joint loop coupling constraint loop_joint transmission
    gazebo mujoco ros2_control drake:*
link: @name inertial
inertial: origin mass inertia
origin: @xyz @rpy @quat_xyzw
mass: @value
inertia: @ixx @ixy @ixz @iyy @iyz @izz
joint: @name @type @independent origin parent child axis limit dynamics mimic
parent: @link
child: @link
axis: @xyz
limit: @lower @upper @velocity @effort @acceleration @deceleration @jerk
dynamics: @damping @friction @stiffness @rest @armature @stop_stiffness @stop_width
mimic: @joint @multiplier @offset
""", quiet="""
robot: material sensor group group_state end_effector disable_collisions
    disable_default_collisions enable_collisions
link: visual collision sensor contact surface self_filter self_collision_checking
    collision_checking @type
joint: calibration safety_controller @dont_collapse
limit: @command_effort @current @gear_velocity
axis: @rpy
""")

# Of <gazebo>; what is read there is in urdf_dialects.
GAZEBO = Vocabulary(read="""
gazebo: @reference
""", quiet="""
gazebo: joint link plugin gravity turnGravityOff springStiffness dampingFactor material mu mu1
    mu2 kp kd minDepth min_depth maxVel max_vel maxContacts max_contacts fdir1 laserRetro
    selfCollide self_collide sensor visual collision stopCfm stopErp fudgeFactor cfmDamping
    implicitSpringDamper provideFeedback provide_feedback disableFixedJointLumping
    preserveFixedJoint genTexCoord canonicalBody light projector battery slip1 slip2 torsional
    surface friction contact stopKd stopKp initial_joint_position gazebo:camera gazebo:contact
    gazebo:ray gazebo:gazebo_ros_controller_manager gazebo:gazebo_ros_power_monitor
    gazebo:gazebo_ros_p3d gazebo:gazebo_ros_f3d gazebo:gazebo_ros_imu
""")
