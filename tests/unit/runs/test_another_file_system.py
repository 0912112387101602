"""Runs in a folder on another file system than everything else of the person's."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gpupanel.domain.model import PythonModel
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.amendments import amend
from gpupanel.runs.directory.profile_file import read_profile
from gpupanel.runs.history.curve_table import write_curve_table
from gpupanel.runs.history.deleting import delete_run
from gpupanel.runs.history.label import change_label
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.launcher import create_run
from gpupanel.runs.queue import orders
from gpupanel.runs.queue.entry import EntryState
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.scheduling.scheduler import Scheduler
from gpupanel.runs.trust.trusted import trust
from gpupanel.runs.trust.user_code import code_of_profile
from tests.fakes.devices import CPU_ONLY
from tests.fakes.queued_runs import GPU_A, MACHINE, QueuedRuns, prepare_without_build, profile_on
from tests.fakes.run_directory import WrittenRun
from tests.fakes.small_disks import disk_for_a_run  # noqa: F401 - a fixture


@pytest.fixture
def runs_there(disk_for_a_run: Path, tmp_path: Path) -> Path:  # noqa: F811
    """A folder of runs on a disk of its own; nothing can be renamed from here to there."""
    folder = disk_for_a_run / "runs"
    folder.mkdir()
    probe = tmp_path / "probe"
    probe.touch()
    with pytest.raises(OSError, match="cross-device"):
        probe.rename(folder / "probe")
    return folder


def plan_of(profile: Profile) -> LaunchPlan:
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    return plan


def ended(runs_dir: Path) -> WrittenRun:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(5)
        run.end()
    return run


def files_in(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_that_a_run_is_made_changed_and_named_there_with_its_code(
    runs_there: Path, tmp_path: Path
) -> None:
    code = tmp_path / "network.py"
    code.write_text("def build(*_): ...\n")
    cpu = DeviceSettings(visible=("cpu",))
    profile = Profile(name="far", devices=cpu, model=PythonModel(path=str(code)))
    trust(code_of_profile(profile))
    layout = create_run(profile, plan_of(profile), runs_there)
    assert layout.model_code.read_bytes() == code.read_bytes()

    longer = profile.model_copy(update={"training": TrainingSettings(epochs=9)})
    amend(layout, longer, plan_of(longer))
    change_label(layout, name="named", notes="noted")
    assert read_profile(layout.profile).training.epochs == 9
    assert read_profile(layout.former_profile(1)) == profile
    assert plan_if_readable(layout) == plan_of(longer)
    left = {path.name for path in layout.root.iterdir() if path.name.startswith(".")}
    assert left == set(), "what was written beside is gone"
    (summary,) = list_runs(runs_there)
    assert (summary.title, summary.notes) == ("named", "noted")


def test_that_its_curves_are_written_as_a_table_here(runs_there: Path, tmp_path: Path) -> None:
    table = tmp_path / "curves.csv"
    assert write_curve_table(table, [ended(runs_there).layout]) > 5
    assert table.read_text().count("\n") > 5


def test_that_the_queue_starts_a_run_there(
    runs_there: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(orders, "ensure_scheduler", lambda _files: False)
    files, runs = QueueFiles(tmp_path / "queue"), QueuedRuns()
    orders.add(files, profile_on(GPU_A, name="queued"), runs_there)
    scheduler = Scheduler(files, lambda: MACHINE, prepare_without_build, runs.start, poll_s=0.0)
    scheduler.step()
    (entry,) = files.read().entries
    assert entry.state is EntryState.RUNNING
    assert entry.run is not None
    assert entry.run.parent == runs_there
    runs.end(entry.run)
    scheduler.step()
    assert files.read().entries[0].outcome is Outcome.COMPLETED


def test_that_a_run_goes_whole_to_a_bin_on_another_file_system(
    runs_there: Path, tmp_path: Path
) -> None:
    layout, bin_here = ended(runs_there).layout, tmp_path / "bin"
    before = files_in(layout.root)

    def move(path: Path) -> bool:
        shutil.move(path, bin_here)  # a copy, since it cannot be renamed
        return True

    assert delete_run(layout, move)
    assert list(runs_there.iterdir()) == []
    assert files_in(bin_here).items() >= before.items()


def test_that_a_run_there_is_deleted_for_good_at_once(runs_there: Path) -> None:
    assert delete_run(ended(runs_there).layout, None)
    assert list(runs_there.iterdir()) == []


@pytest.mark.parametrize("move", [None, lambda path: pytest.fail(f"{path} was moved")])
def test_that_what_may_only_be_read_is_not_deleted_by_half(runs_there: Path, move: object) -> None:
    layout = ended(runs_there).layout
    before = files_in(layout.root)
    subprocess.run(["mount", "-o", "remount,ro", str(runs_there.parent)], check=True)
    assert move is None or callable(move)
    with pytest.raises(ProblemError) as caught:
        delete_run(layout, move)
    (problem,) = caught.value.problems
    assert problem.code == "read_only"
    assert problem.hint
    assert files_in(layout.root) == before
