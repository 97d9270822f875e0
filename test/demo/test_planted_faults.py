# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""What is missing or wrong in a demo that really runs never lets it say HELD."""

import time
from types import SimpleNamespace

import pytest
from rosgraph_msgs.msg import Clock

from benchmarks.processes import kill_process
from liedyn_ros.demo import lockstep
from liedyn_ros.demo.__main__ import perform
from liedyn_ros.demo.recorder import DemoRecorder
from liedyn_ros.demo.session import DemoStage, Session
from liedyn_ros.demo.stewart import singularity
from liedyn_ros.demo.verdict import Outcome

pytestmark = [pytest.mark.ros, pytest.mark.full]
SOON = 5.0  # s for what never comes
DRAWINGS = SimpleNamespace(draw=lambda *_: None)
STEPS = 20  # of a motion that a fault ends


@pytest.fixture(autouse=True)
def soon_given_up(monkeypatch):
    for name, value in (('FIRST_TIMEOUT', 0.1), ('STEP_TIMEOUT', 1.0), ('ANSWER_TIMEOUT', 10.0)):
        monkeypatch.setattr(lockstep, name, value)


def verdict_of(tmp_path, limit=300.0):
    """Return the verdict of the part that leads through a singularity, at most after limit, s."""
    return perform(singularity.run, DemoStage(tmp_path, DRAWINGS, time.monotonic() + limit))


def start_all_but(missing, monkeypatch):
    start = Session.start

    def start_others(session, module, node, *log, **parameters):
        if node != missing:
            start(session, module, node, *log, **parameters)

    monkeypatch.setattr(Session, 'start', start_others)


@pytest.mark.parametrize('missing', ['stewart_pose', 'stewart_simulator'])
def test_a_node_that_is_not_there_is_named(tmp_path, monkeypatch, missing):
    start_all_but(missing, monkeypatch)
    verdict = verdict_of(tmp_path, SOON)
    assert verdict.outcome is Outcome.NOT_SHOWN
    assert any(missing in reason for reason in verdict.missing)


def test_another_clock_in_the_domain_is_told(tmp_path, monkeypatch):
    """As that of a second demo, or of a simulator that somebody left running."""
    begin = lockstep.Lockstep.begin

    def begin_beside(self, nodes, heard):
        other = self._recorder.create_publisher(Clock, '/clock', 1)
        begin(self, nodes, heard)
        other.destroy()

    monkeypatch.setattr(lockstep.Lockstep, 'begin', begin_beside)
    verdict = verdict_of(tmp_path)
    assert verdict.outcome is Outcome.NOT_SHOWN
    assert any('another process publishes /clock' in reason for reason in verdict.missing)


def test_a_recorder_that_stops_shows_nothing(tmp_path, monkeypatch):
    """Of its topics, one that lost messages before ends later and is not the first one missing."""
    monkeypatch.setattr(DemoRecorder, '_keep', staticmethod(
        lambda into, raw: into.append((0, raw)) if len(into) < STEPS else None))
    verdict = verdict_of(tmp_path)
    assert verdict.outcome is Outcome.NOT_SHOWN
    assert any(topic in reason for reason in verdict.missing
               for topic in ('true_pose', 'leg_states', 'status'))


def test_a_pose_node_that_ends_on_the_way_is_told(tmp_path, monkeypatch):
    run = lockstep.Lockstep.run

    def run_and_end(self, seconds):
        run(self, STEPS / singularity.CROSSING_RATE)
        kill_process(self._session._processes['stewart_pose']._process)
        run(self, seconds)

    monkeypatch.setattr(lockstep.Lockstep, 'run', run_and_end)
    verdict = verdict_of(tmp_path)
    assert verdict.outcome is Outcome.NOT_SHOWN
    assert any('stewart_singularity_pose' in reason for reason in verdict.missing)


def test_a_pose_node_that_begins_behind_the_singularity_never_holds(tmp_path, monkeypatch):
    """As where a simulator had not waited for it: what it tells then rests on nothing."""
    start, begin = Session.start, lockstep.Lockstep.begin
    later = []

    def start_simulator(session, module, node, *log, **parameters):
        if node == 'stewart_pose':
            later.append(lambda: start(session, module, node, *log, **parameters))
        else:
            start(session, module, node, *log, **parameters)

    def begin_late(self, nodes, heard):
        begin(self, nodes[1:], {})
        self._answers = ['true_pose', 'leg_states']
        self.run(0.6 * singularity.CROSSING_TIME)
        self._answers.append('status')
        later.pop()()
        begin(self, nodes, heard)

    monkeypatch.setattr(Session, 'start', start_simulator)
    monkeypatch.setattr(lockstep.Lockstep, 'begin', begin_late)
    assert verdict_of(tmp_path).outcome is not Outcome.HELD
