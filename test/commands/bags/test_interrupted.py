# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""An interrupted run goes on after its last finished part, and its files are equal bit for bit."""

import signal

import numpy as np
import pytest
from support import forked
from support.recordings.bag_files import as_messages, write_bag
from support.recordings.leg_recordings import messages, motion
from support.recordings.recorded_arm import arm_recording, JOINTS, true_arm
from support.recordings.recorded_motion import loop_motion

from liedyn_ros.commands.bags import process_bag
from liedyn_ros.commands.bags.joint_motion import processed_motion
from liedyn_ros.commands.bags.kept_parts import KeptParts
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.model import load_model, to_urdf

BLOCKS = {'block': 1000, 'overlap': 250}
KILLED = f"""
import os, signal, sys
from liedyn_ros.commands.bags import process_bag
from liedyn_ros.commands.bags.joint_motion import processed_motion
from liedyn_ros.commands.bags.kept_parts import KeptParts
processed_motion.__kwdefaults__.update({BLOCKS})
write = KeptParts._write
def kill(self, count, part):
    write(self, count, part)
    if count == 1:
        os.kill(os.getpid(), signal.SIGKILL)
KeptParts._write = kill
process_bag.main(sys.argv[1:])
"""


def files_of(folder):
    return {str(each.relative_to(folder)): each.read_bytes()
            for each in sorted(folder.rglob('*')) if each.is_file()}


def test_a_killed_run_goes_on_and_gives_the_same_files(tmp_path, monkeypatch, capsys):
    (tmp_path / 'arm.urdf').write_text(to_urdf(true_arm()))
    bag = write_bag(tmp_path / 'run', as_messages(JOINTS, *arm_recording(1, 0.0)))

    def given(name):
        (tmp_path / name).mkdir(exist_ok=True)
        return [str(bag), '--model', str(tmp_path / 'arm.urdf'), '--csv',
                str(tmp_path / name / 'a.csv'), '--mcap', str(tmp_path / name / 'a')]

    ended = forked.run('-c', KILLED, *given('killed'))
    assert ended.returncode == -signal.SIGKILL
    assert not (tmp_path / 'killed' / 'a.csv').exists()
    for name, value in BLOCKS.items():
        monkeypatch.setitem(processed_motion.__kwdefaults__, name, value)
    assert process_bag.main(given('killed')) == 0
    assert 'went on after 1000 messages' in capsys.readouterr().out
    assert process_bag.main(given('whole')) == 0
    assert 'went on' not in capsys.readouterr().out
    killed, whole = (files_of(tmp_path / name) for name in ('killed', 'whole'))
    assert list(killed) == list(whole) and any(name.endswith('.mcap') for name in whole)
    assert all(killed[name] == whole[name] for name in whole if not name.endswith('.yaml'))


@pytest.fixture
def interrupted(monkeypatch):
    """Return what runs a command that is interrupted after its second part, and again."""
    for module in ('run', 'platform_poses'):
        monkeypatch.setattr(f'liedyn_ros.commands.bags.{module}.MESSAGES', 30)

    def run(given):
        write = KeptParts._write

        def stop(self, count, part):
            write(self, count, part)
            if count == 1:
                raise KeyboardInterrupt
        with monkeypatch.context() as inner:
            inner.setattr(KeptParts, '_write', stop)
            with pytest.raises(KeyboardInterrupt):
                process_bag.main(given)
        return process_bag.main(given)
    return run


def test_joints_of_loops_go_on_from_the_state_of_the_tracker(tmp_path, interrupted, capsys):
    source = config_file('five_bar.yaml')
    model = load_model(source)
    start = assemble(ConstrainedDynamics(model))
    _, q, v, _, _ = loop_motion(model, 3, 2.0, 50.0, start)
    names = [joint.name for joint in model.joint_list if joint.actuated]
    at = [model.joint(name).qi for name in names]
    bag = write_bag(tmp_path / 'bag', as_messages(
        names, 10**18 + 20_000_000 * np.arange(len(q)), q[:, at], v[:, at], 0.0 * v[:, at]))
    given = [str(bag), '--complete', '--model', str(source), '--csv']
    assert interrupted([*given, str(tmp_path / 'a.csv')]) == 0
    assert 'went on after 60 messages' in capsys.readouterr().out
    assert process_bag.main([*given, str(tmp_path / 'b.csv')]) == 0
    assert (tmp_path / 'a.csv').read_bytes() == (tmp_path / 'b.csv').read_bytes()


def test_poses_go_on_from_the_state_of_the_tracker(tmp_path, interrupted, capsys):
    bag = write_bag(tmp_path / 'bag', messages(*motion(100)), topic='/leg_states')

    def given(name):
        (tmp_path / name).mkdir(exist_ok=True)
        return [str(bag), '--csv', str(tmp_path / name / 'poses.csv'),
                '--mcap', str(tmp_path / name / 'out')]

    interrupted(given('killed'))
    assert 'went on after 60 messages' in capsys.readouterr().out
    process_bag.main(given('whole'))
    killed, whole = (files_of(tmp_path / name) for name in ('killed', 'whole'))
    assert list(killed) == list(whole)
    assert all(killed[name] == whole[name] for name in whole if not name.endswith('.yaml'))
    assert not list(tmp_path.glob('.*'))
