"""What was measured of devices is remembered; a strange file is left alone."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gpupanel.domain.bench import Bench, BenchCandidate, BenchDivision, BenchResult
from gpupanel.domain.data import DigitsData, NpzData
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.model import CnnModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.history import measured_speeds as module
from gpupanel.runs.history.measured_speeds import device_speeds, nearest, remember, remembered
from gpupanel.runs.locations import bench_dir
from tests.fakes.devices import CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL

BOTH = (RTX_4090.key, RTX_3060.key)
PROFILE = Profile(devices=DeviceSettings(visible=BOTH))


def result(
    speed: float | None, keys: tuple[str, ...], strategy: StrategySettings, **flags: bool
) -> BenchResult:
    candidate = BenchCandidate(
        division=BenchDivision.EQUAL,
        device_keys=keys,
        visible=keys,
        strategy=strategy,
        **flags,
    )
    return BenchResult(candidate=candidate, name=f"{speed}", examples_per_second=speed)


ALONE = StrategySettings()
EQUAL = StrategySettings(kind=StrategyKind.MIRRORED)
BALANCED = EQUAL.model_copy(update={"shares": "balanced"})
BENCH = Bench(
    results=(
        result(100.0, BOTH[:1], ALONE),
        result(50.0, BOTH[1:], ALONE),
        result(120.0, BOTH, EQUAL),
        result(140.0, BOTH, BALANCED),
        result(200.0, BOTH, BALANCED, jit_compile=True),
        result(None, BOTH, BALANCED, mixed_precision=True),
    ),
    measured_s=1.0,
)


def training(**changes: object) -> Profile:
    return PROFILE.model_copy(update={"training": TrainingSettings(**changes)})


@pytest.mark.parametrize(
    "profile",
    [
        training(epochs=99, learning_rate=0.5, seed=3),
        training(jit_compile=True, mixed_precision=True),
        PROFILE.model_copy(update={"strategy": BALANCED, "name": "another"}),
        PROFILE.model_copy(update={"data": DigitsData(validation_fraction=0.5)}),
    ],
)
def test_that_it_is_remembered_for_the_same_steps(profile: Profile) -> None:
    remember(PROFILE, TWO_UNEQUAL, BENCH)
    assert remembered(profile, TWO_UNEQUAL) == BENCH


@pytest.mark.parametrize(
    "profile",
    [
        training(global_batch_size=128),
        training(optimizer="sgd"),
        PROFILE.model_copy(update={"model": CnnModel()}),
        PROFILE.model_copy(update={"data": NpzData(path="/a.npz")}),
    ],
)
def test_that_another_training_or_machine_has_none(
    profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(PROFILE, TWO_UNEQUAL, BENCH)
    assert remembered(profile, TWO_UNEQUAL) is None
    assert remembered(PROFILE, CPU_ONLY) is None
    newer = TWO_UNEQUAL.model_copy(update={"driver": "999.0"})
    assert remembered(PROFILE, newer) is None
    fewer = DeviceInventory(driver=TWO_UNEQUAL.driver, devices=TWO_UNEQUAL.devices[1:])
    assert remembered(PROFILE, fewer) is None
    monkeypatch.setattr(module, "tensorflow_package", lambda: ("tensorflow", "9.9"))
    assert remembered(PROFILE, TWO_UNEQUAL) is None


def test_that_the_nearest_candidate_is_found() -> None:
    remember(PROFILE, TWO_UNEQUAL, BENCH)

    def speed(keys: tuple[str, ...], strategy: StrategySettings, **flags: bool) -> float | None:
        profile = training(**flags).model_copy(update={"strategy": strategy})
        found = nearest(profile, frozenset(keys), TWO_UNEQUAL)
        return None if found is None else found.examples_per_second

    assert speed(BOTH[:1], ALONE) == 100.0
    assert speed(BOTH[1:], ALONE) == 50.0
    assert speed(BOTH, EQUAL) == 120.0
    assert speed(BOTH, BALANCED) == 140.0
    assert speed(BOTH, BALANCED, jit_compile=True) == 200.0
    # Nearest: of other shares.
    uneven = EQUAL.model_copy(update={"shares": (40, 24)})
    assert speed(BOTH, uneven) == 120.0
    assert speed(BOTH, EQUAL, jit_compile=True) == 200.0
    # One that failed, and other flags, say nothing.
    assert speed(BOTH, BALANCED, mixed_precision=True) is None
    assert speed(("cpu",), ALONE) is None


def _written(file: Path, text: str) -> None:
    file.write_text(text)


def _linked(file: Path) -> None:
    other = file.with_name("other")
    file.rename(other)
    file.symlink_to(other)


def _changed(file: Path, **update: object) -> None:
    document = json.loads(file.read_text())
    document["entries"][0]["bench"]["results"][0].update(update)
    file.write_text(json.dumps(document))


STRANGE: dict[str, Callable[[Path], None]] = {
    "empty": lambda file: _written(file, ""),
    "cut short": lambda file: _written(file, file.read_text()[:-20]),
    "not UTF-8": lambda file: file.write_bytes(b"\xff" + file.read_bytes()),
    "deep": lambda file: _written(file, "[" * 100_000),
    "a link": _linked,
    "a pipe": lambda file: (file.unlink(), os.mkfifo(file))[1],
    "huge": lambda file: _written(file, " " * 5_000_000 + file.read_text()),
    "no number": lambda file: _changed(file, examples_per_second=float("nan")),
    "a negative speed": lambda file: _changed(file, examples_per_second=-1.0),
    "another version": lambda file: _changed(file, unknown=1),
}


@pytest.mark.parametrize("how", STRANGE)
def test_that_a_strange_file_is_ignored_and_replaced(how: str) -> None:
    remember(PROFILE, TWO_UNEQUAL, BENCH)
    STRANGE[how](bench_dir() / "measured.json")
    assert remembered(PROFILE, TWO_UNEQUAL) is None
    remember(PROFILE, TWO_UNEQUAL, BENCH)
    assert remembered(PROFILE, TWO_UNEQUAL) == BENCH


def test_that_the_newest_of_many_are_kept() -> None:
    for size in range(1, 53):
        remember(training(global_batch_size=size), TWO_UNEQUAL, BENCH)
    assert remembered(training(global_batch_size=1), TWO_UNEQUAL) is None
    assert remembered(training(global_batch_size=52), TWO_UNEQUAL) == BENCH


def test_that_a_folder_that_takes_nothing_costs_only_the_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GPUPANEL_STATE_DIR", str(tmp_path / "file" / "state"))
    remember(PROFILE, TWO_UNEQUAL, BENCH)
    assert remembered(PROFILE, TWO_UNEQUAL) is None


def test_that_the_speeds_of_devices_alone_are_known() -> None:
    alone = [
        each.model_copy(
            update={
                "candidate": each.candidate.model_copy(update={"division": BenchDivision.ALONE})
            }
        )
        for each in BENCH.results[:2]
    ]
    with_xla = alone[0].model_copy(
        update={
            "examples_per_second": 400.0,
            "candidate": alone[0].candidate.model_copy(update={"variant": "with XLA"}),
        }
    )
    bench = BENCH.model_copy(update={"results": (*alone, *BENCH.results[2:], with_xla)})
    assert device_speeds(PROFILE, TWO_UNEQUAL) == {}
    remember(PROFILE, TWO_UNEQUAL, bench)
    assert device_speeds(PROFILE, TWO_UNEQUAL) == {BOTH[0]: 100.0, BOTH[1]: 50.0}
