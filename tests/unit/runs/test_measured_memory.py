"""What was measured of memory is remembered for the same model; a strange file is left alone."""

import json
import os
from pathlib import Path

import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.model import MlpModel
from gpupanel.domain.model_summary import SummaryRequest
from gpupanel.domain.step_memory import MeasuredStep, MemoryPeak, StepMemory
from gpupanel.runs import measured_memory
from gpupanel.runs.locations import measured_memory_file
from gpupanel.runs.measured_memory import remember_measured, with_measured

REQUEST = SummaryRequest(data=DigitsData(), model=MlpModel())
STEP = StepMemory(
    peaks=(MemoryPeak(fixed_bytes=1, bytes_per_example=2),),
    example_bytes=1,
    weight_bytes=1,
    trainable_bytes=1,
)
ON_CPU = MeasuredStep(device="cpu", ratio=1.25)


def remembered(request: SummaryRequest = REQUEST) -> tuple[MeasuredStep, ...]:
    return with_measured(request, STEP).measured


def test_that_it_is_remembered_for_the_same_model_device_and_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert remembered() == ()
    remember_measured(REQUEST, STEP, ON_CPU)
    assert remembered() == (ON_CPU,)
    # What is known already changes no key.
    remember_measured(REQUEST, with_measured(REQUEST, STEP), MeasuredStep(device="cpu", ratio=1.5))
    assert remembered() == (MeasuredStep(device="cpu", ratio=1.5),)
    remember_measured(REQUEST, STEP, MeasuredStep(device="GPU-1", ratio=0.9))
    remember_measured(REQUEST, STEP, MeasuredStep(device="cpu", jit_compile=True, ratio=0.8))
    assert len(remembered()) == 3
    other = REQUEST.model_copy(update={"model": MlpModel(hidden=(7,))})
    assert remembered(other) == ()
    assert remembered(REQUEST.model_copy(update={"mixed_precision": True})) == ()
    monkeypatch.setattr(measured_memory, "tensorflow_package", lambda: ("tensorflow", "9"))
    assert remembered() == ()


def test_that_only_the_newest_are_kept_and_by_their_owner_only() -> None:
    for number in range(205):
        measured = MeasuredStep(device=f"GPU-{number}", ratio=1.0)
        remember_measured(REQUEST, STEP, measured)
    assert len(remembered()) == 200
    assert remembered()[0].device == "GPU-204"
    assert measured_memory_file().stat().st_mode & 0o777 == 0o600


def _link(file: Path) -> None:
    real = file.with_name("elsewhere.json")
    file.rename(real)
    file.symlink_to(real)


def _ratio(file: Path, ratio: object) -> None:
    content = json.loads(file.read_text())
    content["entries"][0]["measured"]["ratio"] = ratio
    file.write_text(json.dumps(content))


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


STRANGE = {
    "a link": _link,
    "a FIFO": _pipe,
    "no JSON": lambda file: file.write_text("{"),
    "a huge file": lambda file: file.write_text(" " * 300_000 + file.read_text()),
    "a huge ratio": lambda file: _ratio(file, 1e9),
    "no number": lambda file: _ratio(file, float("nan")),
    "a negative ratio": lambda file: _ratio(file, -1.0),
    "too many": lambda file: file.write_text(
        json.dumps({"entries": json.loads(file.read_text())["entries"] * 201})
    ),
}


@pytest.mark.parametrize("how", STRANGE)
def test_that_a_strange_file_is_ignored_and_replaced(how: str) -> None:
    remember_measured(REQUEST, STEP, ON_CPU)
    STRANGE[how](measured_memory_file())
    assert remembered() == ()
    remember_measured(REQUEST, STEP, ON_CPU)
    assert remembered() == (ON_CPU,)
    assert measured_memory_file().is_file()


def test_that_a_folder_that_takes_nothing_costs_only_the_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("GPUPANEL_STATE_DIR", str(blocked / "state"))
    remember_measured(REQUEST, STEP, ON_CPU)
    assert remembered() == ()
