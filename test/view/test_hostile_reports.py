# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Reports of commands, pictures and generated documents about hostile names, in a browser."""

import csv
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from support.browser import told_to
from support.hostile_texts import TEXTS
from support.platforms.calibration import built, seen, spread
from support.recordings.bag_files import as_messages, write_bag
from support.recordings.calibration_tables import leg_columns, measured_columns
from support.recordings.recorded_motion import arm_recording, JOINTS, true_arm
from tools import example_robots
import yaml

from liedyn_ros.commands.bags import process_bag
from liedyn_ros.commands.identification import calibrate_arm, excite, identify, payload
from liedyn_ros.commands.stewart import calibrate
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.lie import SO3
from liedyn_ros.model import to_urdf
from liedyn_ros.stewart import load_geometry

NAMES = [f'{each}{k}' for k, each in enumerate(
    ' '.join(some) for some in np.array_split(TEXTS, 6))]  # of six joints or legs
FILE = '<img src=x onerror=top.hacked=1>'  # a name that a folder can have


def write_csv(path, head, rows):
    """Write a table of any names; return its path."""
    with path.open('w', newline='') as stream:
        csv.writer(stream).writerows([head, *rows])
    return path


def hostile_arm(folder):
    """Write the URDF of an arm whose robot, bodies and joints have hostile names."""
    root = ElementTree.fromstring(to_urdf(true_arm()))
    names = dict(zip((*JOINTS, 'base', 'upper', 'fore'), NAMES), arm=TEXTS[0])
    for each in root.iter():
        for key in ('name', 'link'):
            each.set(key, names.get(each.get(key), each.get(key, '')))
    path = folder / f'{FILE}.urdf'
    ElementTree.ElementTree(root).write(path)
    return path


def reports_of_an_arm(folder):
    """Run what makes reports about an arm; return the pages."""
    urdf, joints = hostile_arm(folder), NAMES[:3]
    stamps, *blocks = arm_recording()
    run = write_csv(folder / f'{FILE}.csv', ['t', *(
        f'{name}.{kind}' for kind in ('position', 'velocity', 'effort') for name in joints)],
        np.column_stack([(stamps - stamps[0]) / 1e9, *blocks]).tolist())
    rng = np.random.default_rng(1)
    angles = rng.uniform(-1.5, 1.5, (30, 3))
    poses = [Dynamics(true_arm()).kinematics(each).poses[-1] for each in angles]
    stands = write_csv(folder / 'stands.csv', [*joints, *'xyz', 'roll', 'pitch', 'yaw'], [
        [*q, *pose[:3, 3] + 1e-5 * rng.normal(size=3), *SO3(pose[:3, :3]).rpy]
        for q, pose in zip(angles, poses)])
    bag = write_bag(folder / FILE, as_messages(joints, *arm_recording()))
    for name, command, *words in (
            ('identify', identify, urdf, run, '--no-next-motion'),
            ('payload', payload, urdf, run, '--body', NAMES[5]),
            ('excite', excite, urdf, '--speed', 1, '--rounds', 1, '--period', 4),
            ('arm', calibrate_arm, urdf, stands, '--body', NAMES[5])):
        assert command.main([*map(str, words), '--folder', str(folder / name)]) in (0, 1), name
        yield folder / name / 'report.html'
    bags = folder / 'bags.html'
    assert process_bag.main([str(bag), '--model', str(urdf), '--csv', str(folder / 'a.csv'),
                             '--report', str(bags)]) == 0
    yield bags


def report_of_a_platform(folder):
    """Calibrate a platform whose name and legs are hostile; return the page."""
    told = yaml.safe_load(config_file('stewart_geometry.yaml').read_text())
    told |= {'name': TEXTS[0], 'legs': dict(zip(NAMES, told['legs'].values()))}
    geometry = folder / f'{FILE}.yaml'
    geometry.write_text(yaml.safe_dump(told, sort_keys=False))
    rng, home = np.random.default_rng(3), np.eye(4)
    home[2, 3] = 0.5
    machine, poses = built(load_geometry(geometry), rng, 5e-4), spread(home, 30, rng)
    columns = leg_columns(NAMES, machine.readings(poses, rng)) | measured_columns(
        seen('full', poses, rng, 1.0, True))
    columns[NAMES[2]][7] += 5e-4  # left out, with a reason
    samples = write_csv(folder / f'{FILE}.csv', columns, np.column_stack([*columns.values()]))
    assert calibrate.main([str(geometry), str(samples), '--folder', str(folder / 'platform'),
                           '--known-frames']) in (0, 1)
    return folder / 'platform' / 'report.html'


@pytest.mark.full
def test_reports_of_hostile_names_run_nothing(tab, tmp_path):
    pytest.importorskip('clarabel')
    pages = [*reports_of_an_arm(tmp_path), report_of_a_platform(tmp_path)]
    for page in pages:
        tab.goto(page.as_uri())
        tab.get_by_text(TEXTS[0]).first.wait_for()  # as it was written
        assert told_to(tab, page.as_uri()) == [], page
        assert tab.faults == []
        tab.asked.clear()


@pytest.mark.full
def test_generated_documents_of_hostile_names_run_nothing(tab, tmp_path, monkeypatch):
    markdown = pytest.importorskip('markdown_it', reason='nothing renders Markdown here')
    robots = tmp_path / FILE
    robots.mkdir()
    hostile_arm(robots)
    for k, text in enumerate(TEXTS):
        root = ElementTree.Element('robot', name=text)
        ElementTree.SubElement(root, 'joint', name=text, type=text)
        ElementTree.ElementTree(root).write(robots / f'broken {k}.urdf')
        ElementTree.SubElement(ElementTree.SubElement(root, 'link', name=text), 'inertial')
        root.find('joint').set('type', 'fixed')
        ElementTree.ElementTree(root).write(robots / f'doubtful {k}.urdf')
    monkeypatch.setattr(example_robots.metadata, 'distribution', lambda _: SimpleNamespace(
        locate_file=lambda _: tmp_path))
    page = tmp_path / 'page.html'
    page.write_text(markdown.MarkdownIt('commonmark', {'html': True}).enable('table').render(
        example_robots.table()))
    tab.goto(page.as_uri())
    tab.get_by_text('hacked').first.wait_for()
    assert told_to(tab, page.as_uri()) == []
