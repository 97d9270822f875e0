# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A motion that all tests of tracking share."""

import pytest

from liedyn_ros.stewart import SmoothTrajectory


@pytest.fixture(scope='session')
def motion(home):
    """Return a motion in all coordinates."""
    return SmoothTrajectory(
        home, amplitudes=[0.2, 0.2, 0.3, 0.06, 0.06, 0.06],
        frequencies=[0.23, 0.31, 0.17, 0.29, 0.19, 0.37], phases=[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
