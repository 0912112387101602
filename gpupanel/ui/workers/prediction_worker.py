"""Asks a model about single examples, off the GUI thread."""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from typing_extensions import override

from gpupanel.domain.asked_prediction import PredictionAnswer, PredictionAsked
from gpupanel.domain.problem import Problem
from gpupanel.runs.tools.prediction.predictor import Predictor
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    from gpupanel.ui.workers.workplace import ExamplePredictor

MakeAsked = Callable[[], PredictionAsked]
OnAnswer = Callable[[PredictionAnswer], object]


class ModelAsker(WorkerFacade):
    """Asks one question after the other, in the order in which they came.

    Args:
        predictor: Asks the process that has the model.
        parent: Owns the facade.
    """

    answered = Signal(object)
    """The model has answered, whatever: a :class:`PredictionAnswer`."""

    def __init__(self, predictor: Predictor | None = None, parent: QObject | None = None) -> None:
        super().__init__("predict examples", parent)
        self._predictor = predictor or workplace().tools.predictor()

    def ask(self, make: MakeAsked, on_answer: OnAnswer) -> None:
        """Ask that; ``on_answer`` is called with what comes of it, unless it is forgotten.

        Args:
            make: Makes the question, in the worker's thread.
            on_answer: Called in the GUI thread; where the question could not be asked, with why.
        """

        def answer(found: PredictionAnswer) -> None:
            on_answer(found)
            self.answered.emit(found)

        def fail(problems: tuple[Problem, ...]) -> None:
            on_answer(PredictionAnswer(problems=problems))
            self.refused.emit(problems)

        self.submit(partial(_answer, self._predictor, make, self.dropped), answer, fail)

    def forget(self) -> None:
        """Want no answers any more, and let the process end."""
        self.drop()
        if self._thread.isRunning():
            self.submit(self._predictor.close)

    @override
    def stop(self) -> None:
        """Want no answers any more, and end the process."""
        self.drop()
        super().stop()
        # Here, since a thread that is ending takes no more work.
        self._predictor.close()


def _answer(predictor: "ExamplePredictor", make: MakeAsked, dropped: Event) -> PredictionAnswer:
    return predictor.ask(make(), dropped)
