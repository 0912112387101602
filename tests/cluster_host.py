"""``python -m tests.cluster_host FOLDER``: keeps raylets, adds one a line, until stdin is closed.

It is no child of whoever starts it: so Ray's workers, which stay as long as a cluster does, are not
taken for processes that a test has left behind.
"""

import json
import os
import sys
import traceback
from typing import Any

TRIES = 4
"""Ray gives a raylet half a minute to start, which is not enough where the machine is busy."""


def added(cluster: Any, wanted: dict[str, Any], folder: str) -> Any:
    for left in reversed(range(TRIES)):
        try:
            return cluster.add_node(
                **wanted, include_dashboard=False, temp_dir=folder, object_store_memory=80 * 2**20
            )
        except Exception:
            traceback.print_exc()
            if not left:
                raise
    return None


def main(folder: str) -> None:
    if os.fork():
        os._exit(0)
    os.setsid()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    from ray.cluster_utils import Cluster

    cluster = Cluster()
    for line in sys.stdin:
        wanted = json.loads(line)
        node = added(cluster, wanted, folder)
        (raylet,) = node.all_processes["raylet"]
        heads = node.all_processes.get("gcs_server", [])
        answer = {
            "address": cluster.address,
            "raylet": raylet.process.pid,
            "head": heads[0].process.pid if heads else None,
        }
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    cluster.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
