# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Fly the aerial manipulator with actuators that lag, and show the gain of commanding force rates.

`liedyn reproduce actuator-lag`, with --help for
options. Every flight is flown twice: commanding the efforts that inverse dynamics gives,
and, ahead of the lag, from efforts and their rates. A second table has the lag known wrongly.
"""

from collections.abc import Sequence
from pathlib import Path
import sys

import numpy as np

from liedyn_ros.aerial.vehicle import Lags
from liedyn_ros.commands import outputs
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.common.markup import print_table
from liedyn_ros.pictures import legend_above, new_figure, PAGE, RIGHT_COLOR, save, WRONG_COLOR
from liedyn_ros.studies.actuator_lag.flights import Flight, LagStudy, TRANSIENT
from liedyn_ros.studies.options import lag_parser
from liedyn_ros.view_state import seen_of

LAG_RATIOS = (0.5, 0.8, 1.2, 1.5)  # lag that the controller assumes, over the true lag
MAX_GROWTH = 1.2  # of the errors with rates, over those without lag


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study, print its tables, draw its plot; return 0 if the rates compensate the lag."""
    options = lag_parser().parse_args(arguments)
    if not TRANSIENT < options.duration < np.inf:
        lag_parser().error(
            f'--duration: expected more than {TRANSIENT:g} s, after which errors count')
    try:
        for lag in options.lags:
            Lags(lag, lag)
        study = LagStudy(options.mass_error, options.duration)
    except LiedynError as error:
        print(error, file=sys.stderr)
        return 2
    print(f'The aerial manipulator along its reference, {options.duration:g} s, all masses known '
          f'{100.0 * options.mass_error:g} % too large; errors after {TRANSIENT:g} s')
    flights = []
    for lag in sorted({0.0, *options.lags}):
        print(f'  flying with a lag of {1e3 * lag:g} ms', flush=True)
        flights += [study.fly(with_rates, lag, lag) for with_rates in (False, True)]
    report(flights, 'lag')
    worst = flights[-1].lag
    if worst > 0.0:
        print(f'  flying with a lag of {1e3 * worst:g} ms, known wrongly', flush=True)
        report([study.fly(True, worst, share * worst) for share in LAG_RATIOS], 'known_lag')
    draw(flights, options.folder / 'errors.png')
    print(f'Plot in {options.folder}/')
    last = flights[-1]
    outputs.recording(options.folder / 'flight.html', study.model, [
        (time, seen_of(study.model, q)) for time, q in zip(last.times.tolist(), last.states)])
    return 0 if made_up(flights) else 1


def report(flights: Sequence[Flight], key: str) -> None:
    """Print a row for each flight, first the attribute in which they differ."""
    rows = []
    for flight in flights:
        row = [f'{1e3 * getattr(flight, key):g}',
               'effort rates' if flight.with_rates else 'efforts']
        if flight.lost:
            row.append(f'lost at {flight.times[-1]:.1f} s')
        else:
            scale = np.array([1e3, *np.degrees([1.0, 1.0])])
            for most, rms in zip(scale * flight.largest, scale * flight.rms):
                row += [f'{most:.3g}', f'{rms:.2g}']
        rows.append(row)
    print_table([f'{key.replace("_", " ")}, ms', 'mode', 'position, mm', 'rms', 'attitude, deg',
                 'rms', 'worst joint, deg', 'rms'], rows)


def made_up(flights: Sequence[Flight]) -> bool:
    """Return whether the errors with rates are, at every lag, about those without lag."""
    first, *others = (flight.largest for flight in flights if flight.with_rates)
    return all((errors < MAX_GROWTH * first).all() for errors in others)


if __name__ == '__main__':
    sys.exit(main())


LABELS = ('position, mm', 'attitude, degree', 'worst joint, degree')
SHOWN_SCALES = (1e3, np.degrees(1.0), np.degrees(1.0))
SMALLEST_SHOWN = (1e-2, 1e-3, 1e-3)  # shown
COLORS = {False: WRONG_COLOR, True: RIGHT_COLOR}
LINES = {False: '-', True: '--'}
NAMES = {False: 'efforts', True: 'efforts and their rates'}


def draw(flights: Sequence[Flight], path: Path) -> None:
    """Draw errors over time at the largest lag, and over the lags."""
    figure = new_figure(120.0, PAGE)
    panels = figure.subplots(3, 2, sharex='col', sharey='row')
    shown = max(flight.lag for flight in flights)
    for k, (label, scale, least) in enumerate(zip(LABELS, SHOWN_SCALES, SMALLEST_SHOWN)):
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
    panels[0, 1].set_title(f'Largest errors after {TRANSIENT:g} s')
    legend_above(panels[1, 1], 2)
    panels[2, 0].set_xlabel('time, s')
    panels[2, 1].set_xlabel('lag of rotors and joints, ms')
    save(figure, path)
