# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Fly the aerial manipulator by a linear-quadratic regulator beside the controller of the demo.

A and B along the flight come from the service of a dynamics_server, which this program starts for
itself. The vehicle is 5 % lighter than server and controllers know. The argument is the duration
of the flight, 0.05 s or more.
"""

import sys

from liedyn_interfaces.msg import TreeState
from liedyn_interfaces.srv import Linearize
import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter

from scipy.linalg import solve_discrete_are

from liedyn_ros.aerial import AerialManipulator, FlightSimulation, Reference
from liedyn_ros.common.resources import config_file
from liedyn_ros.control import Feedback, Gains, tracking_error
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.linearization import LinearModel
from liedyn_ros.model import load_model, scale_masses
from liedyn_ros.nodes.dynamics.server import DynamicsServerNode
from liedyn_ros.ros.messages.tree_messages import TreeMessages

FILE, STEP = 'aerial_manipulator.yaml', 0.05  # s
DURATION = float(sys.argv[1]) if len(sys.argv) > 1 else 6.0  # s
PERIOD = 0.004  # s, of control
LIMIT = 400.0  # s, for an answer; the server itself gives a request up before
START = min(2.0, 0.5 * DURATION)  # s, whose errors do not count
model, reference = load_model(config_file(FILE)), Reference()
known = Dynamics(model)
machine = AerialManipulator(scale_masses(model, 1.0 / 1.05))


class Regulator:
    """
    Forces that track a trajectory at the least cost, by gains of each step, with an integral.

    The cost is the integral of q_i |s|^2 + q_p |eta|^2 + q_v |dv|^2 + |M^-1 dtau|^2: eta is the
    displacement from the reference, s its integral, dv the change of the velocity. With the poles
    p of Gains, q_i = p^6, q_p = 3 p^4, q_v = 3 p^2: (s + p)^3 where gravity couples nothing.
    """

    def __init__(self, models, gains=Gains()):
        """Solve the Riccati equation backwards along the steps of discrete models."""
        n = model.nv
        p = np.array([gains.rotation] * 3 + [gains.position] * 3 + [gains.joints] * (n - 6))
        self._limit, self._integral = gains.integral_limit / p**3, np.zeros(n)
        states = STEP * np.diag(np.concatenate((p**6, 3.0 * p**4, 3.0 * p**2)))
        a, b = np.zeros((len(models.A), 3 * n, 3 * n)), np.zeros((len(models.A), 3 * n, n))
        a[:, :n, :n], a[:, :n, n:2 * n] = np.eye(n), STEP * np.eye(n)  # s' = s + dt eta
        a[:, n:, n:], b[:, n:] = models.A, models.B
        mobility = b[:, 2 * n:] / STEP  # M^-1, of the step
        forces = STEP * np.swapaxes(mobility, 1, 2) @ mobility
        cost = solve_discrete_are(a[-1], b[-1], states, forces[-1])
        self._gains = np.empty((len(a), n, 3 * n))
        for k in range(len(a) - 1, -1, -1):
            pushed = b[k].T @ cost
            self._gains[k] = np.linalg.solve(forces[k] + pushed @ b[k], pushed @ a[k])
            cost = states + a[k].T @ cost @ (a[k] - b[k] @ self._gains[k])
            cost = 0.5 * (cost + cost.T)

    def forces(self, motion, at):
        """Return the correction of the reference's forces in the state of a simulation."""
        eta, k = model.difference(motion.q, at.q), int(at.time / STEP + 1e-9)
        self._integral = np.clip(self._integral + PERIOD * eta, -self._limit, self._limit)
        return -self._gains[min(k, len(self._gains) - 1)] @ np.concatenate(
            (self._integral, eta, at.v - motion.v))


def ask_models():
    """Return A and B of every step of the reference, as dynamics_server computes them."""
    messages, request = TreeMessages(model), Linearize.Request(step=STEP)
    order = messages.names.order(list(messages.names.others))
    for k in range(round(DURATION / STEP)):
        motion, state = reference.at(k * STEP), TreeState()
        messages.to_state(motion.q, motion.v, state)
        request.states.append(state)
        forces = known.inverse(motion.q, motion.v, motion.a)
        request.efforts.append(messages.to_effort(forces, order))
    rclpy.init()
    server = DynamicsServerNode(parameter_overrides=[Parameter('model_file', value=FILE)])
    client = Node('regulator')
    executor = rclpy.executors.SingleThreadedExecutor()
    for node in (server, client):
        executor.add_node(node)
    while server.starting:
        executor.spin_once(timeout_sec=0.1)
    service, answer = client.create_client(Linearize, 'dynamics_server/linearize'), None
    if service.wait_for_service(LIMIT):
        future = service.call_async(request)
        executor.spin_until_future_complete(future, LIMIT)
        answer = future.result()
    executor.shutdown()
    for node in (client, server):
        node.destroy_node()
    rclpy.shutdown()
    if answer is None:
        raise SystemExit(f'expected an answer within {LIMIT:g} s, got none')
    if not answer.success:
        raise SystemExit(answer.message)
    n = model.nv
    return LinearModel(
        np.array([each.a_matrix for each in answer.models]).reshape(-1, 2 * n, 2 * n),
        np.array([each.b_matrix for each in answer.models]).reshape(-1, 2 * n, n))


def fly(forces):
    """Print the greatest errors of a flight after its start, under forces(motion, error, t)."""
    simulation, errors = FlightSimulation(machine, reference.at(0.0).q, dt=0.002), []
    for step in range(round(DURATION / simulation.dt)):
        if step % 2 == 0:
            motion = reference.at(simulation.time)
            error = tracking_error(model, motion, simulation.q, simulation.v)
            command = machine.command(forces(motion, error, simulation), simulation.q)
            simulation.command_rotors(command.rotors.speeds)
            simulation.command_torques(command.torques)
            errors.append(np.linalg.norm(error.error[:6].reshape(2, 3), axis=1))
        simulation.step()
    attitude, position = np.max(errors[round(START / PERIOD):], axis=0)
    return f'position error {1e3 * position:.3f} mm, attitude {np.degrees(attitude):.5f} degree'


regulator, feedback = Regulator(ask_models()), Feedback(model, Gains())
print('linear-quadratic regulator:', fly(lambda motion, error, at: (
    known.inverse(motion.q, motion.v, motion.a)
    + regulator.forces(motion, at))))
print('computed acceleration:', fly(lambda motion, error, at: known.inverse(
    at.q, at.v, feedback.acceleration(error, PERIOD))))
