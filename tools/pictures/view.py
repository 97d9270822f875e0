# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Take the pictures of the live view in docs/images: python -m tools.pictures.view.

It needs the view (viser), Playwright, example-robot-data, and a browser of the name chromium on
the path. `python -m tools.pictures.view arm` takes those of one machine.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
import shutil
import threading

import numpy as np
from playwright.sync_api import Page, sync_playwright
from tools.command_line import names_or_all
from tools.example_robots import FOLDER

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import SE3, SO3
from liedyn_ros.model import load_model
from liedyn_ros.stewart import (
    LegSimulation, length_jacobian, load_geometry, MonitoredTracker, SmoothTrajectory)
from liedyn_ros.view.page import LivePage
from liedyn_ros.view.platforms.what_if import PlatformWhatIf
from liedyn_ros.view.plots import move_slider
from liedyn_ros.view.trees.what_if import TreeWhatIf
from liedyn_ros.view_state import Description, SolvedPose, ViewInput

IMAGES = Path(__file__).parents[2] / 'docs' / 'images'
ARGUMENTS = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader',
             '--enable-unsafe-swiftshader']  # without a graphics card
WIDTH, HEIGHT = 1200, 750
LIMIT, DRAWN, FADED = 240_000.0, 5_000.0, 90_000.0  # ms; a processor that draws is slow
NOISE, RATE, SECONDS = 20e-6, 100.0, 12.0  # m, Hz, s
PORT = 18_080
UR5 = 'ur_description/urdf/ur5_robot.urdf'


def platform(page: LivePage) -> None:
    """Show some seconds of a platform that is tracked."""
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    home = SE3.from_rotation_translation(SO3.identity(), [0.0, 0.0, 0.5]).matrix
    page.adopt(geometry, home)
    motion = SmoothTrajectory(home, np.array([0.2, 0.2, 0.3, 0.06, 0.06, 0.06]),
                              np.array([0.23, 0.31, 0.17, 0.29, 0.19, 0.37]),
                              np.arange(6, dtype=float))
    encoders = LegSimulation(geometry, motion, RATE, length_noise=NOISE, seed=1)
    tracker = MonitoredTracker(geometry, home)
    pause = threading.Event()
    for k in range(round(SECONDS * RATE)):
        sample = encoders.take()
        found = tracker.track(10 ** 9 + round(1e9 * k / RATE), sample.lengths)
        pause.wait(1.0 / RATE)
        moves = NOISE * found.pose[:3, :3] @ np.linalg.inv(
            length_jacobian(geometry, found.pose))[3:]
        page.show(ViewInput(
            pose=found.pose, true_pose=sample.pose,
            covariance=moves @ moves.T,
            solved=SolvedPose(sample.lengths, found.smallest_singular_value, found.residual,
                              found.iterations, 4e-4, 0.0)))


def arm(page: LivePage) -> None:
    """Show an arm by its meshes; its ghost has the mass ellipsoid of its hand."""
    file = Path(str(metadata.distribution('example-robot-data').locate_file(FOLDER))) / UR5
    model = load_model(file)
    page.adopt(model, np.eye(4), Description(file, file.parent))
    positions = dict(zip((joint.name for joint in model.joint_list
                          if joint.type_name == 'revolute'), (0.4, -1.2, 1.4, -0.6, 1.2, 0.0)))
    q = model.neutral()
    for joint in model.joint_list:
        if joint.name in positions:
            q[joint.qi] = positions[joint.name]
    torques = Dynamics(model).gravity_vector(q)
    page.show(ViewInput(positions=positions, efforts={
        joint.name: float(torques[joint.vi]) for joint in model.joint_list
        if joint.name in positions}))


def flight(page: LivePage) -> None:
    """Show a flying machine with the thrusts of its rotors."""
    model = load_model(config_file('aerial_manipulator.yaml'))
    page.adopt(model, np.eye(4))
    base = SE3.from_rotation_translation(SO3.from_rpy(0.1, -0.15, 0.4), [2.0, 1.0, 1.5]).matrix
    page.show(ViewInput(pose=base, rotor_speeds={
        rotor.name: (0.6 + 0.05 * k) * rotor.max_speed for k, rotor in enumerate(model.rotors)},
        positions={'left_shoulder_pitch': 0.6, 'right_shoulder_pitch': -0.4, 'left_elbow': -0.9}))


def try_pose(page: LivePage, tab: Page) -> None:
    """Drag the ghost of the platform elsewhere."""
    tab.get_by_role('tab', name='What if').click()
    tab.get_by_text('Show the ghost').click()
    what_if = page.what_if
    assert isinstance(what_if, PlatformWhatIf)
    tab.wait_for_timeout(DRAWN)
    what_if.gizmo.position, what_if.gizmo.wxyz = (0.1, 0.18, 0.6), (0.98, 0.15, -0.1, 0.05)
    what_if.drag(what_if.gizmo.position, what_if.gizmo.wxyz)


def try_hand(page: LivePage, tab: Page) -> None:
    """Let the ghost of the arm stand elsewhere, with the mass ellipsoid of its last link."""
    tab.get_by_role('tab', name='What if').click()
    tab.get_by_text('Show the ghost').click()
    tab.get_by_text('effort at rest').wait_for()
    tab.wait_for_timeout(DRAWN)
    what_if = page.what_if
    assert isinstance(what_if, TreeWhatIf)
    what_if.body.value = 'wrist_3_link'
    positions = {name: slider.value for name, slider in what_if.sliders.items()}
    tried = {**positions, 'shoulder_pan_joint': -0.7, 'elbow_joint': 0.9}
    what_if.set_joints(tried)
    for name, position in tried.items():
        move_slider(what_if.sliders[name], position)


def shoot(tab: Page, name: str, text: str) -> None:
    """Write what a tab shows, when it has a text and has drawn."""
    tab.get_by_text(text).first.wait_for()
    tab.add_style_tag(content='.mantine-Notifications-root { display: none; }')
    tab.wait_for_timeout(DRAWN)
    tab.screenshot(path=IMAGES / f'{name}.png')
    print(f'in {IMAGES / name}.png')


def main() -> None:
    """Take all, or those of the machines that the command line names."""
    wanted = names_or_all(__doc__, SHOWN)
    page = LivePage('127.0.0.1', PORT, 60.0, 10.0)
    with sync_playwright() as context:
        browser = context.chromium.launch(executable_path=shutil.which('chromium'),
                                          args=ARGUMENTS)
        for machine in wanted:
            SHOWN[machine](page)
            tab = browser.new_page(viewport={'width': WIDTH, 'height': HEIGHT})
            tab.set_default_timeout(LIMIT)
            tab.goto(page.address + ('/?darkMode' if machine == 'dark' else ''))
            tab.wait_for_timeout(FADED)
            if machine == 'platform':
                shoot(tab, 'view_platform', 'Position')
                try_pose(page, tab)
                shoot(tab, 'view_what_if', 'Smallest singular value')
            elif machine == 'dark':
                shoot(tab, 'view_dark', 'Position')
            elif machine == 'arm':
                try_hand(page, tab)
                shoot(tab, 'view_tree', 'A push on')
            else:
                shoot(tab, 'view_flight', 'Camera moves with it')
            tab.close()
        browser.close()
    page.close()


SHOWN = {'platform': platform, 'arm': arm, 'flight': flight, 'dark': platform}

if __name__ == '__main__':
    main()
