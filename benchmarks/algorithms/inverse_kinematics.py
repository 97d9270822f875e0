# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Inverse kinematics beside TRAC-IK, pink, mink, the loop of Pinocchio and ikpy.

Random poses that a robot can reach, from its neutral configuration. A pose counts as reached
within 0.1 mm and 0.001 rad, and joints within their limits. A peer that fails does so as a result.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import metadata
import os
from pathlib import Path
import tempfile
import time
from typing import Any
import warnings
from xml.etree import ElementTree

import numpy as np

from benchmarks.record import keep, resumed
from liedyn_ros.common.checks import Array
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import InverseKinematics
from liedyn_ros.lie import so3
from liedyn_ros.model import load_model, Model, ModelBuilder, to_urdf

ROBOTS = {'ur5': ('ur_description/urdf/ur5_robot.urdf', 'tool0', ''),
          'panda': ('panda_description/urdf/panda.urdf', 'panda_hand', 'panda_joint'),
          'g1, left arm': (
              'g1_description/urdf/g1_29dof_rev_1_0.urdf', 'left_rubber_hand', 'left_')}
ARM = ('shoulder', 'elbow', 'wrist')  # of the joints of g1 that move
ANGLE, LENGTH = 1e-3, 1e-4  # rad, m
STEPS, RESTARTS, DT = 200, 10, 0.1  # of the loops of others; RESTARTS from random configurations
Solver = Callable[[Array, np.random.Generator], Array]


def machines(also: Sequence[Sequence[str]]) -> Iterator[tuple[str, Model, str]]:
    """Return each robot with all joints locked but those of its arm, and its frame."""
    wheel = metadata.distribution('example-robot-data')
    folder = Path(str(wheel.locate_file('cmeel.prefix/share/example-robot-data/robots')))
    for name, (path, frame, prefix) in ROBOTS.items():
        builder = ModelBuilder.of(load_model(folder / path))
        for joint in load_model(folder / path).joint_list:
            moves = joint.name.startswith(prefix) and 'finger' not in joint.name and (
                not name.startswith('g1') or any(part in joint.name for part in ARM))
            if joint.limits.lower.size and not moves:
                builder.lock_joint(joint.name, 0.0)
        yield name, builder.build(), frame
    for name, path, frame in also:
        yield name, load_model(path), frame


def ours(model: Model, frame: str) -> Solver:
    """Return this package's solver."""
    solver = InverseKinematics(Dynamics(model), frame)
    return lambda pose, rng: solver({frame: pose}).q


def of_trac_ik(model: Model, frame: str, seconds: float) -> Solver:
    """Return TRAC-IK (pytracik), which has so many seconds, from the middle of the limits."""
    import pytracik
    text = to_urdf(model)
    tree = ElementTree.fromstring(text)
    inner = {str(child.get('link')) for child in tree.iter('child')}
    root = next(name for name in (str(each.get('link') or each.get('name'))
                                  for each in tree.iter('link')) if name not in inner)
    chain = pytracik.TRAC_IK(root, frame, text, seconds, 1e-5, pytracik.SolveType.Speed)
    middle = 0.5 * (model.limits.lower + model.limits.upper)

    def solve(pose: Array, rng: np.random.Generator) -> Array:
        found = np.array(pytracik.ik(
            chain, middle, *pose[:3, 3], *so3.to_quaternion(pose[:3, :3])))
        return found[1:] if found[0] >= 0 else middle
    return solve


def of_pinocchio(model: Model, frame: str) -> Solver:
    """Return the damped loop of Pinocchio's examples, with steps within limits and restarts."""
    import pinocchio as pin
    twin = pin.buildModelFromXML(to_urdf(model))
    data, at = twin.createData(), twin.getFrameId(frame)

    def solve(pose: Array, rng: np.random.Generator) -> Array:
        goal = pin.SE3(pose)
        q = pin.neutral(twin)
        for attempt in range(RESTARTS):
            q = pin.neutral(twin) if attempt == 0 else pin.randomConfiguration(twin)
            for _ in range(STEPS):
                pin.framesForwardKinematics(twin, data, q)
                error = pin.log6(data.oMf[at].actInv(goal))
                if np.linalg.norm(error.linear) < LENGTH / 10 and np.linalg.norm(
                        error.angular) < ANGLE / 10:
                    return np.asarray(q)
                rows = pin.computeFrameJacobian(twin, data, q, at, pin.LOCAL)
                rows = pin.Jlog6(data.oMf[at].actInv(goal).inverse()) @ rows
                v = rows.T @ np.linalg.solve(rows @ rows.T + 1e-6 * np.eye(6), error.vector)
                q = np.clip(pin.integrate(twin, q, v), twin.lowerPositionLimit,
                            twin.upperPositionLimit)
        return np.asarray(q)
    return solve


def of_pink(model: Model, frame: str) -> Solver:
    """Return pink's differential inverse kinematics, repeated until the pose is reached."""
    import pink
    from pink.tasks import FrameTask
    import pinocchio as pin
    twin = pin.buildModelFromXML(to_urdf(model))
    data = twin.createData()
    task = FrameTask(frame, position_cost=1.0, orientation_cost=1.0)

    def solve(pose: Array, rng: np.random.Generator) -> Array:
        task.set_target(pin.SE3(pose))
        for attempt in range(RESTARTS):
            q = pin.neutral(twin) if attempt == 0 else pin.randomConfiguration(twin)
            robot = pink.Configuration(twin, data, q)
            for _ in range(STEPS):
                error = task.compute_error(robot)
                if np.linalg.norm(error[:3]) < LENGTH / 10 and np.linalg.norm(
                        error[3:]) < ANGLE / 10:
                    return np.asarray(robot.q)
                try:
                    v = pink.solve_ik(robot, [task], DT, solver='quadprog', damping=1e-9,
                                      limits=[robot.model.configuration_limit])
                except Exception:  # no solution: the next start
                    break
                robot.integrate_inplace(v, DT)
        return np.asarray(robot.q)
    return solve


def of_mink(model: Model, frame: str) -> Solver:
    """Return mink's differential inverse kinematics, repeated until the pose is reached."""
    import mink
    import mujoco
    head, mark, rest = to_urdf(model).partition('<link')
    twin = mujoco.MjModel.from_xml_string(
        head + '<mujoco><compiler fusestatic="false" discardvisual="true" boundmass="1e-6" '
        'balanceinertia="true" boundinertia="1e-6"/></mujoco>' + mark + rest)
    robot = mink.Configuration(twin)
    task = mink.FrameTask(frame, 'body', position_cost=1.0, orientation_cost=1.0)
    limits = [mink.ConfigurationLimit(twin)]

    def solve(pose: Array, rng: np.random.Generator) -> Array:
        task.set_target(mink.SE3.from_matrix(pose))
        for attempt in range(RESTARTS):
            robot.update(np.zeros(model.nq) if attempt == 0 else model.random(rng))
            for _ in range(STEPS):
                error = task.compute_error(robot)
                if np.linalg.norm(error[:3]) < LENGTH / 10 and np.linalg.norm(
                        error[3:]) < ANGLE / 10:
                    return np.array(robot.q)
                try:
                    v = mink.solve_ik(robot, [task], DT, 'daqp', damping=1e-9, limits=limits)
                except Exception:  # no solution: the next start
                    break
                robot.integrate_inplace(v, DT)
        return np.array(robot.q)
    return solve


def of_ikpy(model: Model, frame: str) -> Solver:
    """Return ikpy's bounded least squares."""
    from ikpy.chain import Chain
    text, path = to_urdf(model), list[str]()
    tree = ElementTree.fromstring(text)
    above = {str(child.get('link')): joint for joint in tree.iter('joint')
             for child in joint.iter('child')}
    link = frame
    while link in above:
        path = [str(above[link].get('name')), link, *path]
        link = next(str(parent.get('link')) for parent in above[link].iter('parent'))
    with tempfile.NamedTemporaryFile('w', suffix='.urdf') as file:
        file.write(text)
        file.flush()
        links = Chain.from_urdf_file(file.name, base_elements=[link, *path]).links
    links = links[:1 + len(path) // 2]  # ikpy goes on behind the frame
    active = [link.joint_type in ('revolute', 'prismatic') for link in links]
    chain = Chain(links, active_links_mask=active)
    start = np.zeros(len(active))
    start[active] = 0.5 * (model.limits.lower + model.limits.upper)  # zero may be beyond them

    def solve(pose: Array, rng: np.random.Generator) -> Array:
        found = chain.inverse_kinematics_frame(
            pose, initial_position=start, orientation_mode='all')
        return np.array([x for x, moves in zip(found, active) if moves])
    return solve


def measured(solve: Solver, model: Model, frame: str, poses: Array) -> dict[str, Any]:
    """Return the part of poses reached, that within limits, and times of the processor, ms."""
    frames, rng = Dynamics(model).frames, np.random.default_rng(1)
    solve(poses[0], rng)  # what is compiled is compiled here
    reached, within, times, failures = 0, 0, [], Counter[str]()
    for pose in poses:
        q: Array = np.full(model.nq, np.nan)
        begin = time.process_time()
        try:
            q = solve(pose, rng)
        except Exception as error:  # of a peer: its result, and said
            failures[f'{type(error).__name__}: {error}'] += 1
        times.append(1e3 * (time.process_time() - begin))
        limits = bool(((q >= model.limits.lower - 1e-6) & (q <= model.limits.upper + 1e-6)).all())
        within += limits
        if limits:
            at = frames.pose(q, frame)
            turned = np.linalg.norm(so3.log(pose[:3, :3].T @ at[:3, :3]))
            reached += bool(turned < ANGLE and np.linalg.norm(at[:3, 3] - pose[:3, 3]) < LENGTH)
    return {'reached': reached / len(poses), 'within limits': within / len(poses),
            'median': float(np.median(times)), 'mean': float(np.mean(times)),
            'p99': float(np.percentile(times, 99)), 'poses': len(poses), 'failures': failures,
            'load': os.getloadavg()[0]}


PEERS: dict[str, Callable[[Model, str], Solver]] = {
    'liedyn_ros': ours, 'TRAC-IK': partial(of_trac_ik, seconds=0.1),
    'pinocchio, loop': of_pinocchio, 'pink': of_pink, 'mink': of_mink, 'ikpy': of_ikpy}


def measure(part: tuple[str, str, int, list[list[str]]]) -> dict[str, Any]:
    """Return the figures of a peer with a robot, or why it takes none of its poses."""
    warnings.simplefilter('ignore')
    robot, peer, count, also = part
    model, frame = next(each[1:] for each in machines(also) if each[0] == robot)
    rng, frames = np.random.default_rng(0), Dynamics(model).frames
    poses = np.array([frames.pose(model.random(rng), frame) for _ in range(count)])
    try:
        return measured(PEERS[peer](model, frame), model, frame, poses)
    except Exception as error:  # of a peer: its result, and said
        return {'failed': f'{type(error).__name__}: {error}'}


def main() -> None:
    """Measure and print a table; a run that was stopped goes on behind the last peer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--poses', type=int, default=1000)
    parser.add_argument('--also', nargs=3, action='append', default=[],
                        metavar=('NAME', 'FILE', 'FRAME'), help='another arm')
    options = parser.parse_args()
    parts = [(robot, peer, options.poses, options.also)
             for robot in (*ROBOTS, *(each[0] for each in options.also)) for peer in PEERS]
    figures: dict[str, Any] = {}
    for k, found in resumed('inverse_kinematics', measure, parts, 1):
        robot, peer, *_ = parts[k]
        figures.setdefault(robot, {})[peer] = found
        print(f'{robot:14} {peer:16}', found.get('failed') or (
            f'reached {100 * found["reached"]:5.1f} %  limits {100 * found["within limits"]:5.1f} '
            f'%  median {found["median"]:8.3f} ms  mean {found["mean"]:8.3f} ms  p99 '
            f'{found["p99"]:8.3f} ms  {found["failures"] or ""}'), flush=True)
    print(keep('inverse_kinematics', figures))


if __name__ == '__main__':
    main()
