# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
A Stewart platform: pose from leg lengths, its proofs and faults, dynamics, control, simulation.

A pose is that of the platform frame in the base frame, 4 by 4, in metres. Leg values are in the
order of the geometry's leg names.
"""

from typing import TYPE_CHECKING

from liedyn_ros.common.on_demand import on_demand

if TYPE_CHECKING:
    from liedyn_ros.stewart.assembly.modes import AssemblyMode, AssemblyModes, AssemblyModeSolver
    from liedyn_ros.stewart.certificate.path import ForceLimits, PathProof, PathProver, SpeedLimits
    from liedyn_ros.stewart.certificate.pose import Certificate, PoseCertifier
    from liedyn_ros.stewart.control.controller import PlatformController
    from liedyn_ros.stewart.dynamics.closed_loop_model import model_state, platform_model
    from liedyn_ros.stewart.dynamics.dynamics import StewartDynamics
    from liedyn_ros.stewart.dynamics.forces import (
        Energy, ForceDistribution, HeldForces, StewartMotion)
    from liedyn_ros.stewart.platform.description.geometry import StewartGeometry, with_tool
    from liedyn_ros.stewart.platform.description.leg_types import (
        Crank, LegType, OffsetStrut, Rail, Stage, Strut, Wire)
    from liedyn_ros.stewart.platform.description.masses import LegMasses, LegPart, PlatformMasses
    from liedyn_ros.stewart.platform.flags import Flag
    from liedyn_ros.stewart.platform.io.geometry_file import (
        geometry_of, load_geometry, updated_geometry)
    from liedyn_ros.stewart.platform.kinematics import (
        leg_lengths, leg_rates, length_jacobian, Trivialization)
    from liedyn_ros.stewart.platform.limits import LimitMargins
    from liedyn_ros.stewart.platform.state import PlatformState
    from liedyn_ros.stewart.simulation.leg_simulation import LegSimulation
    from liedyn_ros.stewart.simulation.platform_simulation import (
        MujocoPlatformSimulation, PlatformSimulation)
    from liedyn_ros.stewart.simulation.trajectory import SmoothTrajectory
    from liedyn_ros.stewart.solver.least_squares import LengthFit
    from liedyn_ros.stewart.solver.pose_solver import (
        LevenbergMarquardt, PoseSolver, Solution, Solutions, Status)
    from liedyn_ros.stewart.tracking.bias_monitor import BiasFit
    from liedyn_ros.stewart.tracking.branch.monitor import Branch
    from liedyn_ros.stewart.tracking.branch_evidence import BranchSource
    from liedyn_ros.stewart.tracking.legs.monitor import LegFaults
    from liedyn_ros.stewart.tracking.legs.noise_estimator import NoiseReport
    from liedyn_ros.stewart.tracking.monitor_config import MonitorConfig
    from liedyn_ros.stewart.tracking.monitored_pose import MonitoredPose
    from liedyn_ros.stewart.tracking.monitored_tracker import MonitoredTracker
    from liedyn_ros.stewart.tracking.prediction import (
        linear_first, MotionEstimate, MotionEstimator, pose_covariance)
    from liedyn_ros.stewart.tracking.sensor_monitor import SensorFit
    from liedyn_ros.stewart.tracking.tracker import PoseTracker, Start, TrackedPose
else:
    __getattr__, __dir__ = on_demand(__name__, __file__)

__all__ = [
    'AssemblyMode', 'AssemblyModeSolver', 'AssemblyModes', 'BiasFit', 'Branch', 'BranchSource',
    'Certificate', 'Crank', 'Energy', 'Flag', 'ForceDistribution', 'ForceLimits', 'HeldForces',
    'LegFaults', 'LegMasses', 'LegPart', 'LegSimulation', 'LegType', 'LengthFit',
    'LevenbergMarquardt', 'LimitMargins', 'MonitorConfig', 'MonitoredPose', 'MonitoredTracker',
    'MotionEstimate', 'MotionEstimator', 'MujocoPlatformSimulation', 'NoiseReport', 'OffsetStrut',
    'PathProof', 'PathProver', 'PlatformController', 'PlatformMasses', 'PlatformSimulation',
    'PlatformState', 'PoseCertifier', 'PoseSolver', 'PoseTracker', 'Rail', 'SensorFit',
    'SmoothTrajectory', 'Solution', 'Solutions', 'SpeedLimits', 'Stage', 'Start', 'Status',
    'StewartDynamics', 'StewartGeometry', 'StewartMotion', 'Strut', 'TrackedPose',
    'Trivialization', 'Wire', 'geometry_of', 'leg_lengths', 'leg_rates', 'length_jacobian',
    'linear_first', 'load_geometry', 'model_state', 'platform_model', 'pose_covariance',
    'updated_geometry', 'with_tool']
