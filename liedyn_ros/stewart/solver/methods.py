# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The iterative methods and their settings, all dimensionless."""

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

from liedyn_ros.common import checks
from liedyn_ros.common.errors import LimitError
from liedyn_ros.stewart.solver.kernels import charts, problem
from liedyn_ros.stewart.solver.kernels import solve as kernels

KernelSettings = tuple[int, int, int, float, int, float, float, float]


class Chart(IntEnum):
    """The unknowns of a pose, and so the retraction of a step."""

    BODY = charts.BODY  # T exp(s), a twist in the platform frame
    SPATIAL = charts.SPATIAL  # exp(s) T, a twist in the base frame
    ANGLES = charts.ANGLES  # position plus roll, pitch, yaw: R^6
    QUATERNION = charts.QUATERNION  # position plus quaternion, and the equation |q|^2 = 1: R^7


class Residual(IntEnum):
    """The error that is driven to zero for each leg."""

    SQUARED_LENGTHS = problem.SQUARED_LENGTHS
    LENGTHS = problem.LENGTHS


@dataclass(frozen=True, kw_only=True)
class Method:
    """
    Settings of both methods.

    residual_tolerance: on a residual, relative to the two numbers of its difference.
    step_tolerance: on the norm of a step, in rad and units of the characteristic length.
    smallest_singular_value: of dL/d(body twist) in the same units; below it a pose is singular.
    chart, residual: the form of the equations; use the default, the others are for comparison.

    Raises LimitError for a setting outside its range, or the errors of checks.as_number.
    """

    max_iterations: int = 50
    residual_tolerance: float = 1e-14
    step_tolerance: float = 1e-14
    smallest_singular_value: float = 1e-6
    chart: Chart = Chart.BODY
    residual: Residual = Residual.SQUARED_LENGTHS

    kernel: ClassVar[int]
    parameter: ClassVar[str]  # the name of the setting that is the method's own

    def __post_init__(self) -> None:
        """Refuse settings outside their range."""
        if isinstance(self.max_iterations, bool) or not (
                isinstance(self.max_iterations, int) and 1 <= self.max_iterations <= 10_000):
            raise LimitError('max_iterations: expected an integer in [1, 10000], '
                             f'got {self.max_iterations!r}')
        for name in (self.parameter, 'residual_tolerance', 'step_tolerance',
                     'smallest_singular_value'):
            if not 0.0 < checks.as_number(name, getattr(self, name)) < 1.0:
                raise LimitError(
                    f'{name}: expected a number in (0, 1), got {getattr(self, name)!r}')

    def as_tuple(self) -> KernelSettings:
        """Return the settings as the kernels take them."""
        return (self.kernel, int(self.chart), int(self.residual),
                float(getattr(self, self.parameter)),
                self.max_iterations, float(self.residual_tolerance),
                float(self.step_tolerance), float(self.smallest_singular_value))

    @property
    def unknowns(self) -> tuple[int, ...]:
        """Return the indices of the unknowns, as the kernels take them."""
        return charts.SEVEN if self.chart == Chart.QUATERNION else charts.SIX


@dataclass(frozen=True, kw_only=True)
class LevenbergMarquardt(Method):
    """
    Levenberg-Marquardt, Algorithm A2.

    damping: tau in (0, 1), the first damping relative to the largest diagonal entry of J^T J.
    """

    damping: float = 1e-6

    kernel: ClassVar[int] = kernels.LEVENBERG_MARQUARDT
    parameter: ClassVar[str] = 'damping'


@dataclass(frozen=True, kw_only=True)
class GaussNewton(Method):
    """
    Gauss-Newton with the half-step descent rule, Algorithm A1.

    step_factor: alpha in (0, 1), tried first at every step and squared until the step descends.
    """

    step_factor: float = 0.99

    kernel: ClassVar[int] = kernels.GAUSS_NEWTON
    parameter: ClassVar[str] = 'step_factor'
