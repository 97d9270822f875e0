# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""A broadcaster in place of that of tf2, which is not installed everywhere."""

from copy import deepcopy

from liedyn_ros.ros.messages import tf


class Broadcaster:
    """Keeps what it is given to broadcast."""

    def __init__(self, monkeypatch, listeners=1):
        """Take the place of that of every node that is configured from now on."""
        self.pub_tf, self.listeners, self.sent = self, listeners, []
        monkeypatch.setattr(tf, 'open_broadcaster', lambda _: self)

    def get_subscription_count(self):
        """Return how many listen."""
        return self.listeners

    def sendTransform(self, transforms):
        """Keep the transforms of one message, which the node fills again."""
        self.sent.append(deepcopy(transforms))
