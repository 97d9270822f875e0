# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The command that compiles the kernels of nodes ahead."""

import pytest
from support.bench.executables import node_class, NODES

from liedyn_ros import warm_up
from liedyn_ros.jit.cache import COUNTS
from liedyn_ros.lie.kernels.vec3 import dot

pytestmark = pytest.mark.ros


def test_it_knows_every_node():
    assert {name: node_class(name).warm_up for name in NODES} == {
        name: each[0] for name, each in warm_up.WARM_UPS.items()}


def test_it_tells_what_it_did_and_keeps_it(monkeypatch, capsys):
    monkeypatch.setattr(warm_up, 'WARM_UPS', {
        'one': (lambda: dot((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)),), 'another': (lambda: None,)})
    monkeypatch.setattr(COUNTS, 'not_kept', 0)
    assert warm_up.main([]) == 0
    output = capsys.readouterr().out
    assert 'one: ready; ' in output and 'another: ready; 0 kernels compiled' in output
    assert warm_up.main(['another']) == 0
    assert 'one: ' not in capsys.readouterr().out


def test_it_fails_where_kernels_do_not_compile_or_are_not_kept(monkeypatch, capsys):
    def fail():
        raise RuntimeError('no compiler')

    def keep_nothing():
        COUNTS.not_kept += 1

    monkeypatch.setattr(COUNTS, 'not_kept', 0)
    monkeypatch.setattr(warm_up, 'WARM_UPS', {'one': (fail,)})
    assert warm_up.main([]) == 1
    assert 'one: no compiler' in capsys.readouterr().err
    monkeypatch.setattr(warm_up, 'WARM_UPS', {'one': (keep_nothing,)})
    assert warm_up.main([]) == 1
    assert 'each start compiles them again' in capsys.readouterr().err


def test_an_unknown_node_is_refused(capsys):
    with pytest.raises(SystemExit, match='2'):
        warm_up.main(['stewart_pos'])
    assert 'stewart_pose' in capsys.readouterr().err
