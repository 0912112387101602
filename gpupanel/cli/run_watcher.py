"""Following a run in the terminal, with a progress bar on standard error."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice

from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from gpupanel.cli.interrupts import InterruptMeaning, Interrupts
from gpupanel.cli.output import print_problems
from gpupanel.cli.output import progress as console
from gpupanel.domain.change_toml import changes_toml
from gpupanel.domain.events import (
    DevicesReady,
    EpochDone,
    FindingReported,
    FineTuningBegan,
    MemoryReturned,
    ProblemReported,
    RunRestarted,
    TrainingResumed,
)
from gpupanel.domain.number_text import number
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.visible_text import visible_line
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.runs.directory.requests import ask
from gpupanel.runs.directory.run_lock import is_supervised
from gpupanel.runs.directory.tails import LineTail
from gpupanel.runs.following.device_report_text import line_text, process_name
from gpupanel.runs.following.end_text import unsaved_text
from gpupanel.runs.following.event_tail import EventTail, Part
from gpupanel.runs.following.log_lines import as_in_terminal
from gpupanel.runs.following.memory_text import freed_text
from gpupanel.runs.following.status import RunStage, RunStatus
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.processes.frozen_supervisor import frozen_problem

_POLL_S = 0.1
_READ_S = 1.0
"""Between two readings of a run that writes all the time: the last line of one is followed by no
other, and is read at once."""
_REDRAW_S = 1.0
"""For the time that has passed, while nothing else changes."""
_SUPERVISOR_INTERVAL_S = 1.0
_FROZEN_INTERVAL_S = 5.0
"""How often to ask whether a supervisor that is there was stopped, and its trainers have ended."""


def watch_to_its_end(
    layout: RunLayout, epochs: int, *, ctrl_c_stops: bool, interrupts: Interrupts | None = None
) -> RunStatus:
    """Show a run until it ends.

    Args:
        layout: The run.
        epochs: Epochs that its profile asks for; 0: not known.
        ctrl_c_stops: Ctrl+C asks the run to stop and save; again, two seconds later or for the
            third time, it ends it without saving. Otherwise Ctrl+C only stops watching and the
            status returned has no outcome.
        interrupts: Counts Ctrl+C, where it is to be counted for longer than that.
    """
    if interrupts is None:
        with Interrupts() as interrupts:
            return watch_to_its_end(
                layout, epochs, ctrl_c_stops=ctrl_c_stops, interrupts=interrupts
            )
    watcher = _Watcher(layout, epochs)
    with watcher.bar:
        for interrupt in watcher.watch(interrupts):
            if not ctrl_c_stops:
                break
            _carry_out(interrupt, layout, watcher.status)
    return watcher.status


def _carry_out(interrupt: InterruptMeaning, layout: RunLayout, status: RunStatus) -> None:
    try:
        match interrupt:
            case InterruptMeaning.STOP:
                ask(layout, Request.STOP)
                console.print(
                    "Stopping after this step, and saving. "
                    "Ctrl+C again, in two seconds or later, ends it without saving."
                )
            case InterruptMeaning.STOP_AGAIN:
                console.print(
                    "It is stopping and saves first; Ctrl+C once more ends it without saving."
                )
            case InterruptMeaning.END:
                ask(layout, Request.END)
                console.print(f"Ending it without saving. {unsaved_text(status.saved_work)}")
    except ProblemError as error:
        print_problems(error.problems)


class _Before:
    """What is still worth printing of a run when somebody begins to watch it.

    Attributes:
        epochs_done: How many times an epoch came to its end.
        last_epoch: The last of them.
        restart: The last one.
        resumed: Where it went on after that, while no epoch was ended since.
        problems: What was reported since then, the last of each kind.
    """

    def __init__(self) -> None:
        self.epochs_done = 0
        self.last_epoch: EpochDone | None = None
        self.restart: RunRestarted | None = None
        self.resumed: TrainingResumed | None = None
        self.problems: dict[str, Problem] = {}

    def take(self, event: Part) -> None:
        """Take in the next event."""
        if isinstance(event, EpochDone):
            self.epochs_done += 1
            self.last_epoch = event
            self.resumed = None
        elif isinstance(event, TrainingResumed):
            self.resumed = event
            if self.last_epoch is not None and self.last_epoch.epoch >= event.epoch:
                # It is done again.
                self.last_epoch, self.epochs_done = None, 0
        elif isinstance(event, RunRestarted):
            self.restart = event
            self.problems = {}
        elif isinstance(event, ProblemReported | FindingReported) and not event.problem.is_error:
            self.problems[event.problem.code] = event.problem


class _Watcher:
    def __init__(self, layout: RunLayout, epochs: int) -> None:
        self.status = RunStatus(epoch_total=epochs)
        self._layout = layout
        self._path = str(layout.events)
        self._events = EventTail(layout.events)
        self._size_bytes, self._events_size_bytes = 0, -1
        self._read_s = self._written_s = 0.0
        self._drawn_s = 0.0
        self._frozen_s = -_FROZEN_INTERVAL_S
        # Drawn here, where it is known whether anything changed.
        self.bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            console=console,
            auto_refresh=False,
        )
        self._task: TaskID = self.bar.add_task("starting", total=None)
        self._output = LineTail(layout.trainer_log)
        self._before: _Before | None = None
        self._printed_problem: Problem | None = None

    def watch(self, interrupts: Interrupts) -> Iterator[InterruptMeaning]:
        """Follow until the last event, or until nobody is left who could write it.

        Yields:
            What Ctrl+C meant, each time that it was pressed.
        """
        checked_s = time.monotonic()
        self._catch_up()
        while not self.status.has_ended:
            yield from interrupts.pending()
            self._print_output()
            if self._has_news():
                self._read_updates()
                self._draw()
            elif time.monotonic() - self._drawn_s >= _REDRAW_S:
                self._draw()
            # Who writes is there; into a folder that is gone nobody does.
            if time.monotonic() - max(checked_s, self._written_s) > _SUPERVISOR_INTERVAL_S:
                checked_s = time.monotonic()
                self._check_supervisor()
            time.sleep(_POLL_S)
        self._print_output()
        self._draw()

    def _catch_up(self) -> None:
        """Sum up what was before: of a run of days nobody reads each epoch anew."""
        self._before = before = _Before()
        self._read_updates()
        self._before = None
        if self.status.program:
            # What it has printed by now stands in its log.
            self._output.read()
        if before.restart is not None:
            _print_restart(before.restart, self._layout)
        for answer in self.status.answers:
            self._print_devices(answer)
        if before.last_epoch is not None:
            self._print_epochs(before.last_epoch, before.epochs_done)
        if before.resumed is not None:
            _print_resumed(before.resumed)
        print_problems(before.problems.values())
        if self.status.fine_tuning is not None:
            self._print_fine_tuning(self.status.fine_tuning)
        if self.status.memory_returned is not None:
            self._print_memory(self.status.memory_returned)

    def _has_news(self) -> bool:
        """Whether events were written since they were read last, and it is time to read them."""
        try:
            size_bytes = os.stat(self._path).st_size  # noqa: PTH116 - asked ten times a second
        except OSError:
            return True  # who reads them says why
        is_growing = size_bytes != self._size_bytes
        self._size_bytes = size_bytes
        if size_bytes == self._events_size_bytes:
            return False
        return not is_growing or time.monotonic() - self._read_s >= _READ_S

    def _read_updates(self) -> None:
        self._read_s = time.monotonic()
        with suppress(OSError):
            self._events_size_bytes = os.stat(self._path).st_size  # noqa: PTH116 - as above
            self._written_s = self._read_s
        more = True
        while more:
            for part in self._events.read():
                self._take(part)
            more = self._events.has_more

    def _print_output(self) -> None:
        """Print what a program of the person's own has printed, as its terminal would."""
        if not self.status.program:
            return
        with suppress(OSError):
            for line in self._output.read():
                text, _ = as_in_terminal(line.decode(errors="replace"))
                console.print(visible_line(text), markup=False, highlight=False, soft_wrap=True)

    def _take(self, event: Part) -> None:
        self.status = self.status.after(event)
        if self._before is not None:
            self._before.take(event)
        elif isinstance(event, EpochDone):
            self._print_epoch(event)
        elif isinstance(event, RunRestarted):
            _print_restart(event, self._layout)
        elif isinstance(event, TrainingResumed):
            _print_resumed(event)
        elif isinstance(event, ProblemReported | FindingReported) and not event.problem.is_error:
            print_problems([event.problem])
        elif isinstance(event, DevicesReady):
            self._print_devices(event)
        elif isinstance(event, FineTuningBegan):
            self._print_fine_tuning(event)
        elif isinstance(event, MemoryReturned):
            self._print_memory(event)

    def _print_epoch(self, event: EpochDone) -> None:
        words = metrics_text(event.metrics)
        console.print(f"{_epoch_text(event.epoch, self.status.epoch_total)}  {words}")

    def _print_epochs(self, last: EpochDone, done: int) -> None:
        if done == 1:
            self._print_epoch(last)
            return
        total = self.status.epoch_total
        words = f"{last.epoch:,}{f' of {total:,}' if total else ''} epochs done, the last with"
        console.print(f"{words}  {metrics_text(last.metrics)}")

    def _print_memory(self, event: MemoryReturned) -> None:
        words = freed_text(event, _device_names(self._layout))
        console.print(words, highlight=False)

    @staticmethod
    def _print_fine_tuning(event: FineTuningBegan) -> None:
        console.print(f"fine-tuning from epoch {event.epoch:,}: {event.words}", highlight=False)

    def _print_devices(self, event: DevicesReady) -> None:
        process = process_name(event, self.status.process_names)
        words = line_text(event, process, _device_names(self._layout))
        console.print(words, highlight=False)

    def _check_supervisor(self) -> None:
        if is_supervised(self._layout):
            if time.monotonic() - self._frozen_s < _FROZEN_INTERVAL_S:
                return
            self._frozen_s = time.monotonic()
            problem = frozen_problem(self._layout)
            if problem is not None and problem != self._printed_problem:
                print_problems([problem])
            self._printed_problem = problem
            return
        summary = summarize_run(self._layout, with_since=False)
        if summary.is_running:
            return  # it has just been started
        self._read_updates()  # it may have written its last word just now
        if self.status.has_ended:
            return
        nobody_knows = summary.flaw if summary.outcome is None else None
        problem = summary.problem or nobody_knows
        known = () if problem is None else (problem,)
        self.status = self.status.model_copy(
            update={
                "outcome": summary.outcome,
                "stage": RunStage.ENDED,
                "problems": (*self.status.problems, *known),
            }
        )

    def _draw(self) -> None:
        status = self.status
        words = status.phase.replace("_", " ")
        if status.download is not None:
            words = f"downloading {status.download.name}"
        done, total = status.step, status.step_total or None
        progress = status.data_progress
        if progress is not None and progress.done < progress.total:
            words, done, total = progress.doing, progress.done, progress.total
        if status.step and (status.step_total is not None or status.program):
            speed = status.examples_per_second
            words = "  ".join(
                (
                    *((_epoch_text(status.epoch, status.epoch_total),) if status.epoch else ()),
                    f"step {status.step:,}",
                    *(() if speed is None else (f"{speed:,.0f} examples/s",)),
                )
            )
        if status.examples_total:
            done, total = status.examples, status.examples_total
            speed = status.examples_per_second or 0.0
            words = f"{done:,} of {total:,} examples  {speed:,.0f} examples/s"
        self._drawn_s = time.monotonic()
        description = visible_line(words)
        self.bar.update(
            self._task, description=description, completed=done, total=total, refresh=True
        )


def _epoch_text(epoch: int, total: int) -> str:
    return f"epoch {epoch:,}/{total:,}" if total else f"epoch {epoch:,}"


def metrics_text(metrics: Metrics) -> str:
    """The known metrics in one line: "loss 0.1234  accuracy 0.9876"."""
    known = metrics.model_dump(exclude_none=True)
    return "  ".join(f"{name} {number(value)}" for name, value in known.items())


def _print_restart(event: RunRestarted, layout: RunLayout) -> None:
    if event.problem is not None:
        print_problems([event.problem], log=layout.trainer_log)
        console.print(f"Started again from its last checkpoint (attempt {event.attempt}).")
    if event.changes:
        # One line whatever the width, so that it can be copied.
        words = f"It continues with {changes_toml(event.changes)}."
        console.print(words, highlight=False, soft_wrap=True)


def _print_resumed(event: TrainingResumed) -> None:
    words = f"Resumed in epoch {event.epoch:,}, after step {event.step:,}."
    console.print(words, highlight=False)


def _device_names(layout: RunLayout) -> dict[str, str]:
    plan = plan_if_readable(layout)
    return {} if plan is None else {device.key: device.name for device in plan.devices}


_MOST_NAMED = 8


def figures_text(figures: Mapping[str, float]) -> str:
    """The last figures of a program of the person's own in one line; of very many the first."""
    shown = dict(islice(figures.items(), _MOST_NAMED))
    return "  ".join(f"{name} {number(value)}" for name, value in shown.items())
