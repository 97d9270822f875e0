# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""All joints of a leg with a closed linkage from its two encoders, and the motor torques."""

import numpy as np

from liedyn_ros.dynamics.constrained import complete_trajectory, ConstrainedDynamics, LoopTracker
from liedyn_ros.model import annotate, load_urdf


def main() -> None:
    """Complete half a second of encoder samples at 1 kHz and print what they take."""
    # The URDF is a tree; the file beside it closes the loop and says which joints have motors.
    model = annotate(load_urdf('config/linkage_leg.urdf'), 'config/linkage_leg_loops.yaml')
    dynamics = ConstrainedDynamics(model)
    print(f'{model.name}: {dynamics.mobility.degrees_of_freedom} degrees of freedom, measured are '
          f'{", ".join(LoopTracker(dynamics).measured)}')

    t = np.arange(0.0, 0.5, 1e-3)[:, None]
    amplitude, rate = np.array([0.3, 0.25]), np.array([9.0, 12.0])  # of hip and crank
    motion = complete_trajectory(
        dynamics, amplitude * np.sin(rate * t), amplitude * rate * np.cos(rate * t),
        -amplitude * rate**2 * np.sin(rate * t))
    open_by = max(np.abs(dynamics.residual(q)).max() for q in motion.q)
    print(f'{len(t)} samples, loops open by {open_by:.1e} at most, inverse condition number from '
          f'{motion.inverse_condition_number.min():.3f}')

    torques = np.array([dynamics.inverse(*state).tau for state in
                        zip(motion.q, motion.v, motion.a)])
    for name, actuated, tau in zip(model.coordinate_names, model.actuated, torques.T):
        print(f'  {name}: {"largest torque" if actuated else "no motor, torque"} '
              f'{np.abs(tau).max():.3f} N m')


if __name__ == '__main__':
    main()
