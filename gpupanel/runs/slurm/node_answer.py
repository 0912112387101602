"""``python -m gpupanel.runs.slurm.node_answer``: what this node of a job has, as a line of JSON.

Its arguments are the name of the last node of the job, and addresses of the last and of the first
one: by that which is not its own it finds the address by which the others reach it.
"""

import os
import socket
import sys

from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.domain.job_node import JobNode
from gpupanel.planning.visible_gpus import cuda_variables_of
from gpupanel.runs.slurm.job_nodes import ANSWER

_ANY_PORT = 9


def address_towards(other: str) -> str:
    """The IPv4 address of this machine from which it reaches another one; nothing is sent.

    Raises:
        OSError: The other one has no address, or there is no way there.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect((other, _ANY_PORT))
        return str(asked.getsockname()[0])


def main() -> int:
    """Print the answer."""
    last, address_of_last, address_of_first = sys.argv[1:]
    name = os.environ["SLURMD_NODENAME"]
    with DeviceSampler(wait_s=PATIENT_S) as sampler:
        inventory, sample = sampler.inventory(), sampler.sample()
    node = JobNode(
        name=name,
        address=address_towards(address_of_first if name == last else address_of_last),
        visible_devices=cuda_variables_of(os.environ).visible_devices,
        inventory=inventory,
        sample=sample,
    )
    sys.stdout.buffer.write(ANSWER + node.model_dump_json().encode() + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
