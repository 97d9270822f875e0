# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Statistics of ages between two reports: the greatest of all, and a fair median."""

import numpy as np
import pytest

from liedyn_ros.ros.streams.age_statistics import AgeStatistics, MAX_KEPT


def report_of(values):
    ages = AgeStatistics()
    for age in values:
        ages.note(age)
    assert len(ages) == len(values)
    return {key: float(value) for key, value in ages.report().items()}


def test_nothing_is_told_where_nothing_was_published():
    assert report_of([]) == {}


@pytest.mark.parametrize('count', [1, 2, MAX_KEPT, MAX_KEPT + 1, 123 * MAX_KEPT + 7])
def test_the_median_is_that_of_the_whole_time_and_the_last_may_be_the_greatest(count):
    ages = np.linspace(1.0, 2.0, count)  # s, that grow: what is kept is no part of the time
    found = report_of(ages)
    assert found['age median, ms'] == pytest.approx(1e3 * np.median(ages), rel=2.0 / MAX_KEPT)
    assert found['age greatest, ms'] == pytest.approx(1e3 * ages[-1], abs=0.005)


def test_no_more_is_kept_than_the_median_needs():
    ages = AgeStatistics()
    for _ in range(20 * MAX_KEPT):
        ages.note(0.001)
    assert MAX_KEPT // 2 <= len(ages._kept) <= MAX_KEPT
