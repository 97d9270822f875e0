# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""1600 fuzzed requests: each is answered, no answer holds a NaN, the server goes on."""

from collections import Counter

from liedyn_interfaces.srv import Dynamics, EquationsOfMotion
import numpy as np
import pytest
from support.bench.dynamics_bench import (
    AERIAL, ALGORITHMS, Motion, random_file, SERVER, ServerBench)
from support.bench.dynamics_fuzz import Fuzz

pytestmark = pytest.mark.ros
REQUESTS, AT_ONCE = 1600, 8  # services keep up to ten requests that wait
GIVEN = {'inverse_dynamics': (True, False), 'forward_dynamics': (False, True),
         'hybrid_dynamics': (True, True)}


def request_of(x, fuzz, name, service):
    """Return a spoilt request of a service."""
    if service is EquationsOfMotion:
        return service.Request(state=fuzz.state(x.state()))
    return service.Request(query=fuzz.query(x.query(*GIVEN[name], True)))


def numbers_of(outcome):
    """Return all numbers of an answer or a response."""
    if isinstance(outcome, EquationsOfMotion.Response):
        return np.concatenate([outcome.mass_matrix, outcome.coriolis_matrix, outcome.gravity,
                               outcome.resistance])
    bases = [[vector.x, vector.y, vector.z]
             for entry, parts in ((outcome.accelerations, ('linear', 'angular')),
                                  (outcome.efforts, ('force', 'torque')))
             for each in entry for vector in (getattr(each.base, part) for part in parts)]
    joints = [each.joints for each in (*outcome.accelerations, *outcome.efforts)]
    return np.concatenate([[outcome.solve_time], *bases, *joints])


def answered(bench, futures):
    """Return the responses of requests that were sent together."""
    bench.until(lambda: all(future.done() for future in futures), 'every response')
    return [future.result() for future in futures]


@pytest.mark.parametrize('machine', ['aerial', 'random'])
@pytest.mark.full
def test_every_request_is_answered(bench, tmp_path, machine):
    path = AERIAL if machine == 'aerial' else random_file(tmp_path, 7, True)
    server, x = ServerBench(bench, model_file=str(path)), Motion(path)
    rng = np.random.default_rng(7)
    fuzz, outcomes, messages = Fuzz(rng), Counter(), set()
    services = dict.fromkeys(ALGORITHMS, Dynamics) | {'equations_of_motion': EquationsOfMotion}
    clients = {name: bench.partner.create_client(service, f'{SERVER}/{name}')
               for name, service in services.items()}
    bench.until(lambda: all(c.service_is_ready() for c in clients.values()), 'the services')
    for _ in range(REQUESTS // 2 // AT_ONCE):
        names = rng.choice(list(services), AT_ONCE)
        for response in answered(bench, [
                clients[name].call_async(request_of(x, fuzz, name, services[name]))
                for name in names]):
            outcome = getattr(response, 'answer', response)
            outcomes[outcome.success] += 1
            messages.add(outcome.message[:12])
            assert np.isfinite(numbers_of(outcome)).all()
            assert outcome.success == (not outcome.message)
            assert 'internal' not in outcome.message, outcome.message
    assert sum(outcomes.values()) == REQUESTS // 2
    assert min(outcomes.values()) > REQUESTS // 20
    assert len(messages) > 10
    assert server.ask('inverse_dynamics', x.query()).success
