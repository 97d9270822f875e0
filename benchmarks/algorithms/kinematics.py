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
Times are those of the processor. Then come batches of each, and of inverse and forward dynamics:
a state of many beside a single call, on one core.
"""

from functools import partial
import os
import statistics
from time import thread_time
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.algorithms.dynamics import agree, Peer
from benchmarks.record import keep, verdict
from benchmarks.robots import Robot, robots
from benchmarks.timing import Call, interleaved, median_ratio
from liedyn_ros.dynamics import Dynamics, LOCAL

TARGET = 0.9  # of Pinocchio's time
STATES, BATCH_TARGET = 1024, 0.4  # of a batch; its time, of that of as many single calls
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


def measure_batches(robot: Robot) -> list[Row]:
    """Return the row of each batch, on one core."""
    model, rng = robot.model, np.random.default_rng(0)
    of = Dynamics(model, dissipation=False)
    q = np.array([model.random(rng) for _ in range(STATES)])
    v, a = rng.normal(size=(2, STATES, model.nv))
    body = model.bodies[-1]
    calls = {
        'inverse dynamics': (of.inverse, of.inverse.batch, (q, v, a)),
        'forward dynamics': (of.forward, of.forward.batch, (q, v, a)),
        'poses of all frames': (of.frames.poses, of.frames.poses_batch, (q,)),
        'Jacobian of a frame': (partial(of.frames.jacobian, frame=body),
                                partial(of.frames.jacobian_batch, frame=body), (q,)),
        'centre of mass': (of.center_of_mass, of.center_of_mass_batch, (q,)),
        'momentum': (of.momentum, of.momentum_batch, (q, v)),
        'gravity': (of.gravity_vector, of.gravity_vector_batch, (q,)),
        'Coriolis matrix': (of.coriolis_matrix, of.coriolis_matrix_batch, (q, v)),
        'mass matrix': (of.mass_matrix, of.mass_matrix_batch, (q,)),
        'integrate': (model.integrate, model.integrate_batch, (q, v))}
    rows = []
    for name, (one, many, arrays) in calls.items():
        single, batch = interleaved(
            [Call(one, tuple(each[0] for each in arrays)), Call(many, arrays)],
            clock=thread_time)
        rows.append({'what': name, 'single': 1e6 * statistics.median(single),
                     'batch': 1e6 * statistics.median(batch) / STATES,
                     'ratio': median_ratio(batch, single) / STATES})
    return rows


def main() -> None:
    """Measure every machine, print the tables and keep them as JSON."""
    print(f'{"machine":24}{"call":22}{"pinocchio":>10}{"ours":>8}{"ratio":>7}{"":14}{"new":>7}')
    rows = []
    for name, robot in robots().items():
        for figures in measure(robot):
            rows.append({'machine': name, 'target': TARGET, **figures})
            print(f'{name:24}{figures["what"]:22}{figures["pinocchio"]:10.2f}'
                  f'{figures["call"]:8.2f}{figures["ratio"]:7.2f}'
                  f'{verdict(figures["ratio"], TARGET):>14}{figures["new_ratio"]:7.2f}')
    print(f'{"machine":24}{"a state of a batch":22}{"single":>10}{"batch":>8}{"ratio":>7}')
    batches = []
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    for name, robot in robots().items():
        for figures in measure_batches(robot):
            target = BATCH_TARGET if figures['what'] == 'forward dynamics' else None
            batches.append({'machine': name, 'target': target, **figures})
            print(f'{name:24}{figures["what"]:22}{figures["single"]:10.2f}'
                  f'{figures["batch"]:8.3f}{figures["ratio"]:7.2f}')
    keep('kinematics', {'unit': 'us', 'pinocchio': pin.__version__, 'rows': rows,
                        'batches': batches})


if __name__ == '__main__':
    main()
