"""Runs over every source are killed, with shares that are measured and with mixed precision.

Measured shares are not those of another run, nor the same after each start. So a run that was
killed is held, to the last bit, against one that nobody killed and that takes the same shares at
the same steps: whatever else a death could lose would show. How far other
shares lead apart is asked in ``tests/unit/trainer/test_the_rule_in_mixed_precision.py``.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

from gpupanel.domain.events import Phase
from gpupanel.domain.model import CnnModel, MlpModel, ModelSettings
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.launcher import launch
from tests.deaths.mortal_run import MortalRun, Weights, plan_of, saved_weights
from tests.deaths.small_sources import SOURCES, small_source
from tests.deaths.test_killed_runs import assert_same, run_of
from tests.forked import terminal
from tests.forked.processes import ForkedProcess
from tests.forked.terminal import forked_trainers

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]

TESTED = ("npz", "tfds")
"""Sources whose data has a test set."""

IMAGES = ("images", "tfds")
TRAINER = str(Path(__file__).with_name("with_given_shares.py"))

Shares = Literal["balanced"] | tuple[int, ...]


def profile_of(
    source: str,
    folder: Path,
    shares: Shares,
    kind: StrategyKind = StrategyKind.MIRRORED,
    **training: Any,
) -> Profile:
    gang = kind is StrategyKind.MULTI_WORKER
    model: ModelSettings = MlpModel(hidden=(32,), dropout=0.2, batch_norm=True)
    if source in IMAGES:
        model = CnnModel(filters=(4,), hidden=(8,), dropout=0.2, batch_norm=True)
    folder.mkdir()
    settings = TrainingSettings(
        epochs=40,
        # Of the tiny data set a full batch has to be a part, too.
        global_batch_size=8 if source == "tfds" else 32,
        mixed_precision=True,
        ema=0.99,
        checkpoint_every_epochs=3,
        checkpoint_every_minutes=0.004,
        tensorboard=False,
    )
    return Profile(
        name=f"mortal {source}",
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=1 if gang else 2),
        strategy=StrategySettings(kind=kind, shares=shares, workers=2 if gang else None),
        data=small_source(source, folder),
        model=model,
        training=settings.model_copy(update=training),
    )


@contextmanager
def given_shares(run: MortalRun, folder: Path) -> Iterator[None]:
    """What is trained meanwhile takes the shares that this run took."""
    file = folder / "shares.json"
    file.write_text(json.dumps(run.shares_from()))

    def start(command: list[str], *, env: dict[str, str], **options: Any) -> ForkedProcess:
        python, *_, root = command
        return ForkedProcess(
            [python, TRAINER, root], env={**env, "GIVEN_SHARES": str(file)}, **options
        )

    with pytest.MonkeyPatch.context() as monkeypatch, forked_trainers():
        monkeypatch.setattr(terminal, "ForkedProcess", start)
        yield


def undisturbed(profile: Profile, runs_dir: Path, given: MortalRun | None = None) -> Weights:
    """What a run ends with that nobody kills.

    Args:
        profile: What is trained.
        runs_dir: Where.
        given: A run whose shares it takes; left out: its own.
    """
    with forked_trainers() if given is None else given_shares(given, runs_dir):
        layout = launch(profile, plan_of(profile), runs_dir)
    assert summarize_run(layout).outcome is Outcome.COMPLETED, summarize_run(layout).problem
    return saved_weights(layout)


@contextmanager
def killed(profile: Profile, runs_dir: Path, *phases: Phase) -> Iterator[MortalRun]:
    """A run that has come to its end, though all of it was killed, in these phases, too."""
    with ExitStack() as left:
        with forked_trainers():
            run = left.enter_context(run_of(profile, runs_dir, seed=4))
            run.kill_within_a_checkpoint()
            for phase in phases:
                if phase is Phase.TESTING:
                    continue
                run.go_on()
                run.kill_in_phase(phase)
            run.go_on()
            run.wait_for_an_epoch()
            run.kill_a_trainer(within_s=1.0)
        run.go_on()  # by a process of its own, which can be killed
        run.wait_for_an_epoch()
        run.kill_the_supervisor(within_s=0.3)
        with forked_trainers():
            run.go_on()
            if Phase.TESTING in phases:
                run.kill_in_phase(Phase.TESTING)
                run.go_on()
            run.come_to_its_end()
        yield run


def phases_of(source: str, *more: Phase) -> tuple[Phase, ...]:
    return (*more, Phase.VALIDATING, *((Phase.TESTING,) if source in TESTED else ()))


@pytest.mark.parametrize("source", SOURCES)
def test_that_a_killed_run_ends_with_the_bits_that_its_measured_shares_give(
    runs_dir: Path, tmp_path: Path, source: str
) -> None:
    profile = profile_of(source, tmp_path / "data", "balanced")
    with killed(profile, runs_dir, *phases_of(source, Phase.MEASURING)) as run:
        assert_same(run.weights(), undisturbed(profile, runs_dir, given=run))
        print(f"{source}, balanced: {run.deaths}; shares {run.shares_from()}")


def test_that_a_gang_of_which_workers_are_killed_ends_with_the_bits_that_its_shares_give(
    runs_dir: Path, tmp_path: Path
) -> None:
    profile = profile_of("table", tmp_path / "data", "balanced", StrategyKind.MULTI_WORKER)
    with killed(profile, runs_dir, Phase.MEASURING, Phase.VALIDATING) as run:
        assert_same(run.weights(), undisturbed(profile, runs_dir, given=run))
        print(f"workers, balanced: {run.deaths}; shares {run.shares_from()}")


@pytest.mark.parametrize("source", SOURCES)
def test_that_a_killed_run_with_given_shares_ends_with_the_bits_of_one_that_nobody_killed(
    runs_dir: Path, tmp_path: Path, source: str
) -> None:
    profile = profile_of(source, tmp_path / "data", (5, 3) if source == "tfds" else (20, 12))
    with killed(profile, runs_dir, *phases_of(source)) as run:
        assert_same(run.weights(), undisturbed(profile, runs_dir))
        print(f"{source}, given: {run.deaths}")
