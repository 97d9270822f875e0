# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""
Round trips of the dynamics server's services, and the share of the handler in them.

The server runs in its own process, with an empty std_srvs/Trigger beside it: the echo is what any
service costs here. All are asked in turn, one request at a time, about the aerial manipulator.
The first columns are the client's round trip at the median and the 99th percentile. The same
follow for the handler in the server, which reads the request, computes the dynamics and writes the
response. The last are the handler's share of the round trip, and the excess of the round trip over
the echo's (us). The handler is the part in this package. The rest above the echo is rclpy's
conversion of larger messages, in client and server.

The client spins an executor that keeps its node, until the future is done. A client that calls
rclpy.spin_until_future_complete adds its node to the global executor and removes it again every
time. The last row, the echo called in that way, shows the cost.
"""

from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Thread
from time import perf_counter
from typing import Any

from liedyn_interfaces.msg import DynamicsQuery, TreeState
from liedyn_interfaces.srv import DescribeModel, Dynamics, EquationsOfMotion
import numpy as np
import rclpy
from rclpy.client import Client
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.utilities import get_rmw_implementation_identifier
from std_srvs.srv import Trigger

from benchmarks.record import keep
from liedyn_ros.common.resources import config_file
from liedyn_ros.model import load_yaml
from liedyn_ros.nodes.dynamics.server import DynamicsServerNode
from liedyn_ros.ros.messages.tree_messages import TreeMessages

MACHINE = 'aerial_manipulator.yaml'
SERVER, ECHO, GLOBAL = 'dynamics_server', 'echo', 'echo, global executor'
WARM, ROUNDS = 200, 3000
TIMEOUT = 10.0  # s
START_TIMEOUT = 600.0  # s; the first start compiles kernels
Row = dict[str, Any]


def serve(pipe: Connection) -> None:
    """Run the server until the pipe says so, then send the handlers' times (s)."""
    rclpy.init()
    node = DynamicsServerNode(parameter_overrides=[Parameter('model_file', value=MACHINE)])
    node.create_service(Trigger, f'~/{ECHO}', echo)
    times: dict[str, list[float]] = {}
    for service in node.services:
        service.callback = timed(
            service.callback, times.setdefault(service.srv_name.split('/')[-1], []))

    def wait() -> None:
        with suppress(EOFError):  # of a client that has died
            pipe.recv()
        rclpy.shutdown()

    Thread(target=wait, daemon=True).start()
    while not node.active:
        rclpy.spin_once(node)
    pipe.send('ready')
    with suppress(ExternalShutdownException):
        rclpy.spin(node)
    pipe.send(times)


def echo(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
    """Do nothing."""
    response.success = True
    return response


def timed(handler: Callable[[Any, Any], Any], times: list[float]) -> Callable[[Any, Any], Any]:
    """Return a handler that notes how long it takes."""
    def handle(request: Any, response: Any) -> Any:
        begin = perf_counter()
        result = handler(request, response)
        times.append(perf_counter() - begin)
        return result

    return handle


def requests() -> dict[str, tuple[Any, Any]]:
    """Return the type and a request of each service."""
    model = load_yaml(config_file(MACHINE))
    rng, tree = np.random.default_rng(0), TreeMessages(model)
    order, state = tree.names.order(tuple(tree.names.others)), TreeState()
    tree.to_state(model.random(rng), rng.normal(size=model.nv), state)
    a = [tree.to_acceleration(rng.normal(size=model.nv), order)]
    tau = [tree.to_effort(rng.normal(size=model.nv), order)]
    queries = {
        'inverse_dynamics': DynamicsQuery(state=state, accelerations=a),
        'forward_dynamics': DynamicsQuery(state=state, efforts=tau),
        'hybrid_dynamics': DynamicsQuery(
            state=state, accelerations=a, efforts=tau, prescribed=[tree.names.base_body])}
    return {ECHO: (Trigger, Trigger.Request()),
            **{name: (Dynamics, Dynamics.Request(query=query)) for name, query in queries.items()},
            'equations_of_motion': (EquationsOfMotion, EquationsOfMotion.Request(state=state)),
            'describe_model': (DescribeModel, DescribeModel.Request())}


def ask() -> dict[str, list[float]]:
    """Return the round trips (s) of each service, asked in turn."""
    node, other, executor = Node('client'), Node('other_client'), SingleThreadedExecutor()
    executor.add_node(node)
    calls = {name: (open_client(node, service, name), request)
             for name, (service, request) in requests().items()}
    echo = open_client(other, Trigger, ECHO)
    times: dict[str, list[float]] = {name: [] for name in (*calls, GLOBAL)}
    for _ in range(WARM + ROUNDS):
        for name, (client, request) in calls.items():
            begin = perf_counter()
            future = client.call_async(request)
            while not future.done() and perf_counter() < begin + TIMEOUT:
                executor.spin_once(TIMEOUT)
            times[name].append(perf_counter() - begin)
            check(name, future.result())
        begin = perf_counter()
        future = echo.call_async(Trigger.Request())
        rclpy.spin_until_future_complete(other, future, timeout_sec=TIMEOUT)
        times[GLOBAL].append(perf_counter() - begin)
        check(ECHO, future.result())
    return times


def open_client(node: Node, service: Any, name: str) -> Client:
    """Return a client of a service that is there."""
    client = node.create_client(service, f'{SERVER}/{name}')
    if not client.wait_for_service(TIMEOUT):
        raise SystemExit(f'{client.srv_name}: expected it within {TIMEOUT:g} s, got none')
    return client


def check(name: str, response: Any) -> None:
    """Stop where a request was lost or refused: its time means nothing."""
    outcome = getattr(response, 'answer', response)
    if outcome is None or not outcome.success:
        raise SystemExit(f'{name}: expected success, got {outcome}')


def rows_of(trips: dict[str, list[float]], handlers: dict[str, list[float]]) -> list[Row]:
    """Return the figures of each service (us)."""
    echo = np.median(trips[ECHO][WARM:])
    rows = []
    for name, taken in trips.items():
        trip = np.percentile(taken[WARM:], (50, 99))
        handler = np.percentile(handlers[name][WARM:], (50, 99)) if name != GLOBAL else None
        rows.append({
            'service': name, 'median': 1e6 * trip[0], 'p99': 1e6 * trip[1],
            'handler_median': None if handler is None else 1e6 * handler[0],
            'handler_p99': None if handler is None else 1e6 * handler[1],
            'share': None if handler is None else handler[0] / trip[0],
            'over_echo': 1e6 * (trip[0] - echo)})
    return rows


def receive(pipe: Connection) -> Any:
    """Return what the server sends; stop where it has ended or hangs."""
    if not pipe.poll(START_TIMEOUT):
        raise SystemExit(f'expected a word of the server within {START_TIMEOUT:g} s, got none')
    try:
        return pipe.recv()
    except EOFError:
        raise SystemExit('expected a word of the server, it has ended') from None


def main() -> None:
    """Measure every service, print the table and keep it as JSON."""
    spawn = get_context('spawn')
    pipe, other = spawn.Pipe()
    server = spawn.Process(target=serve, args=(other,), daemon=True)
    server.start()
    other.close()  # so that the server's end is noticed here
    try:
        receive(pipe)
        rclpy.init()
        trips = ask()
        rmw = get_rmw_implementation_identifier()
        rclpy.shutdown()
        pipe.send('stop')
        rows = rows_of(trips, receive(pipe))
    finally:
        server.kill()
    print(f'{"service":24}{"median":>8}{"p99":>8}{"handler":>9}{"p99":>8}{"share":>7}'
          f'{"over echo":>11}')
    for row in rows:
        print(_line(row))
    keep('services', {
        'unit': 'us', 'machine': MACHINE, 'rounds': ROUNDS, 'rmw': rmw, 'rows': rows})


def _line(row: Row) -> str:
    trip = f'{row["service"]:24}{row["median"]:8.1f}{row["p99"]:8.1f}'
    handler = f'{"":24}' if row['share'] is None else (
        f'{row["handler_median"]:9.1f}{row["handler_p99"]:8.1f}{100.0 * row["share"]:6.1f}%')
    return f'{trip}{handler}{row["over_echo"]:11.1f}'


if __name__ == '__main__':
    main()
