"""Remembers what tests of this machine have come to, so that nobody waits for them again.

One small file in the state directory. It is ours, but may be damaged, or come with somebody else's
home folder, which several machines may share: it is read without following links, up to a size, and
holds for the machine, the driver, the devices and the TensorFlow that were tested. Whatever is
wrong with it, nothing is remembered then.
"""

import hashlib
import logging
import platform
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from gpupanel.devices.packages import tensorflow_package
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.self_test import MOST_CASES, CaseOutcome, CaseResult, SelfTest, newest
from gpupanel.domain.value import Value
from gpupanel.files.guarded_files import read_file
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.locations import self_test_file

_MOST_BYTES: Final = 4 * 2**20
_MOST_MACHINES: Final = 16
_MACHINE_ID: Final = Path("/etc/machine-id")
_LOG = logging.getLogger(__name__)


class SelfTestBasis(Value):
    """What results hold for.

    Attributes:
        machine: A digest of the system's own number, or of its name.
        driver: Version of the NVIDIA driver.
        devices: Key and name of each, in the inventory's order.
        tensorflow: Package and version.
    """

    machine: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    driver: Annotated[str, Field(max_length=200)]
    devices: tuple[tuple[str, str], ...]
    tensorflow: Annotated[str, Field(max_length=200)]


class _Entry(Value):
    basis: SelfTestBasis
    outcomes: Annotated[tuple[CaseOutcome, ...], Field(max_length=MOST_CASES)]


class _Entries(Value):
    entries: Annotated[tuple[_Entry, ...], Field(max_length=_MOST_MACHINES)] = ()


def self_test_basis(inventory: DeviceInventory) -> SelfTestBasis:
    """What results hold for on this machine now."""
    try:
        number = _MACHINE_ID.read_bytes().strip()
    except OSError:
        number = platform.node().encode()
    return SelfTestBasis(
        machine=hashlib.sha256(number).hexdigest(),
        driver=inventory.driver or "",
        devices=tuple((device.key, device.name) for device in inventory.devices),
        tensorflow=" ".join(tensorflow_package() or ("none", "")),
    )


def recall_self_test(inventory: DeviceInventory) -> SelfTest | None:
    """All that is remembered of these devices; ``None``: nothing is."""
    basis = self_test_basis(inventory)
    outcomes = next((each.outcomes for each in _read() if each.basis == basis), ())
    if not outcomes:
        return None
    tested_s = max(each.tested_s for each in outcomes)
    return SelfTest(outcomes=outcomes, tested_s=tested_s, is_remembered=True)


def remember_self_test(inventory: DeviceInventory, outcomes: tuple[CaseOutcome, ...]) -> None:
    """Note what was tested; a disk that takes nothing costs no more than the note."""
    basis, entries = self_test_basis(inventory), _read()
    known = next((each.outcomes for each in entries if each.basis == basis), ())
    tested = tuple(each for each in outcomes if each.result is not CaseResult.NOT_DONE)
    if not tested:
        return
    entry = _Entry(basis=basis, outcomes=newest((*tested, *known))[:MOST_CASES])
    others = tuple(each for each in entries if each.basis != basis)
    kept = _Entries(entries=(entry, *others)[:_MOST_MACHINES])
    try:
        file = self_test_file()
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(file, kept.model_dump_json(), private=True)
    except (OSError, ProblemError) as error:
        _LOG.debug("What the self-test found is not remembered: %s", error)


def _read() -> tuple[_Entry, ...]:
    try:
        file = self_test_file()
        content = read_file(file, file.parent, _MOST_BYTES)
        return _Entries.model_validate_json(content).entries
    except FileNotFoundError:
        return ()
    except (OSError, ProblemError, ValidationError) as error:
        _LOG.debug("What the self-test found cannot be read: %s", error)
        return ()
