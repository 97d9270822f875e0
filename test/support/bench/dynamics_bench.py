# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The dynamics server under test: a model, queries put together by hand, and the answers."""

from functools import lru_cache
from pathlib import Path

from geometry_msgs.msg import Accel, Point, Pose, Quaternion, Twist, Vector3, Wrench
from liedyn_interfaces.msg import (
    BodyWrench, DynamicsQuery, TreeAcceleration, TreeEffort, TreeState)
from liedyn_interfaces.srv import Dynamics as DynamicsService
import numpy as np
from support.machines.model_variants import write_yaml
from support.machines.random_models import random_model
from transforms3d.quaternions import mat2quat

from liedyn_ros.common.resources import config_file
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.model import load_model
from liedyn_ros.nodes.dynamics.server import DynamicsServerNode

SERVER = 'dynamics_server'
ALGORITHMS = ('inverse_dynamics', 'forward_dynamics', 'hybrid_dynamics')
AERIAL = config_file('aerial_manipulator.yaml')


def random_file(folder, seed, floating):
    """Return a file of a tree with a joint of each type."""
    return write_yaml(random_model(seed, 10, floating), folder / f'random_{seed}.yaml')


class Motion:
    """
    A model in a random state of motion, and that motion as messages.

    The joints are listed in a random order, but always the same one. With an order above 0, a, tau
    and wrenches have a row for each order.
    """

    def __init__(self, path, seed=0, dissipation=True, order=0):
        """Load the model and draw the state."""
        rng = np.random.default_rng(seed)
        self.model = loaded(path, Path(path).read_bytes())
        self.dynamics = Dynamics(self.model, dissipation=dissipation)
        moving = [j for j in self.model.joint_list if j.coordinate_names]
        on_the_ground = self.model.link_table.parent[0] < 0
        self.base = moving.pop(0) if moving[0].type_name == 'free' and on_the_ground else None
        self.names = [moving[i].name for i in rng.permutation(len(moving))]
        nv, self.rows = self.model.nv, (order + 1,) if order else ()
        self.q, self.v = self.model.random(rng), rng.normal(size=nv)
        self.a, self.tau = rng.normal(size=(2, *self.rows, nv))
        self.wrenches = rng.normal(size=(*self.rows, len(self.model.bodies), 6))

    def state(self):
        """Return the state as a message."""
        message = TreeState(
            joint_names=list(self.names), velocities=self.listed(self.v),
            positions=np.concatenate(
                [self.q[self.model.joint(n).q_slice] for n in self.names]).tolist())
        if self.base is not None:
            message.child_frame_id = self.base.child
            message.base_pose = pose_of(self.base_pose())
            message.base_twist = Twist(angular=vector(self.v[:3]), linear=vector(self.v[3:6]))
        return message

    def base_pose(self):
        """Return the pose (4, 4) of the base in the world."""
        return self.dynamics.kinematics(self.q).poses[self.model.body_index(self.base.child)]

    def query(self, accelerations=True, efforts=False, external=False, **fields):
        """Return a query that gives some of the motion, or the caller's external wrenches."""
        query = DynamicsQuery(state=self.state(), **fields)
        if accelerations:
            query.accelerations = [TreeAcceleration(
                base=self._base(Accel, a, 'angular', 'linear'), joints=self.listed(a))
                for a in np.atleast_2d(self.a)]
        if efforts:
            query.efforts = [TreeEffort(
                base=self._base(Wrench, tau, 'torque', 'force'), joints=self.listed(tau))
                for tau in np.atleast_2d(self.tau)]
        if external is not True:
            query.external = external or []
        else:
            query.external = [
                BodyWrench(body=body, order=order,
                           wrench=Wrench(torque=vector(w[:3]), force=vector(w[3:])))
                for order, wrenches in enumerate(np.array(self.wrenches, ndmin=3))
                for body, w in zip(self.model.bodies, wrenches)]
        return query

    def listed(self, rates):
        """Return the entries of the listed joints of a vector (nv,)."""
        return np.concatenate([rates[self.model.joint(n).v_slice] for n in self.names]).tolist()

    def rates(self, message, first, second):
        """Return the vector (nv,) of an acceleration or effort message."""
        result, at = np.full(self.model.nv, np.nan), 0
        for name in self.names:
            place = self.model.joint(name).v_slice
            size = place.stop - place.start
            result[place] = message.joints[at:at + size]
            at += size
        assert at == len(message.joints)
        if self.base is not None:
            result[:6] = [getattr(getattr(message.base, part), axis)
                          for part in (first, second) for axis in 'xyz']
        return result

    def found(self, answer):
        """Return a and tau of an answer that must be a success."""
        assert (answer.success, answer.message) == (True, '')
        a = [self.rates(entry, 'angular', 'linear') for entry in answer.accelerations]
        tau = [self.rates(entry, 'torque', 'force') for entry in answer.efforts]
        return np.reshape(a, self.a.shape), np.reshape(tau, self.tau.shape)

    def _base(self, message_type, rates, first, second):
        if self.base is None:
            return message_type()
        return message_type(**{first: vector(rates[:3]), second: vector(rates[3:6])})


class ServerBench:
    """A dynamics server and its partner, who asks."""

    def __init__(self, bench, **parameters):
        """Start the server and wait until it has started, or has failed to."""
        self.bench = bench
        self.node = bench.start(DynamicsServerNode, **parameters)

    def ask(self, algorithm, query):
        """Return the answer of a service."""
        return self.bench.call(DynamicsService, f'{SERVER}/{algorithm}', query=query).answer

    def call(self, service_type, name, **request):
        """Return the response of one of the other services."""
        return self.bench.call(service_type, f'{SERVER}/{name}', **request)

    def configure(self, **values):
        """Return the result of setting one parameter, or the last of several."""
        return self.bench.set_parameters(self.node, **values)[-1]


@lru_cache(maxsize=16)
def loaded(path, _content):
    """Return the model of a file with a content; a test makes dozens of motions of one file."""
    return load_model(path)


def pose_of(matrix):
    """Return a pose (4, 4) as a message, by transforms3d and not by the code under test."""
    w, x, y, z = mat2quat(matrix[:3, :3])
    px, py, pz = matrix[:3, 3].tolist()
    return Pose(position=Point(x=px, y=py, z=pz), orientation=Quaternion(x=x, y=y, z=z, w=w))


def vector(values):
    """Return three numbers as a message."""
    x, y, z = (float(value) for value in values)
    return Vector3(x=x, y=y, z=z)
