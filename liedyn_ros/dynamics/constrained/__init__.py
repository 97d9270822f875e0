# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Closed loops and couplings: dynamics, assembly and completion under constraints."""

from liedyn_ros.dynamics.constrained import constrained_stormer_verlet, projected_runge_kutta
from liedyn_ros.dynamics.constrained.configurations.assembly import (
    assemble, assemblies, complete_velocity, other_assembly, project)
from liedyn_ros.dynamics.constrained.configurations.misfit import ClosureGap
from liedyn_ros.dynamics.constrained.configurations.mobility import Mobility, mobility
from liedyn_ros.dynamics.constrained.constraints.function import ConstraintFunction, mjcf_functions
from liedyn_ros.dynamics.constrained.constraints.taylor_numbers import (
    taylor_series, TaylorNumber)
from liedyn_ros.dynamics.constrained.contact_programs import ContactForce
from liedyn_ros.dynamics.constrained.contacts import Carried, Contact, Contacts, Impact
from liedyn_ros.dynamics.constrained.differential_kinematics import (
    DifferentialKinematics)
from liedyn_ros.dynamics.constrained.dynamics import ConstrainedDynamics
from liedyn_ros.dynamics.constrained.inverse_kinematics import (
    InverseKinematics, ORIENTATION, POINT, POSE, reach, Reached, ReachedMany, TOOL)
from liedyn_ros.dynamics.constrained.minimal_coordinates import MinimalCoordinates, Motions
from liedyn_ros.dynamics.constrained.minimal_motions import complete_acceleration
from liedyn_ros.dynamics.constrained.momentum_observer import (
    alarm_levels, ExternalWrench, MomentumObserver)
from liedyn_ros.dynamics.constrained.partial_derivatives.kinematic_parameters import kinematic_gaps
from liedyn_ros.dynamics.constrained.solver.inputs import LEAST_FORCE, LEAST_TORQUE
from liedyn_ros.dynamics.constrained.solver.solution import (
    ConstrainedSolution, ConstrainedSolutions, ConstraintStatus)
from liedyn_ros.dynamics.constrained.statics import (
    Backdrive, backdrive, equilibrium, Statics, statics)
from liedyn_ros.dynamics.constrained.task_space import TaskDynamics, TaskSpace
from liedyn_ros.dynamics.constrained.tracking.loop_tracker import (
    complete_trajectory, LoopState, LoopTracker, LoopTrajectory)

__all__ = [
    'alarm_levels', 'assemble', 'assemblies', 'Backdrive', 'backdrive', 'Carried', 'ClosureGap',
    'complete_acceleration', 'complete_trajectory', 'complete_velocity',
    'constrained_stormer_verlet', 'ConstrainedDynamics', 'ConstrainedSolution',
    'ConstrainedSolutions', 'ConstraintFunction', 'ConstraintStatus', 'Contact', 'ContactForce',
    'Contacts', 'DifferentialKinematics', 'equilibrium', 'ExternalWrench', 'Impact',
    'InverseKinematics', 'kinematic_gaps', 'LEAST_FORCE', 'LEAST_TORQUE', 'LoopState',
    'LoopTracker', 'LoopTrajectory', 'MinimalCoordinates', 'mjcf_functions', 'mobility',
    'Mobility', 'MomentumObserver', 'Motions', 'ORIENTATION', 'other_assembly', 'POINT', 'POSE',
    'project', 'projected_runge_kutta', 'reach', 'Reached', 'ReachedMany', 'statics', 'Statics',
    'TaskDynamics', 'TaskSpace', 'taylor_series', 'TaylorNumber', 'TOOL']
