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

_OF_MODEL = 'Dynamics(model).'
_CALLS = {  # of Pinocchio, by those of a robot
    'inverse': 'rnea', 'forward': 'aba', 'mass_matrix': 'crba', 'bias': 'nonLinearEffects',
    'gravity_vector': 'computeGeneralizedGravity', 'coriolis_matrix': 'computeCoriolisMatrix',
    'inverse_mass_matrix': 'computeMinverse', 'center_of_mass': 'centerOfMass',
    'center_of_mass_jacobian': 'jacobianCenterOfMass',
    'centroidal_momentum': 'computeCentroidalMomentum', 'centroidal_map': 'computeCentroidalMap '
    'ccrba', 'centroidal_map_rate': 'dccrba', 'kinetic_energy': 'computeKineticEnergy',
    'potential_energy': 'computePotentialEnergy', 'frames.poses': 'framesForwardKinematics '
    'updateFramePlacements updateFramePlacement', 'frames.twist': 'getFrameVelocity',
    'frames.acceleration': 'getFrameAcceleration getFrameClassicalAcceleration',
    'frames.jacobian': 'computeFrameJacobian getFrameJacobian computeJointJacobians',
    'frames.jacobian_rate': 'getFrameJacobianTimeVariation frameJacobianTimeVariation',
    'inverse.partial_derivatives': 'computeRNEADerivatives computeGeneralizedGravityDerivatives',
    'forward.partial_derivatives': 'computeABADerivatives',
    'inverse.partial_derivatives.second_derivatives': 'computeRNEASecondOrderDerivatives',
    'inverse.batch': 'rneaInParallel', 'forward.batch': 'abaInParallel',
    'inverse, mass_matrix, coriolis_matrix or others': 'computeAllTerms',
    'model.with_frame': 'addFrame', 'model.frame_index': 'getFrameId',
    'model.integrate': 'integrate', 'model.difference': 'difference',
    'model.interpolate': 'interpolate', 'model.integrate_derivatives': 'dIntegrate',
    'model.difference_derivatives': 'dDifference', 'model.neutral': 'neutral',
    'model.random': 'randomConfiguration'}
_ELSEWHERE = {  # of Pinocchio, by what they are wherever they are asked for
    'Contacts(model, contacts).holding(names, q).forward': 'constraintDynamics forwardDynamics '
                                                           'initConstraintDynamics',
    'Contacts(model, contacts).impact': 'impulseDynamics',
    'ConstrainedDynamics(model).forward.partial_derivatives':
        'computeConstraintDynamicsDerivatives',
    'ModelBuilder.of(model)': 'buildReducedModel appendModel',
    'Regressor(model, merged=True).torque': 'computeJointTorqueRegressor',
    'body_jacobian_hessian of liedyn_ros.dynamics.partial_derivatives':
        'getFrameVelocityDerivatives',
    'not needed: calls return their results': 'createData',
    'load(file, floating=True)': 'JointModelFreeFlyer',
    'external of calls, which frames.external makes': 'fext',
    'se3.exp of liedyn_ros.lie': 'exp6', 'se3.log of liedyn_ros.lie': 'log6',
    'se3.right_jacobian of liedyn_ros.lie': 'Jexp6',
    'se3.right_jacobian_inverse of liedyn_ros.lie': 'Jlog6'}
_PACKAGE = {
    'load': 'load_urdf load_mjcf load_sdf load_xacro load_robot load_robot_description urdf '
            'buildmodelfromurdf buildmodelsfromurdf buildmodelfromxml buildmodelfrommjcf '
            'from_xml_path from_xml_string loadrobotmodel robot robotwrapper',
    'load(...).inverse': 'inverse_dynamics mj_inverse',
    'load(...).forward': 'forward_dynamics mj_forward', 'load(...).mass_matrix': 'mj_fullm',
    'load(...).frames.jacobian': 'jacobian mj_jac',
    'load(...).frames.pose': 'fk forward_kinematics',
    'reach': 'ik inverse_kinematics ikine solve_ik',
    'TaskSpace of liedyn_ros.dynamics.constrained': 'TaskSpace operational_space',
    'MomentumObserver of liedyn_ros.dynamics.constrained': 'MomentumObserver external_torques',
    'MinimalCoordinates of liedyn_ros.dynamics.constrained': 'MinimalCoordinates',
    'DifferentialKinematics of liedyn_ros.dynamics.constrained':
        'DifferentialKinematics differential_ik',
    'assemblies of liedyn_ros.dynamics.constrained': 'assemblies',
    'project of liedyn_ros.dynamics.constrained': 'project',
    'statics of liedyn_ros.dynamics.constrained': 'statics',
    'TorchFunctions of liedyn_ros.dynamics.autodiff': 'TorchFunctions torch pytorch',
    'JaxFunctions of liedyn_ros.dynamics.autodiff': 'JaxFunctions jax',
    'retime of liedyn_ros.retiming': 'retime toppra time_parameterization',
    'identify of liedyn_ros.identification': 'identify'}
_DYNAMICS = {
    'inverse': 'inverse_dynamics id compute_torque calc_inverse_dynamics joint_torques',
    'forward': 'forward_dynamics fd accel calc_forward_dynamics',
    'mass_matrix': 'inertia inertia_matrix m calc_mass_matrix full_m qm',
    'inverse_mass_matrix': 'minverse m_inv',
    'bias': 'nle bias_forces qfrc_bias calc_bias_term c',
    'gravity_vector': 'gravity gravload generalized_gravity g '
                      'gravity_torques calc_gravity_generalized_forces',
    'coriolis_matrix': 'coriolis',
    'frames.jacobian': 'jacobian jac jacob0 jacobe frame_jacobian '
                       'compute_joint_jacobian body_jacobian '
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
    'simulate(robot, ...) of liedyn_ros': 'step simulate mj_step rollout',
    'Regressor(model) of liedyn_ros': 'regressor torque_regressor'}
_MODEL = {
    'joints': 'joint_names names njoints actuated_joint_names', 'bodies': 'link_names body_names '
                                                                          'links nbodies',
    'frames': 'frame_names nframes', 'coordinate_names': 'dof_names',
    'limits': 'joint_limits lower upper q_min q_max qlim lower_position_limit '
              'upper_position_limit effort_limit velocity_limit jnt_range',
    'neutral': 'home q0 qpos0 reference_configurations', 'random': 'random_q '
                                                                   'random_configuration',
    'nq': 'num_positions', 'nv': 'n dof ndof num_velocities num_dof', 'body': 'link get_body',
    'body_index': 'get_body_id',
    'Dynamics(model).inverse': 'inverse_dynamics inverse',
    'Dynamics(model).forward': 'forward_dynamics forward',
    'Dynamics(model).frames.pose': 'fk forward_kinematics'}
_FRAMES = {
    'jacobian': 'jacobian_matrix frame_jacobian jac', 'jacobian_rate': 'jacobian_dot '
    'jacobian_derivative jacobian_time_derivative jacobian_time_variation dot_jacobian jdot',
    'twist': 'velocity velocities frame_velocity', 'pose': 'placement placements transform tf fk '
    'forward_kinematics position omf', 'acceleration': 'frame_acceleration accelerations',
    'model.frames': 'names frame_names frames nframes', 'model.bodies': 'bodies links link_names'}


def _table(names: dict[str, str], robot: str = '') -> dict[str, str]:
    """Return our name by the plain one of another library; robot is how an owner gets there."""
    calls = {(robot + ours).removeprefix(_OF_MODEL + 'model.'): others
             for ours, others in _CALLS.items()}
    return {_plain(other): ours for table in (calls, _ELSEWHERE, names)
            for ours, others in table.items() for other in others.split()}


def _plain(name: str) -> str:
    return name.replace('_', '').lower()


PACKAGE_NAMES, DYNAMICS_NAMES = _table(_PACKAGE, 'load(...).'), _table(_DYNAMICS)
MODEL_NAMES, FRAMES_NAMES = _table(_MODEL, _OF_MODEL), _table(_FRAMES, 'robot.')


def missing(owner: Any, what: str, name: str, names: dict[str, str]) -> AttributeError:
    """Return the error for a name that an object does not have, with ours where one is known."""
    ours = names.get(_plain(name)) if not name.startswith('_') else None
    hint = '' if ours is None else f'; here it is {ours}'
    return AttributeError(f'{what} has no attribute {name!r}{hint}', name=name, obj=owner)
