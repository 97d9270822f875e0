# Copyright 2026 The liedyn_ros authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The iterative methods and their settings, all dimensionless."""

from dataclasses import dataclass
from typing import ClassVar

from liedyn_ros.errors import LimitError
from liedyn_ros.stewart.kernels import solve as kernels
from liedyn_ros.stewart.kinematics import Trivialization

KernelSettings = tuple[int, int, float, int, float, float, float]


@dataclass(frozen=True, kw_only=True)
class Method:
    """
    What both methods share.

    residual_tolerance: on squared lengths, relative to the numbers they are the difference of.
    step_tolerance: on the norm of a step, in rad and units of the characteristic length.
    smallest_singular_value: of dL/d(body twist) in the same units; below it a pose is singular.

    Raises LimitError for a setting outside its range.
    """

    max_iterations: int = 50
    residual_tolerance: float = 1e-14
    step_tolerance: float = 1e-14
    smallest_singular_value: float = 1e-6
    trivialization: Trivialization = Trivialization.BODY

    kernel: ClassVar[int]
    parameter: ClassVar[str]  # the name of the setting that is the method's own

    def __post_init__(self) -> None:
        """Refuse settings outside their range."""
        if not (isinstance(self.max_iterations, int) and 1 <= self.max_iterations <= 10_000):
            raise LimitError('max_iterations: expected an integer in [1, 10000], '
                             f'got {self.max_iterations!r}')
        for name in (self.parameter, 'residual_tolerance', 'step_tolerance',
                     'smallest_singular_value'):
            if not 0.0 < getattr(self, name) < 1.0:
                raise LimitError(
                    f'{name}: expected a number in (0, 1), got {getattr(self, name)!r}')

    def as_tuple(self) -> KernelSettings:
        """Return the settings as the kernels take them."""
        return (self.kernel, int(self.trivialization),
                float(getattr(self, self.parameter)),
                self.max_iterations, float(self.residual_tolerance),
                float(self.step_tolerance), float(self.smallest_singular_value))


@dataclass(frozen=True, kw_only=True)
class LevenbergMarquardt(Method):
    """
    Levenberg-Marquardt on SE(3), Algorithm A2.

    damping: tau in (0, 1), the first damping relative to the largest diagonal entry of J^T J.
    """

    damping: float = 1e-6

    kernel: ClassVar[int] = kernels.LEVENBERG_MARQUARDT
    parameter: ClassVar[str] = 'damping'


@dataclass(frozen=True, kw_only=True)
class GaussNewton(Method):
    """
    Gauss-Newton on SE(3) with the half-step descent rule, Algorithm A1.

    step_factor: alpha in (0, 1), tried first at every step and squared until the step descends.
    """

    step_factor: float = 0.99

    kernel: ClassVar[int] = kernels.GAUSS_NEWTON
    parameter: ClassVar[str] = 'step_factor'
