"""The run of a program from its start to its end: this process is its parent and its witness."""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Final, Self

import psutil

from gpupanel.domain.events import Phase, ProblemReported, ScriptStarted
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.script import ScriptSettings
from gpupanel.files.code_file import read_code_file
from gpupanel.files.guarded_files import open_to_append, remove
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.heartbeat import supervisor_is_gone, work_has_begun
from gpupanel.trainer.interruptions import Interruption, Interruptions
from gpupanel.trainer.own_program.command import (
    command_of,
    environment_of,
    not_started,
    working_directory_of,
)
from gpupanel.trainer.own_program.printed_errors import PrintedErrors
from gpupanel.trainer.own_program.report_file import ReportFile
from gpupanel.trainer.own_program.translation import Translation
from gpupanel.trainer.progress import TrainingRecord
from gpupanel.trainer.started_run import StartedRun

_TICK_S: Final = 0.4
"""A request is heard within a second; looking more often would cost more than it is worth."""
_ALONE_S: Final = 30.0
"""A program whose supervisor is gone has this long to end after SIGINT, and again after SIGTERM."""
_KILL_S: Final = 10.0
"""One that waits in the kernel nobody can end; the supervisor says so."""
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # prctl(2)
_LIBC: Final = ctypes.CDLL(None)


def run_program(
    run: StartedRun, events: EventWriter, interruptions: Interruptions, record: TrainingRecord
) -> Interruption | None:
    """Run the program of a profile to its end.

    Returns:
        What a person asked for, where that ended it; ``None``: it came to its end by itself.

    Raises:
        ProblemError: It cannot be started, is not what was checked, or ended with an error.
    """
    script = run.profile.script
    assert script is not None
    _check_unchanged(run, script)
    report_path = run.layout.script_reports
    remove(report_path, run.layout.root)  # of a start before this one
    os.close(open_to_append(report_path, run.layout.root))
    _keep_orphans()
    log = PrintedErrors(run.layout.process_log(run.place))
    try:
        if interruptions.is_stopped():
            return Interruption.STOP  # sooner than the program was started
        process = _start(run, script)
        events.write(ScriptStarted(time_s=time.time(), pid=process.pid, program=script.name))
        translation = Translation(script.name, record)
        with ReportFile(report_path) as reports:
            program = _Program(process, events, interruptions, translation, reports, log)
            program.attend()
        program.end_what_is_left(script.name)
        return program.result(script.name)
    finally:
        with suppress(OSError):
            remove(report_path, run.layout.root)


class _Program:
    """A program that was started, until its end."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        events: EventWriter,
        interruptions: Interruptions,
        translation: Translation,
        reports: ReportFile,
        log: PrintedErrors,
    ) -> None:
        self._process = process
        self._log = log
        self._events = events
        self._interruptions = interruptions
        self._translation = translation
        self._reports = reports
        self._wanted: Interruption | None = None
        self._alone_since_s: float | None = None
        self._has_told_of_waiting = False

    def attend(self) -> None:
        """Take in what it reports and pass on what people ask, until it has ended."""
        self._interruptions.listen_to_sigterm()
        with _EndOf(self._process) as end:
            while not end.came_within(_TICK_S):
                self._take_reports()
                self._events.phase(Phase.RUNNING)
                self._hear()
                self._bury_orphans()
                if self._alone_since_s is not None:
                    self._end_alone()
        self._take_reports()
        while self._reports.has_more:
            self._take_reports()
        self._hear_late()

    def result(self, name: str) -> Interruption | None:
        """What its end means.

        Raises:
            ProblemError: It ended with an error.
        """
        status = self._process.returncode
        if self._wanted is Interruption.SUSPEND:
            reports = self._translation
            if status != 0 or not (reports.has_suspended or reports.looks_itself):
                self._wanted = None  # it failed, or came to its end before it had looked
        if self._wanted is not None:
            return self._wanted
        if status < 0:
            _die_by(signal.Signals(-status), self._events)
        if status == 0:
            self._report_printed_error(name)
            return None
        said = self._translation.failure
        raise ProblemError(
            Problem(
                code="script_failed",
                field="script.path",
                message=f"{name} ended with exit status {status}"
                + (f": {said}." if said else ", and its log says why."),
                hint="Its log has the whole error; started by hand with the same Python it should "
                "end alike.",
            )
        )

    def _report_printed_error(self, name: str) -> None:
        """Say that a program reports success though it has printed an error."""
        error = self._log.last_error()
        if not error:
            return
        problem = Problem(
            code="script_error_printed",
            severity=Severity.WARNING,
            message=f"{name} ended with exit status 0, as if all were well, but printed an error: "
            f"{error}.",
            hint="Look at its log: what it did after that may be of no use.",
        )
        self._events.write(ProblemReported(time_s=time.time(), problem=problem))

    def end_what_is_left(self, name: str) -> None:
        """End processes that the program has left behind: they would hold devices."""
        left = _descendants()
        if not left:
            return
        problem = Problem(
            code="script_left_processes",
            severity=Severity.WARNING,
            message=f"{name} has ended and left {len(left)} of its processes running; they were "
            "ended with it.",
            hint="A program that goes on in the background is to wait for what it has started.",
        )
        if self._wanted is None:
            self._events.write(ProblemReported(time_s=time.time(), problem=problem))
        until_s = time.monotonic() + _KILL_S
        while left and time.monotonic() < until_s:
            for each in left:
                with suppress(psutil.Error):
                    each.kill()
            psutil.wait_procs(left, timeout=1.0)
            left = _descendants()

    def _take_reports(self) -> None:
        for line in self._reports.lines():
            for event in self._translation.events(line):
                self._events.write(event)

    def _hear(self) -> None:
        """Pass on what a person asks: a stop as Ctrl+C does, once."""
        if self._alone_since_s is None and supervisor_is_gone():
            self._alone_since_s = time.monotonic()
            if self._wanted is not Interruption.STOP:
                self._wanted = Interruption.SUPERVISOR_GONE
                self._process.send_signal(signal.SIGINT)
        if self._wanted in (Interruption.STOP, Interruption.SUPERVISOR_GONE):
            return
        if self._interruptions.is_stopped() or self._interruptions.has_heard_sigterm:
            self._interruptions.answer_stop()
            self._wanted = Interruption.STOP
            self._process.send_signal(signal.SIGINT)
        elif self._interruptions.wants_suspend() and self._wanted is None:
            if self._translation.can_suspend:
                self._interruptions.answer_suspend()
                self._wanted = Interruption.SUSPEND
            elif not self._has_told_of_waiting:
                self._has_told_of_waiting = True
                self._events.write(ProblemReported(time_s=time.time(), problem=_DOES_NOT_LOOK_YET))

    def _hear_late(self) -> None:
        """Hear what the program has heard itself, and ended before it was passed on to it."""
        if self._interruptions.has_heard_sigterm or self._interruptions.is_stopped():
            self._interruptions.answer_stop()
            self._wanted = self._wanted or Interruption.STOP
        reports = self._translation
        has_obeyed = reports.has_suspended or reports.looks_itself
        if self._wanted is None and has_obeyed and self._interruptions.wants_suspend():
            self._interruptions.answer_suspend()
            self._wanted = Interruption.SUSPEND

    def _bury_orphans(self) -> None:
        """Take the exit statuses of what was left to this process: they would pile up."""
        with suppress(ChildProcessError):
            while True:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if ended is None or ended.si_pid == self._process.pid:
                    return
                os.waitpid(ended.si_pid, 0)

    def _end_alone(self) -> None:
        """End it where no supervisor does that any more, so that nothing keeps a GPU."""
        assert self._alone_since_s is not None
        alone_s = time.monotonic() - self._alone_since_s
        if alone_s > 2.0 * _ALONE_S:
            self._process.kill()
        elif alone_s > _ALONE_S:
            self._process.terminate()


_DOES_NOT_LOOK_YET: Final = Problem(
    code="script_does_not_suspend",
    severity=Severity.WARNING,
    message="The program does not look yet whether it should suspend: it continues until it does.",
    hint="Stop it instead; or let it ask report.should_stop() and save in "
    "report.checkpoint_folder. Keras's fit looks after each epoch.",
)


def _check_unchanged(run: StartedRun, script: ScriptSettings) -> None:
    """Refuse a program that is not what was trusted: it is run where it lies, with its neighbours.

    Raises:
        ProblemError: It is something else by now, or nobody has checked it.
    """
    name = str(run.layout.script_code.relative_to(run.layout.root))
    content = read_code_file(Path(script.path), "script.path")
    if name not in run.checked.digests:
        raise ProblemError(
            Problem(
                code="run_unreadable",
                message=f"{script.name} was not checked when the run was started, so it is not "
                "run.",
                hint="Start the profile again.",
            )
        )
    try:
        run.checked.check(name, content)
    except ProblemError as error:
        raise ProblemError(
            Problem(
                code="script_changed",
                field="script.path",
                message=f"{script.name} was changed since the run was started.",
                hint="Start it again as a new run, or put it back as it was.",
            )
        ) from error


def _die_with_the_parent() -> None:
    """End when this process's parent has, whatever ended it: an orphan must not keep a GPU."""
    with suppress(AttributeError):
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _start(run: StartedRun, script: ScriptSettings) -> "subprocess.Popen[bytes]":
    def on_interrupt(_signal: int, _frame: FrameType | None) -> None:
        """Nothing: who presses Ctrl+C means the program."""

    # A handler, unlike what is ignored, is not inherited: the program begins as in a terminal,
    # also where a shell has started all of this in its background.
    signal.signal(signal.SIGINT, on_interrupt)
    sys.stdout.flush()
    try:
        process = subprocess.Popen(
            command_of(script, run.plan),
            stdin=subprocess.DEVNULL,
            cwd=working_directory_of(script),
            env=environment_of(script, os.environ),
            preexec_fn=_die_with_the_parent,
        )
    except OSError as error:
        raise not_started(script, error) from error
    work_has_begun()
    return process


class _EndOf:
    """Waits for the end of a process without asking for it again and again."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._descriptor = os.pidfd_open(process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._descriptor)

    def came_within(self, s: float) -> bool:
        """Whether it has ended, after so many seconds at the latest."""
        ended, _, _ = select.select([self._descriptor], [], [], s)
        return bool(ended) and self._process.wait() is not None


def _keep_orphans() -> None:
    """Become the parent of what the program starts and leaves, so that it can be found and ended.

    Where the system does not know that (before Linux 3.4), the supervisor ends what it finds.
    """
    with suppress(OSError, AttributeError):
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _descendants() -> list[psutil.Process]:
    with suppress(psutil.Error):
        found = psutil.Process().children(recursive=True)
        return [each for each in found if _is_alive(each)]
    return []


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _die_by(number: signal.Signals, events: EventWriter) -> None:
    """End as the program ended: whoever watches this process reads its end for the program's.

    Its supervisor then finds out who killed it, such as the system for want of memory, or starts
    the run again.
    """
    with suppress(OSError):
        events.flush()
    signal.signal(number, signal.SIG_DFL) if number is not signal.SIGKILL else None
    os.kill(os.getpid(), number)
    time.sleep(1.0)
