# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Everyday kinematics beside Pinocchio's Python calls: frames, centre of mass, momentum, gravity.

Each is called as a controller calls it: checked, one state, with out= where the call takes it.
Pinocchio writes into its data. The columns are Pinocchio and the call (us), their ratio and its
upper bound, and the ratio of a call that returns a new array. Both libraries must agree first.
Times are those of the processor.
"""

import statistics
from time import thread_time
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.dynamics import agree, Peer
from benchmarks.record import keep, verdict
from benchmarks.robots import Robot, robots
from benchmarks.timing import Call, interleaved, median_ratio
from liedyn_ros.dynamics import Dynamics, LOCAL

TARGET = 0.9  # of Pinocchio's time
ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]
Row = dict[str, Any]


def measure(robot: Robot) -> list[Row]:
    """Return the row of each call."""
    model, rng = robot.model, np.random.default_rng(0)
    ours, peer = Dynamics(model, dissipation=False), Peer(robot)
    q, v = model.random(rng), rng.normal(size=model.nv)
    pq, pv, other, data = peer.configuration(q), peer.velocity(v), peer.model, peer.data
    n, q1 = model.nv, np.empty(model.nq)
    body = [joint.child for joint in model.joint_list if joint.coordinate_names][-1]
    frame = other.getFrameId(body, pin.FrameType.BODY)
    require_agreement(robot, ours, peer, q, v, body, frame)
    poses, jacobian = np.empty((len(model.frames), 4, 4)), np.empty((6, n))
    matrix, vector, momentum = np.empty((n, n)), np.empty(n), np.empty(6)
    calls = {
        'poses of all frames': (
            Call(pin.framesForwardKinematics, (other, data, pq)),
            Call(ours.frames.poses, (q, poses)), Call(ours.frames.poses, (q,))),
        'Jacobian of a frame': (
            Call(pin.computeFrameJacobian, (other, data, pq, frame, pin.LOCAL)),
            Call(ours.frames.jacobian, (q, body, LOCAL, jacobian)),
            Call(ours.frames.jacobian, (q, body))),
        'centre of mass': (
            Call(pin.centerOfMass, (other, data, pq, False)),
            Call(ours.center_of_mass, (q, np.empty(3))), Call(ours.center_of_mass, (q,))),
        'momentum': (
            Call(pin.computeCentroidalMomentum, (other, data, pq, pv)),
            Call(ours.momentum, (q, v, momentum)), Call(ours.momentum, (q, v))),
        'gravity': (
            Call(pin.computeGeneralizedGravity, (other, data, pq)),
            Call(ours.gravity_vector, (q, vector)), Call(ours.gravity_vector, (q,))),
        'Coriolis matrix': (
            Call(pin.computeCoriolisMatrix, (other, data, pq, pv)),
            Call(ours.coriolis_matrix, (q, v, matrix)), Call(ours.coriolis_matrix, (q, v))),
        'mass matrix': (
            Call(pin.crba, (other, data, pq)), Call(ours.mass_matrix, (q, matrix)),
            Call(ours.mass_matrix, (q,))),
        'inverse mass matrix': (
            Call(pin.computeMinverse, (other, data, pq)),
            Call(ours.inverse_mass_matrix, (q, matrix)), Call(ours.inverse_mass_matrix, (q,))),
        'centroidal map': (
            Call(pin.computeCentroidalMap, (other, data, pq)),
            Call(ours.centroidal_map, (q, jacobian)), Call(ours.centroidal_map, (q,))),
        'integrate': (
            Call(pin.integrate, (other, pq, pv)),
            Call(model.integrate, (q, v, q1)), Call(model.integrate, (q, v))),
        'difference': (
            Call(pin.difference, (other, pq, pin.integrate(other, pq, pv))),
            Call(model.difference, (q, model.integrate(q, v), vector)),
            Call(model.difference, (q, model.integrate(q, v)))),
    }
    return [row(name, *of_call) for name, of_call in calls.items()]


def require_agreement(robot: Robot, ours: Dynamics, peer: Peer, q: Any, v: Any, body: str,
                      frame: int) -> None:
    """Stop unless both libraries return the same."""
    pq, pv, other, data = peer.configuration(q), peer.velocity(v), peer.model, peer.data
    pin.framesForwardKinematics(other, data, pq)
    agree(ours.frames.pose(q, body), data.oMf[frame].homogeneous)
    jacobian = ours.frames.jacobian(q, body)
    agree(np.array([peer.velocity(row) for row in jacobian]),
          pin.computeFrameJacobian(other, data, pq, frame, pin.LOCAL)[ANGULAR_FIRST])
    agree(ours.center_of_mass(q), pin.centerOfMass(other, data, pq, False))
    agree(ours.centroidal_momentum(q, v),
          pin.computeCentroidalMomentum(other, data, pq, pv).vector[ANGULAR_FIRST])
    agree(peer.velocity(ours.gravity_vector(q)), pin.computeGeneralizedGravity(other, data, pq))


def row(name: str, peer: Call, call: Call, new: Call) -> Row:
    """Return the figures of one call, times in us."""
    theirs, written, fresh = interleaved([peer, call, new], clock=thread_time)
    return {'what': name, 'pinocchio': 1e6 * statistics.median(theirs),
            'call': 1e6 * statistics.median(written), 'ratio': median_ratio(written, theirs),
            'new_ratio': median_ratio(fresh, theirs)}


def main() -> None:
    """Measure every machine, print the table and keep it as JSON."""
    print(f'{"machine":24}{"call":22}{"pinocchio":>10}{"ours":>8}{"ratio":>7}{"":14}{"new":>7}')
    rows = []
    for name, robot in robots().items():
        for figures in measure(robot):
            rows.append({'machine': name, 'target': TARGET, **figures})
            print(f'{name:24}{figures["what"]:22}{figures["pinocchio"]:10.2f}'
                  f'{figures["call"]:8.2f}{figures["ratio"]:7.2f}'
                  f'{verdict(figures["ratio"], TARGET):>14}{figures["new_ratio"]:7.2f}')
    keep('kinematics', {'unit': 'us', 'pinocchio': pin.__version__, 'rows': rows})


if __name__ == '__main__':
    main()
