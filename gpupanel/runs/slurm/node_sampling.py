"""``python -m gpupanel.runs.slurm.node_sampling``: twice a second, what this node's devices do.

Each time it prints a :class:`~gpupanel.domain.job_node.NodeReadings` as a line of JSON. It ends
when nobody holds its standard input open any more.
"""

import os
import select
import sys
from typing import TYPE_CHECKING, Final

from gpupanel.devices.sampler import DeviceSampler
from gpupanel.domain.job_node import NodeReadings

if TYPE_CHECKING:
    from gpupanel.domain.device import DeviceInventory

_INTERVAL_S: Final = 0.5


def main() -> int:
    """Print readings until nobody wants them."""
    printed: DeviceInventory | None = None
    with DeviceSampler() as sampler:
        while _is_wanted():
            sample, inventory = sampler.sample(), sampler.inventory()
            # It is larger than a sample, and as good as always the same.
            changed = inventory if inventory != printed else None
            printed = inventory
            line = NodeReadings(inventory=changed, sample=sample).model_dump_json(exclude_none=True)
            try:
                sys.stdout.buffer.write(line.encode() + b"\n")
                sys.stdout.buffer.flush()
            except OSError:
                break
    return 0


def _is_wanted() -> bool:
    """Wait until readings are due; whether standard input is still open then."""
    ready, _, _ = select.select((sys.stdin.fileno(),), (), (), _INTERVAL_S)
    return not ready or bool(os.read(sys.stdin.fileno(), 4096))


if __name__ == "__main__":
    sys.exit(main())
