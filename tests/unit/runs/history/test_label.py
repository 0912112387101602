"""The name and the notes that a person gives a run, and runs that are to go."""

import errno
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from filelock import FileLock

from gpupanel.domain.events import RunRestarted, encode_event
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory.run_lock import is_supervised
from gpupanel.runs.history import deleting, label
from gpupanel.runs.history.deleting import delete_run
from gpupanel.runs.history.label import LONGEST_NAME, RunLabel, change_label, read_label
from gpupanel.runs.history.summaries import list_runs
from tests.fakes.run_directory import WrittenRun


@pytest.fixture
def layout(runs_dir: Path) -> RunLayout:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.end()
    return run.layout


def test_that_a_label_is_read_as_it_was_written(layout: RunLayout) -> None:
    notes = 'two\n\nparagraphs, "quoted", with ümlauts'
    assert change_label(layout, name="the best", notes=notes) == read_label(layout)
    assert read_label(layout) == RunLabel(name="the best", notes=notes)
    assert layout.label.stat().st_mode & 0o077 == 0


def test_that_name_and_notes_change_without_each_other(layout: RunLayout) -> None:
    change_label(layout, name="first", notes="noted")
    change_label(layout, name="second")
    change_label(layout, notes="noted again")
    assert read_label(layout) == RunLabel(name="second", notes="noted again")


def test_that_tags_stay_when_name_or_notes_change(layout: RunLayout) -> None:
    change_label(layout, tags=("baseline", "of Monday"))
    change_label(layout, name="named")
    assert read_label(layout) == RunLabel(name="named", tags=("baseline", "of Monday"))
    change_label(layout, name="", tags=())
    assert not layout.label.exists()


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ('tags = ["a", " A ", "b,c", "", 5]', ("A", "b c")),
        ('tags = "a"', ()),
        ("tags = 5", ()),
        (f'tags = ["{"x" * 500}"]', ("x" * 40,)),
        (f"tags = {[str(number) for number in range(500)]}", tuple(map(str, range(20)))),
    ],
)
def test_that_tags_that_anybody_wrote_are_few_and_short(
    layout: RunLayout, text: str, tags: tuple[str, ...]
) -> None:
    layout.label.write_text(f'name = "named"\n{text}\n')
    assert read_label(layout).name == "named"
    assert [tag.casefold() for tag in read_label(layout).tags] == [tag.casefold() for tag in tags]


def test_that_notes_that_cannot_be_read_now_are_not_lost_to_a_new_name(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_label(layout, notes="of a week")

    def stumble(*_: object, **_more: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as stumbling:
        stumbling.setattr(label, "read_file", stumble)
        with pytest.raises(ProblemError):
            change_label(layout, name="named")
    assert read_label(layout) == RunLabel(notes="of a week")


def test_that_a_label_of_nothing_is_no_file(layout: RunLayout) -> None:
    change_label(layout, name="a name")
    change_label(layout, name="  ")
    assert not layout.label.exists()
    assert read_label(layout) == RunLabel()


def test_that_a_name_is_one_line_that_is_not_endless() -> None:
    label = RunLabel(name=f"two\nlines {'x' * 500}")
    assert label.name.startswith("two lines xxx")
    assert len(label.name) == LONGEST_NAME


@pytest.mark.parametrize("content", [b"", b"name = 7", b"[name]"])
def test_that_a_label_of_something_else_is_none(layout: RunLayout, content: bytes) -> None:
    layout.label.write_bytes(content)
    assert read_label(layout) == RunLabel()
    assert change_label(layout, notes="corrected").notes == "corrected"


@pytest.mark.parametrize("content", [b"\xff\xfe", b"name = ", b'notes = "of a week\n'])
def test_that_what_stands_in_a_damaged_label_is_not_lost(layout: RunLayout, content: bytes) -> None:
    layout.label.write_bytes(content)
    assert read_label(layout) == RunLabel()
    with pytest.raises(ProblemError) as raised:
        change_label(layout, name="named")
    assert raised.value.problems[0].code == "label_damaged"
    assert str(layout.label) in raised.value.problems[0].message
    assert layout.label.read_bytes() == content


def test_that_a_byte_that_is_no_utf_8_can_be_written_into_a_label(layout: RunLayout) -> None:
    given = b"caf\xe9".decode("utf-8", "surrogateescape")
    label = change_label(layout, name=given, notes=given, tags=(given,))
    shown = r"caf\xe9"
    assert label == read_label(layout) == RunLabel(name=shown, notes=shown, tags=(shown,))


def test_that_a_key_of_something_else_does_not_take_the_others_with_it(layout: RunLayout) -> None:
    layout.label.write_text('name = 7\nnotes = "of a week"\ntags = ["a"]\n')
    assert read_label(layout) == RunLabel(notes="of a week", tags=("a",))
    assert change_label(layout, name="named").notes == "of a week"


def test_that_what_a_newer_version_keeps_there_stays(layout: RunLayout) -> None:
    layout.label.write_text('name = "kept"\nstars = 5\n')
    assert read_label(layout).name == "kept"
    change_label(layout, name="", notes="noted")
    change_label(layout, notes="")
    assert tomllib.loads(layout.label.read_text())["stars"] == 5


def test_that_a_label_of_a_run_that_is_gone_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ProblemError) as raised:
        change_label(RunLayout(tmp_path / "gone"), name="nothing")
    assert raised.value.problems[0].code == "file_missing"


def test_that_two_programs_that_write_at_once_lose_nothing(layout: RunLayout) -> None:
    script = (
        "import sys; from pathlib import Path; from gpupanel.domain.run_layout import RunLayout;"
        "from gpupanel.runs.history.label import change_label;"
        "[change_label(RunLayout(Path(sys.argv[1])), **{sys.argv[2]: str(n)}) for n in range(25)]"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(layout.root), key])
        for key in ("name", "notes")
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    assert read_label(layout) == RunLabel(name="24", notes="24")
    assert [path.name for path in layout.root.glob(".label*")] == []


def test_that_a_run_that_goes_on_is_not_deleted(runs_dir: Path) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        for bin_of in (lambda path: pytest.fail(f"{path} was moved"), None):
            with pytest.raises(ProblemError) as raised:
                delete_run(run.layout, bin_of)
            assert raised.value.problems[0].code == "run_goes_on"
    assert run.layout.root.is_dir()


def test_that_a_run_that_is_being_resumed_is_not_deleted(layout: RunLayout) -> None:
    with FileLock(layout.resume_lock), pytest.raises(ProblemError) as raised:
        delete_run(layout, None)
    assert raised.value.problems[0].code == "run_goes_on"
    assert layout.events.is_file()


def test_that_a_run_that_was_resumed_just_now_is_not_deleted(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock_in_folder = deleting.lock_in_folder

    def resumed_before(path: Path, timeout_s: float) -> FileLock:
        if path == layout.resume_lock:
            restarted = RunRestarted(time_s=time.time(), attempt=0)
            with layout.events.open("a") as events:
                events.write(encode_event(restarted) + "\n")
        return lock_in_folder(path, timeout_s)

    monkeypatch.setattr(deleting, "lock_in_folder", resumed_before)
    with pytest.raises(ProblemError) as raised:
        delete_run(layout, None)
    assert raised.value.problems[0].code == "run_goes_on"
    assert layout.events.is_file()


def test_that_nobody_can_start_a_run_while_it_is_moved(layout: RunLayout) -> None:
    seen = []

    def move(path: Path) -> bool:
        seen.append(is_supervised(RunLayout(path)))
        path.rename(path.with_name("moved"))
        return True

    assert delete_run(layout, move)
    assert seen == [True]
    assert not layout.root.exists()


def test_that_without_a_bin_the_run_stays(layout: RunLayout) -> None:
    assert not delete_run(layout, lambda _path: False)
    assert list_runs(layout.root.parent)[0].outcome is Outcome.COMPLETED


def test_that_a_run_is_deleted_for_good(layout: RunLayout) -> None:
    assert delete_run(layout, None)
    assert list(layout.root.parent.iterdir()) == []
    assert delete_run(layout, None)  # it is gone, which is what was asked for


def test_that_what_a_failed_deletion_leaves_is_no_run(
    layout: RunLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: object) -> None:
        raise OSError(30, os.strerror(30))

    monkeypatch.setattr("gpupanel.runs.history.deleting.shutil.rmtree", fail)
    with pytest.raises(ProblemError):
        delete_run(layout, None)
    assert list_runs(layout.root.parent) == ()


def test_that_what_two_windows_write_is_not_lost_without_a_word(runs_dir: Path) -> None:
    layout = WrittenRun(runs_dir).layout
    seen = RunLabel()
    change_label(layout, notes="of the first", before=seen)
    with pytest.raises(ProblemError) as caught:
        change_label(layout, notes="of the second", before=seen)
    (problem,) = caught.value.problems
    assert problem.code == "label_changed_meanwhile"
    assert problem.detail == "of the second"
    assert read_label(layout).notes == "of the first"
    # The same twice, or something else of the label, is in nobody's way.
    change_label(layout, notes="of the first", before=seen)
    change_label(layout, tags=("b",), before=seen)
    assert read_label(layout) == RunLabel(notes="of the first", tags=("b",))
