# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Partial derivatives of the dynamics of trees.

A call returns the Jacobians. product is the JVP, the derivative along a direction; gradient is the
VJP, the gradient of y . x. gradient_product is the derivative of the VJP along a direction.
second_derivatives are those of all Jacobians.
"""

from liedyn_ros.dynamics.partial_derivatives.body_jacobian import (
    body_jacobian_hessian, body_jacobian_rates)
from liedyn_ros.dynamics.partial_derivatives.hybrid import (
    ForwardGradient, ForwardJacobians, ForwardSecondDerivatives, HybridGradient, HybridJacobians,
    HybridProduct)
from liedyn_ros.dynamics.partial_derivatives.inverse import (
    InverseGradient, InverseJacobians, InverseSecondDerivatives)
from liedyn_ros.dynamics.partial_derivatives.parameters import KinematicJacobians, Parameters
from liedyn_ros.dynamics.partial_derivatives.rate_jacobians import (
    ForwardRateJacobians, InverseRateJacobians)

__all__ = [
    'body_jacobian_hessian', 'body_jacobian_rates', 'ForwardGradient', 'ForwardJacobians',
    'ForwardRateJacobians', 'ForwardSecondDerivatives', 'HybridGradient', 'HybridJacobians',
    'HybridProduct', 'InverseGradient', 'InverseJacobians', 'InverseRateJacobians',
    'InverseSecondDerivatives', 'KinematicJacobians', 'Parameters']
