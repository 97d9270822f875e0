# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Your hexapod, from the numbers of a drawing to a pose with its predicted error, and live."""

from pathlib import Path

import numpy as np

from liedyn_ros.lie import se3
from liedyn_ros.pictures import draw_platform, legend_above, new_figure, PAGE, RIGHT_COLOR, save
from liedyn_ros.stewart import (
    LegSimulation, load_geometry, MonitorConfig, MonitoredTracker, MotionEstimator,
    SmoothTrajectory)

NOISE, RATE, SECONDS = 20e-6, 200.0, 5.0  # m, Hz, s
BASE, PLATFORM = 0.30, 0.20  # m, radii of the circles on which the joints lie
HEIGHT, TRAVEL = 0.50, (0.25, 0.95)  # m, of the platform at home, and of the legs
TURN, SHIFT = (0.2, 0.2, 0.3), (0.06, 0.06, 0.06)  # rad and m, how far it moves about home
AT_BASE = np.radians([15.0, 105.0, 135.0, 225.0, 255.0, 345.0])
AT_PLATFORM = np.radians([45.0, 75.0, 165.0, 195.0, 285.0, 315.0])

lines = ['name: strut_hexapod', f'home: {{position: [0.0, 0.0, {HEIGHT}]}}', 'legs:']
for k, (a, b) in enumerate(zip(AT_BASE, AT_PLATFORM)):
    base, joint = ([round(float(radius * f(angle)), 6) for f in (np.cos, np.sin)] + [0.0]
                   for radius, angle in ((BASE, a), (PLATFORM, b)))
    lines.append(f'  leg_{k + 1}: {{base: {base}, platform: {joint}, length: {[*TRAVEL]}}}')
Path('strut_hexapod.yaml').write_text('\n'.join(lines) + '\n', encoding='utf-8')
Path('my_hexapod_nodes.yaml').write_text(f"""/**:
  ros__parameters:
    geometry_file: {Path('strut_hexapod.yaml').resolve()}
/**/stewart_simulator:
  ros__parameters:
    amplitudes: {[*TURN, *SHIFT]}
""", encoding='utf-8')

geometry = load_geometry(Path('strut_hexapod.yaml'))
home = geometry.home  # (4, 4), m
motion = SmoothTrajectory(home, np.array([*TURN, *SHIFT]),
                          np.array([0.23, 0.31, 0.17, 0.29, 0.19, 0.37]), np.arange(6.0))
encoders = LegSimulation(geometry, motion, RATE, length_noise=NOISE)  # or readings of your legs
tracker = MonitoredTracker(geometry, home, config=MonitorConfig(leg_noise=NOISE))
estimator = MotionEstimator(geometry)
errors, sigmas = [], []
for k in range(round(SECONDS * RATE)):
    sample = encoders.take()
    found = tracker.track(10 ** 9 + round(1e9 * k / RATE), sample.lengths)
    if not k:
        continue  # the first pose has no covariance yet
    errors.append(se3.log(se3.compose(se3.inverse(sample.pose), found.pose))[3:])
    sigmas.append(np.sqrt(estimator.pose_covariance(found).diagonal()[3:]))
errors, sigmas = 1e3 * np.array(errors), 1e3 * np.array(sigmas)
print(f'within three sigma: {100.0 * np.mean(np.abs(errors) < 3.0 * sigmas):.1f} %')

figure = new_figure(80.0, PAGE)
parts = figure.add_gridspec(3, 2, width_ratios=(2, 3))
space = figure.add_subplot(parts[:, 0], projection='3d')
draw_platform(space, geometry, found.pose, '')
space.axis('equal')
space.set_axis_off()
times = np.arange(1, 1 + len(errors)) / RATE
for k in range(3):
    axes = figure.add_subplot(parts[k, 1])
    axes.plot(times, errors[:, k], '.', color=RIGHT_COLOR, markersize=1.5, label='error')
    axes.plot(times, 3.0 * sigmas[:, k], color='0.2', label='predicted three sigma')
    axes.plot(times, -3.0 * sigmas[:, k], color='0.2', label='_below')
    axes.set_ylabel(f'{"xyz"[k]}, mm')
legend_above(figure.axes[1], 2, markerscale=3.0)
figure.axes[3].set_xlabel('time, s')
save(figure, Path('02_your_hexapod.png'))
