# Copyright 2026 The liedyn_ros authors
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""Run the view: `ros2 run liedyn_ros robot_view`, or `liedyn view --ros-args ...`."""

from collections.abc import Sequence
from functools import partial

from liedyn_ros.common.extras import require_module


def main(args: Sequence[str] | None = None, *, stays: bool = True) -> None:
    """
    Run the node and its page.

    stays: whether a node that does not start waits, for a lifecycle manager; else SystemExit(2).
    """
    require_module('rclpy', 'the view listens by ROS 2: source one, or . tools/env.sh')
    from liedyn_ros.nodes.view.node import ViewNode
    from liedyn_ros.ros.process.run import run
    from liedyn_ros.view.page import LivePage

    def started() -> ViewNode:
        node = ViewNode(LivePage)
        if node.parameters['autostart'] and not node.active and node.context.handle.ok():
            node.destroy_node()
            raise SystemExit(2)
        return node

    run(partial(ViewNode, LivePage) if stays else started, args)


if __name__ == '__main__':
    main()
