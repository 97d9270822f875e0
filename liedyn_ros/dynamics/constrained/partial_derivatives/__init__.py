# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of the dynamics of machines with closed loops.

A call returns the Jacobians. product is the JVP, the derivative along a direction; gradient is the
VJP, the gradient of y . x + z . multipliers. by_kinematics is by lengths, axes and frames.
second_derivatives, of forward and inverse dynamics, are those of all Jacobians.
"""

from liedyn_ros.dynamics.constrained.partial_derivatives.forward import (
    ConstrainedForwardGradient, ConstrainedForwardJacobians, ConstrainedForwardSecondDerivatives,
    ForwardKinematicJacobians)
from liedyn_ros.dynamics.constrained.partial_derivatives.hybrid import (
    ConstrainedHybridGradient, ConstrainedHybridJacobians, HybridKinematicJacobians)
from liedyn_ros.dynamics.constrained.partial_derivatives.inverse import (
    ConstrainedInverseGradient, ConstrainedInverseJacobians, ConstrainedInverseSecondDerivatives,
    InverseKinematicJacobians)
from liedyn_ros.dynamics.constrained.partial_derivatives.kinematic_parameters import (
    kinematic_gaps, KinematicGaps, LoopKinematicJacobians)

__all__ = [
    'ConstrainedForwardGradient', 'ConstrainedForwardJacobians',
    'ConstrainedForwardSecondDerivatives', 'ConstrainedHybridGradient',
    'ConstrainedHybridJacobians', 'ConstrainedInverseGradient', 'ConstrainedInverseJacobians',
    'ConstrainedInverseSecondDerivatives', 'ForwardKinematicJacobians',
    'HybridKinematicJacobians', 'InverseKinematicJacobians', 'kinematic_gaps', 'KinematicGaps',
    'LoopKinematicJacobians']
