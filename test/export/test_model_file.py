# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The model file: what it holds, and what is refused."""

from pathlib import Path
import struct
import zlib

import numpy as np
import pytest
from support.machines.example_robots import example_robot
from support.machines.random_models import random_model
from support.refusals import refused

from liedyn_ros.common.errors import LiedynError, ModelError
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics.tree.constants import Constants
from liedyn_ros.dynamics.tree.kernels import tables
from liedyn_ros.export import model_bytes, write_model
from liedyn_ros.export.command import main
from liedyn_ros.export.functions import layout
from liedyn_ros.export.kernels.arrays import is_tree
from liedyn_ros.export.model_file import HEADER_NUMBERS, MODEL_MAGIC
from liedyn_ros.model import load_model


def sections_of(content: bytes) -> list[bytes]:
    """Return the sections of a model file, each as its bytes."""
    count = struct.unpack_from('<q', content, 48)[0]
    rows = [struct.unpack_from('<4q', content, 8 * HEADER_NUMBERS + 32 * i) for i in range(count)]
    return [content[at:at + size] for at, size, _, _ in rows]


@pytest.mark.parametrize('floating', [False, True])
def test_a_file_has_the_constants_and_the_names(floating):
    model = random_model(3, 10, floating)
    content = model_bytes(model)
    constants, links, joints, coordinates, frames, places = sections_of(content)
    np.testing.assert_array_equal(
        np.frombuffer(constants, dtype=np.int64),
        Constants(model).table.view(np.int64).ravel())
    np.testing.assert_array_equal(
        np.frombuffer(links, dtype=np.int64).reshape(3, -1),
        [model.link_table.kind, model.link_table.qi, model.link_table.vi])
    for names, section in ((model.joints, joints), (model.coordinate_names, coordinates),
                           (model.frames, frames)):
        assert section.decode().split('\0')[:-1] == list(names)
    for joint, row in zip(model.joint_list, np.frombuffer(places, np.int64).reshape(-1, 4)):
        q, nq, v, nv = row.tolist()
        assert (slice(q, q + nq), slice(v, v + nv)) == (joint.q_slice, joint.v_slice)


@pytest.mark.parametrize('floating', [False, True])
def test_constants_with_an_index_out_of_place_are_no_tree(floating):
    model = random_model(3, 10, floating)
    table = Constants(model).table
    whole, sizes = table.view(np.int64), (len(table), model.nv, len(model.frames))
    assert is_tree(table, *sizes)
    links = model.link_table.N + 1
    places = [(i, column) for i in range(1, links) for column in (
        tables.Link.column(name) for name in ('kind', 'qi', 'vi'))] + [
            (links + k, tables.Coordinate.column('position_at')) for k in range(model.nv)]
    for place in places:
        for wrong in (-1, 1 << 40):
            right, whole[place] = whole[place], wrong
            assert not is_tree(table, *sizes)
            whole[place] = right
    assert is_tree(table, *sizes)


def test_the_header_tells_format_length_and_checksum():
    content = model_bytes(random_model(0, 5, False))
    assert content[:8] == MODEL_MAGIC
    version, digest, length, checksum, kind, _, zero = struct.unpack_from('<7q', content, 8)
    assert (version, digest, length) == (layout.VERSION, layout.TREE_LAYOUT, len(content))
    assert (checksum, kind, zero) == (zlib.crc32(content[8 * HEADER_NUMBERS:]), 1, 0)
    assert len(content) % 64 == 0


def test_dissipation_is_left_out_where_asked():
    model = random_model(1, 10, False)
    assert model_bytes(model) != model_bytes(model, dissipation=False)
    assert np.abs(Constants(model, False).damping).max() == 0.0


def test_machines_with_closed_loops_and_other_objects_are_refused():
    model = load_model(config_file('five_bar.yaml'))
    with refused(ModelError, 'model'):
        model_bytes(model)
    with refused(LiedynError, 'model'):
        model_bytes('robot.urdf')


def test_closed_loops_are_left_out_where_asked(tmp_path):
    robot, output = config_file('five_bar.yaml'), tmp_path / 'tree.liedyn'
    assert main([str(robot), '--tree', '-o', str(output)]) == 0
    constants = sections_of(output.read_bytes())[0]
    assert constants == Constants(load_model(robot)).table.tobytes()


def test_the_command_writes_the_file_that_python_writes(tmp_path, capsys):
    robot, output = config_file('aerial_manipulator.yaml'), tmp_path / 'robot.liedyn'
    assert main([str(robot), '-o', str(output)]) == 0
    write_model(tmp_path / 'same', load_model(robot))
    assert output.read_bytes() == (tmp_path / 'same').read_bytes()
    assert f'{output}: <Model' in capsys.readouterr().out


def test_the_command_reads_urdf_on_a_floating_base(tmp_path):
    output = tmp_path / 'go2.liedyn'
    robot = example_robot('go2_description/urdf/go2.urdf')
    assert main([str(robot), '--floating', '--no-dissipation', '-o', str(output)]) == 0
    assert output.read_bytes() == model_bytes(load_model(robot, floating=True), dissipation=False)


def test_the_command_names_what_is_wrong(tmp_path, capsys):
    assert main([str(tmp_path / 'none.urdf')]) == 1
    assert 'liedyn export: ' in capsys.readouterr().err
    robot, output = str(config_file('aerial_manipulator.yaml')), tmp_path / 'x'
    assert main([robot, '-o', str(output), '--order', '1']) == 1
    assert '--order: expected a machine with closed loops' in capsys.readouterr().err
    assert not Path(output).exists()
    assert main([robot, '-o', '/dev/full']) == 1
    assert "not written: '/dev/full'" in capsys.readouterr().err
