"""What works on a node of a cluster for a run, or for whoever asks what is there.

Ray starts it there as an actor and calls it, one call after the other and always in the same
thread. It does not know Ray: texts go in and come out, so that versions of this program that
differ are found by a comparison, and not by an object that cannot be made.
"""

import platform
import time
from importlib import metadata

from gpupanel import __version__
from gpupanel.devices.packages import tensorflow_package
from gpupanel.devices.sampler import PATIENT_S, DeviceSampler
from gpupanel.domain.cluster import NodeReport

_BUSY_S = 0.2
"""How long to observe the processor to say how busy it is: the kernel counts in ticks of 10 ms."""


class NodeAgent:
    """Lists and samples the devices of its node."""

    def report(self) -> str:
        """What is here now: a :class:`~gpupanel.domain.cluster.NodeReport` as JSON."""
        with DeviceSampler(wait_s=PATIENT_S) as sampler:
            inventory = sampler.inventory()
            time.sleep(_BUSY_S)
            sample = sampler.sample()
        tensorflow = tensorflow_package()
        return NodeReport(
            gpupanel=__version__,
            python=platform.python_version(),
            tensorflow=None if tensorflow is None else tensorflow[1],
            ray=_version("ray"),
            clock_s=time.time(),
            inventory=inventory,
            sample=sample,
        ).model_dump_json()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
