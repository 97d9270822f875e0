# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Spoils queries of the dynamics server in every way a caller might, and some that none would."""

from geometry_msgs.msg import Quaternion
from liedyn_interfaces.msg import BodyWrench, TreeAcceleration, TreeEffort
from rclpy.serialization import deserialize_message, serialize_message

NUMBERS = (float('nan'), float('inf'), float('-inf'), 0.0, -0.0, 5e-324, 1e-200, 1e15, -1e100,
           1e155, 1e200, -1e308, 1.7976931348623157e308)
NAMES = ('', ' ', 'tail', 'base', 'base_joint', 'base_joint/wx', 'left_elbow', 'θ', 'x' * 5000,
         '/', '{}', '%s')
LARGEST = 40  # entries; from 32 on a query is refused, and hundreds take the time of all others


class Fuzz:
    """Seeded; every method changes a message in place."""

    def __init__(self, rng):
        """Take the source of chance."""
        self._rng = rng

    def query(self, query):
        """Spoil a query once to four times."""
        for _ in range(self._rng.integers(1, 5)):
            self._one_of(self.state_of, self.rates, self.orders, self.external, self.prescribed,
                         self.numbers, self.numbers)(query)
        return query

    def state_of(self, query):
        """Spoil the state of a query."""
        self.state(query.state)

    def state(self, state):
        """Spoil a state."""
        self._one_of(self.names, self.frame, self.quaternion, self.sizes, self.joint)(state)
        return state

    def names(self, state):
        """Drop, repeat, replace or shuffle joint names."""
        names, i = list(state.joint_names), self._rng.integers(0, 100)
        if self._rng.random() < 0.3 or not names:
            names = names * int(self._rng.integers(0, 4))
        elif self._rng.random() < 0.5:
            names[i % len(names)] = self._one_of(*NAMES)
        else:
            names.pop(i % len(names))
        state.joint_names = [str(name) for name in self._rng.permutation(names)]

    def frame(self, state):
        """Replace the frame of the twist."""
        state.child_frame_id = self._one_of(*NAMES)

    def quaternion(self, state):
        """Replace the orientation."""
        x, y, z, w = (self._number() for _ in range(4))
        state.base_pose.orientation = Quaternion(x=x, y=y, z=z, w=w)

    def sizes(self, state):
        """Change how many numbers there are."""
        name, size = self._one_of('positions', 'velocities'), int(self._rng.integers(0, 40))
        setattr(state, name, [self._number() for _ in range(size)])

    def joint(self, state):
        """Replace a number of the state."""
        values = self._one_of(state.positions, state.velocities)
        if values:
            values[self._rng.integers(0, len(values))] = self._number()

    def rates(self, query):
        """Change how many accelerations or efforts there are, or how many numbers in one."""
        name, kind = self._one_of(('accelerations', TreeAcceleration), ('efforts', TreeEffort))
        entries = getattr(query, name)
        if entries and self._rng.random() < 0.5:
            size = int(self._rng.integers(0, 40))
            entries[0].joints = [self._number() for _ in range(size)]
        else:
            setattr(query, name, [kind() for _ in range(self._rng.integers(0, 4))])

    def orders(self, query):
        """Ask for derivatives, of one convention or another."""
        entries = self._one_of(1, 2, 3, 5, 9, 31, 32)
        query.accelerations = repeated(query.accelerations, entries)[:LARGEST]
        query.efforts = repeated(query.efforts, entries)[:LARGEST]
        query.base_twist_frame = int(self._one_of(0, 1, 1, 2))

    def external(self, query):
        """Add wrenches."""
        for _ in range(self._rng.integers(1, 20)):
            wrench = BodyWrench(body=self._one_of(*NAMES, 'body_0', 'body_3', 'left_forearm'),
                                order=int(self._rng.random() < 0.3))
            wrench.wrench.force.x, wrench.wrench.torque.z = self._number(), self._number()
            query.external.append(wrench)

    def prescribed(self, query):
        """Add names to what is prescribed."""
        query.prescribed = [*query.prescribed, self._one_of(*NAMES, *query.state.joint_names)]

    def numbers(self, query):
        """Replace a number of the base or of the joints."""
        parts = [query.state.base_pose.position, query.state.base_twist.angular,
                 query.state.base_twist.linear]
        parts += [entry.base.linear for entry in query.accelerations]
        parts += [entry.base.torque for entry in query.efforts]
        setattr(self._one_of(*parts), self._one_of('x', 'y', 'z'), self._number())
        for entry in (*query.accelerations, *query.efforts):
            if entry.joints and self._rng.random() < 0.3:
                entry.joints[self._rng.integers(0, len(entry.joints))] = self._number()

    def _number(self):
        return self._one_of(*NUMBERS) if self._rng.random() < 0.3 else float(self._rng.normal())

    def _one_of(self, *choices):
        return choices[self._rng.integers(0, len(choices))]


def repeated(entries, times):
    """Return copies of messages, each so many times; copy.deepcopy takes ten times as long."""
    return [deserialize_message(serialized, type(entry)) for entry in entries
            for serialized in [serialize_message(entry)] * times]
