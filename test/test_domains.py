# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Processes that share the tests have a ROS domain each."""

import pytest
from support.domains import domain_of


@pytest.mark.parametrize('first', [1, 33, 100])
def test_no_two_processes_have_one_domain(first):
    domains = [domain_of(process, first) for process in range(100)]
    assert domains[0] == first
    assert sorted(domains) == list(range(1, 101))
