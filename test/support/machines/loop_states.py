# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Machines with closed loops in motion, on which derivatives are tested."""

from dataclasses import replace

import numpy as np
from support.machines.looped_machines import bennett, four_bar, Looped, random_looped

from liedyn_ros.dynamics.constrained import assemble, ConstrainedDynamics, project
from liedyn_ros.model import CLOSURE_TYPES, Coupling


def geared(looped: Looped) -> Looped:
    """Return the machine with a coupling of its two revolute joints, which holds there."""
    (one, other), ratio = (looped.model.joint(f'revolute_{i}') for i in (0, 6)), 0.5
    offset = looped.q[other.qi] - ratio * looped.q[one.qi]
    coupling = Coupling(other.name, one.name, ratio, offset, ())
    return Looped(replace(looped.model, couplings=(coupling,)), looped.q)


EVERY = {kind: random_looped(i, (kind,)) for i, kind in enumerate(CLOSURE_TYPES)}
EVERY['two loops'] = random_looped(20, ('spherical', 'point_on_plane'), joints=10)
EVERY['balls'] = random_looped(21, ('spherical', 'rod'), 8, ('spherical', 'revolute'))
EVERY['gears'] = geared(random_looped(23, ('rod',)))
EVERY['floating'] = random_looped(22, ('revolute',), 8, floating=True)
REDUNDANT = {'bennett': bennett(),
             'four bar': Looped(four_bar(), assemble(ConstrainedDynamics(four_bar())))}


def state(looped: Looped):
    """Return the dynamics, a state on the constraints, forces and their rates, and wrenches."""
    rng, model = np.random.default_rng(5), looped.model
    dynamics = ConstrainedDynamics(model)
    q, v = project(dynamics, looped.q, rng.normal(size=model.nv))
    return (dynamics, q, v, rng.normal(size=(2, model.nv)),
            rng.normal(size=(len(model.bodies), 6)), rng)


def closed(dynamics, q, v):
    """Return a state on the constraints near one, as a smooth function of it: four steps."""
    for _ in range(4):
        f, rows = dynamics.residual_and_jacobian(q)
        q = dynamics.model.integrate(q, -np.linalg.pinv(rows, rcond=1e-9) @ f)
    rows = dynamics.jacobian(q)
    return q, v - np.linalg.pinv(rows, rcond=1e-9) @ (rows @ v)
