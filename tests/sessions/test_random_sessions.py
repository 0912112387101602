"""Sessions drawn at random: what ``check`` passes is exported, and a sample of it is carried out.

``SESSIONS_SEED=7 make test-slow`` draws others.
"""

import functools
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.strategy import GANG_KINDS, StrategyKind
from gpupanel.planning.context import Known
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.stand_alone import stand_alone_script
from gpupanel.trainer.tools.preview.preview import preview
from tests.fakes.devices import CPU_ONLY
from tests.sessions.both import Both, carry_out_both, furthest, weights
from tests.sessions.material import Material
from tests.sessions.random_sessions import SEED, RandomSessions

_LEAST_NORMALISED = 8
"""Normalised by the statistics of two or three examples, rounding alone makes another training."""
SAMPLE, AT_ONCE = 48, 8
"""Sessions that are carried out, so many in one child."""


@functools.cache
def looked_at(data: str) -> DataPreview:
    """What the preview says of data with these settings, as JSON: some are lists and tables."""
    request = PreviewRequest.model_validate({"data": json.loads(data), "example_limit": 0})
    return preview(request)


def passed(profile: Profile) -> bool:
    """Whether ``check`` passes it: no problem that is an error, data looked at."""
    preparation = prepare(
        profile, CPU_ONLY, Known(preview=looked_at(profile.data.model_dump_json()))
    )
    return preparation.is_startable


def drawn(material: Material, count: int) -> Iterator[Profile]:
    """So many of the drawn sessions, those that ``check`` passes."""
    sessions = RandomSessions(material, SEED)
    while count:
        profile = sessions.draw()
        if passed(profile):
            count -= 1
            yield profile


def assert_exported(material: Material, count: int) -> None:
    for profile in drawn(material, count):
        plan = prepare(profile, CPU_ONLY).plan
        assert plan is not None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compile(stand_alone_script(profile, plan), "script.py", "exec")


def test_that_random_sessions_are_scripts_that_python_reads(material: Material) -> None:
    assert_exported(material, 100)


@pytest.mark.slow
def test_that_thousands_of_random_sessions_are_scripts_that_python_reads(
    material: Material,
) -> None:
    assert_exported(material, 4_000)


def smallest_part(profile: Profile) -> int:
    """Examples of the smallest micro-batch of a replica, where a batch is full."""
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    return min(filter(None, plan.shares)) // plan.accumulation_steps


def normalises(profile: Profile) -> bool:
    """Whether it may normalise batches."""
    stack = profile.model.stack
    return stack is None or stack.batch_norm


def is_comparable(profile: Profile) -> bool:
    """Whether one process trains it, and two runs of it give the same weights.

    On one device all of them do. Measured shares differ from run to run; what depends on them
    differs, too. By the sign of a gradient that is nothing but rounding, Lion makes a whole step.
    """
    if profile.task != "train" or profile.strategy.kind in GANG_KINDS:
        return False
    if profile.strategy.kind is StrategyKind.ONE_DEVICE:
        return True
    if profile.training.optimizer is Optimizer.LION:
        return False
    model = profile.model
    if normalises(profile) and smallest_part(profile) < _LEAST_NORMALISED:
        return False
    if profile.strategy.shares != "balanced":
        return True
    if not isinstance(model, MlpModel | CnnModel):
        return False
    if model.batch_norm and profile.training.accumulation_steps > 1:
        return False  # which examples a micro-batch has depends on the shares
    return not model.dropout and (model.batch_norm_synchronized or not model.batch_norm)


def tolerance(profile: Profile) -> float:
    """Greatest relative difference: sums in another order, after some epochs."""
    if profile.training.mixed_precision:
        return 0.1  # bfloat16 has 8 bits
    # These divide by the root of what they have seen of the gradient, however small it is.
    return 1e-5 if profile.training.optimizer is Optimizer.SGD else 1e-3


def assert_same(profile: Profile, both: Both) -> None:
    assert (both.error("run") is None) == (both.error("script") is None), (
        profile,
        both.error("run"),
        both.error("script"),
    )
    if both.error("run") is None:
        assert both.furthest() < tolerance(profile), profile
        if profile.strategy.kind is StrategyKind.ONE_DEVICE:
            both.assert_same_bits()
        if not profile.training.mixed_precision:
            both.assert_same_epochs()


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.timeout(3_000)
def test_that_random_sessions_train_the_same_by_run_and_script(
    material: Material, tmp_path: Path
) -> None:
    profiles = [profile for profile in drawn(material, 6 * SAMPLE) if is_comparable(profile)]
    profiles, failed = profiles[:SAMPLE], 0
    assert len(profiles) == SAMPLE
    for first in range(0, SAMPLE, AT_ONCE):
        several = {str(number): one for number, one in enumerate(profiles[first:][:AT_ONCE])}
        found = carry_out_both(tmp_path / str(first), several)
        for name, profile in several.items():
            assert_same(profile, found[name])
            failed += found[name].error("run") is not None
    assert failed < SAMPLE / 10


def carried_out(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def assert_really_the_same(profile: Profile, folder: Path) -> None:
    """By the commands that a person types, each training in a process of its own."""
    folder.mkdir()
    file, script = folder / "profile.toml", folder / "script.py"
    file.write_text(dump_profile(profile), encoding="utf-8")
    run = carried_out(folder, "-m", "gpupanel", "run", file, "--trust", "--json")
    assert run.returncode == 0, run.stderr
    exported = carried_out(folder, "-m", "gpupanel", "export", file, "-o", script)
    assert exported.returncode == 0, exported.stderr
    done = carried_out(folder, "-P", script)
    assert done.returncode == 0, done.stderr
    of_run = Path(json.loads(run.stdout)["run"]) / "model.keras"
    assert furthest(weights(of_run), weights(folder / "model.keras")) < tolerance(profile), profile


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.timeout(1_800)
def test_that_random_sessions_really_train_the_same_by_run_and_script(
    material: Material, tmp_path: Path
) -> None:
    profiles = [
        profile
        for profile in drawn(material, 200)
        if is_comparable(profile) and not profile.training.mixed_precision
    ]
    for number, profile in enumerate(profiles[-5:]):
        assert_really_the_same(profile, tmp_path / str(number))


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize(
    ("kind", "workers", "shares"),
    [
        (StrategyKind.MULTI_WORKER, 2, (50, 14)),
        (StrategyKind.MULTI_WORKER, 2, (64, 0)),
        (StrategyKind.PARAMETER_SERVER, 1, "equal"),
    ],
)
def test_that_runs_of_several_processes_train_as_their_scripts_do(
    material: Material, tmp_path: Path, kind: StrategyKind, workers: int, shares: object
) -> None:
    document = {
        "devices": {"visible": ["cpu"]},
        "strategy": {"kind": kind, "workers": workers, "shares": shares},
        "data": {"source": "npz", "path": str(material.columns), "validation_fraction": 0.1},
        "model": {"source": "mlp", "hidden": [8], "batch_norm": True, "dropout": 0.2},
        "training": {
            "epochs": 2,
            "optimizer": "sgd",
            "learning_rate": 0.05,
            "clip_norm": 0.5,
            "accumulation_steps": 2,
        },
    }
    assert_really_the_same(Profile.model_validate(document), tmp_path / "session")
