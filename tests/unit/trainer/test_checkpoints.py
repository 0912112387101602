"""Checkpoints are complete or absent; early stopping; failures in words."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.outcome import Metrics
from gpupanel.domain.plan import PlannedProcess
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.loop.early_stopping import after_epoch, reason_to_stop
from gpupanel.trainer.loop.position import Position
from gpupanel.trainer.saving import checkpoints as module
from gpupanel.trainer.saving.checkpoints import POSITION_FILE, STATE_FILE, Checkpoints
from gpupanel.trainer.saving.variable_state import assign_variables, read_variables
from tests.unit.trainer.conftest import cpu_plan

STATE = {"model/dense/kernel": np.arange(6, dtype=np.float32), "optimizer/step": np.int64(3)}


def test_that_a_checkpoint_holds_what_was_saved(tmp_path: Path) -> None:
    position = Position(step=46, epoch=3, metrics=Metrics(loss=0.5), best_loss=0.5)

    place = Checkpoints(tmp_path / "checkpoints").save(STATE, position)

    with np.load(place / STATE_FILE) as state:
        assert {name: state[name].tolist() for name in state} == {
            "model/dense/kernel": [0, 1, 2, 3, 4, 5],
            "optimizer/step": 3,
        }
    read = Position.model_validate_json((place / POSITION_FILE).read_text(encoding="utf-8"))
    assert read == position


def test_that_the_newest_three_are_kept(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    for step in (5, 90, 100, 1_000, 20_000):
        checkpoints.save(STATE, Position(step=step))

    names = [path.name for path in checkpoints.saved()]
    assert names == ["step-000000100", "step-000001000", "step-000020000"]


@pytest.mark.parametrize("fails_at", [1, 2])
def test_that_a_checkpoint_that_cannot_be_written_is_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save(STATE, Position(step=1))
    calls: list[int] = []

    def fill_up(file: int) -> None:
        calls.append(file)
        if len(calls) == fails_at:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", fill_up)
    with pytest.raises(OSError, match="No space left"):
        checkpoints.save(STATE, Position(step=2))

    assert [path.name for path in tmp_path.iterdir()] == ["step-000000001"]


def test_that_the_same_step_can_be_saved_again(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    for _ in range(2):
        checkpoints.save(STATE, Position(step=1))

    assert os.listdir(tmp_path) == ["step-000000001"]  # noqa: PTH208 - hidden ones too


def test_that_the_newest_one_is_read_again(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    assert checkpoints.latest() is None
    checkpoints.save({"model/dense/kernel": np.zeros(6)}, Position(step=1))
    position = Position(step=46, epoch=3, metrics=Metrics(loss=0.5))
    saved = checkpoints.save(STATE, position)

    latest = checkpoints.latest()

    assert latest is not None
    state, read, place = latest
    assert (read, place) == (position, saved)
    assert {name: array.tolist() for name, array in state.items()} == {
        "model/dense/kernel": [0, 1, 2, 3, 4, 5],
        "optimizer/step": 3,
    }


@pytest.mark.parametrize("file", [STATE_FILE, POSITION_FILE])
@pytest.mark.parametrize("content", [None, b"", b"no such thing"])
def test_that_a_damaged_checkpoint_is_told(
    tmp_path: Path, file: str, content: bytes | None
) -> None:
    place = Checkpoints(tmp_path).save(STATE, Position(step=1))
    if content is None:
        (place / file).unlink()
    else:
        (place / file).write_bytes(content)

    with pytest.raises(ProblemError, match="step-000000001 cannot be read"):
        Checkpoints(tmp_path).latest()


class FakeVariable:
    """What is needed of a Keras variable."""

    def __init__(self, *shape: int) -> None:
        self.shape = shape
        self.value = np.zeros(shape, np.float32)

    def assign(self, value: np.ndarray) -> None:
        self.value = value


def test_that_variables_get_what_they_held() -> None:
    variables = {"model/a": FakeVariable(2), "optimizer/b": FakeVariable()}
    state = {"model/a": np.asarray([1.0, 2.0]), "optimizer/b": np.asarray(3)}

    assign_variables(variables, state)

    assert read_variables(variables).keys() == state.keys()
    assert [read_variables(variables)[name].tolist() for name in state] == [[1.0, 2.0], 3]


@pytest.mark.parametrize(
    "state",
    [
        {"model/a": np.ones(2)},
        {"model/a": np.ones(2), "optimizer/b": np.asarray(3), "optimizer/c": np.ones(1)},
        {"model/a": np.ones(3), "optimizer/b": np.asarray(3)},
    ],
)
def test_that_a_checkpoint_of_another_model_is_refused_whole(state: dict[str, np.ndarray]) -> None:
    variables = {"model/a": FakeVariable(2), "optimizer/b": FakeVariable()}

    with pytest.raises(ProblemError, match="another model or optimizer: 1 of its variables"):
        assign_variables(variables, state)

    assert variables["model/a"].value.tolist() == [0.0, 0.0]


def reasons(losses: list[float], patience: int | None, *, validated: bool) -> list[Problem | None]:
    settings = TrainingSettings(epochs=10, early_stopping_patience=patience)
    position, told = Position(), []
    for loss in losses:
        metrics = Metrics(loss=1.0, val_loss=loss) if validated else Metrics(loss=loss)
        position = after_epoch(position, metrics)
        told.append(reason_to_stop(position, settings))
    return told


@pytest.mark.parametrize("validated", [True, False])
def test_that_training_ends_when_the_loss_no_longer_falls(validated: bool) -> None:
    told = reasons([0.9, 0.5, 0.6, 0.5], patience=2, validated=validated)

    assert told[:3] == [None] * 3
    assert told[3] is not None
    assert told[3].severity is Severity.HINT
    assert "since epoch 2" in told[3].message
    assert ("validation" in told[3].message) == validated


def test_that_training_goes_on_without_patience_or_in_its_last_epoch() -> None:
    assert reasons([0.5] * 9, patience=None, validated=True) == [None] * 9
    assert reasons([0.5] * 10, patience=9, validated=True) == [None] * 10


def told(error: BaseException, cause: BaseException | None = None) -> Problem:
    with pytest.raises(type(error)) as caught:
        raise error from cause
    (problem,) = problems_of(caught.value)
    return problem


def test_that_problems_are_passed_on_as_they_are() -> None:
    problems = (Problem(code="a", message="A."), Problem(code="b", message="B."))

    assert problems_of(ProblemError(*problems)) == problems


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_that_a_full_disk_is_told(number: int) -> None:
    assert told(OSError(number, os.strerror(number))).code == "no_space"


def test_that_a_full_disk_is_seen_behind_another_error() -> None:
    full = OSError(errno.ENOSPC, "No space left on device")

    assert told(RuntimeError("cannot save"), cause=full).code == "no_space"


def test_that_too_little_memory_names_the_device() -> None:
    class ResourceExhaustedError(Exception):
        """Has the name of TensorFlow's."""

    problem = told(
        ResourceExhaustedError(
            "OOM when allocating tensor with shape[9] and type float on "
            "/job:localhost/replica:0/task:0/device:GPU:1 by allocator GPU_1_bfc"
        )
    )

    assert problem.code == "out_of_memory"
    assert "/device:GPU:1" in problem.message
    assert told(MemoryError()).code == "out_of_memory"


def test_that_a_lost_peer_is_told_in_a_gang_only() -> None:
    class UnavailableError(Exception):
        """Has the name of TensorFlow's."""

    error = UnavailableError("Collective ops is aborted by: Socket closed")
    plan = cpu_plan(Profile(), [64])
    gang = plan.model_copy(update={"processes": (PlannedProcess(), PlannedProcess(index=1))})

    assert [problem.code for problem in problems_of(error, gang)] == ["peer_lost"]
    assert [problem.code for problem in problems_of(error, plan)] == ["trainer_crashed"]


def test_that_the_unexpected_is_one_sentence_with_its_trace() -> None:
    problem = told(KeyError("surprise"))

    assert problem.code == "trainer_crashed"
    assert "KeyError" in problem.message
    assert "test_checkpoints.py" in problem.detail


def test_that_tensorflows_frames_are_left_out_of_the_sentence() -> None:
    message = 'Graph execution error:\n\nDetected at node x\n  File "a.py", line 1\n\nBad shape.\n'

    assert told(ValueError(message)).message.endswith("Bad shape.")
