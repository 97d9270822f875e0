# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page in a real browser: it loads, moves, reacts, and asks nothing of the network."""

import numpy as np
import pytest
from support.browser import assert_plays_offline, of_others, wait_for
from support.scripts import free_port

from liedyn_ros.common.resources import config_file
from liedyn_ros.model import load_model
from liedyn_ros.stewart import load_geometry

viser = pytest.importorskip('viser', reason='the view is not installed here')

from liedyn_ros.view.page import LivePage, write_recording  # noqa: E402
from liedyn_ros.view_state import ViewInput  # noqa: E402

pytestmark = pytest.mark.full


def open_page(**options):
    """Return a page without reflections of surroundings: a processor draws those for seconds."""
    page = LivePage('127.0.0.1', free_port(), 60.0, 10.0, **options)
    page.server.scene.configure_environment_map(None)
    return page


def drag(tab, box, distance):
    """Drag the middle of a box by a distance to the right, px."""
    x, y = box['x'] + 0.5 * box['width'], box['y'] + 0.5 * box['height']
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x + distance, y, steps=3)
    tab.mouse.up()


def test_it_loads_moves_drags_turns_light_and_asks_nobody_else(tab, tmp_path):
    """It is dark where asked, and a button turns one browser; its recording is as it began."""
    page = open_page(dark=True)
    look = tab.locator('html[data-mantine-color-scheme]')

    def is_dark():
        return look.first.get_attribute('data-mantine-color-scheme') == 'dark'

    try:
        home = np.eye(4)
        home[2, 3] = 0.5
        page.adopt(load_geometry(config_file('stewart_geometry.yaml')), home)
        tab.goto(page.address)
        tab.get_by_text('nothing heard yet').wait_for()
        home[0, 3] = 0.0125
        page.show(ViewInput(pose=home))
        tab.get_by_text('Position 12.50, 0.00, 500.00 mm.').wait_for()
        tab.get_by_role('tab', name='What if').click()
        tab.get_by_text('Show the ghost').click()
        tab.get_by_text('Smallest singular value').wait_for()
        wait_for(lambda: page.what_if._figure is not None)
        before = page.what_if.lengths[0]
        drag(tab, tab.get_by_role('slider').first.bounding_box(), 15.0)
        wait_for(lambda: page.what_if.lengths[0] != before)
        client, = page.server.get_clients().values()
        seen_from = client.camera.position.copy()
        drag(tab, {'x': 40.0, 'y': 240.0, 'width': 0.0, 'height': 0.0}, 60.0)
        wait_for(lambda: np.linalg.norm(client.camera.position - seen_from) > 0.01)
        wait_for(is_dark)
        tab.get_by_role('button', name='Light or dark').click()
        wait_for(lambda: not is_dark())
        page.record_to(tmp_path / 'dark.html')
        assert of_others(tab, page.address) == []
        assert tab.faults == []
    finally:
        page.close()
    tab.goto((tmp_path / 'dark.html').as_uri())
    wait_for(is_dark)


def test_a_tree_comes_to_a_browser_that_waits_for_it(tab):
    page = open_page()
    try:
        tab.goto(page.address)
        waiting = tab.get_by_text('waiting for the description of a machine')
        waiting.wait_for()
        page.adopt(load_model(config_file('linkage_leg.urdf')), np.eye(4))
        for name in ('Live', 'What if', 'Record'):
            tab.get_by_role('tab', name=name).wait_for()
        assert not waiting.count()
        page.show(ViewInput(efforts={'hip': 2.0, 'of another robot': 1.0}))
        tab.get_by_text('hip').filter(visible=True).first.wait_for()
        assert not tab.get_by_text('of another robot').count()
        assert tab.faults == []
    finally:
        page.close()


def test_a_recording_that_was_mailed_plays_without_the_program_and_a_network(tab, tmp_path):
    home = np.eye(4)
    home[2, 3] = 0.5

    def shown():
        for k in range(60):
            pose = home.copy()
            pose[0, 3] = 0.001 * k
            yield 0.1 * k, ViewInput(pose=pose)

    write_recording(tmp_path / 'recording.html',
                    load_geometry(config_file('stewart_geometry.yaml')), shown(), home)
    (tmp_path / 'received').mkdir()
    mailed = (tmp_path / 'recording.html').rename(tmp_path / 'received' / 'mailed.html')
    assert_plays_offline(tab, mailed)
