# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Recordings with every fault: an error or a part of the result that says so, nothing lost."""

from functools import cache, partial
import re
import resource
import sys

import numpy as np
import pytest
from support.recordings import leg_recordings
from support.recordings.bag_files import as_messages, joint_state, write_bag, write_mcap
from support.recordings.recorded_motion import arm_recording, JOINTS, wrong_urdf

from liedyn_ros.commands.bags import process_bag
from liedyn_ros.commands.bags.job import JobCurves
from liedyn_ros.commands.identification import identify

DONE, SOME, NOTHING = 0, 1, 2  # what a command returns


@cache
def recorded():
    """Return what is recorded of the arm, and of legs, by name."""
    return (dict(zip(('stamps', 'q', 'v', 'tau'), arm_recording())),
            dict(zip(('stamps', 'lengths'), map(np.array, leg_recordings.motion(200)))))


def arm(joints=3, **changes):
    """Return the messages of an arm, each array changed by the function of its name."""
    stamps, q, v, tau = (changes.get(name, np.array)(value) for name, value
                         in recorded()[0].items())
    return as_messages(JOINTS[:joints], stamps, q[:, :joints], v[:, :joints], tau[:, :joints])


def legs(count=6, **changes):
    """Return the messages of legs, changed likewise."""
    stamps, lengths = (changes.get(name, np.array)(value) for name, value
                       in recorded()[1].items())
    return [(int(stamp), joint_state(int(stamp), leg_recordings.LEGS[:count], row[:count]))
            for stamp, row in zip(stamps, lengths)]


def some_nan(values, step):
    values = values.copy()
    values[::step] = np.nan
    return values


def repeated(stamps, step):
    stamps = stamps.copy()
    stamps[1::step] = stamps[:-1:step][:len(stamps[1::step])]
    return stamps


def shuffled(stamps, seed=1):
    return np.random.default_rng(seed).permutation(stamps)


def late(stamps):
    stamps = stamps.copy()
    stamps[[10, 11]] = stamps[[11, 10]]
    return stamps


def of_two_clocks(stamps):
    stamps = stamps.copy()
    stamps[len(stamps) // 2:] -= stamps[len(stamps) // 2] - 10**9
    return stamps


# Changes of an arm's messages and of legs'; then what motion, identify and poses return and say.
SAMPLES = {
    'a few NaN': ({'q': partial(some_nan, step=50)}, {'lengths': partial(some_nan, step=50)},
                  (DONE, '48 of 2400 samples left out: NaN'), (DONE, '48 of 2400 samples'),
                  (SOME, '4 times: actuator positions.*expected a finite number')),
    'many NaN': ({'q': partial(some_nan, step=2)}, {'lengths': partial(some_nan, step=2)},
                 (NOTHING, '50 % NaN'), (NOTHING, '50 % NaN'), (SOME, '100 refused')),
    'two clocks': ({'stamps': of_two_clocks}, {'stamps': of_two_clocks},
                   (NOTHING, 'stamps of one clock'), (NOTHING, 'stamps of one clock'),
                   (SOME, '1 times: stamp: expected a time after')),
    'a few stamps again': ({'stamps': partial(repeated, step=20)},
                           {'stamps': partial(repeated, step=20)},
                           (DONE, '120 samples with the stamp of another left out'),
                           (DONE, '120 samples with the stamp'),
                           (SOME, '10 times, first: stamp: expected a time after')),
    'each stamp twice': ({'stamps': partial(repeated, step=2)},
                         {'stamps': partial(repeated, step=2)},
                         (NOTHING, 'a new stamp with each'), (NOTHING, 'a new stamp with each'),
                         (SOME, '100 times, first: stamp')),
    'one late': ({'stamps': late}, {'stamps': late}, (DONE, '1 samples came late'),
                 (DONE, '1 samples came late'), (SOME, '1 times: stamp: expected a time after')),
    'no order': ({'stamps': shuffled}, {'stamps': shuffled},
                 (NOTHING, 'two publishers or two clocks'), (NOTHING, 'two publishers'),
                 (SOME, 'times, first: stamp: expected a time after')),
    'no stamps': ({'stamps': np.zeros_like}, {'stamps': np.zeros_like}, (NOTHING, '--arrival'),
                  (NOTHING, '--arrival'), (SOME, 'stamps in the headers are 0: --arrival takes')),
    'degrees, mm': ({'q': np.degrees, 'v': np.degrees}, {'lengths': partial(np.multiply, 1e3)},
                    (NOTHING, 'which are degrees that fit'), (NOTHING, 'which are degrees'),
                    (NOTHING, 'looks like mm: actuator_scale 0.001')),
    'currents': ({'tau': partial(np.multiply, 1e4)}, None, (DONE, ''),
                 (NOTHING, 'another unit. Name the torque'), None),
    'a joint less': ({'joints': 2}, {'count': 5}, (NOTHING, "'elbow'] are missing"),
                     (NOTHING, "'elbow'] are missing"), (NOTHING, "missing \\['leg_6'\\]"))}


def of_files(change):
    """Return what writes MCAP files of arm and legs, changed byte by byte."""
    def write(folder):
        paths = folder / 'arm.mcap', folder / 'legs.mcap'
        write_mcap(paths[0], arm(), chunk=20_000)
        write_mcap(paths[1], legs(), topic='/leg_states', chunk=8_000)
        for path in paths:
            path.write_bytes(change(path.read_bytes()))
        return paths
    return write


def with_a_changed_byte(content, at=None):
    changed = bytearray(content)
    changed[len(changed) // 3 if at is None else at] ^= 0xff
    return bytes(changed)


def nameless(content):
    """Return an MCAP file that lacks both what names its topics and its summary."""
    return with_a_changed_byte(content, 200)[:6 * len(content) // 10]


def without_a_file(folder):
    """Write bags whose metadata.yaml lists one file more than there are."""
    paths = (write_bag(folder / 'arm', arm()),
             write_bag(folder / 'legs', legs(), topic='/leg_states'))
    for path in paths:
        told = path / 'metadata.yaml'
        text = told.read_text()
        whole = f'- {path.name}.mcap\n'
        assert text.count(whole) == 1
        told.write_text(text.replace(whole, whole + '  - more_1.mcap\n'))
    return paths


def folders(folder):
    (folder / 'nothing').mkdir()
    return folder / 'nothing', folder / 'nothing'


def of_ros_1(folder):
    (folder / 'old.bag').write_bytes(b'#ROSBAG V2.0\n' + bytes(100))
    return folder / 'old.bag', folder / 'old.bag'


def each(status, message):
    return ((status, message),) * 3


FILES = {
    'cut at 60 %': (of_files(lambda content: content[:6 * len(content) // 10]),
                    *((status, 'bytes lost from byte .*: the file ends there')
                      for status in (SOME, DONE, SOME))),
    'damaged': (of_files(with_a_changed_byte),
                (SOME, 'bytes lost.*1 gaps without samples.*smoothed separately'),
                (DONE, 'bytes lost.*1 gaps without samples.*smoothed separately'),
                (SOME, 'bytes lost.*wrong checksum')),
    'damaged at its beginning': (
        of_files(partial(with_a_changed_byte, at=200)),
        *((status, 'bytes lost.*wrong checksum') for status in (SOME, DONE, SOME))),
    'without names': (of_files(nameless), *each(
        NOTHING, r'\d\d+ messages lost: what names their topics is damaged')),
    'a file is missing': (without_a_file, *(
        (status, 'more_1.mcap: the file is lost: metadata.yaml lists it')
        for status in (SOME, DONE, SOME))),
    'empty': (of_files(lambda content: b''), *each(NOTHING, 'expected a bag, got an empty file')),
    'foreign': (of_files(lambda content: b'%PDF-1.7' + content), *each(
        NOTHING, "expected an MCAP file, got one that begins with b'%PDF")),
    'no files': (folders, *each(NOTHING, 'expected a folder with files .mcap or .db3')),
    'ROS 1': (of_ros_1, *each(NOTHING, 'of ROS 1 is converted by `rosbags-convert`')),
    'not there': (lambda folder: (folder / 'a', folder / 'b'), *each(
        NOTHING, 'expected a folder or file of a bag, got nothing there'))}


def require(found, wanted, capsys):
    """Require that a command returned and said what was wanted."""
    shown = capsys.readouterr()
    assert found == wanted[0], shown
    text = (shown.out + shown.err).replace('\n', ' ')
    assert re.search(wanted[1], text), shown


def run(folder, arm_path, legs_path, wanted, capsys):
    """Run the three commands beside older results, which stay where there are no new ones."""
    urdf = wrong_urdf(folder / 'arm.urdf')
    results = folder / 'motion.csv', folder / 'identified' / 'report.html', folder / 'poses.csv'
    results[1].parent.mkdir()
    for path in results:
        path.write_text('older')
    calls = (lambda: process_bag.main([str(arm_path), '--model', str(urdf), '--order', '0',
                                       '--csv', str(results[0])]),
             lambda: identify.main([str(urdf), str(arm_path), '--no-next-motion', '--folder',
                                    str(results[1].parent)]),
             lambda: process_bag.main([str(legs_path), '--csv', str(results[2])]))
    for path, call, expected in zip(results, calls, wanted):
        if expected is not None:
            require(call(), expected, capsys)
            left = path.read_text() == 'older'
            assert left == (expected[0] == NOTHING and 'REJECTED' not in path.read_text())


@pytest.mark.parametrize('fault', SAMPLES)
@pytest.mark.full
def test_samples(fault, tmp_path, capsys):
    of_arm, of_legs, *wanted = SAMPLES[fault]
    paths = write_bag(tmp_path / 'arm', arm(**of_arm)), None if of_legs is None else write_bag(
        tmp_path / 'legs', legs(**of_legs), topic='/leg_states')
    run(tmp_path, *paths, wanted, capsys)


@pytest.mark.parametrize('fault', FILES)
def test_files(fault, tmp_path, capsys):
    write, *wanted = FILES[fault]
    (tmp_path / 'bags').mkdir()
    run(tmp_path, *write(tmp_path / 'bags'), wanted, capsys)


def test_topics_that_are_missing(tmp_path, capsys):
    other = write_bag(tmp_path / 'other', legs(), topic='/legs')
    run(tmp_path, other, other, [
        (NOTHING, 'are missing'), (NOTHING, 'are missing'),
        (NOTHING, "topic: expected one of .*'/legs'.*, got 'leg_states'")], capsys)


@pytest.mark.parametrize('more', [['--model', '{arm}'], ['--model', '{arm}', '--complete'], []],
                         ids=['motion', 'loops', 'poses'])
def test_a_topic_without_messages(more, tmp_path, capsys):
    urdf = wrong_urdf(tmp_path / 'arm.urdf')
    path = write_bag(tmp_path / 'bag', legs(), topic='/odometry', silent=['/leg_states'])
    result = tmp_path / 'result.csv'
    result.write_text('older')
    options = [each.format(arm=urdf) for each in more]
    assert process_bag.main([str(path), '--csv', str(result), '--topic', 'leg_states', *options]
                            ) == NOTHING
    assert 'expected' in (told := capsys.readouterr().err) and 'got' in told
    assert result.read_text() == 'older'


@pytest.fixture
def full(monkeypatch):
    """Let no file become greater than 10 kB, as if the disk were full."""
    monkeypatch.setenv('PYTHONDONTWRITEBYTECODE', '1')  # a module cut short would stay on the disk
    monkeypatch.setattr(sys, 'dont_write_bytecode', True)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.full
def test_a_full_disk(tmp_path, capsys, request):
    paths = write_bag(tmp_path / 'arm', arm()), write_bag(
        tmp_path / 'legs', legs(), topic='/leg_states')
    request.getfixturevalue('full')
    run(tmp_path, *paths, [(NOTHING, "not written: '.*motion.csv'"),
                           (NOTHING, "not written: '.*report.html'"),
                           (NOTHING, "not written: '.*poses.csv'")], capsys)
    assert process_bag.main([str(paths[1]), '--mcap', str(tmp_path / 'new')]) == NOTHING
    assert "not written: '" in capsys.readouterr().err
    left = {each.name for each in tmp_path.iterdir()}
    assert left == {'arm', 'legs', 'arm.urdf', 'motion.csv', 'identified', 'poses.csv'}


def test_an_error_between_two_rows_leaves_the_older_page(tmp_path, capsys, monkeypatch):
    pytest.importorskip('viser', reason='the view is not installed here')
    urdf, page = wrong_urdf(tmp_path / 'arm.urdf'), tmp_path / 'seen.html'
    bags = write_bag(tmp_path / 'arm', arm()), write_bag(
        tmp_path / 'legs', legs(), topic='/leg_states')

    def fail(*_):
        raise OSError('the disk is full')

    monkeypatch.setattr(JobCurves, 'take', fail)
    page.write_text('older')
    for bag, options in zip(bags, (['--model', str(urdf)], [])):
        assert process_bag.main([str(bag), '--html', str(page), *options]) == NOTHING
        assert 'the disk is full' in capsys.readouterr().err
        assert page.read_text() == 'older'
