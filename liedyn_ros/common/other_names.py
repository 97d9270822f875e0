# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Names that other libraries have for what is here: an AttributeError leads to ours.

They are those of Pinocchio, MuJoCo, Drake, robotics-toolbox-python and KDL, without regard to
capitals and underscores.
"""

from typing import Any

_PACKAGE = {
    'load': 'load_urdf load_mjcf load_sdf load_xacro load_robot load_robot_description urdf '
            'buildmodelfromurdf buildmodelsfromurdf buildmodelfromxml buildmodelfrommjcf '
            'from_xml_path from_xml_string loadrobotmodel robot robotwrapper',
    'load(...).inverse': 'rnea inverse_dynamics mj_inverse',
    'load(...).forward': 'aba forward_dynamics mj_forward',
    'load(...).mass_matrix': 'crba mj_fullm',
    'load(...).frames.jacobian': 'jacobian computeframejacobian mj_jac',
    'load(...).frames.pose': 'fk forward_kinematics framesforwardkinematics',
    'reach': 'ik inverse_kinematics ikine solve_ik'}
_DYNAMICS = {
    'inverse': 'rnea inverse_dynamics id compute_torque calc_inverse_dynamics joint_torques',
    'forward': 'aba forward_dynamics fd accel constraint_dynamics calc_forward_dynamics',
    'mass_matrix': 'crba inertia inertia_matrix m calc_mass_matrix full_m qm',
    'inverse_mass_matrix': 'minverse compute_minverse m_inv',
    'bias': 'nle non_linear_effects nonlinear_effects bias_forces qfrc_bias calc_bias_term c',
    'gravity_vector': 'gravity gravload compute_generalized_gravity generalized_gravity g '
                      'gravity_torques calc_gravity_generalized_forces',
    'coriolis_matrix': 'coriolis compute_coriolis_matrix',
    'frames.jacobian': 'jacobian jac jacob0 jacobe frame_jacobian compute_frame_jacobian '
                       'get_frame_jacobian compute_joint_jacobian body_jacobian '
                       'spatial_jacobian geometric_jacobian',
    'frames.pose': 'fk fkine forward_kinematics frame_pose frame_placement link_pose body_pose '
                   'end_effector_pose compute_forward_kinematics omf xpos',
    'frames.twist': 'frame_velocity velocity body_velocity',
    'center_of_mass': 'com center_of_mass_position subtree_com',
    'momentum': 'spatial_momentum hg',
    'model.joints': 'joint_names names joints njoints actuated_joint_names',
    'model.bodies': 'link_names body_names links bodies',
    'model.frames': 'frame_names',
    'model.coordinate_names': 'dof_names coordinate_names',
    'model.limits': 'limits joint_limits lower upper q_min q_max qlim lower_position_limit '
                    'upper_position_limit effort_limit velocity_limit jnt_range',
    'model.nq': 'nq num_positions', 'model.nv': 'nv n dof ndof num_velocities num_dof',
    'model.neutral': 'neutral home q0 qpos0', 'model.random': 'random random_q '
                                              'random_configuration random_state',
    'model.integrate': 'integrate', 'model.difference': 'difference',
    'reach(robot, ...) of liedyn_ros': 'ik ikine inverse_kinematics solve_ik ik_lm ikine_lm reach '
                                       'compute_ik',
    'TaskSpace(robot, frames) of liedyn_ros.dynamics.constrained':
        'task_space operational_space operational_space_inertia task_inertia lambda',
    'MomentumObserver(robot) of liedyn_ros.dynamics.constrained':
        'momentum_observer external_torques external_efforts disturbance_observer',
    'MinimalCoordinates(robot) of liedyn_ros.dynamics.constrained':
        'minimal_coordinates independent_coordinates reduced_model',
    'Contacts(model, contacts) of liedyn_ros.dynamics.constrained': 'contacts add_contact',
    'simulate(robot, ...) of liedyn_ros': 'step simulate mj_step rollout'}
_MODEL = {
    'joints': 'joint_names names njoints actuated_joint_names', 'bodies': 'link_names body_names '
                                                                          'links nbodies',
    'frames': 'frame_names nframes', 'coordinate_names': 'dof_names',
    'limits': 'joint_limits lower upper q_min q_max qlim lower_position_limit '
              'upper_position_limit effort_limit velocity_limit jnt_range',
    'neutral': 'home q0 qpos0 reference_configurations', 'random': 'random_q '
                                                                   'random_configuration',
    'nq': 'num_positions', 'nv': 'n dof ndof num_velocities num_dof', 'body': 'link get_body',
    'frame_index': 'get_frame_id getframeid', 'body_index': 'get_body_id',
    'Dynamics(model).inverse': 'rnea inverse_dynamics inverse',
    'Dynamics(model).forward': 'aba forward_dynamics forward',
    'Dynamics(model).frames.pose': 'fk forward_kinematics'}
_FRAMES = {
    'jacobian': 'jacobian_matrix frame_jacobian jac', 'jacobian_rate': 'jacobian_dot '
    'jacobian_derivative jacobian_time_derivative jacobian_time_variation dot_jacobian jdot',
    'twist': 'velocity velocities frame_velocity', 'pose': 'placement placements transform tf fk '
    'forward_kinematics position omf', 'acceleration': 'frame_acceleration accelerations',
    'model.frames': 'names frame_names frames nframes', 'model.bodies': 'bodies links link_names'}


def _table(names: dict[str, str]) -> dict[str, str]:
    return {_plain(other): ours for ours, others in names.items() for other in others.split()}


def _plain(name: str) -> str:
    return name.replace('_', '').lower()


PACKAGE, DYNAMICS, MODEL, FRAMES = map(_table, (_PACKAGE, _DYNAMICS, _MODEL, _FRAMES))


def missing(owner: Any, what: str, name: str, names: dict[str, str]) -> AttributeError:
    """Return the error for a name that an object does not have, with ours where one is known."""
    ours = names.get(_plain(name)) if not name.startswith('_') else None
    hint = '' if ours is None else f'; here it is {ours}'
    return AttributeError(f'{what} has no attribute {name!r}{hint}', name=name, obj=owner)
