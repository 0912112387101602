"""The program's reports as events of the run.

A report comes from a program that nobody has checked: what is no report is passed over.
"""

import time
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from gpupanel.domain.events import (
    EpochDone,
    FiguresReported,
    FitBegan,
    KnownEvent,
    ProblemReported,
    StepsDone,
    TrainingResumed,
)
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.steps_line import StepsLine
from gpupanel.domain.visible_text import visible_line
from gpupanel.trainer.own_program.figures import Figures
from gpupanel.trainer.progress import TrainingRecord

_MOST_COUNT: Final = 2**53
"""The greatest whole number that a report's decimal digits surely mean."""


class ProgramReport(msgspec.Struct):
    """A line of the file of reports, of any kind.

    Attributes:
        kind: ``fit``, ``steps`` and ``epoch`` of Keras's fit; ``figures`` of a loop of the person's
            own; ``asks``: it looks whether it should stop; ``failed``: what it raised;
            ``passed_over``: what it said of devices; ``device_missing``; ``keras_not_watched``;
            ``suspended``: it ends because it was asked to; ``resumed``: its fit continues with
            that epoch; ``not_kept``: why what it would continue from was not written;
            ``kept_unreadable``: what it was to
            continue from.
        s: How long the steps or the epoch took.
        place: File and line of what it raised.
    """

    kind: Literal[
        "fit",
        "steps",
        "epoch",
        "figures",
        "asks",
        "failed",
        "passed_over",
        "device_missing",
        "keras_not_watched",
        "suspended",
        "resumed",
        "not_kept",
        "kept_unreadable",
    ]
    time_s: float
    step: float | None = None
    steps: float | None = None
    epoch: float | None = None
    epochs: float | None = None
    step_in_epoch: float | None = None
    s: float | None = None
    batch_size: float | None = None
    learning_rate: float | None = None
    figures: dict[str, float | None] = {}
    error: str = ""
    message: str = ""
    place: tuple[str, int] | None = None
    call: str = ""
    name: str = ""
    version: str = ""
    keeps: bool = False


_DECODER: Final = msgspec.json.Decoder(ProgramReport)


class Translation:
    """Turns reports into events, in their order.

    Args:
        program: The name of its file, for sentences.
        record: Gets what the program has reached.

    Attributes:
        failure: What it raised and where, where it is a Python program; empty: nothing, as yet.
        can_suspend: Whether it looks whether it should, by itself or in Keras's fit.
        looks_itself: Whether it does by itself: then its end after a request is one by request.
        has_suspended: Whether it has said that it ends because it was asked to suspend.
    """

    def __init__(self, program: str, record: TrainingRecord) -> None:
        self.failure = ""
        self.can_suspend = self.looks_itself = self.has_suspended = False
        self._program = program
        self._record = record
        self._told: set[str] = set()
        self._before = self._last_step = 0
        self._counted = 0
        self._last_s: float | None = None
        self._time_s = time.time()
        self._is_first_of_fit = True
        self._learning_rate: float | None = None

    def events(self, line: bytes) -> list[KnownEvent]:
        """What a line of the file means."""
        try:
            report = _DECODER.decode(_without_constants(line))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return []
        # Between the last one and now: a forged time would spoil every axis.
        now_s = self._time_s = max(self._time_s, min(report.time_s, time.time()))
        match report.kind:
            case "fit":
                return self._fit(report, now_s)
            case "steps":
                return self._steps_of_fit(report, now_s)
            case "epoch":
                return self._epoch_of_fit(report, now_s)
            case "resumed":
                return self._resumed(report, now_s)
            case "figures":
                return self._own(report, now_s)
            case "asks":
                self.can_suspend = self.looks_itself = True
                return []
            case "suspended":
                self.has_suspended = True
                return []
            case "failed":
                self.failure = _failure(report)
                return []
            case _:
                return self._said_once(report, now_s)

    def _fit(self, report: ProgramReport, now_s: float) -> list[KnownEvent]:
        epochs = _count(report.epochs)
        if epochs is None:
            return []
        self._is_first_of_fit = True
        self.can_suspend |= report.keeps
        return [FitBegan(time_s=now_s, epochs=epochs, steps_per_epoch=_count(report.steps))]

    def _resumed(self, report: ProgramReport, now_s: float) -> list[KnownEvent]:
        step, epoch = _count(report.step), _count(report.epoch)
        if step is None or epoch is None:
            return []
        return [TrainingResumed(time_s=now_s, path="program/fit.npz", epoch=epoch, step=step)]

    def _steps_of_fit(self, report: ProgramReport, now_s: float) -> list[KnownEvent]:
        step, steps, epoch = _count(report.step), _count(report.steps), _count(report.epoch)
        if step is None or not steps or epoch is None:
            return []
        figures = self._figures(report, of_keras=True)
        found = self._told_of_odd(figures, step, now_s)
        size, s = _count(report.batch_size), max(report.s or 0.0, 1e-9)
        # Of the first steps the graph is made meanwhile: that is no speed.
        size = None if self._is_first_of_fit else size
        self._is_first_of_fit = False
        if figures.metrics.loss is not None:
            found.append(
                _steps_done(
                    time_s=now_s,
                    step=step,
                    steps=steps,
                    epoch=epoch,
                    step_in_epoch=_count(report.step_in_epoch) or 0,
                    examples=steps * (size or 0),
                    loss=figures.metrics.loss,
                    accuracy=figures.metrics.accuracy,
                    examples_per_second=None if size is None else steps * size / s,
                    learning_rate=self._learning_rate,
                    step_time_ms=None if size is None else 1_000.0 * s / steps,
                )
            )
        if size is not None:
            self._record.examples += steps * size
            self._record.training_s += s
            self._record.examples_trained += steps * size
        others = {**figures.others, **_beside(figures, "loss", "accuracy")}
        return [*found, *_others(others, step, epoch, now_s)]

    def _epoch_of_fit(self, report: ProgramReport, now_s: float) -> list[KnownEvent]:
        epoch, step = _count(report.epoch), _count(report.step)
        if epoch is None or step is None:
            return []
        figures = self._figures(report, of_keras=True)
        found = self._told_of_odd(figures, step, now_s)
        self._record.metrics, self._record.epochs = figures.metrics, epoch
        seconds = max(report.s or 0.0, 0.0)
        found.append(
            EpochDone(
                time_s=now_s, epoch=epoch, step=step, metrics=figures.metrics, seconds=seconds
            )
        )
        self._learning_rate = report.learning_rate
        return [*found, *_others(figures.others, step, epoch, now_s)]

    def _own(self, report: ProgramReport, now_s: float) -> list[KnownEvent]:
        """Of a loop of the person's own, which may count anew in each epoch, or not at all."""
        self._counted += 1
        epoch, figures = _count(report.epoch), self._figures(report, of_keras=False)
        said = _count(report.step)
        step = self._counted if said is None else self._counted_on(said)
        found = self._told_of_odd(figures, step, now_s)
        metrics = figures.metrics
        if metrics.loss is not None:
            steps = max(1, step - self._last_step)
            s = now_s - self._last_s if self._last_s is not None else None
            found.append(
                _steps_done(
                    time_s=now_s,
                    step=step,
                    steps=steps,
                    epoch=epoch or 0,
                    step_in_epoch=0,
                    examples=0,
                    loss=metrics.loss,
                    examples_per_second=None,
                    step_time_ms=None if s is None else 1_000.0 * s / steps,
                )
            )
            self._last_step, self._last_s = step, now_s
        others = dict(figures.others)
        if epoch is not None and metrics.val_loss is not None:
            self._record.metrics, self._record.epochs = metrics, epoch
            found.append(
                EpochDone(time_s=now_s, epoch=epoch, step=step, metrics=metrics, seconds=0.0)
            )
        elif metrics.val_loss is not None:
            others["val_loss"] = metrics.val_loss
        return [*found, *_others(others, step, epoch, now_s)]

    def _counted_on(self, said: int) -> int:
        """The step since the beginning, of a program that counts each epoch from its beginning."""
        if self._before + said < self._last_step:
            self._before = self._last_step + 1
        return self._before + said

    def _figures(self, report: ProgramReport, *, of_keras: bool) -> Figures:
        numbers = {
            visible_line(name): float("nan") if value is None else value
            for name, value in report.figures.items()
        }
        return Figures(numbers, of_keras=of_keras)

    def _told_of_odd(self, figures: Figures, step: int, now_s: float) -> list[KnownEvent]:
        new = [name for name in figures.not_finite if name not in self._told]
        self._told.update(new)
        if not new:
            return []
        problem = Problem(
            code="figure_not_finite",
            severity=Severity.WARNING,
            message=f"{self._program} reports no finite number for {', '.join(new)} at step "
            f"{step:,}: such values are left out of the curves.",
            hint="A loss that is not a number stays so: a smaller learning rate often helps.",
        )
        return [ProblemReported(time_s=now_s, problem=problem)]

    def _said_once(self, report: ProgramReport, now_s: float) -> list[KnownEvent]:
        problem = _notice(self._program, report)
        if problem.message in self._told:
            return []
        self._told.add(problem.message)
        return [ProblemReported(time_s=now_s, problem=problem)]


def _steps_done(**values: Any) -> StepsDone:  # noqa: ANN401 - the keys of a line
    return StepsDone.of(StepsLine(**values), {})


def _notice(program: str, report: ProgramReport) -> Problem:
    match report.kind:
        case "passed_over":
            return Problem(
                code="script_memory_passed_over",
                severity=Severity.HINT,
                message=f"{program} calls {visible_line(report.call)}, which was passed over: "
                "devices and memory are as chosen here.",
                hint="Choose growth without limits, and the program's own calls are carried out.",
            )
        case "device_missing":
            return Problem(
                code="script_device_missing",
                severity=Severity.WARNING,
                message=f"The TensorFlow {visible_line(report.version)} of {program} does not see "
                f"{visible_line(report.name)}, so it does not use it.",
                hint="Its Python may have a TensorFlow without CUDA: gpupanel doctor says what a "
                "TensorFlow needs.",
            )
        case "not_kept":
            return Problem(
                code="script_not_kept",
                severity=Severity.WARNING,
                message=f"What {program} would continue from could not be kept "
                f"({visible_line(report.message)}), so it is not suspended and continues.",
                hint="Give the run's disk room; it is tried again after the next epoch.",
            )
        case "kept_unreadable":
            return Problem(
                code="script_kept_unreadable",
                severity=Severity.WARNING,
                message=f"{program} begins its training anew: what it was to continue from cannot "
                f"be used ({visible_line(report.message)}).",
                hint="Nothing needs to be done; what was trained before is done again.",
            )
        case _:
            return Problem(
                code="script_not_watched",
                severity=Severity.HINT,
                message=f"{program} uses Keras {visible_line(report.version)}, whose fit is not "
                "followed: curves need Keras 3.",
                hint="from gpupanel.api import report; report(loss=...) draws curves of any loop.",
            )


def _others(
    figures: dict[str, float], step: int, epoch: int | None, now_s: float
) -> list[KnownEvent]:
    if not figures:
        return []
    return [FiguresReported(time_s=now_s, step=step, epoch=epoch, figures=figures)]


def _beside(figures: Figures, *told: str) -> dict[str, float]:
    """The metrics of steps for which the line of steps has no key."""
    known = figures.metrics.model_dump(exclude_none=True)
    return {name: value for name, value in known.items() if name not in told}


_OF_A_GRAPH: Final = ("  File ", "Graph execution error", "Detected at node", "\t")
"""How lines begin in which TensorFlow says where it is, and not what is wrong."""


def _failure(report: ProgramReport) -> str:
    lines = [line for line in report.message.splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(_OF_A_GRAPH)]
    what = (telling or lines or [""])[0].strip().rstrip(".")
    said = visible_line(f"{report.error}: {what}" if what else report.error)
    if report.place is None:
        return said
    path, line = report.place
    return f"{said} (line {line:,} of {visible_line(Path(path).name)})"


def _count(value: float | None) -> int | None:
    """A whole number that a column can hold; ``None``: it is none."""
    if value is None or not 0 <= value <= _MOST_COUNT:
        return None
    return int(value)


def _without_constants(line: bytes) -> bytes:
    """The line as JSON that every reader takes: Python writes ``NaN`` and ``Infinity``."""
    if b"NaN" not in line and b"Infinity" not in line:
        return line
    import json

    try:
        document: Any = json.loads(line, parse_constant=lambda _: None)
    except ValueError:
        return line
    return json.dumps(document).encode()
