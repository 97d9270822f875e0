# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The page in a browser, before texts, sites and clients that mean harm."""

import asyncio
from dataclasses import replace
import http.client
import logging
import os
import socket
from xml.sax.saxutils import quoteattr

import msgspec
import numpy as np
import pytest
from support.browser import told_to, wait_for
from support.hostile_texts import TEXTS
from support.scripts import free_port

from liedyn_ros.common.resources import config_file
from liedyn_ros.model import load_urdf
from liedyn_ros.stewart import load_geometry

viser = pytest.importorskip('viser', reason='the view is not installed here')
connect = pytest.importorskip('websockets.asyncio.client').connect
exceptions = pytest.importorskip('websockets.exceptions')

from liedyn_ros.view import access  # noqa: E402
from liedyn_ros.view.page import LivePage, write_recording  # noqa: E402
from liedyn_ros.view_state import Description, ViewInput  # noqa: E402

LINK = ('<link name={body}><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial><visual><geometry><mesh filename={mesh}/></geometry>'
        '</visual></link>')
JOINT = ('<joint name={joint} type="revolute"><parent link="base"/><child link={body}/>'
         '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>')


def hostile_urdf():
    """Return a URDF whose robot, bodies, joints and meshes have hostile names."""
    parts = ['<link name="base"/>']
    for k, text in enumerate(TEXTS):
        names = {key: quoteattr(f'{text}{key}{k}') for key in ('body', 'joint')}
        names['mesh'] = quoteattr(f'{text}.stl')
        parts += [LINK.format(**names), JOINT.format(**names)]
    return f'<robot name={quoteattr(TEXTS[0])}>{"".join(parts)}</robot>'


@pytest.fixture
def page():
    """Return a page without reflections of surroundings."""
    page = LivePage('127.0.0.1', free_port(), 60.0, 10.0)
    page.server.scene.configure_environment_map(None)
    yield page
    page.close()


@pytest.mark.full
def test_texts_of_topics_and_descriptions_are_no_markup(tab, page):
    urdf = hostile_urdf()
    page.adopt(load_urdf(urdf), np.eye(4), Description(urdf))
    page.what_if.body.value = page.what_if.body.options[1]
    page.what_if.show(visible=True)
    page.show(ViewInput(efforts=dict.fromkeys(TEXTS, 1.0), warnings=tuple(TEXTS), fault=TEXTS[0],
                        quiet={TEXTS[0]: 9.0}, positions={TEXTS[0]: 0.1}))
    tab.goto(page.address)
    tab.get_by_text('not shown').wait_for()  # one line, which unfolds
    tab.get_by_text(TEXTS[0]).first.wait_for()  # as it was written
    tab.get_by_role('tab', name='What if').click()
    tab.get_by_text('A push on').wait_for()
    assert told_to(tab, page.address) == []
    assert tab.faults == []


@pytest.mark.full
def test_an_error_that_takes_the_place_of_what_if_is_no_markup(tab, page, monkeypatch):
    def fail(*_):
        raise ValueError(' '.join(TEXTS))
    monkeypatch.setattr('liedyn_ros.view.page.LiedynError', ValueError)
    monkeypatch.setattr(page, '_add_what_if', fail)
    geometry = load_geometry(config_file('stewart_geometry.yaml'))
    home = np.eye(4)
    home[2, 3] = 0.5
    page.adopt(geometry, home)
    tab.goto(page.address)
    tab.get_by_role('tab', name='What if').click()
    tab.get_by_text(TEXTS[0]).first.wait_for()
    assert told_to(tab, page.address) == []


@pytest.mark.full
def test_a_recording_of_hostile_names_runs_nothing(tab, tmp_path):
    urdf = hostile_urdf()
    path = tmp_path / 'recorded.html'
    write_recording(path, load_urdf(urdf), [(0.1 * k, ViewInput(efforts=dict.fromkeys(TEXTS, 1.0)))
                                            for k in range(5)], description=Description(urdf))
    tab.goto(path.as_uri())
    tab.locator('canvas').first.wait_for()
    assert told_to(tab, path.as_uri()) == []
    assert tab.faults == []


def asked(page, path, **headers):
    """Return the status of an answer to a request for a page."""
    connection = http.client.HTTPConnection('127.0.0.1', page.server.get_port(), timeout=600.0)
    try:
        connection.request('GET', path, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_request_that_viser_cannot_serve_is_refused(page):
    """Of a header that comes twice, viser and the gate might each look at another one."""
    own = f'127.0.0.1:{page.server.get_port()}'
    for path, *headers in (
            ('', f'Host: {own}', 'Host: evil.example'), ('', f'Host: {own}', f'Host: {own}'),
            ('', f'Host: {own}', 'Origin: http://['),
            ('', f'Host: {own}', f'Origin: http://{own}', 'Origin: null'),
            ('', f'Host: {own}', 'Upgrade: a', 'Upgrade: b'),
            ('', f'Host: {own}', 'Accept-Encoding: gzip', 'Accept-Encoding: br'),
            ('%00', f'Host: {own}'), ('n' * 5000, f'Host: {own}')):
        with socket.create_connection(('127.0.0.1', page.server.get_port()), 60.0) as connection:
            lines = '\r\n'.join((f'GET /{access.TOKEN}/{path} HTTP/1.1', *headers, '', ''))
            connection.sendall(lines.encode())
            wanted = (b'400', b'404') if path else (b'400',)
            assert connection.recv(64).split()[1] in wanted, (path[:9], headers)


def opened(page, path=None, **headers):
    """Return the status by which a connection of a browser is refused, 101 where it is open."""
    async def open_one():
        origin = headers.pop('Origin', None)
        url = f'ws://127.0.0.1:{page.server.get_port()}/{access.TOKEN if path is None else path}'
        try:
            async with connect(url, subprotocols=[f'viser-v{viser.__version__}'], origin=origin,
                               additional_headers=headers):
                return 101
        except exceptions.InvalidStatus as error:
            return error.response.status_code
    return asyncio.run(open_one())


def test_no_other_site_and_nobody_without_the_token_gets_in(page):
    own = f'http://127.0.0.1:{page.server.get_port()}'
    assert opened(page) == opened(page, Origin=own) == 101
    assert asked(page, f'/{access.TOKEN}/') == 200
    for origin in ('http://evil.example', 'null', 'file://', f'{own}.evil.example',
                   'http://127.0.0.1:1', 'http://localhost'):
        assert opened(page, Origin=origin) == 403, origin
        assert asked(page, f'/{access.TOKEN}/', Origin=origin) == 403, origin
    for host in ('evil.example:8080', 'localhost.evil.example', '127.0.0.1.evil.example', '', '['):
        assert asked(page, f'/{access.TOKEN}/', Host=host) == 403, host
    for path in ('', 'x', access.TOKEN[:-1], access.TOKEN.swapcase(), f'x/{access.TOKEN}',
                 '%2e%2e', f'../{access.TOKEN}', '\xe9'):
        assert opened(page, path.encode('ascii', 'ignore').decode()) == 403, path
        assert asked(page, f'/{path.encode("ascii", "ignore").decode()}') == 403, path
    for path in ('../../../etc/passwd', '%2e%2e/%2e%2e/etc/passwd', '..%5c..%5cetc/passwd'):
        assert asked(page, f'/{access.TOKEN}/{path}') == 404, path


def test_browsers_are_bounded(page, monkeypatch):
    monkeypatch.setattr(access, 'MAX_BROWSERS', 0)
    assert opened(page) == 503


def test_connections_that_never_say_a_word_give_way(page):
    before = len(os.listdir('/proc/self/fd'))
    silent = [socket.create_connection(('127.0.0.1', page.server.get_port()), 60.0)
              for _ in range(3 * access.MAX_SILENT)]
    try:
        assert opened(page) == 101
        ends = 2 * len(silent)  # both are of this process
        wait_for(lambda: len(os.listdir('/proc/self/fd')) < before + ends - access.MAX_SILENT)
        assert opened(page) == 101
    finally:
        for each in silent:
            each.close()


def sent(page, frames):
    """Send frames in one connection each, and wait until each is worked on or closed."""
    async def send(frame):
        url = f'ws://127.0.0.1:{page.server.get_port()}/{access.TOKEN}'
        async with connect(url, subprotocols=[f'viser-v{viser.__version__}']) as connection:
            try:
                await connection.send(frame)
                await connection.send(msgspec.msgpack.encode({'type': 'Unknown'}))
                await asyncio.wait_for(connection.wait_closed(), 0.2)
            except (exceptions.ConnectionClosed, TimeoutError, asyncio.TimeoutError):
                pass

    async def send_all():
        for frame in frames:
            await send(frame)
    asyncio.run(send_all())


def test_no_address_is_printed_without_the_token(capfd):
    access.open_server('127.0.0.1', free_port(), 'quiet').stop()
    assert 'http' not in ''.join(capfd.readouterr())


def test_malformed_frames_cost_a_line_and_nothing_else(page, caplog, capfd):
    page.adopt(load_geometry(config_file('stewart_geometry.yaml')), np.diag([1.0, 1, 1, 1]))
    slider = page.what_if.sliders[0]
    before, update = slider.value, {'type': 'GuiUpdateMessage', 'uuid': slider._impl.uuid}
    capfd.readouterr()
    frames = [b'', b'\xc1', b'\x91' * 2000, 'a text', b'\x00' * 70_000]
    frames += map(msgspec.msgpack.encode, [
        3, [], {}, {'type': 3}, {'type': 'GuiUpdateMessage'}, {'type': 'Message'},
        {'type': 'ShareUrlRequest'}, {'type': 'ViewerCameraMessage', 'fov': float('nan')},
        {'type': 'ViewerCameraMessage', 'fov': [1.0] * 1000},
        {**update, 'updates': {'value': float('inf')}}, {**update, 'updates': {'value': 'x'}},
        {**update, 'updates': {'update_cb': []}}, {**update, 'updates': [1]}])
    with caplog.at_level(logging.INFO, 'liedyn_ros.view.access'):
        sent(page, frames)
    printed = ''.join(capfd.readouterr())
    assert 'Traceback' not in printed and 'Traceback' not in caplog.text
    assert 0 < len(caplog.records) <= len(frames)
    assert all('\n' not in record.getMessage() for record in caplog.records)
    assert slider.value == before
    assert page.server._share_tunnel is None
    assert opened(page) == 101


def test_browsers_that_come_and_go_end_nothing_that_draws(page):
    class Changing:

        def __iter__(self):
            raise RuntimeError('deque mutated during iteration')
    page.adopt(load_geometry(config_file('stewart_geometry.yaml')), np.diag([1.0, 1, 1, 1]))
    event = page.server._websock_server.get_message_buffer().message_event

    def cleared():
        page.server._event_loop.call_soon_threadsafe(event.clear)  # what is drawn sets it again
        return not event.is_set()
    wait_for(cleared)
    waiters, event._waiters = event._waiters, Changing()
    try:
        page.show(ViewInput(warnings=('a browser comes',)))
    finally:
        event._waiters = waiters


def test_what_a_browser_sets_stays_within_the_ends(page):
    page.adopt(load_geometry(config_file('stewart_geometry.yaml')), home := np.eye(4))
    home[2, 3] = 0.5
    slider = page.what_if.sliders[0]
    sent(page, [msgspec.msgpack.encode({
        'type': 'GuiUpdateMessage', 'uuid': slider._impl.uuid, 'updates': {'value': 1e9}})])
    wait_for(lambda: page.what_if.lengths[0] <= slider.max or slider.value <= slider.max)
    page.show(replace(ViewInput(), warnings=('still here',)))


@pytest.mark.parametrize('address', ['300.1.2.3', '203.0.113.7'])
def test_an_address_that_this_computer_lacks_is_an_error(address):
    with pytest.raises(OSError):
        LivePage(address, free_port(), 60.0, 10.0)
