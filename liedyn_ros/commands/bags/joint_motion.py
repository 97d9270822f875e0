# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Motions, torques and completed joints of a model, from the joint states of a bag, in blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.interpolate import make_interp_spline

from liedyn_ros.common.checks import Array
from liedyn_ros.common.errors import LiedynError, LimitError
from liedyn_ros.common.name_order import NameOrder
from liedyn_ros.dynamics import Dynamics
from liedyn_ros.dynamics.constrained import (
    assemble, complete_acceleration, ConstrainedDynamics, LoopTracker)
from liedyn_ros.identification import Motion, Recording
from liedyn_ros.identification.motion.motion import END_PERIODS, motion_of, SPLINE_DEGREE
from liedyn_ros.identification.motion.spectrum import derivative_noise, MAX_CUTOFF
from liedyn_ros.model import JOINT_TYPES, Model
from liedyn_ros.recordings import JointSamples
from liedyn_ros.recordings.bags import AnyBag
from liedyn_ros.recordings.bags.joint_state_layout import JointStateMessage
from liedyn_ros.recordings.bags.joint_states import joint_state_messages, samples_of_messages
from liedyn_ros.recordings.model_samples import measured_joints, model_samples
from liedyn_ros.recordings.samples import Stamps

BLOCK_MESSAGES = 25_000  # messages that are smoothed together
OVERLAP = 4_000  # on both sides of a block, where the filter swings in
# Steps from a row, at which a message has it; between rows it is half a step
MAX_ROW_DISTANCE = 0.75
MAX_TORQUE_ORDER = 4  # order of the time derivatives of torques


class Block(NamedTuple):
    """
    Samples of all joints of one coordinate, one a row.

    stamps (n,) ns; columns by name, such as 'elbow.position [rad]', (n,) each. without: numbers
    of messages without a row, by why.
    """

    stamps: Stamps
    columns: dict[str, Array]
    remarks: tuple[str, ...]
    without: Mapping[str, int]


def processed_motion(bag: AnyBag, model: Model, *, topic: str | None = None, arrival: bool = False,
                     order: int = 1, cutoff: float | None = None, block: int = BLOCK_MESSAGES,
                     overlap: int = OVERLAP, start: Array | None = None) -> Iterator[Block]:
    """
    Yield smooth positions, velocities, accelerations, and the torques that they need.

    The torques have time derivatives to an order. Of a machine with closed loops the joints that
    were not measured follow, and the torques are those of its actuators. cutoff (Hz) is that of
    motion_of. Messages are held in blocks, which overlap; at their seams the filter is that of
    the block. start is the configuration (nq,) that a looped machine is assembled near. Raises
    the errors of joint_samples and motion_of.
    """
    if not 0 <= order <= MAX_TORQUE_ORDER:
        raise LimitError(f'order: expected 0 to {MAX_TORQUE_ORDER}, got {order}')
    names = measured_joints(model)
    seam = 0
    for first, last, messages in _blocks(bag, topic, block, overlap):
        samples = samples_of_messages(bag, messages, names, topic, arrival=arrival)
        recording = _recording(model, samples, start)
        least = 0.0 if first and last else END_PERIODS * recording.rate / (overlap - 1)
        motion = motion_of(model, recording, cutoff, least=least)
        stamps = samples.start_ns + np.round(1e9 * motion.time).astype(np.int64)
        begin = 0 if first else int(np.searchsorted(stamps, seam))
        end, since = len(stamps), seam
        if not last:
            seam = _stamp(messages[-overlap], arrival)
            end = int(np.searchsorted(stamps, seam))
        start = motion.q[end - 1] if model.closures or model.couplings else None
        left = [f'{what} {seconds:.3g} s left out, where the filter swings in'
                for what, at_end, seconds in (
                    ('the first', first, motion.time[0] - samples.time[0]),
                    ('the last', last, samples.time[-1] - motion.time[-1])) if at_end]
        come = np.array([_stamp(each, arrival) for each in messages])
        own = come[(first | (come >= since)) & (last | (come < seam))]
        yield _with_torques(
            model, motion, stamps, slice(begin, end), order, (*samples.remarks, *motion.remarks,
                                                              *left)
        )._replace(without=_without_rows(own, stamps, motion.rate, first, last))


def processed_loops(messages: Iterable[JointStateMessage], model: Model, tracker: LoopTracker
                    ) -> Iterator[tuple[int, Array | None, Array | None, str]]:
    """
    Yield stamp (ns), q (nq,), v (nv,) or None, and why there is none, of each message.

    All joints of a machine with closed loops follow from the measured ones, one message after the
    other and without smoothing, as loop_state_publisher completes them.
    """
    order = NameOrder('name', tracker.measured, ignore_others=True)
    at = [model.joint(name).qi for name in tracker.measured]
    for each in messages:
        try:
            places = order.of(each.names)
            positions, rates = each.position[places], each.velocity
            state = tracker.update(positions, rates[places] if len(rates) else None, ahead=False)
        except (LiedynError, IndexError) as error:
            yield each.stamp_ns, None, None, str(error)
            continue
        q = state.q.copy()
        turns = 2.0 * np.pi * np.round((positions - q[at]) / (2.0 * np.pi))
        q[at] = q[at] + turns if state.redundant else positions
        yield each.stamp_ns, q, state.v, ''


def single_joints(model: Model) -> tuple[tuple[str, int, int, bool], ...]:
    """Return name, places in q and in v, and whether it slides, of joints of one coordinate."""
    return tuple((joint.name, joint.qi, joint.vi, joint.type_name == 'prismatic')
                 for joint in model.joint_list if JOINT_TYPES[joint.type_name].nv == 1)


def motion_columns(model: Model, order: int) -> tuple[str, ...]:
    """Return the names of the columns of processed_motion, with units."""
    names: list[str] = []
    for name, _, _, slides in single_joints(model):
        length, force = ('m', 'N') if slides else ('rad', 'N m')
        names += [f'{name}.position [{length}]', f'{name}.velocity [{length}/s]',
                  f'{name}.acceleration [{length}/s^2]', f'{name}.torque [{force}]',
                  *(f'{name}.torque.derivative_{k} [{force}/s{"" if k == 1 else f"^{k}"}]'
                    for k in range(1, order + 1))]
    return tuple(names)


def _blocks(bag: AnyBag, topic: str | None, size: int, overlap: int
            ) -> Iterator[tuple[bool, bool, list[JointStateMessage]]]:
    """Yield whether it is the first, whether the last, and the messages of each block."""
    source = joint_state_messages(bag, topic)
    held, first = list(islice(source, size)), True
    while held:
        more = list(islice(source, size - 2 * overlap))
        if len(more) < 2 * overlap:  # the last ones are too few for a block of their own
            yield first, True, held + more
            return
        yield first, False, held
        held, first = held[-2 * overlap:] + more, False


def _stamp(message: JointStateMessage, arrival: bool) -> int:
    return message.received_ns if arrival else message.stamp_ns


def _without_rows(come: Stamps, stamps: Stamps, rate: float, first: bool, last: bool
                  ) -> dict[str, int]:
    """Return how many messages (n,) ns have no row beside them: at the ends, and elsewhere."""
    outside = (first & (come < stamps[0])) | (last & (come > stamps[-1]))
    after = np.searchsorted(stamps, come).clip(1, len(stamps) - 1)
    off = np.minimum(np.abs(come - stamps[after - 1]), np.abs(come - stamps[after]))
    found = {'at the ends': int(outside.sum()),
             'left out': int((~outside & (off > 1e9 * MAX_ROW_DISTANCE / rate)).sum())}
    return {why: count for why, count in found.items() if count}


def _recording(model: Model, samples: JointSamples, start: Array | None) -> Recording:
    found = model_samples(model, samples, named=False)
    q, v = found.q, found.v
    unknown = np.isnan(q[0])
    if unknown.any():
        held = {name: float(q[0, at]) for name, at, _, _ in single_joints(model)
                if not unknown[at]}
        at = assemble(ConstrainedDynamics(model), start, held=held)
        q[:, unknown], v = at[unknown], None
    return Recording(model, found.time, q, np.zeros((len(q), model.nv)), v)


def _with_torques(model: Model, motion: Motion, stamps: Stamps, chosen: slice, order: int,
                  remarks: tuple[str, ...]) -> Block:
    """Return the rows of a motion with the torques that it needs."""
    q, v, a = motion.q[chosen], motion.v[chosen], motion.a[chosen]
    whole = np.empty((len(motion.a), order + 1, model.nv))
    for piece in motion.pieces:
        steps = np.arange(piece.stop - piece.start) / motion.rate
        spline = make_interp_spline(steps, motion.a[piece], k=SPLINE_DEGREE)
        for k in range(order + 1):
            whole[piece, k] = spline(steps, k) if k else motion.a[piece]
    rates = whole[chosen]
    if model.closures or model.couplings:
        dynamics = ConstrainedDynamics(model)
        full = np.array([complete_acceleration(dynamics, *each) for each in zip(q, v, rates)])
        tau = dynamics.inverse.batch(q, v, full).tau
        tau = tau.reshape(len(q), order + 1, model.nv)
    elif order:
        tau = Dynamics(model).inverse.time_derivatives_batch(q, v, rates)
    else:
        tau = Dynamics(model).inverse.batch(q, v, a)[:, None]
    names, columns = motion_columns(model, order), list[Array]()
    for _, at_q, at_v, _ in single_joints(model):
        columns += [q[:, at_q], v[:, at_v], a[:, at_v], *tau[:, :, at_v].T]
    cutoff = np.minimum(motion.cutoff, MAX_CUTOFF * motion.rate)
    white = motion.noise[0] / np.maximum(derivative_noise(1.0, cutoff, motion.rate, 0), 1e-300)
    noise = [float(np.max(derivative_noise(white, cutoff, motion.rate, 2 + k), initial=0.0))
             for k in range(order + 1)]
    notes = (f'filter without delay, cut-off {np.min(cutoff):.4g} to {np.max(cutoff):.4g} Hz; '
             f'encoder noise leaves up to {noise[0]:.3g} in accelerations' + ''.join(
                f', {each:.3g} in their derivative {k}' for k, each in enumerate(noise[1:], 1)))
    return Block(stamps[chosen], dict(zip(names, columns)), (*remarks, notes), {})
