# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Machines with every type of joint, in random states of motion."""

from typing import NamedTuple

import numpy as np
from support.machines.model_variants import sprung
from support.machines.random_models import random_model

from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import Model

TREES = [(seed, floating) for seed in range(3) for floating in (False, True)]


class Case(NamedTuple):
    """A machine in motion."""

    model: Model
    dynamics: Dynamics
    q: Array
    v: Array
    a: Array
    external: Array
    rng: np.random.Generator


def make_case(seed: int, floating: bool, dissipation: bool = False,
              springs: bool = False) -> Case:
    """
    Return a random machine of ten joints, one of each type, in a random state.

    springs gives it armatures too.
    """
    model = random_model(seed, 10, floating)
    model = sprung(model, seed) if springs else model
    rng = np.random.default_rng(seed)
    dynamics = Dynamics(model, dissipation=dissipation)
    return Case(model, dynamics, model.random(rng), rng.normal(size=model.nv),
                rng.normal(size=model.nv), rng.normal(size=(len(model.bodies), 6)), rng)


def rate_along(case: Case, function, h: float = 1e-4):
    """Return the rate of a function of q along the motion, by differences of fourth order."""
    def at(s):
        return function(case.model.integrate(case.q, s * h * case.v))

    return (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * h)
