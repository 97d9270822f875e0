# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Units that are converted twice, and scales that only look like units."""

import math

import pytest
from support.refusals import refused

from liedyn_ros.common.errors import LimitError
from liedyn_ros.recordings.units import require_one_conversion

DEGREE = math.radians(1.0)
TWICE = {'deg': (DEGREE, 1.003 * DEGREE, 'rad'), 'backwards': (DEGREE, -DEGREE, 'rad'),
         'rev': (2.0 * math.pi, 6.28, 'rad'), 'mm': (1e-3, 1e-3, 'm')}
ONCE = {'header': (DEGREE, 1.0, 'rad'), 'scale': (1.0, DEGREE, 'rad'),
        'gear': (DEGREE, 0.02, 'rad'), 'screw of 0.11 m a turn': (DEGREE, DEGREE, 'm')}


@pytest.mark.parametrize('factor, scale, unit', TWICE.values(), ids=TWICE)
def test_a_unit_that_is_converted_twice_is_refused(factor, scale, unit):
    with refused(LimitError, expected=1.0, got=scale):
        require_one_conversion('run.csv', [1.0, factor], [1.0, scale], [unit] * 2)


@pytest.mark.parametrize('factor, scale, unit', ONCE.values(), ids=ONCE)
def test_other_scales_pass(factor, scale, unit):
    require_one_conversion('run.csv', [factor], [scale], [unit])
