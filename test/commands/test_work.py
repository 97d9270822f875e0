# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Work in parts has equal results wherever it is done, and outlives a worker."""

import io
from pathlib import Path
import time

import pytest
from support import work_parts
from support.clusters import local_cluster
from support.recordings.bag_files import as_messages, write_bag
from support.recordings.recorded_arm import arm_recording, JOINTS, true_arm
from support.refusals import refused

from liedyn_ros.commands import work
from liedyn_ros.commands.bags import process_bag
from liedyn_ros.commands.work import results_of
from liedyn_ros.common.errors import LiedynError
from liedyn_ros.model import to_urdf

TESTS = Path(__file__).parents[1]


@pytest.fixture
def paths(monkeypatch):
    """Let other processes import the package and the support of the tests."""
    monkeypatch.setenv('PYTHONPATH', f'{TESTS.parent}:{TESTS}', prepend=':')


class ScalesUp(io.StringIO):
    """A stream that gives a cluster its first worker when something is written."""

    def __init__(self, cluster):
        super().__init__()
        self._cluster = cluster

    def write(self, text):
        self._cluster.scale(1)
        return super().write(text)


def test_a_cluster_without_workers_says_so_and_waits(tmp_path, monkeypatch):
    monkeypatch.setattr(work, 'SILENT', 0.1)
    (tmp_path / 'begun').touch()  # no process of this test is to be lost
    with local_cluster(0) as cluster:
        stream = ScalesUp(cluster)
        monkeypatch.setattr(work.sys, 'stderr', stream)
        address = cluster.scheduler_address
        found = in_order(results_of(work_parts.numbers, [(str(tmp_path), 1)], cluster=address))
    assert found == in_order(results_of(work_parts.numbers, [(str(tmp_path), 1)]))
    assert f'no worker is there; waiting for one, as by `dask worker {address}`' in (
        stream.getvalue())


def in_order(results):
    return [value for _, value in sorted(results)]


def test_a_lost_process_is_made_good(tmp_path, paths):
    parts = [(str(tmp_path), seed) for seed in range(4)]
    found = in_order(results_of(work_parts.numbers, parts, jobs=2))
    assert (tmp_path / 'begun').exists()
    assert found == in_order(results_of(work_parts.numbers, parts))


@pytest.mark.full
def test_a_cluster_of_two_workers_gives_the_same_bit_for_bit(tmp_path):
    parts = [(str(tmp_path), seed) for seed in range(6)]
    (tmp_path / 'arm.urdf').write_text(to_urdf(true_arm()))
    bags = [str(write_bag(tmp_path / f'run_{seed}', as_messages(JOINTS, *arm_recording(seed))))
            for seed in (1, 2)]
    given = [*bags, '--model', str(tmp_path / 'arm.urdf'), '--order', '0', '--folder']
    with local_cluster(2) as cluster:
        address = cluster.scheduler_address
        found = in_order(results_of(work_parts.numbers, parts, cluster=address))
        assert (tmp_path / 'begun').exists()  # that worker is lost, and a nanny starts another
        assert process_bag.main([*given, str(tmp_path / 'there'), '--cluster', address]) == 0
    assert found == in_order(results_of(work_parts.numbers, parts))
    assert process_bag.main([*given, str(tmp_path / 'here'), '--jobs', '1']) == 0
    for name in ('run_1.csv', 'run_2.csv'):
        assert (tmp_path / 'there' / name).read_bytes() == (tmp_path / 'here' / name).read_bytes()


def test_a_cluster_that_is_lost_is_named():
    with local_cluster(1) as cluster:
        results = results_of(time.sleep, [0.0, 3600.0], cluster=cluster.scheduler_address)
        assert next(results) == (0, None)
        cluster.close()
        with refused(LiedynError, f'--cluster {cluster.scheduler_address}'):
            next(results)


def test_a_cluster_that_does_not_answer_is_named(monkeypatch):
    pytest.importorskip('distributed')
    monkeypatch.setattr('liedyn_ros.commands.work.CONNECTED', 0.2)
    with refused(LiedynError, '--cluster tcp://127.0.0.1:9'):
        list(results_of(work_parts.numbers, [('', 2)], cluster='tcp://127.0.0.1:9'))
