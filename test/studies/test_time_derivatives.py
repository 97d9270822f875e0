# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The study of derivatives: its reference, inverse then forward, CasADi."""

import numpy as np
import pytest

from benchmarks.robots import branches
from liedyn_ros.aerial.reference import Reference
from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import load_yaml
from liedyn_ros.studies.time_derivatives import study as higher_order
from liedyn_ros.studies.time_derivatives.study import SmoothReference

pytestmark = pytest.mark.full


def test_reference_is_that_of_the_flight() -> None:
    paper = Reference()
    smooth, late = SmoothReference(paper), paper.rise_time / 2.0
    for t in (2.0, 4.5, 8.0):
        q, *motion = paper.at(t + late)
        np.testing.assert_allclose(smooth.configuration(t), q, atol=1e-12)
        np.testing.assert_allclose(smooth.motion(t, 3), motion, atol=1e-12)


def test_derivatives_of_the_reference_are_those_of_time() -> None:
    smooth, t, h = SmoothReference(Reference()), 3.0, 1e-3
    motion = smooth.motion(t, 7)
    rate = (8.0 * (smooth.motion(t + h, 7) - smooth.motion(t - h, 7))
            - (smooth.motion(t + 2.0 * h, 7) - smooth.motion(t - 2.0 * h, 7))) / (12.0 * h)
    np.testing.assert_allclose(rate[:-1], motion[1:], atol=1e-9)


def test_the_reference_is_recovered(tmp_path, monkeypatch: pytest.MonkeyPatch,
                                    capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(higher_order, 'TIME_STEP', 0.05)
    assert higher_order.fly(tmp_path)
    assert 'The reference was recovered' in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir() if path.suffix != '.html'} == {
        f'{name}.{kind}' for name in ('reference', 'forces', 'errors')
        for kind in ('csv', 'pdf', 'png')}


@pytest.mark.parametrize('name', ['aerial manipulator', 'branches'])
def test_casadi_agrees(name: str) -> None:
    pytest.importorskip('casadi', reason='casadi is only installed for benchmarks')
    from benchmarks.algorithms import casadi_expressions
    model = (branches(3, 3) if name == 'branches'
             else load_yaml(config_file('aerial_manipulator.yaml')))
    rng, order = np.random.default_rng(2), 4
    dynamics, q = Dynamics(model, dissipation=False), model.random(rng)
    motion = rng.normal(size=(order + 2, model.nv))
    tau = dynamics.inverse.time_derivatives(q, motion[0], motion[1:])
    got = np.empty_like(tau)
    casadi_expressions.inverse(model, order)(q, motion, got)
    scale = np.abs(tau).max(axis=1, keepdims=True)
    assert (np.abs(got - tau) <= 1e-12 * scale).all()
    casadi_expressions.forward(model, order)(q, np.vstack([motion[:1], tau]), got)
    assert (np.abs(got - motion[1:]) <= 1e-10 * scale).all()
