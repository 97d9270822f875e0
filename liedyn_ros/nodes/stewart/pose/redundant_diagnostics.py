# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The health of the pose node with seven legs or more on /diagnostics."""

import math
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus

from liedyn_ros.nodes.stewart.platform import RedundantPlatform
from liedyn_ros.nodes.stewart.pose.diagnostics import OK, STALE, StewartDiagnostics, WARN
from liedyn_ros.nodes.stewart.pose.leg_input import LegInput
from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.stewart import BiasFit, Flag, RedundantTracker

MORE_NOISE = 1.5  # times the given noise, above which it warns
SINGULARITY = {Flag.NEAR_SINGULARITY: 'near a singularity'}
LEGS = {
    Flag.LEG_BIASED: 'the lengths of a path show that a leg is biased',
    Flag.LEG_OUTLIER: 'the other lengths contradict a reading',
    Flag.SENSOR_DISAGREES: 'the lengths contradict each other',
    Flag.RATES_CONTRADICT: 'velocities contradict lengths'}


class RedundantDiagnostics(StewartDiagnostics):
    """Gathers and reports what redundant lengths say about legs and noise."""

    def __init__(
            self, node: ManagedNode, platform: RedundantPlatform, tracker: RedundantTracker,
            legs: LegInput) -> None:
        """Open the publisher; as StewartDiagnostics, without a sensor."""
        super().__init__(node, platform, tracker, legs, None)
        self._noise_is_given = bool(platform.geometry.leg_noise.any())

    def _note_limits(self, monitored: Any) -> None:
        """Note none: lengths beyond their limits are refused."""

    def _estimates(self) -> tuple[Any, ...]:
        return ()

    def _parts(self, *estimates: Any) -> list[DiagnosticStatus]:
        last = self._seen.last
        fit: BiasFit | None = None if last is None else last.fit
        singular = {} if last is None else {
            'smallest singular value': f'{last.smallest_singular_value:.6g}'}
        return [self._judge('singularity', SINGULARITY, singular),
                self._judge('legs', LEGS, self._residual(fit)), self._noise_of_fit(fit)]

    def _residual(self, fit: BiasFit | None) -> dict[str, object]:
        """Return what the residual of the last pose says about the legs."""
        names = self._platform.geometry.leg_names
        values: dict[str, object] = {'suspected': self._suspected()}
        if fit is not None:
            values |= {'chi square': f'{fit.chi_square:.4g}',
                       'degrees of freedom': len(names) - 6}
            if fit.leg is not None:
                values[f'bias of {names[fit.leg]}'] = f'{fit.bias:.6g}'
        return values

    def _noise_of_fit(self, fit: BiasFit | None) -> DiagnosticStatus:
        """Return the noise of the readings, by the one of the geometry file where it has some."""
        if fit is None or math.isnan(fit.noise):
            return self._status('noise', STALE, 'nothing measured yet', {})
        more = self._noise_is_given and fit.noise > MORE_NOISE
        return self._status(
            'noise', WARN if more else OK,
            'more than that of the geometry file' if more else 'as expected',
            {'over the given' if self._noise_is_given else 'noise': f'{fit.noise:.3g}'})
