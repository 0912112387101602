"""Checkpoints are complete or absent; early stopping; failures in words."""

import errno
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.best_epoch import BestMetric
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.plan import PlannedProcess
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.schedule import ScheduleSettings
from gpupanel.domain.training import SHORTEST_PAUSE_S, CheckpointPace, TrainingSettings
from gpupanel.trainer.failures import LOOKING_AT_DATA, problems_of
from gpupanel.trainer.loop.early_stopping import after_epoch, reason_to_stop
from gpupanel.trainer.models.variable_state import assign_variables, by_name, read_variables
from gpupanel.trainer.saving import checkpoint_files
from gpupanel.trainer.saving import checkpoints as module
from gpupanel.trainer.saving.checkpoint_files import CHECKSUMS_FILE, POSITION_FILE, STATE_FILE
from gpupanel.trainer.saving.checkpoint_times import ends_with_checkpoint
from gpupanel.trainer.saving.checkpoints import Checkpoints
from gpupanel.trainer.saving.position import Position
from tests.unit.trainer.conftest import cpu_plan

STATE = {"model/dense/kernel": np.arange(6, dtype=np.float32), "optimizer/step": np.int64(3)}


def test_that_a_checkpoint_holds_what_was_saved(tmp_path: Path) -> None:
    position = Position(step=46, epoch=3, metrics=Metrics(loss=0.5), best_loss=0.5)

    place = Checkpoints(tmp_path / "checkpoints").save(STATE, position).place

    with np.load(place / STATE_FILE) as state:
        assert {name: state[name].tolist() for name in state} == {
            "model/dense/kernel": [0, 1, 2, 3, 4, 5],
            "optimizer/step": 3,
        }
    read = Position.model_validate_json((place / POSITION_FILE).read_text(encoding="utf-8"))
    assert read == position


def names(checkpoints: Checkpoints) -> list[str]:
    return [path.name for path in checkpoints.saved()]


@pytest.mark.parametrize(
    ("every", "epoch", "age_s", "ends", "is_saved"),
    [
        (CheckpointPace.AUTO, 1, SHORTEST_PAUSE_S, False, True),
        (CheckpointPace.AUTO, 9, SHORTEST_PAUSE_S - 0.1, False, False),
        (CheckpointPace.AUTO, 9, 0.0, True, True),
        (1, 9, 0.0, False, True),
        (2, 9, 3600.0, False, False),
        (2, 10, 0.0, False, True),
        (2, 9, 0.0, True, True),
        (0, 9, 3600.0, True, False),
    ],
)
def test_that_short_epochs_share_a_checkpoint_unless_their_number_is_said(
    every: CheckpointPace | int, epoch: int, age_s: float, ends: bool, is_saved: bool
) -> None:
    assert ends_with_checkpoint(every, epoch, age_s, ends=ends) is is_saved


@pytest.mark.parametrize(("kept", "steps"), [(3, [100, 1_000, 20_000]), (1, [20_000])])
def test_that_the_newest_so_many_are_kept(tmp_path: Path, kept: int, steps: list[int]) -> None:
    checkpoints = Checkpoints(tmp_path, kept=kept)
    for step in (5, 90, 100, 1_000, 20_000):
        checkpoints.save(STATE, Position(step=step))

    assert names(checkpoints) == [f"step-{step:09d}" for step in steps]


def test_that_steps_beyond_nine_digits_are_still_the_newest(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, kept=2)
    for step in (10**9 - 1, 10**9, 10**9 + 1):
        checkpoints.save(STATE, Position(step=step))

    assert names(checkpoints) == ["step-1000000000", "step-1000000001"]


def epoch_end(epoch: int, loss: float, val_loss: float | None) -> Position:
    metrics = Metrics(loss=loss, val_loss=val_loss)
    return Position(step=10 * epoch, epoch=epoch + 1, metrics=metrics)


@pytest.mark.parametrize("validated", [True, False])
def test_that_the_best_epoch_is_kept_beyond_the_newest(tmp_path: Path, validated: bool) -> None:
    checkpoints = Checkpoints(tmp_path, kept=2)
    best = []
    for epoch, loss in enumerate([0.9, 0.5, 0.7, 0.5, 0.8], start=1):
        # A training loss that falls says nothing where there is a validation loss.
        position = epoch_end(epoch, 1 / epoch, loss) if validated else epoch_end(epoch, loss, None)
        best.append(checkpoints.save(STATE, position).is_best)
        # Within the next epoch: its metrics are those of the last one, its weights are others.
        later = position.model_copy(update={"step": position.step + 1, "step_in_epoch": 1})
        assert not checkpoints.save(STATE, later).is_best

    assert best == [True, True, False, False, False]
    assert names(checkpoints) == ["step-000000020", "step-000000050", "step-000000051"]


def test_that_the_best_is_not_kept_where_nobody_wants_it(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, kept=1, keeps_best=False)
    saved = [checkpoints.save(STATE, epoch_end(epoch, epoch, None)) for epoch in (1, 2)]

    assert [one.is_best for one in saved] == [False, False]
    assert names(checkpoints) == ["step-000000020"]


@pytest.mark.parametrize("fails_at", range(1, 6))
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

    monkeypatch.setattr(checkpoint_files.os, "fsync", fill_up)
    with pytest.raises(OSError, match="No space left"):
        checkpoints.save(STATE, Position(step=2))

    # The last one is of the folder of all: the checkpoint stands, but a power cut may undo it.
    wanted = ["step-000000001"] + ["step-000000002"] * (fails_at == 5)
    assert sorted(path.name for path in tmp_path.iterdir()) == wanted


def test_that_files_and_folders_are_forced_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced: list[str] = []
    monkeypatch.setattr(
        checkpoint_files.os,
        "fsync",
        lambda file: forced.append(Path(f"/proc/self/fd/{file}").readlink().name),
    )

    Checkpoints(tmp_path).save(STATE, Position(step=2))

    beside = ".step-000000002.partial"
    assert forced == [STATE_FILE, POSITION_FILE, CHECKSUMS_FILE, beside, tmp_path.name]


def test_that_a_step_saved_again_stands_before_the_one_before_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = Checkpoints(tmp_path)
    standing: list[list[str]] = []
    fsync = os.fsync

    def look(file: int) -> None:
        standing.append(names(checkpoints))
        fsync(file)

    monkeypatch.setattr(checkpoint_files.os, "fsync", look)
    for epoch in (1, 2, 3):
        checkpoints.save(STATE, Position(step=7, epoch=epoch))

    first, second, third = "step-000000007", "step-000000007-2", "step-000000007-3"
    assert standing == [
        *[[]] * 4,
        *[[first]] * 5,
        [first, second],
        *[[second]] * 4,
        [second, third],
    ]
    assert os.listdir(tmp_path) == [third]  # noqa: PTH208 - hidden ones too
    found = checkpoints.newest_whole().checkpoint
    assert found is not None
    assert found.position.epoch == 3


@pytest.mark.parametrize("killed_in", ["rename", "remove_folder"])
def test_that_one_killed_while_it_deletes_leaves_no_half_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_in: str
) -> None:
    checkpoints = Checkpoints(tmp_path, kept=1)
    checkpoints.save(STATE, Position(step=1))

    class Killed(BaseException):
        """Nobody catches it, as nobody catches SIGKILL."""

    def die(*_arguments: object, **_options: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        if killed_in == "rename":
            renamed = module.rename

            def rename(path: Path, target: Path, within: Path) -> None:
                # What was written gets its name; what is to be deleted loses its own.
                if not path.name.startswith("."):
                    die()
                renamed(path, target, within)

            patch.setattr(module, "rename", rename)
        else:
            # The left-overs of before are none.
            patch.setattr(module, "remove_folder", die)
        with pytest.raises(Killed):
            checkpoints.save(STATE, Position(step=2))

    for place in Checkpoints(tmp_path).saved():
        assert {path.name for path in place.iterdir()} == {
            *[STATE_FILE, POSITION_FILE, CHECKSUMS_FILE]
        }
    assert "step-000000002" in names(checkpoints)
    checkpoints.save(STATE, Position(step=3))
    assert os.listdir(tmp_path) == ["step-000000003"]  # noqa: PTH208 - hidden ones too


def test_that_a_run_whose_folder_is_gone_does_not_come_back(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Checkpoints(tmp_path / "run" / "checkpoints").save(STATE, Position(step=1))

    assert not (tmp_path / "run").exists()


def test_that_the_newest_one_is_read_again(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    assert checkpoints.newest_whole().checkpoint is None
    checkpoints.save({"model/dense/kernel": np.zeros(6)}, Position(step=1))
    position = Position(step=46, epoch=3, metrics=Metrics(loss=0.5))
    saved = checkpoints.save(STATE, position)

    found = checkpoints.newest_whole()

    assert found.damaged == ()
    assert found.checkpoint is not None
    assert (found.checkpoint.position, found.checkpoint.place) == (position, saved.place)
    assert {name: array.tolist() for name, array in found.checkpoint.state.items()} == {
        "model/dense/kernel": [0, 1, 2, 3, 4, 5],
        "optimizer/step": 3,
    }


def flip_a_bit(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 1
    path.write_bytes(content)


def damage(path: Path, how: str) -> None:
    match how:
        case "gone":
            path.unlink()
        case "empty":
            path.write_bytes(b"")
        case "other":
            path.write_bytes(b"no such thing")
        case "cut":
            path.write_bytes(path.read_bytes()[:-1])
        case "bit":
            flip_a_bit(path, 200)


@pytest.mark.parametrize("file", [STATE_FILE, POSITION_FILE, CHECKSUMS_FILE])
@pytest.mark.parametrize("how", ["gone", "empty", "other", "cut", "bit"])
def test_that_the_one_before_a_damaged_one_is_used(tmp_path: Path, file: str, how: str) -> None:
    checkpoints = Checkpoints(tmp_path)
    for step in (1, 2, 3):
        checkpoints.save(STATE, Position(step=step))
    for step in (2, 3):
        damage(tmp_path / f"step-{step:09d}" / file, how)

    found = checkpoints.newest_whole()

    assert found.checkpoint is not None
    if (file, how) in ((CHECKSUMS_FILE, "gone"), (CHECKSUMS_FILE, "cut")):
        # Nothing that counts is missing: the first is as an earlier version wrote it, the other
        # lacks the end of a line.
        assert (found.checkpoint.position.step, found.damaged) == (3, ())
        return
    assert found.checkpoint.position.step == 1
    assert [one.place.name for one in found.damaged] == ["step-000000003", "step-000000002"]
    assert all(one.detail for one in found.damaged)


@pytest.mark.parametrize("checksums", [True, False])
def test_that_a_flipped_bit_is_reported(tmp_path: Path, checksums: bool) -> None:
    checkpoints = Checkpoints(tmp_path)
    place = checkpoints.save(STATE, Position(step=1)).place
    if not checksums:
        # As an earlier version wrote it: each array has a CRC, which the bytes around it lack.
        (place / CHECKSUMS_FILE).unlink()
    whole = (place / STATE_FILE).read_bytes()
    for at in range(len(whole)):
        flip_a_bit(place / STATE_FILE, at)
        found = checkpoints.newest_whole()
        # Without checksums it may: but it is read, or it is damaged, and nothing else.
        assert found.damaged or not checksums
        (place / STATE_FILE).write_bytes(whole)


def test_that_damaged_ones_do_not_push_out_whole_ones(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, kept=2)
    for step in (10, 20, 30):
        checkpoints.save(STATE, Position(step=step))
    for step in (20, 30):
        damage(tmp_path / f"step-{step:09d}" / STATE_FILE, "cut")
    assert checkpoints.newest_whole().checkpoint is None

    # The training has begun anew.
    checkpoints.save(STATE, Position(step=5))

    assert names(checkpoints) == ["step-000000005"]


def test_that_what_cannot_be_read_now_is_not_taken_for_damaged_and_may_be_the_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = Checkpoints(tmp_path, kept=1)
    for epoch, loss in ((2, 0.1), (3, 0.9)):
        checkpoints.save(STATE, epoch_end(epoch, loss, None))
    unreadable, last = names(checkpoints)
    read_file = checkpoint_files.read_file

    def stumble(path: Path, within: Path | None = None) -> bytes:
        if path.parent.name == unreadable:
            raise OSError(errno.EIO, "Input/output error")
        return read_file(path, within)

    monkeypatch.setattr(checkpoint_files, "read_file", stumble)
    best = checkpoints.save(STATE, epoch_end(4, 0.7, None))
    assert best.is_best
    assert names(checkpoints) == [unreadable, best.place.name]  # the others go as they always do
    newest = checkpoints.save(STATE, epoch_end(5, 0.8, None))
    assert names(checkpoints) == [unreadable, best.place.name, newest.place.name]
    Checkpoints(tmp_path, kept=2, keeps_best=False).save(STATE, epoch_end(6, 0.9, None))
    assert unreadable not in names(checkpoints)
    assert last not in names(checkpoints)

    unreadable = names(checkpoints)[-1]
    with pytest.raises(OSError, match="Input/output error") as raised:
        checkpoints.newest_whole()
    assert raised.value.filename == str(tmp_path / unreadable)


def test_that_left_overs_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".step-000000009.partial").mkdir()
    (tmp_path / ".step-000000009.partial" / STATE_FILE).write_bytes(b"half")
    (tmp_path / "step-of-a-person").mkdir()
    checkpoints = Checkpoints(tmp_path)

    checkpoints.clean_up()

    assert checkpoints.saved() == []
    assert os.listdir(tmp_path) == ["step-of-a-person"]  # noqa: PTH208 - hidden ones too


class FakeVariable:
    """What is needed of a Keras variable."""

    def __init__(self, *shape: int, path: str = "", dtype: str = "float32") -> None:
        self.shape = shape
        self.path = path
        self.dtype = dtype
        self.value = np.zeros(shape, np.float32)

    def assign(self, value: np.ndarray) -> None:
        self.value = value


def test_that_variables_get_what_they_held() -> None:
    variables = {"model/a": FakeVariable(2), "optimizer/b": FakeVariable()}
    state = {"model/a": np.asarray([1.0, 2.0]), "optimizer/b": np.asarray(3)}

    assign_variables(variables, state)

    assert read_variables(variables).keys() == state.keys()
    assert [read_variables(variables)[name].tolist() for name in state] == [[1.0, 2.0], 3]


def test_that_variables_with_the_same_path_do_not_replace_each_other() -> None:
    variables = [FakeVariable(path="dense/kernel") for _ in range(3)]

    named = by_name("model", [*variables, FakeVariable(path="dense/bias")])

    assert list(named) == [
        *["model/dense/kernel", "model/dense/kernel#2", "model/dense/kernel#3"],
        "model/dense/bias",
    ]
    assert list(named.values())[:3] == variables


def test_that_sixteen_bits_come_back_from_a_file(tmp_path: Path) -> None:
    half = np.asarray([1.5, -2.0], "float16").view("V2")  # as NumPy reads what it does not know
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save({"model/a": half}, Position(step=1))
    found = checkpoints.newest_whole().checkpoint
    assert found is not None
    variables = {"model/a": FakeVariable(2, dtype="float16")}

    assign_variables(variables, found.state)

    assert read_variables(variables)["model/a"].tolist() == [1.5, -2.0]


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
    position, found = Position(), []
    for loss in losses:
        metrics = Metrics(loss=1.0, val_loss=loss) if validated else Metrics(loss=loss)
        position = after_epoch(position, metrics)
        found.append(reason_to_stop(position, settings))
    return found


@pytest.mark.parametrize("validated", [True, False])
def test_that_training_ends_when_the_loss_no_longer_falls(validated: bool) -> None:
    found = reasons([0.9, 0.5, 0.6, 0.5], patience=2, validated=validated)

    assert found[:3] == [None] * 3
    assert found[3] is not None
    assert found[3].severity is Severity.HINT
    assert "since epoch 2" in found[3].message
    assert ("validation" in found[3].message) == validated


@pytest.mark.parametrize(
    ("areas", "stops_after", "words"),
    [
        # Losses get better, areas do not.
        ([0.5, 0.7, 0.6, 0.7, 0.9], 4, "validation AUC has not risen since epoch 2,"),
        ([0.5, 0.6, 0.7, 0.8, 0.9], None, ""),
        # What is not measured decides nothing.
        ([None] * 5, None, ""),
    ],
)
def test_that_early_stopping_watches_what_decides_which_epoch_is_the_best(
    areas: list[float | None], stops_after: int | None, words: str
) -> None:
    settings = TrainingSettings(epochs=10, early_stopping_patience=2, best_metric=BestMetric.AUC)
    position, found = Position(), []
    for epoch, area in enumerate(areas):
        metrics = Metrics(loss=1.0, val_loss=1.0 - 0.1 * epoch, val_auc=area)
        position = after_epoch(position, metrics, best_metric=settings.best_metric)
        # A process that goes on from here counts on.
        position = Position.model_validate_json(position.model_dump_json())
        found.append(reason_to_stop(position, settings))
    stopped = [1 + epoch for epoch, problem in enumerate(found) if problem is not None]
    assert stopped[:1] == ([] if stops_after is None else [stops_after])
    assert all(words in problem.message for problem in found[:stops_after] if problem is not None)


@pytest.mark.parametrize("validated", [True, False])
def test_that_a_rate_falls_when_the_loss_has_not_fallen_for_its_patience(validated: bool) -> None:
    schedule = ScheduleSettings(kind="reduce_on_plateau", factor=0.5, least=0.2, patience_epochs=2)
    position, factors = Position(), []
    for loss in (0.9, 0.5, 0.6, 0.5, 0.6, 0.4, 0.4, 0.7, 0.5, 0.5, 0.5, 0.5):
        metrics = Metrics(loss=0.1, val_loss=loss) if validated else Metrics(loss=loss)
        position = after_epoch(position, metrics, schedule)
        # A process that goes on from here counts on.
        position = Position.model_validate_json(position.model_dump_json())
        factors.append(position.rate_factor)

    assert factors == [1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2, 0.2]


def test_that_another_schedule_leaves_the_rate_alone() -> None:
    position = Position()
    for _ in range(9):
        position = after_epoch(position, Metrics(loss=0.5), ScheduleSettings(kind="cosine"))
    assert (position.rate_factor, position.plateau_epochs) == (1.0, 0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_that_a_loss_that_differs_in_its_last_bits_has_not_fallen(sign: float) -> None:
    found = reasons([0.5 * sign, 0.5 * sign - 4e-8, 0.5 * sign - 8e-8], patience=2, validated=True)

    assert found[2] is not None
    assert "since epoch 1" in found[2].message
    fallen = [0.5 * sign - 2e-6 * epoch for epoch in range(9)]
    assert reasons(fallen, patience=1, validated=True) == [None] * 9


def test_that_training_goes_on_without_patience_or_in_its_last_epoch() -> None:
    assert reasons([0.5] * 9, patience=None, validated=True) == [None] * 9
    assert reasons([0.5] * 10, patience=9, validated=True) == [None] * 10


def problem_of(error: BaseException, cause: BaseException | None = None) -> Problem:
    with pytest.raises(type(error)) as caught:
        raise error from cause
    (problem,) = problems_of(caught.value)
    return problem


def test_that_problems_are_passed_on_as_they_are() -> None:
    problems = (Problem(code="a", message="A."), Problem(code="b", message="B."))

    assert problems_of(ProblemError(*problems)) == problems


@pytest.mark.parametrize(
    ("number", "code"), [(errno.ENOSPC, "no_space"), (errno.EDQUOT, "quota_used_up")]
)
def test_that_a_full_disk_is_reported(number: int, code: str) -> None:
    assert problem_of(OSError(number, os.strerror(number))).code == code


def test_that_a_full_disk_is_seen_behind_another_error() -> None:
    full = OSError(errno.ENOSPC, "No space left on device")

    assert problem_of(RuntimeError("cannot save"), cause=full).code == "no_space"


def test_that_too_little_memory_names_the_device() -> None:
    class ResourceExhaustedError(Exception):
        """Has the name of TensorFlow's."""

    problem = problem_of(
        ResourceExhaustedError(
            "OOM when allocating tensor with shape[9] and type float on "
            "/job:localhost/replica:0/task:0/device:GPU:1 by allocator GPU_1_bfc"
        )
    )

    assert problem.code == "out_of_memory"
    assert "/device:GPU:1" in problem.message
    assert problem_of(MemoryError()).code == "out_of_memory"


def test_that_a_lost_peer_is_reported_in_a_gang_only() -> None:
    class UnavailableError(Exception):
        """Has the name of TensorFlow's."""

    error = UnavailableError("Collective ops is aborted by: Socket closed")
    plan = cpu_plan(Profile(), [64])
    gang = plan.model_copy(update={"processes": (PlannedProcess(), PlannedProcess(index=1))})

    assert [problem.code for problem in problems_of(error, gang)] == ["peer_lost"]
    assert [problem.code for problem in problems_of(error, plan)] == ["trainer_crashed"]


def test_that_the_unexpected_is_one_sentence_with_its_trace() -> None:
    problem = problem_of(KeyError("surprise"))

    assert problem.code == "trainer_crashed"
    assert "KeyError" in problem.message
    assert "test_checkpoints.py" in problem.detail


def test_that_the_unexpected_is_worded_by_what_was_being_done() -> None:
    error = KeyError("surprise")
    (seen,) = problems_of(error, what=LOOKING_AT_DATA)
    assert seen.message.startswith("The preview of the data ended with an unexpected KeyError")
    assert "trainer.log" not in seen.hint
    (evaluated,) = problems_of(error, task="evaluate")
    assert evaluated.message.startswith("The evaluation ended")
    assert "trainer.log" in evaluated.hint


def test_that_tensorflows_frames_are_left_out_of_the_sentence() -> None:
    message = 'Graph execution error:\n\nDetected at node x\n  File "a.py", line 1\n\nBad shape.\n'

    assert problem_of(ValueError(message)).message.endswith("Bad shape.")


def test_that_sums_of_a_checkpoint_with_one_measure_are_read() -> None:
    kept = {"step": 5, "epoch_examples": 10, "epoch_loss_sum": 2.5, "epoch_measure_sum": 7.0}

    position = Position.model_validate(kept)

    assert position.epoch_sums == (2.5, 7.0)
    assert Position.model_validate_json(position.model_dump_json()) == position


@pytest.mark.parametrize("after", ["make_folder", "rename"])
def test_that_a_folder_swapped_for_a_link_while_one_is_saved_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    run, victim = tmp_path / "run", tmp_path / "victim"
    for name in ("step-000000001", ".step-000000001.partial", ".step-000000002.partial"):
        (victim / name).mkdir(parents=True)
        (victim / name / "kept").write_text("kept")
    run.mkdir()
    checkpoints = Checkpoints(run / "checkpoints", kept=1)
    checkpoints.save(STATE, Position(step=1))
    function = getattr(module, after)

    def swap(*arguments: Path) -> None:
        function(*arguments)
        if not (run / "checkpoints").is_symlink():
            (run / "checkpoints").rename(run / "aside")
            (run / "checkpoints").symlink_to(victim)

    monkeypatch.setattr(module, after, swap)
    with suppress(OSError):
        checkpoints.save(STATE, Position(step=2))
    found = {
        path.relative_to(victim): path.is_dir() or path.read_text() for path in victim.rglob("*")
    }
    assert {str(path) for path in found if path.name == "kept"} == {
        f"{name}/kept"
        for name in ("step-000000001", ".step-000000001.partial", ".step-000000002.partial")
    }
    assert len(found) == 6
