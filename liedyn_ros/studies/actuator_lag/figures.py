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

import numpy as np

from liedyn_ros.pictures import legend_above, new_figure, PAGE, RIGHT, save, WRONG
from liedyn_ros.studies.actuator_lag.flights import Flight, SETTLED

LABELS = ('position, mm', 'attitude, degree', 'worst joint, degree')
SCALES = (1e3, np.degrees(1.0), np.degrees(1.0))
SMALLEST = (1e-2, 1e-3, 1e-3)  # shown
COLORS = {False: WRONG, True: RIGHT}
LINES = {False: '-', True: '--'}
NAMES = {False: 'efforts', True: 'efforts and their rates'}


def draw(flights: Sequence[Flight], path: Path) -> None:
    """Draw errors over time at the largest lag, and over the lags."""
    figure = new_figure(120.0, PAGE)
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
                        flight.times, scale * flight.errors[:, k], **style)
            over_lags.semilogy(
                [1e3 * flight.lag for flight in of_kind],
                [scale * flight.largest[k] for flight in of_kind], marker='o', markersize=4,
                **style)
        over_time.set_ylim(bottom=least)
        over_time.set_ylabel(label)
    for flight in flights:
        if flight.lost:
            panels[0, 1].annotate(
                'lost', (1e3 * flight.lag, 0.02), xycoords=('data', 'axes fraction'),
                horizontalalignment='right', color=COLORS[flight.with_rates])
    panels[0, 0].set_title(f'Errors at a lag of {1e3 * shown:g} ms')
    panels[0, 1].set_title(f'Largest errors after {SETTLED:g} s')
    legend_above(panels[1, 1], 2)
    panels[2, 0].set_xlabel('time, s')
    panels[2, 1].set_xlabel('lag of rotors and joints, ms')
    save(figure, path)
