# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The joint forces of a linkage with a closed loop; model files are arguments."""

import sys

import numpy as np

from liedyn_ros.dynamics.constrained import (
    assemble, complete_acceleration, complete_velocity, ConstrainedDynamics)
from liedyn_ros.model import load_model


def main(path: str) -> None:
    """Assemble a machine, drive its actuated joints, and print what that takes."""
    model = load_model(path)
    dynamics = ConstrainedDynamics(model)
    mobile, rank, redundant = dynamics.mobility
    print(f'{model.name}: {model.nv} coordinates, {mobile} degrees of freedom, {dynamics.m} '
          f'constraints of rank {rank}')
    print(f'  redundant: {", ".join(redundant) or "none"}')

    # Rates and accelerations of the actuated joints; the loops decide the others.
    driven = model.actuated
    q = assemble(dynamics)
    v = complete_velocity(dynamics, q, np.where(driven, 2.0, 0.0))
    a = complete_acceleration(dynamics, q, v, np.zeros((2, model.nv)))  # and their derivative
    needed = dynamics.inverse(q, v, a)
    for name, force, rate in zip(model.coordinate_names, *needed.tau):
        print(f'  {name}: {force:.6f} N m, changing by {rate:.6f} N m/s')
    for closure, wrench in zip(model.closures, needed.wrenches[0]):
        print(f'  {closure.name} puts on {closure.body_b} moments {wrench[:3].round(6)} N m, '
              f'forces {wrench[3:].round(6)} N')

    again = dynamics.forward(q, v, needed.tau)
    print(f'  forward dynamics gives the accelerations back to {np.abs(again.a - a).max():.1e}')


if __name__ == '__main__':
    for each in sys.argv[1:] or ['config/four_bar.yaml', 'config/five_bar.yaml']:
        main(each)
