"""GPUs that TensorFlow passes over, in its own words.

They are only in its log: ``Ignoring visible gpu device (...)``, from ``GetValidDeviceIds`` in
``tensorflow/core/common_runtime/gpu/gpu_device.cc``.
"""

import re
from enum import StrEnum
from typing import Final

from gpupanel.domain.value import Value

_REFUSAL: Final = re.compile(r"Ignoring visible gpu device (?:\((?P<device>.*?)\) )?(?P<why>.*)")
_BUS_ID: Final = re.compile(r"pci bus id: (?P<id>[0-9a-fA-F:.]+)")
_TOO_FEW: Final = re.compile(
    r"(?:core|multiprocessor) count: (?P<count>\d+)\. The minimum required count is (?P<least>\d+)"
)
_TOO_OLD: Final = "minimum required Cuda capability"


class RefusalKind(StrEnum):
    """Why TensorFlow passes a GPU over."""

    TOO_FEW_MULTIPROCESSORS = "too_few_multiprocessors"
    TOO_OLD = "too_old"
    OTHER = "other"


class Refusal(Value):
    """A GPU that TensorFlow passes over.

    Attributes:
        pci_bus_id: As TensorFlow writes it; ``None`` where it does not say.
        words: TensorFlow's.
        multiprocessors: What the GPU has, where that is the reason.
        least_multiprocessors: What TensorFlow asks for, where that is the reason.
    """

    pci_bus_id: str | None
    kind: RefusalKind
    words: str
    multiprocessors: int | None = None
    least_multiprocessors: int | None = None


def refusals(log: str) -> tuple[Refusal, ...]:
    """The GPUs that TensorFlow's log says are passed over, each once."""
    found = {}
    for line in log.splitlines():
        match = _REFUSAL.search(line)
        if match is not None:
            refusal = _refusal(match["device"] or "", match["why"], match[0])
            found[refusal.pci_bus_id, refusal.kind] = refusal
    return tuple(found.values())


def _refusal(device: str, why: str, words: str) -> Refusal:
    where = _BUS_ID.search(device)
    bus_id = None if where is None else where["id"]
    too_few = _TOO_FEW.search(why)
    if too_few is not None:
        return Refusal(
            pci_bus_id=bus_id,
            kind=RefusalKind.TOO_FEW_MULTIPROCESSORS,
            words=words,
            multiprocessors=int(too_few["count"]),
            least_multiprocessors=int(too_few["least"]),
        )
    kind = RefusalKind.TOO_OLD if _TOO_OLD in why else RefusalKind.OTHER
    return Refusal(pci_bus_id=bus_id, kind=kind, words=words)
