# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The health of poses of seven legs or more."""

from __future__ import annotations

import math
from typing import Any

from liedyn_ros.stewart.platform.description.redundant_geometry import RedundantGeometry
from liedyn_ros.stewart.platform.flags import Flag
from liedyn_ros.stewart.redundant.bias_monitor import BiasFit
from liedyn_ros.stewart.redundant.tracker import RedundantTracker
from liedyn_ros.stewart.reports.health import Level, Part, Period, PoseHealth

MORE_NOISE = 1.5  # times the given noise, above which it warns
SINGULARITY = {Flag.NEAR_SINGULARITY: 'near a singularity'}
LEGS = {
    Flag.LEG_BIASED: 'the lengths of a path show that a leg is biased',
    Flag.LEG_OUTLIER: 'the other lengths contradict a reading',
    Flag.SENSOR_DISAGREES: 'the lengths contradict each other',
    Flag.RATES_CONTRADICT: 'velocities contradict lengths'}


class RedundantHealth(PoseHealth):
    """Health of platforms with redundant lengths: judges their legs and noise."""

    def __init__(self, geometry: RedundantGeometry, tracker: RedundantTracker) -> None:
        """Take a geometry, and the tracker whose poses come."""
        super().__init__(geometry, tracker)
        self._noise_is_given = bool(geometry.leg_noise.any())

    def _note_limits(self, monitored: Any) -> None:
        """Note none: lengths beyond their limits are refused."""

    def _estimate(self, period: Period) -> None:
        """Note nothing: the fit of the last pose says all."""

    def _judged(self, period: Period) -> list[Part]:
        last = period.last
        fit: BiasFit | None = None if last is None else last.fit
        singular = {} if last is None else {
            'smallest singular value': f'{last.smallest_singular_value:.6g}'}
        return [self._judge(period, 'singularity', SINGULARITY, singular),
                self._judge(period, 'legs', LEGS, self._residual(period, fit)),
                self._noise_of_fit(fit)]

    def _residual(self, period: Period, fit: BiasFit | None) -> dict[str, object]:
        """Return values of a status from the residual of the last pose: suspected leg and bias."""
        names = self._geometry.leg_names
        values: dict[str, object] = {'suspected': self._suspected(period)}
        if fit is not None:
            values |= {'chi square': f'{fit.chi_square:.4g}',
                       'degrees of freedom': len(names) - 6}
            if fit.leg is not None:
                values[f'bias of {names[fit.leg]}'] = f'{fit.bias:.6g}'
        return values

    def _noise_of_fit(self, fit: BiasFit | None) -> Part:
        """Return the noise of the readings, by the one of the geometry file where it has some."""
        if fit is None or math.isnan(fit.noise):
            return Part('noise', Level.STALE, 'nothing measured yet', {})
        more = self._noise_is_given and fit.noise > MORE_NOISE
        return Part(
            'noise', Level.WARN if more else Level.OK,
            'more than that of the geometry file' if more else 'as expected',
            {'over the given' if self._noise_is_given else 'noise': f'{fit.noise:.3g}'})
