# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Warnings of a node that controls where it gets no states."""

from liedyn_ros.ros.node.lifecycle import ManagedNode
from liedyn_ros.ros.streams.input_gate import InputGate


def tell_silence(node: ManagedNode, gate: InputGate, expected: str, refusal: str) -> None:
    """
    Log that a node which controls gets no states: an error once there were some.

    refusal: why the last state was refused since the last good one, or nothing.
    """
    gate.look()
    if not (node.active and gate.silent):
        return
    reason = gate.missing(expected)
    if refusal:
        reason += f': all states were refused, the last one: {refusal}'
    if gate.heard or refusal:
        node.complain(reason, 'silence')
    else:
        node.wait_for(reason, 'states')
