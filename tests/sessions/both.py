"""Sessions that are carried out by a run and by the exported script, and what came of both."""

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from gpupanel.domain.events import EpochDone, Event, decode_event
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.stand_alone import stand_alone_script
from gpupanel.runs.launcher import create_run
from gpupanel.runs.trust.trusted import trust
from gpupanel.runs.trust.user_code import code_of_profile
from tests.fakes.devices import CPU_ONLY

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
        events = [decode_event(line) for line in self.run.events.read_text().splitlines()]
        return [epoch_numbers(event) for event in events if isinstance(event, EpochDone)]

    def furthest(self) -> float:
        """The greatest difference of a weight, relative to the greatest of its variable."""
        return furthest(weights(self.run.model), weights(self.folder / "model.keras"))

    def _ended(self, name: str) -> dict[str, str | None]:
        ended: dict[str, str | None] = json.loads((self.folder / f"{name}.json").read_text())
        return ended


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
    root: Path, sessions: Mapping[str, Profile], timeout_s: float = 600.0, **environment: str
) -> dict[str, Both]:
    """Carry out every session twice in one child.

    Args:
        root: Gets a folder for each.
        sessions: By name.
        timeout_s: For all of them.
        environment: Of the child, beside this process's.
    """
    found = {}
    for number, (name, profile) in enumerate(sessions.items()):
        trust(code_of_profile(profile))
        folder = root / f"{number:03}"
        folder.mkdir(parents=True)
        plan = plan_of(profile)
        found[name] = Both(folder, create_run(profile, plan, folder / "runs"))
        (folder / "script.py").write_text(stand_alone_script(profile, plan), encoding="utf-8")
    logical_cpus = max(len(plan_of(each).replicas) for each in sessions.values())
    places = max(len(plan_of(each).places) for each in sessions.values())
    done = subprocess.run(
        [
            sys.executable,
            str(Path(__file__).with_name("train_both.py")),
            str(max(logical_cpus, places)),
            *(str(both.folder) for both in found.values()),
        ],
        env={
            **os.environ,
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "GPUPANEL_SUPERVISOR_PID": "",
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
        if isinstance(one, h5py.Dataset):
            found[name] = np.asarray(one)

    with zipfile.ZipFile(model) as archive:
        content = io.BytesIO(archive.read("model.weights.h5"))
    with h5py.File(content) as file:
        file.visititems(take)
    return found


def furthest(one: Weights, other: Weights) -> float:
    """The greatest difference of two models, relative to the greatest weight of each variable."""
    assert one.keys() == other.keys()
    return max(
        (
            float(np.abs(one[name] - other[name]).max() / max(np.abs(one[name]).max(), 1e-12))
            for name in one
            if one[name].size
        ),
        default=0.0,
    )
