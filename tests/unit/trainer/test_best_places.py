"""Where the weights of the best epoch stand: complete or absent, as long as they are named."""

import errno
import shutil
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.outcome import Metrics, ValidatedEpoch
from gpupanel.trainer.saving import checkpoint_files
from gpupanel.trainer.saving.best_weights import BestWeights
from gpupanel.trainer.saving.checkpoint_files import CheckpointDamaged, read_position
from gpupanel.trainer.saving.checkpoints import Checkpoints
from gpupanel.trainer.saving.position import Position

STATE = {"model/kernel": np.arange(6, dtype=np.float32), "optimizer/step": np.int64(3)}


def epoch(number: int, val_loss: float) -> ValidatedEpoch:
    return ValidatedEpoch(epoch=number, step=10 * number, metrics=Metrics(val_loss=val_loss))


def held(number: int, val_loss: float = 0.5) -> BestWeights:
    weights = {"model/kernel": np.full(6, number, np.float32)}
    return BestWeights(epoch(number, val_loss), weights)


def end_of(number: int, best: BestWeights) -> Position:
    metrics = Metrics(val_loss=0.9)
    return Position(step=10 * number, epoch=number + 1, metrics=metrics, best=best.epoch)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_that_the_best_weights_stay_as_long_as_a_kept_checkpoint_names_them(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, kept=2)
    first, second = held(1), held(4, 0.3)
    checkpoints.save(STATE, end_of(2, first), first)
    checkpoints.save(STATE, end_of(3, first), first)
    assert names(tmp_path) == ["best-000000010", "step-000000020", "step-000000030"]
    checkpoints.save(STATE, end_of(5, second), second)
    # Whoever has to go on from the one before needs the weights that were the best then.
    wanted = ["best-000000010", "best-000000040", "step-000000030", "step-000000050"]
    assert names(tmp_path) == wanted
    checkpoints.save(STATE, end_of(6, second), second)
    assert names(tmp_path) == ["best-000000040", "step-000000050", "step-000000060"]

    place = read_position(tmp_path / "step-000000060").best_place
    found = checkpoints.read_best(place).state["model/kernel"]
    assert found.tolist() == [4.0] * 6


@pytest.mark.parametrize("keeps_best", [True, False])
def test_that_a_checkpoint_of_the_best_epoch_is_where_its_weights_are(
    tmp_path: Path, keeps_best: bool
) -> None:
    checkpoints = Checkpoints(tmp_path, kept=1, keeps_best=keeps_best)
    best = held(1)
    assert checkpoints.save(STATE, end_of(1, best), best).is_best
    for number in (2, 3):
        assert not checkpoints.save(STATE, end_of(number, best), best).is_best
    assert names(tmp_path) == ["step-000000010", "step-000000030"]
    assert read_position(tmp_path / "step-000000030").best_place == "step-000000010"


@pytest.mark.parametrize("fails_at", range(1, 11))
def test_that_a_full_disk_leaves_nothing_half_written_and_the_next_time_writes_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    checkpoints, best, calls = Checkpoints(tmp_path), held(1), []

    def fill_up(file: int) -> None:
        calls.append(file)
        if len(calls) == fails_at:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoint_files.os, "fsync", fill_up)
    with pytest.raises(OSError, match="No space left"):
        checkpoints.save(STATE, end_of(2, best), best)
    assert not [name for name in names(tmp_path) if name.startswith(".")]

    checkpoints.save(STATE, end_of(3, best), best)
    newest = checkpoints.newest_whole().checkpoint
    assert newest is not None
    kept = checkpoints.read_best(newest.position.best_place).state
    assert kept["model/kernel"].tolist() == [1.0] * 6
    # One folder of them, and what named another is gone with it.
    assert len(list(tmp_path.glob("best-*"))) <= 1 + (fails_at > 9)


@pytest.mark.parametrize("name", ["../../secret", "/etc", "best-1/../../x", "", "step-000000009"])
def test_that_a_place_that_is_none_is_damage(tmp_path: Path, name: str) -> None:
    with pytest.raises(CheckpointDamaged):
        Checkpoints(tmp_path).read_best(name)


def test_that_best_weights_that_vanish_while_the_run_goes_on_are_written_again(
    tmp_path: Path,
) -> None:
    checkpoints, best = Checkpoints(tmp_path), held(1)
    checkpoints.save(STATE, end_of(2, best), best)
    shutil.rmtree(tmp_path / "best-000000010")
    checkpoints.save(STATE, end_of(3, best), best)
    assert (tmp_path / "best-000000010").is_dir()


def test_that_a_run_of_an_earlier_version_has_its_best_saved_epoch(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    for number, loss in enumerate((0.9, 0.2, 0.4), start=1):
        metrics = Metrics(val_loss=loss)
        checkpoints.save(STATE, Position(step=10 * number, epoch=number + 1, metrics=metrics))
    newest = checkpoints.newest_whole().checkpoint
    assert newest is not None
    found = checkpoints.with_best_saved(newest.position)
    assert found.best == epoch(2, 0.2)
    assert found.best_place == "step-000000020"
    # One that was trained without validation has none.
    unvalidated = Checkpoints(tmp_path / "unvalidated")
    (tmp_path / "unvalidated").mkdir()
    position = Position(step=10, epoch=2, metrics=Metrics(loss=0.1))
    unvalidated.save(STATE, position)
    assert unvalidated.with_best_saved(position) == position
