"""Single examples on the page of a run, asked about by a process that keeps its model loaded."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QImage

from gpupanel.domain.asked_kind import AskedKind
from gpupanel.domain.asked_prediction import Cell, PredictionAnswer, PredictionAsked
from gpupanel.domain.device import DeviceKind
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.domain.profile import Profile
from gpupanel.domain.visible_text import visible_line
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.ui import formatting
from gpupanel.ui.questions import Questions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.run_page.predict.picture_input import MOST_AT_ONCE
from gpupanel.ui.session import Session
from gpupanel.ui.shown_models import model_of_shown
from gpupanel.ui.task_choices import predicted_files, predicting_with
from gpupanel.ui.widgets.labels import Tone
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.prediction_worker import ModelAsker
from gpupanel.ui.workers.workplace import machine_name, workplace

if TYPE_CHECKING:
    from gpupanel.domain.run_layout import RunLayout

_KEPT_UNSEEN_MS = 180_000
_ON_CPU = "The model stays loaded, on the CPU, as long as this tab is open."
_LOADING = "Loading the model…"
_NO_MODEL = "The model is saved when the training ends, or is stopped."
_CPU_BUSY = "A run on the CPU is in progress; the model can be asked when it has ended."
_ALL_BY_A_RUN = '"Run on files…" predicts on all of them.'
_NO_FILE = "/picture.png"
"""The kind of file that is meant, and none that is read."""
_SAVED_AS = "predictions.csv"


class SinglePredictions(QObject):
    """Asks the model of the run that is shown; nothing is asked of one that nobody looks at.

    The process ends when another run is shown, some minutes after the tab was left, when a run
    begins that needs the CPU, and with the window.

    Args:
        session: Knows whether a run goes on.
        control: Knows the run that is shown.
        live: Has the area where examples are given.
        questions: Asks where answers are saved.
        parent: The window.
        asker: Asks the model; by a process of its own when left out.
        kept_unseen_ms: So long the model stays loaded when nobody sees the tab.
    """

    refused = Signal(object)
    """Answers could not be saved: a tuple of :class:`Problem`."""

    def __init__(
        self,
        session: Session,
        control: RunControl,
        live: LivePage,
        questions: Questions,
        parent: QObject | None = None,
        asker: ModelAsker | None = None,
        *,
        kept_unseen_ms: int = _KEPT_UNSEEN_MS,
    ) -> None:
        super().__init__(parent)
        self._session, self._control, self._live = session, control, live
        self._questions = questions
        self._area = area = live.predictions.single
        self._asker = asker or ModelAsker(parent=self)
        self._saver = WorkerFacade("save answers", self)
        for each in (self._asker, self._saver):
            each.refused.connect(self.refused)
        self._asker.answered.connect(self._note_loaded)
        self._pasted: TemporaryDirectory[str] | None = None
        self._pasted_count = 0
        self._asked: dict[int, PredictionAsked] = {}
        """What was asked of each card, by its number."""
        self._shown: tuple[RunLayout, AskedKind] | None = None
        self._is_warm = self._is_loaded = self._is_stopped = False
        self._failure = ""
        self._typed: int | None = None
        self._is_asking = self._is_mapping = False
        self._waiting: tuple[str, Callable[[], PredictionAsked]] | None = None
        self._unseen = QTimer(self, singleShot=True, interval=kept_unseen_ms)
        self._unseen.timeout.connect(self._let_go)
        control.shownChanged.connect(self._begin)
        control.shownOpened.connect(self._update)
        control.shownStatusChanged.connect(self._update)
        session.runChanged.connect(self._update)
        area.seenChanged.connect(self._on_seen)
        area.picturesGiven.connect(self._ask_pictures)
        area.pictures.imageGiven.connect(self._ask_pasted)
        area.exampleChanged.connect(self._ask_typed)
        area.kept.connect(self._keep)
        area.manyGiven.connect(self._give_to_run)
        area.pictures.chooseRequested.connect(self._choose)
        area.answers.heatMapsWanted.connect(self._ask_heat_maps)
        area.answers.swapRequested.connect(self._ask_swapped)
        area.answers.saveRequested.connect(self._save)

    def stop(self) -> None:
        """Ask nothing any more; the process ends."""
        self._is_stopped = True
        self._unseen.stop()
        self._asker.stop()
        self._saver.stop()
        self._remove_pasted()

    @Slot()
    def _begin(self) -> None:
        """Another run is shown: what was asked of the one before is forgotten."""
        self._shown = None
        self._let_go()
        self._asked.clear()
        self._typed, self._failure = None, ""
        self._remove_pasted()
        self._area.begin(AskedKind.NONE)

    @Slot()
    def _let_go(self) -> None:
        self._unseen.stop()
        self._is_warm = self._is_loaded = self._is_asking = self._is_mapping = False
        self._waiting = None
        self._area.answers.setLoading(is_loading=True)
        self._asker.forget()

    @Slot()
    def _update(self) -> None:
        """Show whether the model can be asked; load it where somebody waits for that."""
        layout, trained = self._control.shown, self._control.shown_profile
        if layout is None or trained is None or self._is_stopped:
            return
        # The page of a run that predicts shows what that found.
        is_itself = trained.task == "predict"
        shown = layout, AskedKind.NONE if is_itself else trained.data.asked_kind
        if shown != self._shown:
            self._shown = shown
            self._area.begin(shown[1])
        if not model_of_shown(self._control):
            self._area.setReady(is_ready=False, words=_NO_MODEL)
        elif self._is_cpu_busy():
            if self._is_warm:
                self._let_go()
            self._area.setReady(is_ready=False, words=_CPU_BUSY, tone=Tone.WARNING)
        elif self._failure:
            self._area.setReady(is_ready=False, words=self._failure, tone=Tone.ERROR)
        else:
            if self._area.isVisible():
                self._warm()
            words = _ON_CPU if self._is_loaded else _LOADING if self._is_warm else ""
            self._area.setReady(is_ready=True, words=words)

    def _is_cpu_busy(self) -> bool:
        facts = self._control.active_facts
        plan = None if facts is None else facts.plan
        devices = () if plan is None else plan.devices
        takes_cpu = any(each.kind is DeviceKind.CPU for each in devices)
        return takes_cpu and self._session.run_state.is_busy

    @Slot(bool)
    def _on_seen(self, is_seen: bool) -> None:
        if self._is_stopped:
            return
        if is_seen:
            self._unseen.stop()
            self._failure = ""
            self._update()
        elif self._is_warm:
            self._unseen.start()

    def _warm(self) -> None:
        if self._is_warm or self._shown is None or self._shown[1] is AskedKind.NONE:
            return
        self._is_warm = True
        path = _NO_FILE if self._shown[1] is AskedKind.IMAGE else ""
        self._asker.ask(self._about(path, wants="inputs"), self._on_inputs)

    @Slot(object)
    def _on_inputs(self, answer: PredictionAnswer) -> None:
        if answer.problems:
            self._failure = " ".join(map(problem_sentences, answer.problems))
        elif answer.columns and self._area.rows.is_empty():
            self._area.setColumns(answer.columns, answer.column_count)
        elif answer.takes:
            self._area.pictures.setTaken(answer.takes, are_pictures=answer.takes_pictures)
        if not answer.problems and self._shown is not None:
            # Of a row the columns are known before: its first answer loads the model.
            self._is_loaded = self._shown[1] is not AskedKind.ROW
            self._area.answers.setLoading(is_loading=not self._is_loaded)
        self._update()

    def _about(self, path: str, **more: object) -> Callable[[], PredictionAsked]:
        """What asks the model of the shown run, made when it is asked."""
        trained, model = self._control.shown_profile, model_of_shown(self._control)
        assert trained is not None
        return partial(_asked_about, trained, model, path, more)

    def _about_file(self, path: str, place: int = 0) -> Callable[[], PredictionAsked]:
        """What asks about a picture, or about one of the examples in a file of numbers."""
        if self._area.kind is AskedKind.ARRAY:
            return self._about("", file=path, place=place)
        return self._about(path)

    @Slot()
    def _choose(self) -> None:
        before = self._control.shown
        paths = self._questions.examples_to_ask_about(self._area.files)
        # Another run may have been shown while somebody chose.
        if paths and self._control.shown == before and not self._area.give(paths):
            self._give_to_run(paths)

    @Slot(object)
    def _give_to_run(self, paths: tuple[str, ...]) -> None:
        """More than are answered here."""
        if workplace().host:
            # A run on a host reads files there, and these are here.
            self._area.pictures.say(
                f"Copy them to {machine_name()} (drop them on the tab Session), then choose them "
                "by “Run on files…”."
            )
        else:
            self._live.filesDropped.emit(paths)

    @Slot(object)
    def _ask_pictures(self, paths: tuple[str, ...]) -> None:
        self._show_area()
        for place, path in enumerate(paths):
            self._ask(visible_line(Path(path).name), self._about_file(path), place)

    @Slot(QImage)
    def _ask_pasted(self, image: QImage) -> None:
        if self._pasted is None:
            self._pasted = TemporaryDirectory(prefix="gpupanel-", ignore_cleanup_errors=True)
        self._pasted_count += 1
        place = str(Path(self._pasted.name) / f"{self._pasted_count}.png")
        about = self._about_file(place)
        title = f"Pasted picture {self._pasted_count}"
        self._ask(title, partial(_saved_before, QImage(image), place, about))

    def _ask(self, title: str, about: Callable[[], PredictionAsked], place: int = 0) -> None:
        self._is_warm = True
        number = self._area.answers.add(title, place)
        for gone in [each for each in self._asked if not self._area.answers.has(each)]:
            del self._asked[gone]
        self._asker.ask(self._noting(number, about), partial(self._on_answer, number))

    def _noting(
        self, number: int, about: Callable[[], PredictionAsked]
    ) -> Callable[[], PredictionAsked]:
        asked_before = self._asked

        def noting() -> PredictionAsked:
            asked = asked_before[number] = about()
            return asked

        return noting

    def _on_answer(self, number: int, answer: PredictionAnswer) -> None:
        asked, title = self._asked.get(number), ""
        if asked is not None and answer.count > 1 and self._area.answers.has(number):
            title = _example_title(asked.file, asked.place)
            if asked.place == 0:
                self._ask_others(asked.file, answer.count, number)
        self._area.answers.answer(number, answer, title)
        if self._area.answers.heat.isChecked():
            # After the answers: of a large network it takes longer than these.
            self._ask_heat_maps()

    def _ask_others(self, file: str, count: int, number: int) -> None:
        """Ask about the further examples of a file, below the first one."""
        first = self._area.answers.place_of(number)
        for place in range(1, min(count, MOST_AT_ONCE)):
            title = _example_title(file, place)
            self._ask(title, self._about_file(file, place), first + place)
        if count > MOST_AT_ONCE:
            words = f"Of {formatting.count(count)} examples the first {MOST_AT_ONCE} are answered."
            trained = self._control.shown_profile
            by_a_run = trained is not None and file.lower().endswith(predicted_files(trained.data))
            self._area.pictures.say(f"{words} {_ALL_BY_A_RUN}" if by_a_run else words)

    @Slot(int)
    def _ask_swapped(self, number: int) -> None:
        asked, answer = self._asked.get(number), self._area.answers.answer_of(number)
        if asked is None or answer is None or answer.is_swapped is None:
            return
        update = {"swap": not answer.is_swapped, "with_heat_map": False}
        self._asked[number] = swapped = asked.model_copy(update=update)
        self._asker.ask(partial(_itself, swapped), partial(self._on_answer, number))

    @Slot(object)
    def _note_loaded(self, answer: PredictionAnswer) -> None:
        if answer.predicted and not self._is_loaded:
            self._is_loaded = True
            self._update()

    @Slot()
    def _ask_heat_maps(self) -> None:
        """Ask for one after the other: what is given meanwhile is named before the next map."""
        if self._is_mapping:
            return
        for number in self._area.answers.without_heat_maps():
            asked = self._asked.get(number)
            if asked is not None and not asked.with_heat_map:
                with_map = asked.model_copy(update={"with_heat_map": True})
                self._asked[number] = with_map
                self._is_mapping = True
                self._asker.ask(partial(_itself, with_map), partial(self._on_heat_map, number))
                return

    def _on_heat_map(self, number: int, answer: PredictionAnswer) -> None:
        self._is_mapping = False
        if answer.predicted:
            self._area.answers.answer(number, answer)
        else:
            why = " ".join(map(problem_sentences, answer.problems))
            self._area.answers.lack_heat_map(number, why)
        if self._area.answers.heat.isChecked():
            self._ask_heat_maps()

    @Slot(str, object)
    def _ask_typed(self, title: str, example: Mapping[str, Cell] | str) -> None:
        key = "text" if isinstance(example, str) else "row"
        self._waiting = title, self._about("", **{key: example})
        self._ask_waiting()

    def _ask_waiting(self) -> None:
        """Ask about what was typed last, once what was typed before is answered."""
        if self._is_asking or self._waiting is None:
            return
        (title, about), self._waiting = self._waiting, None
        answers = self._area.answers
        if self._typed is None or not answers.has(self._typed):
            self._typed = answers.add(title)
        self._is_asking = self._is_warm = True
        self._asker.ask(about, partial(self._on_typed_answer, self._typed, title))

    def _on_typed_answer(self, number: int, title: str, answer: PredictionAnswer) -> None:
        self._is_asking = False
        self._area.answers.answer(number, answer, title)
        self._ask_waiting()

    @Slot()
    def _keep(self) -> None:
        self._typed = None

    @Slot(str)
    def _save(self, text: str) -> None:
        layout = self._control.shown
        is_here = layout is not None and not workplace().host
        folder = layout.root.parent if layout is not None and is_here else Path.home()
        suggestion = folder / _SAVED_AS
        place = self._questions.place_to_export("Save the answers", suggestion, "CSV (*.csv)")
        if place is not None:
            self._saver.submit(partial(_write, place, text))

    def _show_area(self) -> None:
        page = self._live.predictions
        page.restRequested.emit()
        self._live.show_model_runs(page)

    def _remove_pasted(self) -> None:
        pasted, self._pasted = self._pasted, None
        if pasted is not None:
            pasted.cleanup()


def _asked_about(
    trained: Profile, model: str, path: str, more: Mapping[str, object]
) -> PredictionAsked:
    profile = predicting_with(trained, model, (path,) if path else ())
    return PredictionAsked.model_validate({"profile": profile, **more})


def _example_title(file: str, place: int) -> str:
    return f"{visible_line(Path(file).name)}, example {formatting.count(place + 1)}"


def _itself(asked: PredictionAsked) -> PredictionAsked:
    return asked


def _saved_before(
    image: QImage, place: str, about: Callable[[], PredictionAsked]
) -> PredictionAsked:
    """What asks about a picture that has no file yet."""
    if not image.save(place):
        raise ProblemError(
            Problem(
                code="example_refused",
                message="The picture on the clipboard cannot be kept as a file.",
                hint="Save it in the program that it comes from, and drop the file here.",
            )
        )
    return about()


def _write(place: Path, text: str) -> None:
    try:
        write_whole(place, text, private=True)
    except OSError as error:
        raise ProblemError(disk_problem(error, place)) from error
