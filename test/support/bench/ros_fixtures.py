# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Fixtures of every test that runs nodes: one context for all tests, a namespace for each.

They import the benches when they run: a test of the core does without, and so does the process
that only shares out tests.
"""


import pytest


@pytest.fixture(scope='session')
def context():
    """Return the context that all tests share."""
    from support.bench.ros_bench import open_context
    context = open_context()
    yield context
    context.try_shutdown()


@pytest.fixture
def other_context():
    """Return a second context, for what one participant cannot do."""
    from support.bench.ros_bench import open_context
    context = open_context()
    yield context
    context.try_shutdown()


@pytest.fixture
def namespace():
    """Return a namespace that no other test uses."""
    from support.bench.ros_bench import unused_namespace
    return unused_namespace()


@pytest.fixture
def bench(context, namespace):
    """Return an empty bench."""
    from support.bench.ros_bench import Bench
    bench = Bench(context, namespace)
    yield bench
    bench.close()


@pytest.fixture
def tracking(bench):
    """Return a function that starts a pose node with parameters and sees it track home."""
    from support.bench.pose_bench import PoseBench
    return lambda **parameters: PoseBench(bench, **parameters).settle()
