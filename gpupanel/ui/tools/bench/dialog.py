"""How fast the session trains on each device alone and on all, and which way to use."""

import time

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.bench import Bench, BenchDivision, BenchProgress, BenchResult, bench_sentence
from gpupanel.domain.problem import Severity
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.tools.session_report_dialog import SessionReportDialog
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.speed_bars import SpeedBars, SpeedRow
from gpupanel.ui.widgets.tips import wrapped

_EMPTY = (
    "Short trainings with each device alone, with all of them in equal and in balanced shares, and "
    "then with XLA and mixed precision: the fastest is often not the one with most devices."
)
_OUTDATED = "The settings have changed since. Compare again for current results."
_NOTE = (
    "Efficiency is the speed as a part of what the same devices reach alone, together; above 100 % "
    "it is what XLA or mixed precision gain. Nothing of these trainings is kept but their speed, "
    "which says how long a training will take."
)


class BenchDialog(SessionReportDialog[Bench, BenchProgress]):
    """Shows speeds as bars, while they are measured too, and offers the fastest way to train."""

    candidateChosen = Signal(object)
    """The session is to train as this :class:`BenchCandidate` does."""

    def __init__(self, parent: QWidget | None = None) -> None:
        again = ("Compare &again", "Measures with the settings as they are now.")
        super().__init__("bench", "Compare devices", again, parent)
        self._bench: Bench | None = None
        self._labels = DeviceLabels()
        self._doing = ""
        tip = "Ends the trainings and discards their results."
        self._add_cancel("Cancel co&mparison", tip)
        tip = "Sets devices, strategy, XLA and mixed precision as the fastest has them."
        self._use = self._add_button("&Use the fastest", "use", wrapped(tip))
        self._use.clicked.connect(self._choose)
        self._show_empty(_EMPTY)
        self._show_state()

    def bench(self) -> Bench | None:
        """What is shown; ``None`` before anything is known."""
        return self._bench

    @override
    def setLabels(self, labels: DeviceLabels) -> None:
        self._labels = labels

    @override
    def text(self) -> str:
        if self._bench is None:
            return ""
        lines = [bench_sentence(self._bench), "", "Tried\tExamples/s\tEfficiency"]
        for result in self._bench.results:
            efficiency = "" if result.efficiency is None else f"{result.efficiency:.3f}"
            lines.append(f"{result.name}\t{result.examples_per_second or ''}\t{efficiency}")
        lines += [f"{left.name}\t{left.problem.message}" for left in self._bench.left_out]
        return "\n".join(lines)

    @Slot(object)
    @override
    def setAnswer(self, found: Bench) -> None:
        self._bench = found
        self._is_outdated = False
        parts: list[QWidget] = [self._row(each) for each in found.problems]
        if found.results:
            parts.append(self._bars(found.results, found.fastest))
        for failure in found.failures:
            parts += [Note(failure.sentence), self._row(failure.problem)]
        parts += [Note(f"Left out: {each.name}. {each.problem.message}") for each in found.left_out]
        if found.results:
            parts.append(Note(_NOTE))
        if parts:
            self._show_page(*parts)
        else:
            self._show_empty(_EMPTY)
        self._show_state()

    @Slot(object)
    @override
    def setProgress(self, progress: BenchProgress) -> None:
        doing = f", {progress.doing}" if progress.doing else ""
        self._doing = f"{progress.number} of {progress.of}: {progress.name}{doing}…"
        self._progress.setRange(0, progress.of)
        self._progress.setValue(progress.number - 1)
        if progress.results:
            self._show_page(self._bars(progress.results, None))
        self._show_state()

    @override
    @Slot()
    def _show_state(self) -> None:
        found, is_busy = self._bench, self._is_busy
        self._progress.setVisible(is_busy)
        self._cancel.setEnabled(is_busy)
        self._again.setEnabled(not is_busy)
        self._copy.setEnabled(not is_busy and found is not None and bool(found.results))
        fastest = None if found is None else found.fastest
        self._use.setEnabled(not is_busy and fastest is not None and not self._is_outdated)
        has_errors = found is not None and fastest is None
        self._icon.setVisible(found is not None and not is_busy)
        self._icon.setSeverity(Severity.ERROR if has_errors else None)
        if is_busy:
            self._title.setText("Comparing devices…")
            self._sentence.setProse(self._doing or "Finding out what can be tried…")
            return
        self._doing = ""
        self._progress.setRange(0, 0)
        if found is None:
            self._title.setText("Not compared yet")
            self._sentence.setProse("")
        elif self._is_outdated:
            self._title.setText("Outdated")
            self._sentence.setProse(_OUTDATED)
        else:
            self._title.setText("Compare devices")
            self._sentence.setProse(self._words(found))

    @Slot(bool)
    @override
    def setBusy(self, busy: bool) -> None:
        super().setBusy(busy)
        if not busy and self._bench is not None:
            # What was shown before one that was cancelled.
            self.setAnswer(self._bench)
        elif not busy:
            self._show_empty(_EMPTY)

    def _words(self, found: Bench) -> str:
        words = bench_sentence(found)
        if not found.measured_s:
            return words
        try:
            measured = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.measured_s))
        except (ValueError, OverflowError, OSError):  # of a strange file
            return words
        return f"{words} Measured {measured}."

    def _bars(self, results: tuple[BenchResult, ...], fastest: BenchResult | None) -> SpeedBars:
        return SpeedBars([self._speed_row(each, each is fastest) for each in results])

    def _speed_row(self, result: BenchResult, is_fastest: bool) -> SpeedRow:
        candidate = result.candidate
        alone = candidate.division is BenchDivision.ALONE
        notes = []
        if result.spread is not None:
            notes.append(f"± {50.0 * result.spread:.0f} % in {len(result.speeds)} runs")
        if len(result.shares) > 1:
            notes.append("shares " + " + ".join(map(formatting.count, result.shares)))
        if result.time_spent is not None and result.time_spent.words:
            notes.append(result.time_spent.words)
        if result.problem is not None:
            notes.append(result.problem.message)
        return SpeedRow(
            name=candidate.name(self._labels.label(candidate.device_keys[0], result.name)),
            speed=result.examples_per_second,
            color=self._labels.color_number(candidate.device_keys[0]) if alone else None,
            efficiency=result.efficiency,
            note="; ".join(notes),
            is_marked=is_fastest,
        )

    @Slot()
    def _choose(self) -> None:
        fastest = None if self._bench is None else self._bench.fastest
        if fastest is not None:
            self.candidateChosen.emit(fastest.candidate)
            self.close()
