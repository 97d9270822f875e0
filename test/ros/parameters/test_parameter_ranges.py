# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The range of a parameter that tools show is the range outside of which it is refused."""

import math

import pytest
from support.refusals import refused
from tools.parameter_documents import NODES

from liedyn_ros.common.errors import LiedynError
from liedyn_ros.ros.parameters.parameter_set import Parameter

pytestmark = pytest.mark.ros
ONE_NUMBER = [
    pytest.param(parameter, id=f'{node}-{parameter.name}')
    for node, parameters in NODES.items() for parameter in parameters
    if type(parameter.default) in (int, float)]


def outside(parameter):
    """Return the numbers next to the range of a parameter."""
    if isinstance(parameter.default, int):
        return parameter.least - 1, parameter.most + 1
    return (math.nextafter(parameter.least, -math.inf),
            math.nextafter(parameter.most, math.inf))


@pytest.mark.parametrize('parameter', ONE_NUMBER)
def test_what_is_outside_of_the_range_that_is_declared_is_refused(parameter):
    (shown,), = parameter.ranges.values()
    assert shown.step == 0
    for bound in (shown.from_value, shown.to_value):
        assert parameter.accept(bound) == bound
        assert type(bound) is type(parameter.default)
    for value in outside(parameter):
        with refused(LiedynError, f'parameter {parameter.name}', got=value):
            parameter.accept(value)


@pytest.mark.parametrize('more, right, wrong', [(False, (3,), (2, 4)), (True, (3, 4), (2,))])
def test_arrays_have_their_size_or_more_where_they_may(more, right, wrong):
    parameter = Parameter('gains', [1.0, 2.0, 3.0], '', size=3, or_more=more)
    for size in right:
        assert parameter.accept([0.5] * size) == [0.5] * size
    for size in wrong:
        with refused(LiedynError, 'parameter gains'):
            parameter.accept([0.5] * size)
