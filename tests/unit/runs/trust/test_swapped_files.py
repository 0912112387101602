"""Files of a run that somebody swaps between a check and its use: what was checked is what is used.

Each test does what an enemy would who may write into the folder, at the moment that suits them.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from gpupanel.domain.checked_files import CheckedFiles, digest_of
from gpupanel.domain.data import PythonData
from gpupanel.domain.events import RunEnded, RunStarted, TrainingEnded, encode_event
from gpupanel.domain.model import PythonModel
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.process_environment import CHECKED_VARIABLE
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.training import TrainingSettings
from gpupanel.files.plan_file import read_plan
from gpupanel.planning.prepare import prepare
from gpupanel.runs import launcher
from gpupanel.runs.directory import amendments
from gpupanel.runs.directory.amendments import amend
from gpupanel.runs.directory.profile_file import read_run_profile
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.launcher import fill_run, launch, resume
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.scheduling.start_entry import start_again
from gpupanel.runs.supervision.checked_run import CheckedRun
from gpupanel.runs.supervision.process import supervisor_of
from gpupanel.runs.trust.checked_start import check_start
from gpupanel.runs.trust.trusted import CodeNotTrustedError, trust
from gpupanel.runs.trust.user_code import code_of_profile
from gpupanel.trainer import checked_profile
from gpupanel.trainer.process import train_run
from gpupanel.trainer.started_run import read_started_run
from tests.fakes.devices import CPU_ONLY

CPU = DeviceSettings(visible=("cpu",))
DIGITS = Profile(devices=CPU, training=TrainingSettings(epochs=1))


def plan_of(profile: Profile) -> LaunchPlan:
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    return plan


class Foreign:
    """Code that nobody trusts, which leaves a mark where it is executed."""

    def __init__(self, folder: Path) -> None:
        self.mark = folder / "executed"
        self.code = f"from pathlib import Path\nPath({str(self.mark)!r}).touch()\n".encode()
        self.profile = DIGITS.model_copy(
            update={"data": PythonData(path="/x.py"), "model": PythonModel(path="/x.py")}
        )

    def put_into(self, layout: RunLayout) -> None:
        """Let the run's profile name it, whatever that named before."""
        layout.code.mkdir(exist_ok=True)
        layout.data_code.write_bytes(self.code)
        layout.model_code.write_bytes(self.code)
        layout.profile.write_text(dump_profile(self.profile))


@pytest.fixture
def foreign(tmp_path: Path) -> Foreign:
    return Foreign(tmp_path)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The arguments of each supervisor that a launcher starts; none of them runs yet."""
    found: list[tuple[str, ...]] = []

    def start(command: Sequence[str], *_: object) -> None:
        found.append(tuple(command[-2:]))

    monkeypatch.setattr(launcher, "start_detached", start)
    return found


@pytest.fixture
def own(tmp_path: Path) -> Profile:
    """Code of the person's own, which they trust."""
    for name in ("data", "model"):
        (tmp_path / f"{name}.py").write_text(f"# {name}\ndef load(): pass\nbuild_model = load\n")
    data = PythonData(path=str(tmp_path / "data.py"))
    model = PythonModel(path=str(tmp_path / "model.py"))
    profile = DIGITS.model_copy(update={"data": data, "model": model})
    trust(code_of_profile(profile))
    return profile


def end_of(layout: RunLayout) -> RunEnded:
    ended = RunFollower(layout).poll().events[-1]
    assert isinstance(ended, RunEnded)
    return ended


def code_of(caught: pytest.ExceptionInfo[ProblemError]) -> str:
    return caught.value.problems[0].code


@pytest.mark.parametrize("name", ["profile.toml", "plan.json"])
def test_that_a_supervisor_starts_nothing_with_a_profile_or_plan_swapped_after_the_check(
    runs_dir: Path, started: list[tuple[str, ...]], foreign: Foreign, name: str
) -> None:
    layout = launch(DIGITS, plan_of(DIGITS), runs_dir)
    if name == "plan.json":
        layout.plan.write_text(read_plan(layout).model_dump_json())
    else:
        foreign.put_into(layout)
    supervisor = supervisor_of(started.pop())
    assert supervisor.run() is Outcome.FAILED
    problem = end_of(layout).problem
    assert problem is not None
    assert problem.code == "run_file_changed"
    assert name in problem.message
    assert problem.hint
    assert not layout.trainer_log.read_text()


def test_that_a_trainer_obeys_no_profile_swapped_after_its_supervisor_looked(
    runs_dir: Path,
    started: list[tuple[str, ...]],
    foreign: Foreign,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layout = launch(DIGITS, plan_of(DIGITS), runs_dir)
    monkeypatch.setenv(CHECKED_VARIABLE, started.pop()[1])
    foreign.put_into(layout)
    assert train_run(layout.root) == 1
    (ended,) = RunFollower(layout).poll().events
    assert isinstance(ended, TrainingEnded)
    assert ended.problem is not None
    assert ended.problem.code == "run_file_changed"
    assert not foreign.mark.exists()


def test_that_a_process_on_another_node_waits_for_what_its_supervisor_wrote(
    runs_dir: Path, started: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = launch(DIGITS, plan_of(DIGITS), runs_dir)
    checked = CheckedFiles.model_validate_json(started.pop()[1])
    written = layout.profile.read_bytes()
    layout.profile.write_bytes(b"# as this node still sees it")
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            layout.profile.write_bytes(written)

    monkeypatch.setattr(checked_profile.time, "sleep", sleep)
    with pytest.raises(ProblemError):
        read_started_run(layout, checked)
    assert waits == []
    monkeypatch.setenv("GPUPANEL_LISTEN", "10.0.0.2")
    assert read_started_run(layout, checked).profile.training.epochs == 1
    assert len(waits) == 3


@pytest.mark.parametrize("name", ["data.py", "model.py"])
def test_that_code_swapped_after_the_check_is_not_executed(
    runs_dir: Path, started: list[tuple[str, ...]], foreign: Foreign, own: Profile, name: str
) -> None:
    layout = launch(own, plan_of(own), runs_dir)
    run = read_started_run(layout, CheckedFiles.model_validate_json(started.pop()[1]))
    code, function = (
        (run.data_code, "load") if name == "data.py" else (run.model_code, "build_model")
    )
    assert code is not None
    code.function(function)  # as it was checked
    (layout.code / name).write_bytes(foreign.code)
    with pytest.raises(ProblemError) as caught:
        code.function(function)
    assert code_of(caught) == "run_file_changed"
    assert f"code/{name}" in str(caught.value)
    assert not foreign.mark.exists()


def test_that_a_trainer_to_which_nobody_said_what_is_trusted_executes_nothing(
    runs_dir: Path, started: list[tuple[str, ...]], own: Profile
) -> None:
    layout = launch(own, plan_of(own), runs_dir)
    code = read_started_run(layout, CheckedFiles()).data_code
    assert code is not None
    with pytest.raises(ProblemError) as caught:
        code.function("load")
    assert code_of(caught) == "code_not_trusted"


def test_that_a_resumed_run_uses_what_was_checked_when_it_was_resumed(
    runs_dir: Path, started: list[tuple[str, ...]], foreign: Foreign
) -> None:
    layout = launch(DIGITS, plan_of(DIGITS), runs_dir)
    for event in (
        RunStarted(time_s=1.0, supervisor_pid=1),
        RunEnded(time_s=2.0, outcome=Outcome.STOPPED, exit_code=0),
    ):
        with layout.events.open("a") as file:
            file.write(f"{encode_event(event)}\n")
    (layout.checkpoints / "step-000000023").mkdir(parents=True)
    started.clear()
    longer = DIGITS.model_copy(update={"training": TrainingSettings(epochs=7)})
    resume(layout, (longer, plan_of(longer)))
    checked = CheckedFiles.model_validate_json(started[0][1])
    assert CheckedRun(layout, checked).profile().training.epochs == 7
    foreign.put_into(layout)
    supervisor_of(started.pop()).run()
    problem = end_of(layout).problem
    assert problem is not None
    assert problem.code == "run_file_changed"
    # At rest it is seen for what it is.
    with pytest.raises(CodeNotTrustedError):
        resume(layout)


def test_that_what_a_supervisor_has_used_once_it_keeps_and_only_it_can_amend(
    runs_dir: Path, started: list[tuple[str, ...]], foreign: Foreign
) -> None:
    layout = launch(DIGITS, plan_of(DIGITS), runs_dir)
    run = CheckedRun(layout, CheckedFiles.model_validate_json(started.pop()[1]))
    assert run.profile() == read_run_profile(layout)
    foreign.put_into(layout)
    assert not run.profile().data.is_code
    with pytest.raises(ProblemError) as caught:
        read_started_run(layout, run.files)
    assert code_of(caught) == "run_file_changed"

    smaller = DIGITS.model_copy(update={"training": TrainingSettings(epochs=3)})
    run.amend(smaller, plan_of(smaller))
    assert run.profile() == smaller
    assert read_started_run(layout, run.files).profile == smaller


def test_that_an_amendment_swapped_while_it_is_carried_out_is_not_what_is_handed_on(
    runs_dir: Path,
    started: list[tuple[str, ...]],
    foreign: Foreign,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layout = launch(DIGITS, plan_of(DIGITS), runs_dir)
    write_whole = amendments.write_whole

    def write_and_swap(path: Path, content: str | bytes, **options: bool) -> None:
        write_whole(path, content, **options)
        if path == layout.amendment:
            document = json.loads(layout.amendment.read_text())
            document["profile"] = foreign.profile.model_dump(mode="json")
            layout.amendment.write_text(json.dumps(document))

    monkeypatch.setattr(amendments, "write_whole", write_and_swap)
    smaller = DIGITS.model_copy(update={"training": TrainingSettings(epochs=3)})
    checked = amend(layout, smaller, plan_of(smaller))
    assert checked.digests["profile.toml"] == digest_of(dump_profile(smaller).encode())
    assert read_run_profile(layout) == smaller


def test_that_a_supervisor_obeys_no_amendment_that_is_planted_before_it_starts(
    runs_dir: Path, started: list[tuple[str, ...]], foreign: Foreign
) -> None:
    layout = launch(DIGITS, plan_of(DIGITS), runs_dir)
    profile = layout.profile.read_bytes()
    planted = {
        "number": 1,
        "profile": foreign.profile.model_dump(mode="json"),
        "plan": plan_of(DIGITS).model_dump(mode="json"),
    }
    layout.amendment.write_text(json.dumps(planted))
    supervisor = supervisor_of(started.pop())
    supervisor._command = ("/nowhere/trainer",)
    assert supervisor.run() is Outcome.FAILED
    assert layout.profile.read_bytes() == profile


def test_that_a_run_whose_scheduler_died_is_checked_before_another_one_starts_it(
    runs_dir: Path, foreign: Foreign
) -> None:
    layout = RunLayout(runs_dir / "queued")
    layout.root.mkdir(parents=True)
    fill_run(layout, DIGITS, plan_of(DIGITS))
    entry = QueueEntry(
        id="1",
        name="",
        runs_dir=runs_dir,
        added_s=0.0,
        run=layout.root,
        is_filled=True,
        state=EntryState.RUNNING,
    )
    handed: list[CheckedFiles] = []
    start_again(entry, lambda _, checked: handed.append(checked))
    assert handed == [check_start(layout)[1]]
    foreign.put_into(layout)
    with pytest.raises(CodeNotTrustedError):
        start_again(entry, lambda *_: handed.append(CheckedFiles()))
    assert len(handed) == 1


def test_that_digests_are_of_the_bytes_that_were_written_whatever_lies_there_by_then(
    runs_dir: Path, own: Profile, foreign: Foreign
) -> None:
    layout = RunLayout(runs_dir / "filled")
    layout.root.mkdir(parents=True)
    checked = fill_run(layout, own, plan_of(own))
    assert checked == check_start(layout)[1]
    assert set(checked.digests) == {"profile.toml", "plan.json", "code/data.py", "code/model.py"}
    layout.data_code.replace(layout.code / "before")
    layout.data_code.write_bytes(foreign.code)
    with pytest.raises(ProblemError):
        checked.check("code/data.py", layout.data_code.read_bytes())
