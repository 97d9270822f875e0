# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Joint states of bags lead to motions, torques and completed joints, in files that come whole."""

import csv
from pathlib import Path
import re

import numpy as np
import pytest
from rosbags.rosbag2 import Reader
from rosbags.typesys import get_types_from_msg, get_typestore, Stores
from support.html_page import require_complete
from support.machines.looped_machines import five_bar
from support.machines.mimic_gripper import GRIPPER, LEADERS
from support.recordings.bag_files import as_messages, joint_state, write_bag
from support.recordings.recorded_motion import arm_recording, JOINTS, loop_motion, true_arm

from liedyn_ros.commands.bags import process_bag
from liedyn_ros.commands.bags.job import Reasons
from liedyn_ros.commands.bags.joint_bag import JOINT_MOTION, MOTION_TYPE
from liedyn_ros.commands.bags.joint_motion import processed_loops, processed_motion
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, LoopTracker
from liedyn_ros.model import load_model, load_urdf, to_urdf
from liedyn_ros.recordings.bags import Bag
from liedyn_ros.recordings.bags.joint_states import joint_state_messages

ROOT = Path(__file__).parents[3]
START = {'left_0_joint': 2.2, 'right_0_joint': 0.9}


@pytest.fixture(scope='module')
def arm(tmp_path_factory):
    """Return the URDF of an arm, two bags of it, and the true recording of the first."""
    folder = tmp_path_factory.mktemp('arm')
    (folder / 'arm.urdf').write_text(to_urdf(true_arm()))
    bags = [write_bag(folder / f'run_{seed}', as_messages(JOINTS, *arm_recording(seed, 0.0)))
            for seed in (1, 2)]
    return folder / 'arm.urdf', bags, arm_recording(1, 0.0)


def columns_of(path):
    with path.open() as stream:
        rows = list(csv.DictReader(stream))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_torques_and_their_derivatives_are_those_that_the_motion_needs(arm, tmp_path, capsys):
    urdf, bags, (stamps, _, _, tau) = arm
    files = [tmp_path / 'a.csv', tmp_path / 'a.parquet', tmp_path / 'bag']
    assert process_bag.main([
        str(bags[0]), '--model', str(urdf), '--csv', str(files[0]), '--parquet', str(files[1]),
        '--mcap', str(files[2])]) == 0
    assert 'left out, where the filter swings in' in capsys.readouterr().out
    found = columns_of(files[0])
    at = np.searchsorted(stamps, np.array(found['stamp [ns]'], dtype=np.int64))
    for k, name in enumerate(JOINTS):
        torque, rate = (np.array(found[f'{name}.torque{kind}'], dtype=float)
                        for kind in (' [N m]', '.derivative_1 [N m/s]'))
        assert np.abs(torque - tau[at, k]).max() < 0.01
        assert np.median(np.abs(rate - np.gradient(tau[:, k], 0.01)[at])) < 0.01
    parquet = pytest.importorskip('pyarrow.parquet').read_table(files[1])
    assert parquet['elbow.torque [N m]'].to_pylist() == [
        float(each) for each in found['elbow.torque [N m]']]
    store = get_typestore(Stores.ROS2_JAZZY)
    text = (ROOT / 'liedyn_interfaces/msg/JointMotion.msg').read_text()
    assert get_types_from_msg(text, MOTION_TYPE) == get_types_from_msg(JOINT_MOTION, MOTION_TYPE)
    store.register(get_types_from_msg(text, MOTION_TYPE))
    with Reader(files[2]) as reader:
        motions = [each for each in reader.connections if each.topic == '/joint_motion']
        _, stamp, data = next(reader.messages(motions))
    message = store.deserialize_cdr(data, MOTION_TYPE)
    assert str(stamp) == found['stamp [ns]'][0] and message.name == list(JOINTS)
    assert message.effort[2] == float(found['elbow.torque [N m]'][0])


@pytest.mark.parametrize('begin', [-1.0, 3e9])
def test_times_that_no_message_has_go_to_tables_alone(tmp_path, capsys, begin):
    """Seconds before a trigger are below 0; such a time ended the command with a traceback."""
    (tmp_path / 'arm.urdf').write_text(to_urdf(true_arm()))
    stamps, q, _, _ = arm_recording(1, 0.0)
    with (tmp_path / 'run.csv').open('w') as stream:
        csv.writer(stream).writerows([['time', *(f'{name}.position' for name in JOINTS)], *(
            [begin + 1e-9 * (stamp - stamps[0]), *row] for stamp, row in zip(stamps[:300], q))])
    given = [str(tmp_path / 'run.csv'), '--model', str(tmp_path / 'arm.urdf')]
    assert process_bag.main([*given, '--csv', str(tmp_path / 'out.csv')]) == 0
    assert process_bag.main([*given, '--mcap', str(tmp_path / 'bag')]) == 2
    assert 'from 1970 to 2038' in capsys.readouterr().err


@pytest.mark.full
def test_a_bag_of_motions_moves_the_robot_in_a_viewer(arm, tmp_path):
    urdf, bags, _ = arm
    process_bag.main([str(bags[0]), '--model', str(urdf), '--mcap', str(tmp_path / 'bag')])
    bag = Bag(tmp_path / 'bag')
    text, = (each.message.data for each in bag.messages(['/robot_description']))
    assert text == urdf.read_text()
    assert bag.counts['/tf'] == pytest.approx(bag.counts['/joint_motion'] / 2, abs=1)  # 50 Hz
    motions = {each.received_ns: each.message for each in bag.messages(['/joint_motion'])}
    model = load_urdf(text)
    dynamics = Dynamics(model)
    for each in list(bag.messages(['/tf']))[::100]:
        q, motion = model.neutral(), motions[each.received_ns]
        for name, value in zip(motion.name, motion.position):
            q[model.joint(name).qi] = value
        poses = dynamics.kinematics(q).poses
        for transform in each.message.transforms:
            move = transform.transform.translation
            above = poses[model.body_index(transform.header.frame_id)]
            below = poses[model.body_index(transform.child_frame_id)]
            assert np.allclose(above @ [move.x, move.y, move.z, 1.0], below[:, 3], atol=1e-14)


def test_a_page_plays_the_motion_with_its_torques(arm, tmp_path, monkeypatch, capsys):
    pytest.importorskip('viser', reason='the view is not installed here')
    from liedyn_ros.view import page as recorded
    urdf, bags, (stamps, position, _, tau) = arm
    kept = []
    write = recorded.write_recording

    def written(path, machine, shown, home, description):
        kept.extend(shown)
        assert description.source == urdf
        write(path, machine, kept[:3], home, description)

    monkeypatch.setattr(recorded, 'write_recording', written)
    assert process_bag.main([str(bags[0]), '--model', str(urdf), '--order', '0', '--csv',
                             str(tmp_path / 'a.csv'), '--html', str(tmp_path / 'a.html')]) == 0
    assert 'a.html plays it in any browser' in capsys.readouterr().out
    assert '__VISER_EMBED_DATA__' in (tmp_path / 'a.html').read_text(encoding='utf-8')
    first = int(columns_of(tmp_path / 'a.csv')['stamp [ns]'][0])
    assert len(kept) > 100
    for time, seen in kept[::50]:
        at = np.searchsorted(stamps, first + round(1e9 * time))
        for k, name in enumerate(JOINTS):
            assert seen.positions[name] == pytest.approx(position[at, k], abs=1e-3)
            assert seen.efforts[name] == pytest.approx(tau[at, k], abs=0.01)


def test_blocks_of_a_long_bag_join_without_a_gap(arm):
    _, bags, (stamps, _, _, tau) = arm
    blocks = list(processed_motion(Bag(bags[0]), true_arm(), block=1000, overlap=250))
    assert len(blocks) > 2
    joined = np.concatenate([each.stamps for each in blocks])
    assert (np.diff(joined) == 10_000_000).all()
    torque = np.concatenate([each.columns['shoulder.torque [N m]'] for each in blocks])
    assert np.abs(torque - tau[np.searchsorted(stamps, joined), 1]).max() < 0.05


@pytest.mark.parametrize('blocks', [{}, {'block': 600, 'overlap': 100}], ids=['whole', 'blocks'])
def test_messages_without_a_row_are_counted_and_all_kinds_of_remarks_told(
        arm, blocks, tmp_path, monkeypatch, capsys):
    urdf, _, _ = arm
    stamps, q, v, tau = map(np.array, arm_recording(1, 0.0))
    q[50::60] = np.nan
    q[1500:1540] = np.nan  # a gap
    bag = write_bag(tmp_path / 'bag', as_messages(JOINTS, stamps, q, v, tau))
    for name, value in blocks.items():
        monkeypatch.setitem(processed_motion.__kwdefaults__, name, value)
    given = [str(bag), '--model', str(urdf), '--smoothing', '30', '--csv', str(tmp_path / 'a.csv')]
    assert process_bag.main(given) == 1
    told, *remarks = capsys.readouterr().out.splitlines()
    counts = {what: int(count) for count, what in re.findall(
        r'(\d+) (with all joints|left out|at the ends)', told)}
    assert f'{len(stamps)} messages' in told and sum(counts.values()) == len(stamps)
    assert counts['with all joints'] == len(columns_of(tmp_path / 'a.csv')['stamp [ns]'])
    assert 40 < counts['left out'] < 120 and counts['at the ends'] < 100
    assert any('1 gaps without samples' in each for each in remarks)
    assert any('differ by numbers' in each for each in remarks) == bool(blocks)


def test_reasons_beyond_the_usual_ones_are_counted():
    reasons = Reasons()
    for each in ('a', 'a', 'b', 'c 1', 'c 2'):
        reasons.take(each)
    assert reasons.lines(1) == ['2 times: a', '3 times: 2 other reasons']
    assert reasons.lines(3) == ['2 times: a', '2 times, first: c 1', '1 times: b']
    assert reasons.firsts() == ['a', 'b', 'c 1; 1 more that differ by numbers']


@pytest.mark.full
def test_several_bags_are_done_by_several_processes(arm, tmp_path):
    urdf, bags, _ = arm
    given = [*map(str, bags), '--model', str(urdf), '--folder', str(tmp_path / 'many')]
    assert process_bag.main([*given, '--jobs', '2']) == 0
    alone = tmp_path / 'one.csv'
    assert process_bag.main([str(bags[1]), '--model', str(urdf), '--csv', str(alone)]) == 0
    assert (tmp_path / 'many' / 'run_2.csv').read_bytes() == alone.read_bytes()
    require_complete((tmp_path / 'many' / 'report.html').read_text())


def test_a_bag_that_cannot_be_read_costs_no_other_bag(arm, tmp_path, capsys):
    urdf, bags, _ = arm
    (tmp_path / 'empty.mcap').touch()
    assert process_bag.main([
        str(tmp_path / 'empty.mcap'), str(bags[0]), '--model', str(urdf), '--jobs', '1',
        '--folder', str(tmp_path / 'out')]) == 2
    shown = capsys.readouterr()
    assert 'got an empty file' in shown.err and 'with all joints' in shown.out
    assert (tmp_path / 'out' / 'run_1.csv').exists()


def test_a_table_has_its_name_when_it_is_whole(arm, tmp_path, monkeypatch, capsys):
    urdf, bags, _ = arm
    old = tmp_path / 'a.csv'
    old.write_text('older')

    def full(*_):
        raise OSError(28, 'No space left on device')
    monkeypatch.setattr('liedyn_ros.commands.bags.job.JobCurves.take', full)
    assert process_bag.main([str(bags[0]), '--model', str(urdf), '--csv', str(old)]) == 2
    assert 'No space left' in capsys.readouterr().err
    assert old.read_text() == 'older' and list(tmp_path.iterdir()) == [old]


def test_joints_of_loops_are_completed_message_by_message_as_the_tracker_does(tmp_path):
    model = five_bar()
    start = assemble(ConstrainedDynamics(model), held=START)
    _, q, v, _, _ = loop_motion(model, 3, 2.0, 50.0, start)
    names = [joint.name for joint in model.joint_list if joint.actuated]
    at = [model.joint(name).qi for name in names]
    stamps = 10**18 + 20_000_000 * np.arange(len(q))
    bag = write_bag(tmp_path / 'bag', as_messages(
        names, stamps, q[:, at], v[:, at], 0.0 * v[:, at]))
    tracker = LoopTracker(ConstrainedDynamics(model), start=start)
    found = list(processed_loops(joint_state_messages(Bag(bag)), model, LoopTracker(
        ConstrainedDynamics(model), start=start, agreement=0.05)))
    assert len(found) == len(q)
    for k, (stamp, got, rates, reason) in enumerate(found):
        state = tracker.update(q[k, at], v[k, at], ahead=False)
        assert stamp == stamps[k] and not reason
        assert np.array_equal(np.delete(got, at), np.delete(state.q, at))
        assert np.array_equal(got[at], q[k, at]) and np.array_equal(rates, state.v)


@pytest.mark.parametrize('options, message', [
    (['--csv', 'x.txt'], 'expected a file .csv or .parquet'),
    (['b', '--csv', 'x.csv'], 'expected --folder for several bags'),
    (['--folder', 'out', '--csv', 'x.csv'], 'expected --folder with --write')])
def test_options_that_do_not_fit_are_refused(arm, options, message, tmp_path, monkeypatch,
                                             capsys):
    monkeypatch.chdir(tmp_path)
    urdf, bags, _ = arm
    assert process_bag.main([str(bags[0]), *options, '--model', str(urdf)]) == 2
    assert message in capsys.readouterr().err
    assert {each.name for each in tmp_path.iterdir()} <= {'out'}


def test_completed_joints_take_the_times_at_which_messages_came(tmp_path):
    source = config_file('five_bar.yaml')
    model = load_model(source)
    names = [joint.name for joint in model.joint_list if joint.actuated]
    at = [model.joint(name).qi for name in names]
    position = assemble(ConstrainedDynamics(model))[at]
    came = 10**18 + 20_000_000 * np.arange(5)
    bag = write_bag(tmp_path / 'bag', [
        (int(each), joint_state(0, names, position)) for each in came])
    assert process_bag.main([str(bag), '--model', str(source), '--complete', '--arrival',
                             '--csv', str(tmp_path / 'a.csv')]) == 0
    assert columns_of(tmp_path / 'a.csv')['stamp [ns]'] == [str(each) for each in came]


@pytest.mark.parametrize('options, message', [
    (['--smoothing', '2'], '--smoothing: expected a model, which alone takes it, got a platform'),
    (['--order', '2'], '--order: expected a model'),
    (['--complete'], '--complete: expected a model'),
    (['--start', 'elbow=1'], '--start: expected a model'),
    (['--measured', 'elbow'], '--measured: expected a model'),
    (['--agreement', '0.1'], '--agreement: expected a model'),
    (['--write', 'parquet'], '--write: expected a folder, which alone takes it, got a file'),
    (['--model', 'a.urdf', '--params', 'b'], '--params: expected a platform'),
    (['--model', 'a.urdf', '--complete', '--order', '2'], '--order: expected a smooth motion'),
    (['--model', 'a.urdf', '--measured', 'elbow'], '--measured: expected a completion'),
    (['--model', 'a.urdf', '--agreement', '0.1'], '--agreement: expected a completion')])
def test_options_that_would_change_nothing_are_refused(options, message, capsys):
    assert process_bag.main(['bag', *options]) == 2
    assert message in capsys.readouterr().err


def test_followers_and_fixed_joints_need_no_messages(tmp_path):
    (tmp_path / 'gripper.urdf').write_text(GRIPPER)
    time = 0.01 * np.arange(200)
    q = np.stack([0.3 * np.sin(time), 0.4 + 0.2 * np.cos(time)], axis=1)
    v = np.gradient(q, time, axis=0)
    bag = write_bag(tmp_path / 'run', as_messages(
        LEADERS, np.round(1e9 * (1.0 + time)).astype(np.int64), q, v, 0.0 * q))
    assert process_bag.main([str(bag), '--model', str(tmp_path / 'gripper.urdf'), '--csv',
                             str(tmp_path / 'moved.csv')]) == 0
    rows = columns_of(tmp_path / 'moved.csv')
    finger, thumb, tip = (np.array([
        float(each) for each in rows[f'{name}_joint.position [rad]'] if each])
        for name in ('finger', 'thumb', 'tip'))
    np.testing.assert_allclose(thumb, 0.1 - finger, atol=1e-8)
    np.testing.assert_allclose(tip, 0.5 * thumb, atol=1e-8)
