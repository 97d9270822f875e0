# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The command identify: files of a recording in, a better model and a report out."""

import json
import re

import numpy as np
import pytest
from support.comparison import assert_same
from support.earlier_results import earlier_results, require_set_aside
from support.html_page import require_complete
from support.machines.looped_machines import five_bar
from support.recordings.bag_files import as_messages, write_bag
from support.recordings.recorded_motion import (
    arm_bag, arm_motion, arm_recording, forces_error, JOINTS, loop_motion, true_arm, wrong_urdf)
import yaml

from liedyn_ros import __version__
from liedyn_ros.commands.identification import excite, identify
from liedyn_ros.commands.identification.model_files import write_model
from liedyn_ros.commands.identification.options import (
    recorded, recording_of, with_locked_joints)
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics
from liedyn_ros.model import (
    load_model, load_urdf, ModelBuilder, SpatialInertia, to_urdf, with_inertias, with_resistances)
from liedyn_ros.recordings import JointSamples

pytest.importorskip('clarabel')
FIXED_SETTINGS = '--prior', '0.1', '--smoothing', '5', '--cutoff', '4'  # without a search


def csv_table(path, blocks, names=JOINTS):
    stamps, *rest = blocks
    columns = [f'{name}.{kind}' for kind in ('position', 'velocity', 'effort') for name in names]
    np.savetxt(path, np.column_stack([(stamps - stamps[0]) / 1e9, *rest]), delimiter=',',
               comments='', header=','.join(['t', *columns]), fmt='%.12g')
    return path


def test_a_bag_leads_to_a_better_urdf_and_a_report(tmp_path, capsys):
    urdf, out = wrong_urdf(tmp_path / 'arm.urdf'), tmp_path / 'out'
    assert identify.main([str(urdf), str(arm_bag(tmp_path / 'bag')), '--folder', str(out)]) == 0
    shown = capsys.readouterr().out
    assert 'error on held-out parts' in shown and 'arm_identified.urdf' in shown
    better = out / 'arm_identified.urdf'
    before, after = (forces_error(load_urdf(each)) for each in (urdf, better))
    assert (after < 0.1 * before).all()
    text = better.read_text()
    assert 'package://arm/fore.stl' in text and 'the workshop built it' in text
    parameters = yaml.safe_load((out / 'dynamics_server.yaml').read_text())
    file = parameters['dynamics_server']['ros__parameters']['model_file']
    assert forces_error(load_model(file)) == pytest.approx(after)
    numbers = json.loads((out / 'parameters.json').read_text())
    assert numbers['offered'] and set(numbers['bodies']) <= {'base', 'upper', 'fore'}


def test_a_scale_that_was_found_is_printed_as_the_option_that_has_it(tmp_path, capsys):
    stamps, q, v, tau = arm_recording()
    run = csv_table(tmp_path / 'run.csv', (stamps, q, v, tau / [1.0, 1.0, 4.0]))
    identify.main([str(wrong_urdf(tmp_path / 'arm.urdf')), str(run), '--folder',
                   str(tmp_path / 'out'), '--no-next-motion', '--find-scale', 'elbow',
                   *FIXED_SETTINGS])
    found = re.search(r'--scale elbow=([0-9.]+)\+-[0-9.]+', capsys.readouterr().out)
    assert float(found[1]) == pytest.approx(4.0, rel=0.05)


@pytest.mark.full
def test_the_report_is_one_page_that_needs_nothing_else(tmp_path):
    urdf, out = wrong_urdf(tmp_path / 'arm.urdf'), tmp_path / 'out'
    run = csv_table(tmp_path / 'run.csv', arm_recording())
    assert identify.main([str(urdf), str(run), '--folder', str(out)]) == 0
    page = (out / 'report.html').read_text()
    require_complete(page)
    for wanted in ('The identified model is offered', 'Errors on held-out parts', 'elbow: error',
                   'Parameters that the recording determines', 'What the recording does not '
                   'determine',
                   'mass of base: known only in sums', 'Settings and versions',
                   '>liedyn_ros</td>', f'>{__version__}</td>', str(run)):
        assert wanted in page
    assert page.count('<polyline') == (6 + 3) * len(JOINTS)
    assert not re.search(r'\b(nan|inf)\b', re.sub(r'<script>.*</script>', '', page))
    assert len(page) < 2_000_000


@pytest.mark.full
def test_a_model_that_is_right_already_is_not_replaced(tmp_path, capsys):
    """Efforts of noise alone tell nothing: the given model stays, and the report says so."""
    urdf, out = wrong_urdf(tmp_path / 'arm.urdf', 1.0), tmp_path / 'out'
    stamps, q, v, tau = arm_recording()
    tau = np.random.default_rng(0).normal(size=tau.shape) * 1e3
    run = csv_table(tmp_path / 'run.csv', (stamps, q, v, tau))
    older = earlier_results(out, 'arm_identified.urdf', 'dynamics_server.yaml')
    status = identify.main([str(urdf), str(run), '--folder', str(out), '--no-next-motion'])
    shown, told = capsys.readouterr()
    assert '5 of 5: terms' in told and 'motion to record next' not in told
    assert status == 1 and 'the given model stays' in shown
    require_set_aside(older, shown)
    assert 'is not offered' in (out / 'report.html').read_text()


def test_joints_that_stood_still_are_held(tmp_path):
    urdf, out = wrong_urdf(tmp_path / 'arm.urdf'), tmp_path / 'out'
    stamps, q, v, tau = arm_recording()
    path = csv_table(tmp_path / 'run.csv', (stamps, q, v, tau))
    options = identify.parser().parse_args(
        [str(urdf), str(path), '--folder', str(out), '--hold-others', 'shoulder,elbow'])
    model = with_locked_joints(load_urdf(urdf), options)
    assert model.coordinate_names == ('shoulder', 'elbow')
    recording, _ = recorded(model, options)
    assert np.array_equal(recording.q, np.loadtxt(path, delimiter=',', skiprows=1)[:, 2:4])


@pytest.mark.full
def test_a_held_joint_that_moved_is_suspected(tmp_path, capsys):
    """The efforts of the others show it; of a joint that stood still, the verdict only says so."""
    urdf, out = wrong_urdf(tmp_path / 'arm.urdf'), tmp_path / 'out'
    stamps, *rest = arm_recording()
    run = csv_table(tmp_path / 'run.csv', (stamps, *(each[:, :2] for each in rest)), JOINTS[:2])
    command = [str(urdf), str(run), '--folder', str(out)]
    assert identify.main(command) == 2
    assert 'held, as by --hold elbow=0.0' in capsys.readouterr().err
    command += ['--hold', 'elbow=0.0', '--no-next-motion']
    assert identify.main(command) == 1
    page = (out / 'report.html').read_text()
    for text in (capsys.readouterr().out, page):
        assert 'held, as the options say: elbow' in text
        assert 'a held joint may have moved' in text and '(--sure)' in text
        assert 'record the held joints too' in text[text.index('Next:'):].splitlines()[0]
    assert not (out / 'arm_identified.urdf').exists()
    assert identify.main([*command, '--sure']) == 0
    still = csv_table(tmp_path / 'still.csv', (stamps, *(
        each * [1.0, 1.0, 0.0] for each in rest)))
    capsys.readouterr()
    identify.main([str(urdf), str(still), *command[2:]])
    assert 'may have moved' not in capsys.readouterr().out  # the recording has that it stood
    whole = csv_table(tmp_path / 'whole.csv', (stamps, *rest))
    assert identify.main([str(urdf), str(whole), *command[2:]]) == 2
    assert re.search('elbow=0: expected a joint that stood there, got .*leave it out of --hold',
                     capsys.readouterr().err)


@pytest.mark.parametrize('name, record', [
    ('run.csv', csv_table),
    ('bag', lambda path, blocks: write_bag(path, as_messages(JOINTS, *blocks)))])
def test_scales_of_other_joints_hide_no_held_one_that_moved(name, record, tmp_path, capsys):
    urdf, out = wrong_urdf(tmp_path / 'arm.urdf'), tmp_path / 'out'
    run = record(tmp_path / name, arm_recording())
    assert identify.main([str(urdf), str(run), '--folder', str(out), '--hold', 'elbow=0.0',
                          '--scale', 'shoulder=1.0']) == 2
    assert 'elbow=0: expected a joint that stood there' in capsys.readouterr().err


def with_fingers(factor):
    """Return the arm with two coupled fingers, whose other bodies are too heavy by a factor."""
    builder = ModelBuilder.of(true_arm())
    for name, side in (('left', 1.0), ('right', -1.0)):
        builder.add_body(name, SpatialInertia(0.01, [0.0, 0.0, 0.01], 1e-6 * np.eye(3)))
        builder.add_joint(f'{name}_finger', 'prismatic', 'fore', name, axis=[side, 0, 0],
                          limits={'lower': 0.0, 'upper': 0.12})
    builder.add_coupling('right_finger', 'left_finger', 1.0, 0.0)
    whole = builder.build()
    return with_inertias(whole, {name: factor * whole.body(name).inertia.parameters()
                                 for name in ('base', 'upper', 'fore')})


@pytest.mark.full
def test_fingers_that_nobody_recorded_are_held_together_and_hide_no_better_model(tmp_path, capsys):
    """A mimicking finger stands where its leader does; errors of friction do not suspect them."""
    urdf, out = tmp_path / 'arm.urdf', tmp_path / 'out'
    whole = with_fingers(1.3)
    urdf.write_text(to_urdf(whole))
    stamps, q, v, tau = arm_recording()
    run = csv_table(tmp_path / 'run.csv', (stamps, q, v, tau + 0.2 * np.tanh(20.0 * v)))
    command = [str(urdf), str(run), '--folder', str(out), '--no-next-motion']
    assert identify.main(command) == 2
    advice = re.findall(r'--hold \w+=[\d.]+', capsys.readouterr().err)
    assert identify.main([*command, *' '.join(advice).split()]) == 0
    better = load_urdf(out / 'arm_identified.urdf')
    assert set(whole.joints) <= set(better.joints)


@pytest.mark.parametrize('opens, effort, offered', [
    (0.0, 0.0, True), (0.03, 0.0, True), (0.1, 0.0, False), (0.0, np.nan, True),
    (0.1, np.nan, False)])
def test_fingers_whose_efforts_nobody_measured_are_held_where_they_were(
        opens, effort, offered, tmp_path, capsys):
    """Joint states of a gripper have efforts of 0 or NaN; one that moves far is an error."""
    urdf, out = tmp_path / 'arm.urdf', tmp_path / 'out'
    urdf.write_text(to_urdf(with_fingers(1.3)))
    stamps, q, v, tau = arm_recording()
    finger = 0.02 + opens * np.clip(stamps - stamps[0] - 10e9, 0.0, 1e9)[:, None] / 1e9
    run = csv_table(tmp_path / 'run.csv', (
        stamps, np.hstack([q, finger]), np.hstack([v, 0.0 * finger]),
        np.hstack([tau, effort + 0.0 * finger])), (*JOINTS, 'left_finger'))
    status = identify.main([
        str(urdf), str(run), '--folder', str(out), '--no-next-motion', *FIXED_SETTINGS])
    said = capsys.readouterr()
    if offered:
        assert status == 0
        assert f'held, as by --hold left_finger={0.02 + 0.5 * opens:.4g}' in said.out
    else:
        assert status == 2 and 'left_finger: expected one that was measured' in said.err


@pytest.mark.full
def test_a_held_joint_that_stood_is_not_suspected(tmp_path, capsys):
    urdf, out = wrong_urdf(tmp_path / 'arm.urdf'), tmp_path / 'out'
    options = identify.parser().parse_args(
        [str(urdf), 'x', '--folder', str(out), '--hold', 'elbow=0.0'])
    time, q, v, _, tau = arm_motion(with_locked_joints(true_arm(), options), 1, 24.0, 100.0)
    tau = tau + 0.02 * np.random.default_rng(1).normal(size=tau.shape)
    run = csv_table(tmp_path / 'run.csv', (1e9 * time, q, v, tau), JOINTS[:2])
    assert identify.main([
        str(urdf), str(run), '--folder', str(out), '--hold', 'elbow=0.0']) == 0
    shown = capsys.readouterr().out
    assert 'held, as the options say: elbow' in shown and 'may have moved' not in shown


def test_a_urdf_without_limits_of_speed_needs_a_speed(tmp_path, capsys):
    out = tmp_path / 'out'
    assert excite.main([str(wrong_urdf(tmp_path / 'arm.urdf')), '--folder', str(out)]) == 2
    assert 'no velocity limit for joint base_joint: give --speed' in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize('factor, options', [
    (-1.0, [f'--scale={name}=-1' for name in JOINTS]), (1e3, ['--unit', 'effort=mN m'])])
def test_scales_and_units_of_a_bag_count(factor, options, tmp_path):
    urdf, out = wrong_urdf(tmp_path / 'arm.urdf'), tmp_path / 'out'
    bag = write_bag(tmp_path / 'bag', as_messages(JOINTS, *scaled(factor)(*arm_recording())))
    assert identify.main([str(urdf), str(bag), '--folder', str(out), '--no-next-motion',
                          *FIXED_SETTINGS, *options]) == 0
    assert (forces_error(load_urdf(out / 'arm_identified.urdf')) < 0.05).all()


def refused_amperes(folder, capsys):
    """Return a command that refused efforts in amperes, and the options that it proposed."""
    urdf, out = wrong_urdf(folder / 'arm.urdf'), folder / 'out'
    run = csv_table(folder / 'run.csv', scaled(  # constants of 7 to 12 N m/A, as drives have
        1.0 / np.array([7.0, 12.0, 9.0]))(*arm_recording()))
    command = [str(urdf), str(run), '--folder', str(out), '--no-next-motion']
    assert identify.main(command) == 2
    error = capsys.readouterr().err
    assert '--sure' in error and not out.exists()
    return command, re.findall(r'--scale \w+=[\d.]+', error)


def test_amperes_are_refused_with_the_scales_that_lift_it(tmp_path, capsys):
    """Of one unit, for joints too whose friction hides it: these stayed in amperes."""
    _, scales = refused_amperes(tmp_path, capsys)
    found = {name: float(each) for _, name, each in (re.split('[ =]', x) for x in scales)}
    assert {*found} == {*JOINTS} and len({*found.values()}) == 1
    assert 7.0 < found['base_joint'] / 1.3 < 12.0  # as the given masses are too large


@pytest.mark.full
def test_the_scales_of_amperes_or_being_sure_lead_on(tmp_path, capsys):
    command, scales = refused_amperes(tmp_path, capsys)
    assert identify.main([*command, *' '.join(scales).split()]) == 0
    assert identify.main([*command, '--sure']) == 0


def test_a_looped_machine_begins_where_its_loops_close():
    model = five_bar()
    start = assemble(ConstrainedDynamics(model), held={'left_0_joint': 2.2, 'right_0_joint': 0.9})
    time, q, v, _, tau = loop_motion(model, 3, 4.0, 50.0, start)
    names = [joint.name for joint in model.joint_list if joint.actuated]
    at = [model.joint(name).qi for name in names]
    recording = recording_of(model, JointSamples(
        tuple(names), 0, time, q[:, at], v[:, at], tau[:, at]))
    assert np.array_equal(recording.q[:, at], q[:, at])
    ConstrainedDynamics(model).require_closed(recording.q[0], 0.0 * v[0])


def degrees(stamps, q, v, tau):
    return stamps, np.degrees(q), v, tau


def scaled(factor):
    return lambda stamps, q, v, tau: (stamps, q, v, factor * tau)


def jumping(stamps, q, v, tau):
    return stamps, q + 0.5 * (np.arange(len(q)) > 1200)[:, None], v, tau


BAD = {
    'millionths': ([], scaled(1e6), 'times what the given model needs'),
    'thousands': ([], scaled(1e-3), 'times what the given model needs'),
    'negated': ([], scaled(-1.0), 'is reversed'),
    'one negated': ([], scaled(np.array([1.0, -1.0, 1.0])), "effort of ['shoulder']"),
    'jump': ([], jumping, 'got a jump of 0.5'),
    'no effort': ([], lambda *all: (*all[:3], np.full_like(all[3], np.nan)), '100 % NaN'),
    'degrees': ([], degrees, 'degrees that fit: name the unit, as in --unit position=deg'),
    'another joint': (['--hold-others', 'wrist'], lambda *all: all, '--hold-others: expected'),
    'prior': (['--prior', '0'], lambda *all: all, 'prior: expected a number above 0'),
    'too short': ([], lambda *all: tuple(each[:60] for each in all), 'expected')}


@pytest.mark.parametrize('options, change, message', BAD.values(), ids=BAD)
def test_what_cannot_be_identified_has_an_error_and_no_files(
        options, change, message, tmp_path, capsys):
    urdf, out = wrong_urdf(tmp_path / 'arm.urdf'), tmp_path / 'out'
    bag = write_bag(tmp_path / 'bag', as_messages(JOINTS, *change(*arm_recording())))
    assert identify.main([str(urdf), str(bag), '--folder', str(out), *options]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize('options, message', [
    (['bag', '--rate', '7'], '--rate: expected a table, which alone takes it, got a bag'),
    (['bag', '--effort', '{joint}_nothing'], '--effort: expected a table'),
    (['bag', '--unit', 'time=ms'], '--unit time: expected a table'),
    (['run.csv', '--also', 'run.csv', '--topic', 'a'], '--topic: expected a bag'),
    (['run.csv', '--arrival'], '--arrival: expected a bag')])
def test_options_that_no_recording_takes_are_refused(options, message, tmp_path, capsys):
    urdf = wrong_urdf(tmp_path / 'arm.urdf')
    assert identify.main([str(urdf), *options, '--folder', str(tmp_path / 'out')]) == 2
    assert message in capsys.readouterr().err


def test_options_of_tables_go_with_a_bag_beside_one(tmp_path):
    urdf, run = wrong_urdf(tmp_path / 'arm.urdf'), csv_table(tmp_path / 'run.csv', arm_recording())
    options = identify.parser().parse_args([
        str(urdf), str(arm_bag(tmp_path / 'bag')), '--also', str(run), '--time', 't', '--topic',
        'joint_states', '--folder', str(tmp_path / 'out'), '--unit', 'time=s'])
    recording, _ = recorded(load_urdf(urdf), options)
    assert_same(recording.q[:2400], recording.q[2400:], 1e-11)


def test_a_yaml_model_stays_one(tmp_path):
    source = config_file('five_bar.yaml')
    model = load_model(source)
    name, joint = model.bodies[0], model.coordinate_names[0]
    new = with_resistances(with_inertias(model, {
        name: 2.0 * model.body(name).inertia.parameters()}), {joint: 0.25}, {joint: 0.5})
    written, _ = write_model(tmp_path, source, model, new, model)
    read = load_model(written)
    assert [each.name for each in read.closures] == [each.name for each in model.closures]
    assert np.allclose(read.link_table.inertia, new.link_table.inertia, rtol=1e-12, atol=1e-15)
    assert read.joint(joint).damping == 0.25 and read.joint(joint).friction == 0.5


@pytest.mark.parametrize('options, change', (
    ([], scaled(np.array([1.0, -1.0, 1.0]))), ([], lambda *all: tuple(each[:60] for each in all)),
    ([], lambda t, q, v, tau: (t, 0.0 * q, v, tau)), ([], scaled(0.0))))
def test_errors_name_the_recording(options, change, tmp_path, capsys):
    urdf, out = wrong_urdf(tmp_path / 'arm.urdf'), tmp_path / 'out'
    bag = write_bag(tmp_path / 'bag', as_messages(JOINTS, *change(*arm_recording())))
    assert identify.main([str(urdf), str(bag), '--folder', str(out), *options]) == 2
    assert f'liedyn identify: {bag}' in capsys.readouterr().err


def turned(stamps, q, v, tau):
    return stamps, q - [0.0, 0.5 * np.pi, 0.0], v, tau


def from_the_horizon(stamps, q, v, tau):
    by = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    return stamps, q @ by, v @ by, tau


def elbow_in_degrees(stamps, q, v, tau):
    return stamps, np.degrees(q) * [0.0, 0.0, 1.0] + q * [1.0, 1.0, 0.0], v, tau


def reversed_shoulder(stamps, q, v, tau):
    back = np.array([1.0, -1.0, 1.0])
    return stamps, back * q, back * v, back * tau


@pytest.mark.full
@pytest.mark.parametrize('degrees', [-37.4, 101.0])
def test_a_joint_that_counts_from_any_angle_is_named(degrees, tmp_path, capsys):
    urdf, out = wrong_urdf(tmp_path / 'arm.urdf'), tmp_path / 'out'
    stamps, q, v, tau = arm_recording()
    run = csv_table(tmp_path / 'run.csv', (
        stamps, q - [0.0, np.radians(degrees), 0.0], v, tau))
    command = [str(urdf), str(run), '--folder', str(out), '--no-next-motion']
    assert identify.main(command) == 2
    option = re.search('--reads shoulder=shoulder([+-][0-9.]+)deg', capsys.readouterr().err)
    assert abs(float(option.group(1)) - degrees) < 1.0
    assert identify.main([*command, *option.group().split()]) == 0


@pytest.mark.parametrize('change, options', [
    (turned, '--reads shoulder=shoulder+90deg'),
    (from_the_horizon, '--reads elbow=elbow-shoulder'),
    (elbow_in_degrees, '--reads elbow=0.01745329*elbow'),
    (reversed_shoulder, '--reads shoulder=-shoulder --scale shoulder=-1')])
def test_a_joint_that_counts_from_elsewhere_is_named_and_can_be_read(
        change, options, tmp_path, capsys):
    urdf, out = wrong_urdf(tmp_path / 'arm.urdf'), tmp_path / 'out'
    run = csv_table(tmp_path / 'run.csv', change(*arm_recording()))
    command = [str(urdf), str(run), '--folder', str(out), *FIXED_SETTINGS]
    assert identify.main(command) == 2
    assert options in capsys.readouterr().err and not out.exists()
    assert identify.main([*command, *options.split()]) == 0
    assert (forces_error(load_urdf(out / 'arm_identified.urdf')) < 0.05).all()
    assert not (out / 'next_motion.yaml').exists()  # of angles, where a controller takes readings
