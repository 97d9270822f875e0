# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Spoilt and random model files: loaded as other libraries do, or refused with our error."""

import gc
from pathlib import Path
import warnings

import numpy as np
import pytest
from support.refusals import refused
from tools import mutation_cases

from benchmarks.algorithms.random_files import outcomes
from liedyn_ros.common.errors import DescriptionWarning, LiedynError
from liedyn_ros.model import load_mjcf, ModelBuilder, SpatialInertia

AGREED = {'equal', 'equal, without motion', 'refused by both'}


def test_spoilt_files_load_or_are_refused(tmp_path: Path) -> None:
    outcomes = [mutation_cases.read_case(tmp_path, suffix, text)
                for suffix, text in mutation_cases.cases(300, 150, seed=2)]
    assert outcomes.count('loads') > 5 and outcomes.count('refused') > 200


def test_the_sources_of_the_run_load(tmp_path: Path) -> None:
    for suffix in ('urdf', 'yaml'):
        assert mutation_cases.read_case(tmp_path, suffix, mutation_cases.source(suffix)) == 'loads'


@pytest.mark.filterwarnings('error')
def test_what_overflows_is_refused_by_name() -> None:
    builder = ModelBuilder('r')
    builder.add_body('a', SpatialInertia(1e308, (1e10, 0, 0), [[0] * 3] * 3))
    builder.add_joint('j', 'free', None, 'a')
    with refused(LiedynError, 'body a'):
        builder.build()


@pytest.mark.parametrize('enabled', [True, False])
def test_the_search_for_garbage_is_as_it_was_after_a_file(tmp_path: Path, enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        for suffix, text in (
                ('urdf', mutation_cases.URDF), ('urdf', '<robot'), ('yaml', 'format: 2')):
            mutation_cases.read_case(tmp_path, suffix, text)
            assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()


@pytest.mark.full
@pytest.mark.parametrize(('form', 'count', 'agreed'), [
    ('mjcf', 30, AGREED), ('urdf', 40, AGREED),
    ('sdf', 20, AGREED | {'read here alone'})])  # where there is no Drake
def test_random_files_agree(tmp_path: Path, form: str, count: int, agreed: set[str]) -> None:
    pytest.importorskip('mujoco')
    pytest.importorskip('pinocchio')
    found = outcomes(form, count, seed=7, folder=tmp_path)
    assert set(found) <= agreed
    assert found['refused by both'] < count / 2


def outcome(text: str) -> str:
    """Return whether a text loads or is refused; any other error passes."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')  # of numpy, too: what overflows must be refused
        warnings.simplefilter('ignore', DescriptionWarning)
        try:
            load_mjcf(text if text.lstrip().startswith('<') else f'<{text}')
        except LiedynError:
            return 'refused'
    return 'loads'


def test_spoilt_texts_load_or_are_refused() -> None:
    assert outcome(mutation_cases.MJCF) == 'loads'
    rng = np.random.default_rng(11)
    outcomes = [outcome(mutation_cases.spoil(rng, mutation_cases.MJCF)) for _ in range(400)]
    assert outcomes.count('loads') > 2
    assert outcomes.count('refused') > 200
