"""Which of a supervisor's reports are told, and as what."""

import pytest

from gpupanel.domain.events import Event, ProblemReported, RunRestarted
from gpupanel.domain.notes import NoteKind, NoteSettings, PostedNote
from gpupanel.domain.problem import Problem, Severity
from gpupanel.runs.locations import notes_dir
from gpupanel.runs.notes import posting
from gpupanel.runs.notes.note_settings import NOTES_FILE
from gpupanel.runs.notes.outbox import Outbox
from gpupanel.runs.notes.run_notes import note_event
from tests.fakes.run_directory import WrittenRun


@pytest.fixture(autouse=True)
def _no_courier(monkeypatch: pytest.MonkeyPatch) -> None:
    NOTES_FILE.write(NoteSettings(command="true"))
    monkeypatch.setattr(posting, "wake_courier", lambda outbox: None)


def posted() -> list[PostedNote]:
    return [letter.note for letter in Outbox(notes_dir()).letters()]


def problem(code: str) -> Problem:
    return Problem(code=code, message="It had to end.", hint="Take less.")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("no_step", NoteKind.STALLED),
        ("no_first_step", NoteKind.STALLED),
        ("out_of_memory", NoteKind.OUT_OF_MEMORY),
        ("host_out_of_memory", NoteKind.OUT_OF_MEMORY),
        ("trainer_crashed", NoteKind.FAILED),
    ],
)
def test_that_a_run_that_was_started_again_is_told_by_why(
    runs_dir, code: str, kind: NoteKind
) -> None:
    with WrittenRun(runs_dir) as run:
        event = RunRestarted(time_s=1.0, attempt=1, problem=problem(code))
        note_event(run.layout, event)
        note_event(run.layout, event)
        (note,) = posted()
        assert note.kind is kind
        assert note.title.startswith("written: started again on ")
        assert note.text == f"It had to end. Take less.\n{run.layout.root}"
        note_event(run.layout, event.model_copy(update={"time_s": 2.0}))
        assert len(posted()) == 2


@pytest.mark.parametrize(
    ("event", "count"),
    [
        (RunRestarted(time_s=1.0, attempt=1), 0),
        (ProblemReported(time_s=1.0, problem=problem("cluster_waiting")), 1),
        (
            ProblemReported(
                time_s=1.0,
                problem=Problem(
                    code="first_step_takes_long", severity=Severity.HINT, message="It compiles."
                ),
            ),
            0,
        ),
    ],
)
def test_that_only_what_waits_for_somebody_is_told_of_other_reports(
    runs_dir, event: Event, count: int
) -> None:
    with WrittenRun(runs_dir) as run:
        note_event(run.layout, event)
        assert len(posted()) == count
        assert all(note.kind is NoteKind.NEEDS_YOU for note in posted())


def test_that_a_disk_that_is_full_ends_no_supervisor(
    runs_dir, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Outbox, "post", full)
    with WrittenRun(runs_dir) as run:
        note_event(run.layout, RunRestarted(time_s=1.0, attempt=1, problem=problem("no_step")))
    assert "was not posted" in capfd.readouterr().err
