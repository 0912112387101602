"""Remembers what comparing devices has shown, for the same training on the same machine.

One file in the state directory. It is ours, but may be damaged, or come with somebody else's home
folder: it is read without following links, up to a size. Whatever is wrong with it, nothing is
remembered then.
"""

import hashlib
import json
import logging
import platform
from typing import Annotated, Final

from pydantic import Field, ValidationError

from gpupanel.devices.packages import tensorflow_package
from gpupanel.domain.bench import Bench, BenchCandidate, BenchDivision, BenchResult
from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.value import Value
from gpupanel.files.guarded_files import read_file
from gpupanel.files.whole_files import write_whole
from gpupanel.planning.bench.candidates import measured_profile
from gpupanel.runs.directory.private_files import make_private_folder
from gpupanel.runs.locations import bench_dir

_MOST_BYTES: Final = 4 * 2**20
_MOST_ENTRIES: Final = 50
_NOT_DECISIVE: Final = (
    *("epochs", "learning_rate", "schedule", "seed", "checkpoints_kept"),
    *("jit_compile", "mixed_precision"),
)
"""What of ``[training]`` does not change how long a step takes, or is each candidate's own."""
_LOG = logging.getLogger(__name__)


class _Entry(Value):
    """What was measured of one training.

    Attributes:
        key: A digest of the machine and of all that decides how fast the training is.
    """

    key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    bench: Bench


class _Entries(Value):
    entries: Annotated[tuple[_Entry, ...], Field(max_length=_MOST_ENTRIES)] = ()


def remembered(profile: Profile, inventory: DeviceInventory) -> Bench | None:
    """What was measured of that training here; ``None``: nothing.

    Args:
        profile: Its paths are absolute.
        inventory: The devices of this machine.
    """
    key = _digest(profile, inventory)
    return next((entry.bench for entry in _read() if entry.key == key), None)


def device_speeds(profile: Profile, inventory: DeviceInventory) -> dict[str, float]:
    """Examples a second of each device alone with that training, as far as they were measured."""
    bench = remembered(profile, inventory)
    return {
        result.candidate.device_keys[0]: result.examples_per_second
        for result in (() if bench is None else bench.results)
        if result.candidate.division is BenchDivision.ALONE
        and not result.candidate.variant
        and result.examples_per_second
    }


def remember(profile: Profile, inventory: DeviceInventory, bench: Bench) -> None:
    """Note what was measured; a disk that takes nothing costs no more than the note."""
    entry = _Entry(key=_digest(profile, inventory), bench=bench)
    others = tuple(each for each in _read() if each.key != entry.key)
    kept = _Entries(entries=(entry, *others)[:_MOST_ENTRIES])
    try:
        make_private_folder(bench_dir(), parents=True)
        # Not model_dump_json(), which raises for a path that is no UTF-8.
        text = json.dumps(kept.model_dump(mode="json"))
        write_whole(bench_dir() / "measured.json", text, private=True)
    except (OSError, ProblemError) as error:
        _LOG.debug("What was measured of devices is not remembered: %s", error)


def nearest(
    profile: Profile, device_keys: frozenset[str], inventory: DeviceInventory
) -> BenchResult | None:
    """The candidate that is nearest to how a profile trains, of those that were measured.

    It has the same devices, XLA and precision; of several the one with the same strategy and
    shares, else with the same strategy.
    """
    bench = remembered(profile, inventory)
    if bench is None:
        return None
    training = profile.training
    alike = [
        result
        for result in bench.results
        if result.examples_per_second
        and frozenset(result.candidate.device_keys) == device_keys
        and result.candidate.jit_compile == training.jit_compile
        and result.candidate.mixed_precision == training.mixed_precision
        and _has_as_many(result.candidate, profile)
    ]
    if not alike:
        return None
    return min(alike, key=lambda result: _distance(result.candidate.strategy, profile.strategy))


def _has_as_many(candidate: BenchCandidate, profile: Profile) -> bool:
    """Whether as many logical devices are made of the CPU, and one device alone stays alone."""
    is_alone = profile.strategy.kind is StrategyKind.ONE_DEVICE
    was_alone = candidate.strategy.kind is StrategyKind.ONE_DEVICE
    on_cpu = CPU_KEY in candidate.device_keys
    same = not on_cpu or candidate.cpu_replicas == profile.devices.cpu_replicas
    return is_alone == was_alone and (is_alone or same)


def _distance(one: StrategySettings, other: StrategySettings) -> tuple[bool, bool, bool]:
    return one.kind != other.kind, one.shares != other.shares, one != other


def _read() -> tuple[_Entry, ...]:
    try:
        content = read_file(bench_dir() / "measured.json", bench_dir(), _MOST_BYTES)
        return _Entries.model_validate_json(content).entries
    except FileNotFoundError:
        return ()
    except (OSError, ProblemError, ValidationError) as error:
        _LOG.debug("What was measured of devices cannot be read: %s", error)
        return ()


def _digest(profile: Profile, inventory: DeviceInventory) -> str:
    plain = measured_profile(profile)
    depends_on = {
        "machine": platform.node(),
        "driver": inventory.driver,
        "devices": sorted(
            (device.key, device.name, device.core_count or 0) for device in inventory.devices
        ),
        "tensorflow": tensorflow_package(),
        "data": plain.data.model_dump(mode="json"),
        "model": plain.model.model_dump(mode="json"),
        "training": plain.training.model_dump(mode="json", exclude=set(_NOT_DECISIVE)),
        "memory": {key: each.model_dump(mode="json") for key, each in plain.memory.items()},
        "allocator": plain.devices.allocator,
    }
    return hashlib.sha256(json.dumps(depends_on, sort_keys=True).encode()).hexdigest()
