"""How fast the session trains on each device alone and on all, and which way to use."""

import time

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.bench import Bench, BenchDivision, BenchProgress, BenchResult, bench_sentence
from gpupanel.domain.problem import Severity
from gpupanel.ui import formatting
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.tools.session_report_dialog import ReportWords, SessionReportDialog
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.speed_bars import SpeedBars, SpeedRow
from gpupanel.ui.widgets.tips import wrapped

_WORDS = ReportWords(
    name="bench",
    title="Compare devices",
    again=("Compare &again", "Measures with the settings as they are now."),
    cancel=("Cancel co&mparison", "Ends the trainings and discards their results."),
    empty="Short trainings with each device alone, with all of them in equal and in balanced "
    "shares, and then with XLA and mixed precision: the fastest is often not the one with most "
    "devices.",
    unknown=("Not compared yet", ""),
    busy=("Comparing devices…", "Finding out what can be tried…"),
    outdated="The settings have changed since. Compare again for current results.",
)
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
        super().__init__(_WORDS, parent)
        self._labels = DeviceLabels()
        tip = "Sets devices, strategy, XLA and mixed precision as the fastest has them."
        self._use = self._add_button("&Use the fastest", "use", wrapped(tip))
        self._use.clicked.connect(self._choose)
        self._show_state()

    @override
    def setLabels(self, labels: DeviceLabels) -> None:
        self._labels = labels

    @override
    def _text_of(self, found: Bench) -> str:
        if not found.results:
            return ""
        lines = [bench_sentence(found), "", "Tried\tExamples/s\tEfficiency"]
        for result in found.results:
            efficiency = "" if result.efficiency is None else f"{result.efficiency:.3f}"
            lines.append(f"{result.name}\t{result.examples_per_second or ''}\t{efficiency}")
        lines += [f"{left.name}\t{left.problem.message}" for left in found.left_out]
        return "\n".join(lines)

    @override
    def _parts_of(self, found: Bench) -> list[QWidget]:
        parts = super()._parts_of(found)
        if found.results:
            parts.append(self._bars(found.results, found.fastest))
        for failure in found.failures:
            parts += [Note(failure.sentence), self._row(failure.problem)]
        parts += [Note(f"Left out: {each.name}. {each.problem.message}") for each in found.left_out]
        if found.results:
            parts.append(Note(_NOTE))
        return parts

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
        super()._show_state()
        fastest = None if self._found is None else self._found.fastest
        can_be_used = fastest is not None and not self._is_outdated
        self._use.setEnabled(not self._is_busy and can_be_used)

    @Slot(bool)
    @override
    def setBusy(self, busy: bool) -> None:
        super().setBusy(busy)
        if not busy:
            # What was shown before one that was cancelled.
            self._show_found()

    @override
    def _severity_of(self, found: Bench) -> Severity | None:
        return Severity.ERROR if found.fastest is None else None

    @override
    def _sentence_of(self, found: Bench) -> str:
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
        fastest = None if self._found is None else self._found.fastest
        if fastest is not None:
            self.candidateChosen.emit(fastest.candidate)
            self.close()
