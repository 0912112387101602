"""Sessions that are carried out by a run and by the exported script, and what came of both."""

import csv
import io
import json
import os
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from gpupanel.domain.events import EpochDone, EvaluationDone, Event, TrainingEnded, decode_event
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.previewed_profile import preview_request, with_detected
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.files.confusion_file import read_confusion
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.stand_alone import stand_alone_script
from gpupanel.runs.launcher import create_run
from gpupanel.runs.trust.trusted import trust
from gpupanel.runs.trust.user_code import code_of_profile
from gpupanel.trainer.tools.preview.preview import preview
from tests.fakes.devices import CPU_ONLY
from tests.forked.processes import run_forked

Weights = dict[str, np.ndarray]


@dataclass(frozen=True)
class Both:
    """One session, twice.

    Attributes:
        folder: Holds all of it.
        run: The run's directory.
    """

    folder: Path
    run: RunLayout

    def error(self, name: str) -> str | None:
        """Why the ``run`` or the ``script`` failed."""
        return self._ended(name)["error"]

    def printed(self) -> list[str]:
        """What the script printed."""
        return str(self._ended("script")["printed"]).splitlines()

    def epochs(self) -> list[dict[str, float]]:
        """The metrics of each epoch of the run, without the name of its measure."""
        return [epoch_numbers(event) for event in self._events() if isinstance(event, EpochDone)]

    def furthest(self) -> float:
        """The greatest difference of a weight, relative to the greatest of its variable."""
        return furthest(weights(self.run.model), weights(self.folder / "model.keras"))

    def assert_same_bits(self) -> None:
        """Every weight is the same number; what is added up over replicas is not."""
        run, script = weights(self.run.model), weights(self.folder / "model.keras")
        assert run.keys() == script.keys()
        assert [each for each in run if run[each].tobytes() != script[each].tobytes()] == []

    def assert_same_epochs(self) -> None:
        """The script prints of each epoch what the run reports, to six digits."""
        epochs, printed = self.epochs(), self.printed()
        (ended,) = (each for each in self._events() if isinstance(each, TrainingEnded))
        reached = in_scripts(ended.metrics.model_dump(exclude_none=True))
        tested = [value for name, value in reached.items() if name.startswith("test_")]
        measures = [list(in_scripts(metrics).values()) for metrics in epochs]
        measures += [tested] if tested else []
        assert len(measures) == len(printed)
        for metrics, line in zip(measures, printed, strict=True):
            shown = [float(word) for word in line.split() if not word[0].isalpha()]
            assert shown[line.startswith("epoch") :] == pytest.approx(metrics, rel=1e-4, abs=2e-6)

    def assert_same_evaluation(self) -> None:
        """The script prints what the run found."""
        (done,) = (event for event in self._events() if isinstance(event, EvaluationDone))
        first, *rows = self.printed()
        shown = [float(word) for word in first.split() if not word[0].isalpha()]
        expected = list(in_scripts(done.metrics.model_dump(exclude_none=True)).values())
        assert shown == pytest.approx(expected, rel=1e-5, abs=2e-6)
        if not done.class_count:
            assert rows == []
            return
        counts = [int(word) for word in " ".join(rows).replace("[", " ").replace("]", " ").split()]
        cells = read_confusion(self.run.confusion)
        matrix = np.zeros((len(cells.class_names), len(cells.class_names)), np.int64)
        matrix[cells.rows, cells.columns] = cells.counts
        assert counts == matrix.ravel().tolist()

    def assert_same_predictions(self) -> None:
        """The script's file is that of the run, numbers to rounding."""
        (mine,) = self.folder.glob("predictions.*")
        other = self.run.root / mine.name
        if mine.suffix == ".csv":
            with mine.open(newline="") as one, other.open(newline="") as two:
                lines = list(zip(csv.reader(one), csv.reader(two), strict=True))
            assert lines[0][0] == lines[0][1]
            for found, expected in lines[1:]:
                assert [_number(cell) for cell in found] == [_close_to(cell) for cell in expected]
            return
        with np.load(mine) as found, np.load(other) as expected:
            assert found.files == expected.files
            for name in expected.files:
                assert (found[name].dtype, found[name].shape) == (
                    expected[name].dtype,
                    expected[name].shape,
                )
                if expected[name].dtype.kind in "fi":
                    assert found[name] == pytest.approx(expected[name], rel=1e-5, abs=1e-7)
                else:
                    assert (found[name] == expected[name]).all()

    def _events(self) -> list[Event]:
        return [decode_event(line) for line in self.run.events.read_text().splitlines()]

    def _ended(self, name: str) -> dict[str, str | None]:
        ended: dict[str, str | None] = json.loads((self.folder / f"{name}.json").read_text())
        return ended


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


def _close_to(cell: str) -> object:
    number = _number(cell)
    return number if isinstance(number, str) else pytest.approx(number, rel=1e-5, abs=1e-7)


def in_scripts(metrics: dict[str, float]) -> dict[str, float]:
    """Those that scripts print: the loss, and what training measures beside it."""
    printed = ("loss", "accuracy", "mean_absolute_error")
    keys = {f"{part}{name}" for part in ("", "val_", "test_") for name in printed}
    return {name: value for name, value in metrics.items() if name in keys}


def epoch_numbers(event: Event) -> dict[str, float]:
    assert isinstance(event, EpochDone)
    numbers: dict[str, float] = event.metrics.model_dump(exclude_none=True)
    return numbers


def plan_of(profile: Profile) -> LaunchPlan:
    """The plan on a machine without a GPU."""
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    return plan


def carry_out_both(
    root: Path,
    sessions: Mapping[str, Profile],
    timeout_s: float = 600.0,
    *,
    start: Callable[..., Any] = run_forked,
    before: Sequence[str] = (),
    **environment: str,
) -> dict[str, Both]:
    """Carry out every session twice in one child.

    Args:
        root: Gets a folder for each.
        sessions: By name.
        timeout_s: For all of them.
        start: As ``subprocess.run``.
        before: What comes before the child's program on its command line.
        environment: Of the child, beside this process's.
    """
    found = {}
    for number, (name, profile) in enumerate(sessions.items()):
        trust(code_of_profile(profile))
        folder = root / f"{number:03}"
        folder.mkdir(parents=True)
        plan = plan_of(profile)
        found[name] = Both(folder, create_run(profile, plan, folder / "runs"))
        found_in = preview(preview_request(profile))
        script = stand_alone_script(with_detected(profile, found_in), plan)
        (folder / "script.py").write_text(script, encoding="utf-8")
    logical_cpus = max(len(plan_of(each).replicas) for each in sessions.values())
    places = max(len(plan_of(each).places) for each in sessions.values())
    done = start(
        [
            sys.executable,
            *before,
            str(Path(__file__).with_name("train_both.py")),
            str(max(logical_cpus, places)),
            *(str(both.folder) for both in found.values()),
        ],
        env={
            **os.environ,
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "GPUPANEL_SUPERVISOR_PID": "",
            "XLA_FLAGS": "",  # here it compiles as it does for a person
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return found


def weights(model: Path) -> Weights:
    """Every weight in a ``.keras`` file, by its place in it."""
    found: Weights = {}

    def take(name: str, one: h5py.Group | h5py.Dataset) -> None:
        # Where random numbers stand is not learned: the run saves it as it is in a new model.
        if isinstance(one, h5py.Dataset) and "seed_generator" not in name:
            found[name] = np.asarray(one)

    with zipfile.ZipFile(model) as archive:
        content = io.BytesIO(archive.read("model.weights.h5"))
    with h5py.File(content) as file:
        file.visititems(take)
    return found


def furthest(one: Weights, other: Weights) -> float:
    """The greatest difference of two models, relative to the greatest weight of each variable.

    Weights that are all below a hundredth count as that: a bias before batch normalisation has no
    gradient but rounding.
    """
    assert one.keys() == other.keys()
    return max(
        (
            float(np.abs(one[name] - other[name]).max() / max(np.abs(one[name]).max(), 1e-2))
            for name in one
            if one[name].size
        ),
        default=0.0,
    )
