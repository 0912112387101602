"""What people can do with the entries of a queue, and what is refused."""

from pathlib import Path

import pytest

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.queue.entry import EntryState, QueueEntry
from gpupanel.runs.queue.waiting_line import WaitingLine


def entry(entry_id: str, state: EntryState = EntryState.WAITING) -> QueueEntry:
    return QueueEntry(id=entry_id, name=entry_id, runs_dir=Path("/runs"), added_s=1.0, state=state)


LINE = WaitingLine(
    entries=(
        entry("ended", EntryState.ENDED),
        entry("first"),
        entry("running", EntryState.RUNNING),
        entry("second"),
        entry("refused", EntryState.REFUSED),
        entry("third"),
    )
)


def ids(line: WaitingLine) -> list[str]:
    return [each.id for each in line.entries]


def code(act: object) -> str:
    with pytest.raises(ProblemError) as caught:
        act()  # type: ignore[operator]
    return caught.value.problems[0].code


def test_that_places_are_counted_among_those_that_wait() -> None:
    assert [LINE.place(each.id) for each in LINE.entries] == [None, 1, None, 2, None, 3]


@pytest.mark.parametrize(
    ("place", "order"),
    [
        (1, ["third", "first", "second"]),
        (2, ["first", "third", "second"]),
        (3, ["first", "second", "third"]),
        (99, ["first", "second", "third"]),
        (0, ["third", "first", "second"]),
    ],
)
def test_that_an_entry_moves_among_those_that_wait(place: int, order: list[str]) -> None:
    moved = LINE.with_moved("third", place)
    assert [each.id for each in moved.waiting] == order
    others = [each for each in ids(moved) if each not in order]
    assert others == ["ended", "running", "refused"]


def test_that_what_runs_or_has_ended_cannot_be_moved_or_edited() -> None:
    assert code(lambda: LINE.with_moved("running", 1)) == "queue_entry_started"
    assert code(lambda: LINE.with_moved("ended", 1)) == "queue_entry_ended"
    assert code(lambda: LINE.with_edited("running", "new")) == "queue_entry_started"
    assert code(lambda: LINE.with_edited("ended", "new")) == "queue_entry_ended"


def test_that_all_but_the_running_ones_can_be_removed() -> None:
    assert code(lambda: LINE.with_removed("running")) == "queue_entry_started"
    assert ids(LINE.with_removed("first").with_removed("ended").with_removed("refused")) == [
        "running",
        "second",
        "third",
    ]


def test_that_an_entry_that_is_not_there_is_reported() -> None:
    for act in (LINE.entry, LINE.with_removed, lambda each: LINE.with_moved(each, 1)):
        assert code(lambda act=act: act("gone")) == "queue_entry_missing"


def test_that_a_refused_entry_waits_again_once_it_is_edited() -> None:
    problem = Problem(code="x", message="No.")
    refused = entry("refused", EntryState.REFUSED).model_copy(update={"problems": (problem,)})
    edited = LINE.with_changed(refused).with_edited("refused", "better").entry("refused")
    assert (edited.state, edited.name, edited.problems) == (EntryState.WAITING, "better", ())
    assert edited.revision == 1


def test_that_clearing_keeps_what_waits_and_runs() -> None:
    assert ids(LINE.without_ended()) == ["first", "running", "second", "third"]


def test_that_a_scheduler_is_needed_while_something_runs_or_may_start() -> None:
    assert not WaitingLine().needs_scheduler
    assert LINE.needs_scheduler
    assert not LINE.with_removed("ended").model_copy(update={"entries": ()}).needs_scheduler
    waiting = WaitingLine(entries=(entry("first"),))
    assert waiting.needs_scheduler
    assert not waiting.with_paused(paused=True).needs_scheduler
    assert LINE.with_paused(paused=True).needs_scheduler
    assert not waiting.with_changed(entry("first", EntryState.ENDED)).needs_scheduler
