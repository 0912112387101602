"""Asks a model about single examples, off the GUI thread."""

from collections.abc import Callable
from functools import partial
from threading import Event

from PySide6.QtCore import QObject
from typing_extensions import override

from gpupanel.domain.asked_prediction import PredictionAnswer, PredictionAsked
from gpupanel.domain.problem import Problem
from gpupanel.runs.tools.prediction.predictor import Predictor
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker

MakeAsked = Callable[[], PredictionAsked]
OnAnswer = Callable[[PredictionAnswer], object]


class _Asking(Worker):
    """Has the process as long as the thread lasts, however it comes to its end."""

    def __init__(self, predictor: Predictor) -> None:
        super().__init__()
        self.predictor = predictor

    @override
    def close(self) -> None:
        self.predictor.close()


class ModelAsker(WorkerFacade):
    """Asks one question after the other, in the order in which they came.

    Args:
        predictor: Asks the process that has the model.
        parent: Owns the facade.
    """

    def __init__(self, predictor: Predictor | None = None, parent: QObject | None = None) -> None:
        self._predictor = predictor or Predictor()
        super().__init__("predict examples", parent, _Asking(self._predictor))

    def ask(self, make: MakeAsked, on_answer: OnAnswer) -> None:
        """Ask that; ``on_answer`` is called with what comes of it, unless it is forgotten.

        Args:
            make: Makes the question, in the worker's thread.
            on_answer: Called in the GUI thread.
        """

        def failed(problems: tuple[Problem, ...]) -> None:
            on_answer(PredictionAnswer(problems=problems))

        self.submit(partial(_answer, self._predictor, make, self.dropped), on_answer, failed)

    def forget(self) -> None:
        """Want no answers any more, and let the process end."""
        self.drop()
        if self._thread.isRunning():
            self.submit(self._predictor.close)

    @override
    def stop(self) -> None:
        """Want no answers any more; the process ends with the thread."""
        self.drop()
        super().stop()


def _answer(predictor: Predictor, make: MakeAsked, dropped: Event) -> PredictionAnswer:
    return predictor.ask(make(), dropped)
