# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The figure of the study of lag."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
import numpy as np

from liedyn_ros.studies.actuator_lag.flights import Flight, SETTLED

matplotlib.use('Agg')

LABELS = ('position, mm', 'attitude, degree', 'worst joint, degree')
SCALES = (1e3, np.degrees(1.0), np.degrees(1.0))
SMALLEST = (1e-2, 1e-3, 1e-3)  # shown
COLORS = {False: 'C3', True: 'C0'}
LINES = {False: '-', True: '--'}
NAMES = {False: 'efforts', True: 'efforts and their rates'}


def draw(flights: Sequence[Flight], path: Path) -> None:
    """Draw errors over time at the largest lag, and over the lags."""
    figure = Figure(figsize=(11, 8), layout='constrained')
    panels = figure.subplots(3, 2, sharex='col', sharey='row')
    shown = max(flight.lag for flight in flights)
    for k, (label, scale, least) in enumerate(zip(LABELS, SCALES, SMALLEST)):
        over_time, over_lags = panels[k]
        for with_rates, name in NAMES.items():
            style = {'color': COLORS[with_rates], 'linestyle': LINES[with_rates],
                     'label': name}
            of_kind = [flight for flight in flights if flight.with_rates == with_rates]
            for flight in of_kind:
                if flight.lag == shown:
                    over_time.semilogy(
                        flight.times, scale * flight.errors[:, k], linewidth=1, **style)
            over_lags.semilogy(
                [1e3 * flight.lag for flight in of_kind],
                [scale * flight.largest[k] for flight in of_kind], marker='o', markersize=4,
                **style)
        over_time.set_ylim(bottom=least)
        over_time.set_ylabel(label)
        for axes in (over_time, over_lags):
            axes.grid(alpha=0.3)
    for flight in flights:
        if flight.lost:
            panels[0, 1].annotate(
                'lost', (1e3 * flight.lag, 0.9), xycoords=('data', 'axes fraction'),
                horizontalalignment='right', color=COLORS[flight.with_rates])
    panels[0, 0].set_title(f'Errors at a lag of {1e3 * shown:g} ms')
    panels[0, 1].set_title(f'Largest errors after {SETTLED:g} s')
    panels[0, 1].legend(loc='upper left')
    panels[2, 0].set_xlabel('time, s')
    panels[2, 1].set_xlabel('lag of rotors and joints, ms')
    figure.savefig(path, dpi=120)
