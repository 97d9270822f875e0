# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Follower of a reference that waits for its machine, and goes on by dead reckoning."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from enum import Enum
from itertools import pairwise
import math
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from liedyn_ros.common.checks import Array, as_array
from liedyn_ros.common.errors import LimitError
from liedyn_ros.control.feedback import (
    BASE_RATES, Feedback, Gains, ReferenceMotion, tracking_error, TrackingError)
from liedyn_ros.control.kernels.feedback import observe_push, PUSH, PUSH_VARIANCE, stray_coordinate
from liedyn_ros.control.path_time import PathTime
from liedyn_ros.lie import so3
from liedyn_ros.model import Model

MAX_COMMANDS = 256  # that are kept, for states that come late
DELAY_MARGIN = 0.33  # of the loop from state to force, over the fastest pole (8.10)


class Phase(Enum):
    """Phase of a machine under control; the value is its word in a status."""

    STANDING = 'stands, no command yet'
    FOLLOWING = 'follows the reference'
    WAITING = 'the reference waits for the machine'
    BOUNDED = 'forces at their limits'
    HOVERING = 'hovers by its own model, no answers'
    FEELING = 'comes to rest by its legs, no poses'
    BLIND = 'comes to rest by dead reckoning, no states'
    DESCENDING = 'descends by dead reckoning, no states'
    STOPPED = 'stopped, no states'


class DesiredMotion(NamedTuple):
    """
    Wanted motion of a machine at a time (s) in a state q (nq,), v (nv,).

    motion is the reference, error the state's from it. acceleration is (nv,), or (2, nv) with its
    derivative.
    """

    time: float
    q: Array
    v: Array
    motion: ReferenceMotion
    error: TrackingError
    acceleration: Array


Command = TypeVar('Command')


class Follower(ABC, Generic[Command]):
    """
    Follows a reference by feedback: at the reference's pace, slower where the machine lags.

    The pace falls to 0 where an error grows from half of the feedback's `tolerance` to all, so a
    reference never runs away. Before `begin` it stands at its start. `hold` is the silence up to
    which a command holds: half the delay that the loop bears, or two periods of the states.

    States older than `hold` are reckoned on to now, as was commanded since; beyond `oldest` they
    are refused. Without states it comes to rest by dead reckoning, and stops after `blind_time`. A
    command gives less than was wanted by `short`, an acceleration (nv,). What the
    machine does besides is `push`, the acceleration (nv,) of wind, loads and wrongly known masses:
    it is averaged over `hold`, and keeps its direction in the world while states are silent.
    All times are in s, those of states of one clock.

    >>> from liedyn_ros.stewart import PlatformController, SmoothTrajectory, StewartDynamics
    >>> motion = SmoothTrajectory(home, [0.0] * 6, [0.2] * 6, [0.0] * 6, 1.0)
    >>> PlatformController(StewartDynamics(geometry), motion).begun
    False
    """

    stop_time = 2.0  # s, the longest time of dead reckoning

    def __init__(self, model: Model, at: Callable[[float], ReferenceMotion], feedback: Feedback
                 ) -> None:
        """Take a model whose first joint is free, its motion at a time (s), and feedback."""
        self._model, self._at, self._feedback = model, at, feedback
        self.reset()

    def use(self, gains: Gains) -> None:
        """
        Change the gains and keep the integral.

        Args:
            gains: poles, rad/s.

        >>> from liedyn_ros.stewart import PlatformController, SmoothTrajectory, StewartDynamics
        >>> motion = SmoothTrajectory(home, [0.0] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> PlatformController(StewartDynamics(geometry), motion).use(Gains(position=4.0))
        """
        self._feedback.use(gains)
        self._pole = gains.position
        self._bears = 0.5 * DELAY_MARGIN / max(gains.rotation, gains.position, gains.joints)

    def reset(self) -> None:
        """
        Stand at the start of the reference again.

        >>> from liedyn_ros.stewart import PlatformController, SmoothTrajectory, StewartDynamics
        >>> motion = SmoothTrajectory(home, [0.0] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> PlatformController(StewartDynamics(geometry), motion).reset()
        """
        self._feedback.reset()
        self._path = PathTime()
        self._seen = self._moved = 0.0  # times of the last state, and of the reference
        self._stamp = 0.0  # s, of the last state before it was reckoned on
        self._intervals = 0.0, 0.0  # the last two between states, s
        # Time, q and v of the last state, and of those refused since: the last.
        self._trusted: list[tuple[float, Array, Array]] = []
        self._begun: float | None = None
        self.last: DesiredMotion | None = None
        self._lag = 0.0
        self._commands = deque[tuple[float, Array]](maxlen=MAX_COMMANDS)  # from a time on
        # Of the push in the world: now, its mean over stop_time, and its variance about that.
        self._pushes = np.zeros((3, self._model.nv))
        self._watched = 0.0  # s
        self.short: Array = np.zeros(self._model.nv)
        self.phase = Phase.STANDING

    def begin(self, time: float) -> None:
        """
        Begin the reference.

        Args:
            time: of the state that begins it; s.

        >>> from liedyn_ros.stewart import PlatformController, SmoothTrajectory, StewartDynamics
        >>> motion = SmoothTrajectory(home, [0.0] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> PlatformController(StewartDynamics(geometry), motion).begin(0.0)
        """
        self._begun = self._moved = time

    @property
    def begun(self) -> bool:
        """Return whether the reference has begun."""
        return self._begun is not None

    @property
    def place(self) -> float:
        """Return the time (s) along the reference."""
        return self._path.place

    @property
    def pace(self) -> float:
        """Return the share of the reference's speed that is run."""
        return self._path.rate

    @property
    def waited(self) -> float:
        """Return for how long (s) the reference has waited in all."""
        return 0.0 if self._begun is None else self._moved - self._begun - self._path.place

    @property
    def hold(self) -> float:
        """Return the age (s) up to which a command holds."""
        return max(self._bears, 2.0 * min(self._intervals))

    @property
    def oldest(self) -> float:
        """Return the age (s) up to which states count: they are reckoned as far as delays go."""
        return self.hold + 2.0 * self._bears

    @property
    def spread(self) -> Array:
        """Return the standard deviations (nv,) of the push about its mean, in the world."""
        return np.sqrt(self._pushes[PUSH_VARIANCE])

    @property
    def _push(self) -> Array:
        """Return the push (nv,) in the world."""
        return self._pushes[PUSH]

    @property
    def blind_time(self) -> float:
        """Return the silence (s) after which dead reckoning ends in a stop."""
        return self.stop_time

    @property
    def lag(self) -> float:
        """Return the greatest error over the tolerance of the feedback."""
        return self._lag

    def take(self, time: float, q: Array, v: Array, pace: float = 1.0, age: float = 0.0
             ) -> DesiredMotion:
        """
        Take a state and return what is wanted.

        Of a gap between states no more counts than `hold`, for reference and integral alike. A
        state is refused that no motion leads to, unless one that was refused before agrees.

        Args:
            time: of the state; s.
            q: configuration (nq,); rad and m.
            v: velocity (nv,); rad/s and m/s.
            pace: of the reference that is asked for, 1 for its own.
            age: of the state; s.

        Returns:
            the wanted accelerations, and the reference.

        Raises:
            LimitError: for a stray position or velocity, and a state older than `oldest`.
            LiedynError: for another shape, or a number that is not finite.

        >>> from liedyn_ros.stewart import model_state, PlatformController
        >>> from liedyn_ros.stewart import SmoothTrajectory, StewartDynamics
        >>> motion = SmoothTrajectory(home, [0.0] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> controller = PlatformController(StewartDynamics(geometry), motion)
        >>> controller.begin(0.0)
        >>> at = np.array([0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])
        >>> controller.take(0.0, at, np.zeros(6), 1.0) is not None
        True
        """
        if not self._trusted:
            q = self._model.check_configuration(q)
        self._doubt(time, q, as_array('v', v, (self._model.nv,)))
        stamp = time
        if age > self.hold:
            q, v, time = *self._ahead(time, q, v, age), time + age
        dt = min(self._since(time), self.hold)
        if self.last is not None:
            self._intervals = self._intervals[1], stamp - self._stamp
            if self.begun and self.last.time == self._seen < time:
                self._observe(self.last, time - self._seen, q, v)
        self._seen, self._stamp = time, stamp
        self._move(dt, min(pace, min(max(2.0 * (1.0 - self.lag), 0.0), 1.0)))
        return self._want(time, q, v, dt)

    def silent(self, silence: float) -> Command | None:
        """
        Return the command after a time without a state.

        Args:
            silence: that time; s.

        Returns:
            the command; None where the last one holds.

        >>> from liedyn_ros.stewart import PlatformController, SmoothTrajectory, StewartDynamics
        >>> motion = SmoothTrajectory(home, [0.0] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> PlatformController(StewartDynamics(geometry), motion).silent(0.0) is None
        True
        """
        if not self.begun or silence <= self.hold:
            return None
        if self.phase is Phase.STOPPED or silence > self.blind_time:
            self.phase = Phase.STOPPED
            return self._stop()
        self.phase = Phase.BLIND
        self._reckon(silence)
        return self._own_command()

    def see_phase(self) -> Phase:
        """
        Return the phase of a machine whose state was just seen, as its reference goes on.

        Returns:
            the phase.

        >>> from liedyn_ros.stewart import PlatformController, SmoothTrajectory, StewartDynamics
        >>> motion = SmoothTrajectory(home, [0.0] * 6, [0.2] * 6, [0.0] * 6, 1.0)
        >>> isinstance(PlatformController(StewartDynamics(geometry), motion).see_phase(), Phase)
        True
        """
        if not self.begun:
            return Phase.STANDING
        return Phase.FOLLOWING if self.lag < 0.5 else Phase.WAITING

    @abstractmethod
    def _own_command(self) -> Command:
        """Return the command for what was wanted last."""

    @abstractmethod
    def _stop(self) -> Command:
        """Return the command of a machine that has been without states for too long."""

    def _reckon(self, silence: float) -> DesiredMotion:
        """Go on to a time (s) after the last state as commanded and pushed, and come to rest."""
        if self.last is None:
            raise LimitError('state: expected one to go on from, got none')
        begin, end = self.last.time, self._seen + silence
        steps = max(math.ceil((end - begin) / self.hold), 1)  # longer ones let feedback diverge
        for time in np.linspace(begin, max(begin, end), steps + 1)[1:].tolist():
            last, dt = self.last, time - self.last.time
            a = (np.atleast_2d(last.acceleration)[0] + self.short
                 + self._turned(self._push, so3.from_quaternion(last.q[3:7]).T))
            v = last.v + dt * a
            q = self._model.integrate(last.q, 0.5 * dt * (last.v + v))
            moved = self._since(time)
            self._move(moved, 0.0)
            self._want(time, q, v, moved)
        return self.last

    def _observe(self, last: DesiredMotion, gap: float, q: Array, v: Array) -> None:
        """Take the push in a gap (s) between two states: acceleration beside the wanted one."""
        self._watched += gap  # before stop_time all that was seen counts alike
        share = max(-math.expm1(-gap / max(self.stop_time, self.hold)), gap / self._watched)
        rest = (last.v, np.atleast_2d(last.acceleration)[0], self.short, gap,
                -math.expm1(-gap / self.hold), share, self._pushes)
        if not observe_push(q, v, *rest):
            observe_push(self._model.check_configuration(q), v, *rest)

    def _ahead(self, time: float, q: Array, v: Array, age: float) -> tuple[Array, Array]:
        """
        Return where a state of a time and an age (s) has gone, as commanded.

        Without the push: that is of such states itself, so it would feed on itself.
        """
        if age > self.oldest:
            raise LimitError(f'state: expected one of {self.oldest:.3f} s at most, got one of '
                             f'{age:.3f} s', names=('state',), expected=self.oldest, got=age)
        q, end = self._model.check_configuration(q), time + age
        for (begin, a), (until, _) in pairwise((*self._commands, (end, v))):
            if (dt := min(until, end) - max(begin, time)) > 0.0:
                before = v
                v = v + dt * a
                q = self._model.integrate(q, 0.5 * dt * (before + v))
        return q, v

    def _doubt(self, *here: Any) -> None:
        """Raise LimitError for time, q and v that neither the last state nor a refused one has."""
        strays = [self._stray(each, here) for each in self._trusted]
        if strays and min(strays) >= 0:
            self._trusted[1:] = [here]
            kind, at = divmod(strays[0], self._model.nv)
            raise LimitError(
                f'{"vq"[kind]}: expected one that a motion leads to, got another at coordinate '
                f'{at}, which no state confirms yet', names=('vq'[kind],), indices=(at,))
        self._trusted = [here]

    def _stray(self, last: tuple[float, Array, Array], here: tuple[float, Array, Array]) -> int:
        """Return the coordinate of a state that no motion leads to from another, or -1."""
        moved, feedback = self._model.difference(last[1], here[1]), self._feedback
        found: int = stray_coordinate(moved, last[2], here[2], max(here[0] - last[0], 0.0),
                                      feedback.speed, feedback.authority)
        return found

    @staticmethod
    def _turned(a: Array, turn: Array) -> Array:
        """Return accelerations (nv,) whose base has turned by a rotation (3, 3)."""
        turned = a.copy()
        turned[BASE_RATES] = (a[BASE_RATES].reshape(2, 3) @ turn.T).ravel()
        return turned

    def _since(self, time: float) -> float:
        """Return the time (s) since the reference was moved on, 0 before it begins."""
        before, self._moved = self._moved, max(time, self._moved)
        return self._moved - before if self.begun else 0.0

    def _move(self, dt: float, pace: float) -> None:
        """Move the reference on by dt (s) towards a pace."""
        self._path.step(dt, pace, self._pole)

    def _motion(self) -> ReferenceMotion:
        """Return the reference where it is."""
        return self._path.motion(self._at(self._path.place))

    def _want(self, time: float, q: Array, v: Array, dt: float) -> DesiredMotion:
        if self.last is not None and self.begun and (
                not self._commands or self.last.time - self._commands[-1][0] > self._bears / 4.0):
            self._commands.append(
                (self.last.time, np.atleast_2d(self.last.acceleration)[0] + self.short))
        motion = self._motion()
        error = tracking_error(self._model, motion, q, v)
        acceleration = self._feedback.acceleration(error, dt)
        self.last = DesiredMotion(time, q, v, motion, error, acceleration)
        self._lag = max(map(abs, (error.error / self._feedback.tolerance).tolist()))
        return self.last
