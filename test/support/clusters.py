# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Dask clusters of this machine, whose workers begin with their modules imported."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
# What the workers of all tests import. A worker of its own takes 2 s for that.
MODULES = ('distributed.nanny', 'benchmarks.identification.coverage',
           'benchmarks.stewart.calibration', 'benchmarks.stewart.safety',
           'liedyn_ros.commands.bags.process_bag',
           'liedyn_ros.commands.stewart.drawings.workspace',
           'support.work_parts')
# A cluster gives up a worker that it lost so long ago and that is not there: perhaps lost again.
SETTINGS = {'distributed.worker.multiprocessing-method': 'forkserver',
            'distributed.deploy.lost-worker-timeout': '1 hour'}


@contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    """Give a cluster of workers that fork from a process which has MODULES, as do later ones."""
    distributed = pytest.importorskip('distributed')
    import dask
    from distributed.utils import get_mp_context
    with pytest.MonkeyPatch.context() as patch, dask.config.set(SETTINGS):
        patch.setenv('PYTHONPATH', f'{TESTS.parent}:{TESTS}', prepend=':')
        get_mp_context().set_forkserver_preload(list(MODULES))
        with distributed.LocalCluster(n_workers=workers, threads_per_worker=1,
                                      dashboard_address=None) as cluster:
            yield cluster
