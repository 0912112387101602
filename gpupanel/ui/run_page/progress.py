"""How far a run is, and how fast: a row of numbers and a bar."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QWidget

from gpupanel.runs.following.status import RunStatus
from gpupanel.ui import formatting
from gpupanel.ui.run_texts import is_passing
from gpupanel.ui.widgets.dropping_row import DroppingRow
from gpupanel.ui.widgets.labels import FigureLabel, SettledLabel
from gpupanel.ui.widgets.tips import wrapped

_BAR_STEPS = 1000
_EPOCH_TIP = "The current epoch: one pass over all training examples."
_BAR_TIP = "Progress of the run. Stopping a training early saves the model."
_PROGRAM_TIP = "Progress of the program, where it calls Keras's fit and so says how long that is."
_LOSS_TIP = "Mean loss over the examples of the last steps; lower is better."


class ProgressRow(DroppingRow):
    """Epoch, time left, loss, speed, step or examples; every number keeps its place.

    What is not known yet is not named.

    Where it is narrow the most important ones stay. The bar waits for a place in a layout.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("progress_row")
        self._phase = SettledLabel(self)
        self._phase.setToolTip("What the run is doing now.")
        widest = self._phase.fontMetrics().horizontalAdvance("Tracing the first step…")
        self._phase.setMinimumWidth(widest)
        self._epoch = self._number("epoch 100/100", _EPOCH_TIP)
        self._step = self._number(
            "step 100,000 / 100,000",
            "Optimizer updates done, or examples of an evaluation or prediction, and how many "
            "there will be.",
        )
        self._loss = self._number("loss 0.00000", _LOSS_TIP)
        self._rate = self._number(
            "1,000,000 ex/s",
            "Examples per second over all devices; validation is not counted. After the end, the "
            "average.",
        )
        self._waiting = self._number(
            "data wait 100 %",
            "The share of the training time in which the devices wait for examples: reading them "
            "takes longer than computing.",
        )
        self._left = self._number(
            "10:00:00 left",
            "Estimated time left; of a program that does not say how long it takes, since when it "
            "runs; after the end, the duration.",
        )
        self.bar = QProgressBar(parent)
        """What of the run is done."""
        self.bar.setObjectName("run_progress")
        self.bar.setRange(0, _BAR_STEPS)
        self.bar.setTextVisible(False)
        self.bar.setProperty("thin", "true")
        self.bar.setAccessibleName("Progress of the run")
        self.bar.setToolTip(_BAR_TIP)
        self.bar.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(16)
        for label in (
            self._phase,
            self._epoch,
            self._left,
            self._loss,
            self._rate,
            self._step,
            self._waiting,
        ):
            self.row.addWidget(label)
        self.setDroppable((self._waiting, self._step, self._rate, self._loss))
        self.setStatus(None, "")

    def setStatus(self, status: RunStatus | None, words: str) -> None:
        """Show where a run stands.

        Args:
            status: ``None``: there is no run to show.
            words: What it is doing or how it ended, for people.
        """
        passing = status is not None and is_passing(status)
        self._phase.setWords(words or "No run yet", is_passing=passing)
        shown = status or RunStatus()
        epoch, step = _epoch_text(shown), _step_text(status)
        self._epoch.setFigure(epoch)
        self._epoch.setToolTip(wrapped(_epoch_tip(shown)))
        self._step.setFigure(step)
        has_loss = shown.loss is not None and not shown.evaluates
        self._loss.setFigure(f"loss {formatting.number(shown.loss)}" if has_loss else "")
        self._loss.setToolTip(wrapped(_loss_tip(shown)))
        has_rate = shown.examples_per_second is not None
        self._rate.setFigure(formatting.rate(shown.examples_per_second) if has_rate else "")
        self._waiting.setFigure(_waiting_text(shown))
        self._left.setFigure(_time_text(shown))
        self._show_bar(shown, is_run=status is not None)
        self.bar.setToolTip(_PROGRAM_TIP if shown.program else _BAR_TIP)
        self.bar.setFormat(f"{epoch}, {step}" if epoch else step)

    def _show_bar(self, status: RunStatus, *, is_run: bool) -> None:
        done, total = status.step, status.step_total
        if status.evaluates:
            done, total = status.examples, status.examples_total
        waits = is_run and not status.has_ended and done == 0
        # What a program makes of its time it need not say.
        waits = waits or (is_run and bool(status.program) and not total and not status.has_ended)
        progress = status.data_progress
        if waits and progress is not None and progress.done < progress.total:
            done, total = progress.done, progress.total
        elif waits:
            # Start-up has no measure: the bar moves to and fro and the words say what goes on.
            self.bar.setRange(0, 0)
            return
        if not self.bar.maximum():
            self._end_moving()
        # Qt would draw it at once, and with it all else that is to be drawn, plots too.
        self.bar.setUpdatesEnabled(False)
        self.bar.setValue(min(_BAR_STEPS, done * _BAR_STEPS // total) if total else 0)
        self.bar.setUpdatesEnabled(True)

    def _end_moving(self) -> None:
        """Let the bar stand still.

        Qt's style ends the animation when it draws a part that is done; of one that is empty it
        goes on unseen, sixty times a second.
        """
        self.bar.setUpdatesEnabled(False)  # it is drawn for nobody to see
        self.bar.setRange(0, _BAR_STEPS)
        self.bar.setValue(_BAR_STEPS)
        self.bar.grab()
        self.bar.setUpdatesEnabled(True)

    def _number(self, widest: str, tip: str) -> FigureLabel:
        label = FigureLabel(widest, self)
        label.setToolTip(wrapped(tip))
        label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return label


def _epoch_text(status: RunStatus) -> str:
    if status.evaluates or not status.epoch:
        return ""
    if not status.epoch_total:
        return f"epoch {status.epoch:,}" if status.program else ""
    return f"epoch {status.epoch:,}/{status.epoch_total:,}"


def _epoch_tip(status: RunStatus) -> str:
    began = status.fine_tuning
    if began is None:
        return _EPOCH_TIP
    return f"{_EPOCH_TIP} Fine-tuning since epoch {began.epoch:,}: {began.words}."


def _step_text(status: RunStatus | None) -> str:
    """Nothing before the first one: how many there will be is known later."""
    if status is None or not (status.step or status.step_total or status.evaluates):
        return ""
    if status.evaluates:
        total = formatting.count(status.examples_total)
        done = formatting.count(status.examples)
        return f"{done} of {total} examples" if status.examples_total else ""
    words = f"step {formatting.count(status.step)}"
    return f"{words} / {formatting.count(status.step_total)}" if status.step_total else words


def _loss_tip(status: RunStatus) -> str:
    if status.learning_rate is None:
        return _LOSS_TIP
    return f"{_LOSS_TIP} The learning rate is {status.learning_rate:.3g} now."


def _waiting_text(status: RunStatus) -> str:
    """Nothing where examples are in memory: steps never wait for them then."""
    percent = round(100 * (status.waiting_for_data or 0.0))
    return f"data wait {percent} %" if percent else ""


def _time_text(status: RunStatus) -> str:
    if status.ended_s is not None and status.started_s is not None:
        return f"took {formatting.duration(status.lasted_s)}"
    if status.seconds_left is None and status.program and status.started_s is not None:
        return f"since {formatting.time_of_day(status.started_s)}"
    if status.seconds_left is None:
        return ""
    return f"{formatting.duration(status.seconds_left)} left"
