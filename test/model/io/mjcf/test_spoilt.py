# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Spoilt MJCF by the hundred: each loads or is refused with the package's own error."""

import warnings

import numpy as np
from tools import mutation_cases

from liedyn_ros.common.errors import DescriptionWarning, LiedynError
from liedyn_ros.model import load_mjcf


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
