"""Learns which GPUs TensorFlow can use, off the GUI thread: an answer takes seconds."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from typing_extensions import override

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.problem import Problem
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    from gpupanel.devices.doctor.support_memory import SupportBasis

DELAY_MS = 1_000
"""The window is drawn and its devices are read before a second process makes the disk busy."""


@dataclass(frozen=True, slots=True)
class SupportQuestion:
    """Which GPUs are asked about, and under which driver; ``anew``: forget what is remembered."""

    gpus: tuple[PhysicalDevice, ...]
    driver: str | None
    anew: bool = False

    @property
    def about(self) -> tuple[frozenset[str], str | None]:
        """What makes it another question: the keys of the GPUs, and the driver."""
        return frozenset(gpu.key for gpu in self.gpus), self.driver


Ask = Callable[[SupportQuestion, Event], GpuSupport]
Recall = Callable[[SupportQuestion], GpuSupport | None]


# Imported here and not above: it is the worker's thread that waits for it.
def _ask(question: SupportQuestion, cancelled: Event) -> GpuSupport:
    return workplace().gpu_support(question.gpus, question.driver, cancelled)


def _try_import(cancelled: Event) -> Problem | None:
    return workplace().import_problem(cancelled)


def _recall(question: SupportQuestion) -> GpuSupport | None:
    from gpupanel.devices.doctor.gpu_support import remembered_support
    from gpupanel.devices.doctor.support_memory import forget_support

    if question.anew:
        forget_support()
    return remembered_support(question.gpus, question.driver)


def _basis(question: SupportQuestion) -> "SupportBasis":
    from gpupanel.devices.doctor.support_memory import support_basis

    return support_basis(question.gpus, question.driver)


class _SupportMemory:
    """What is remembered of answers; used in the worker's thread.

    Args:
        recall: Looks up the answer that a question had before.
    """

    def __init__(self, recall: Recall) -> None:
        self._recall = recall
        self._basis: SupportBasis | None = None

    def recall(self, question: SupportQuestion) -> GpuSupport | None:
        """What the question was answered before."""
        self._basis = _basis(question)
        return self._recall(question)

    def is_outdated(self, question: SupportQuestion) -> bool:
        """Whether packages or libraries have changed since a question was asked last."""
        return _basis(question) != self._basis


class GpuSupportLoader(WorkerFacade):
    """Asks once about the GPUs that answer, a moment after they are there; without one never.

    What was answered before comes at once. GPUs that could not be used then are asked about
    again, and so is everything after :meth:`ask_again`.
    """

    answered = Signal(object)
    """The :class:`GpuSupport` of the GPUs that were asked about last."""
    busyChanged = Signal(bool)
    """Whether an answer is waited for that is not known yet."""
    importTried = Signal(object)
    """What of elsewhere keeps TensorFlow from being imported: a :class:`Problem`, or ``None``."""

    def __init__(
        self, ask: Ask = _ask, recall: Recall = _recall, parent: QObject | None = None
    ) -> None:
        super().__init__("GPU support", parent)
        self._ask = ask
        self._memory = _SupportMemory(recall)
        self._question: SupportQuestion | None = None
        self._is_usable = False
        self._is_busy = False
        self._timer = QTimer(self, singleShot=True, interval=DELAY_MS)
        self._timer.timeout.connect(self._ask_now)

    def set_gpus(self, gpus: tuple[PhysicalDevice, ...], driver: str | None) -> None:
        """Ask about these, unless they were asked about last; ``answered`` may follow."""
        question = SupportQuestion(gpus, driver)
        if gpus and (self._question is None or question.about != self._question.about):
            self._begin(question)

    def ask_again(self) -> None:
        """Ask again about the same GPUs, whatever is remembered."""
        if self._question is not None:
            self._begin(SupportQuestion(self._question.gpus, self._question.driver, anew=True))

    def try_import(self) -> None:
        """Try whether TensorFlow can be imported, GPUs or none; ``importTried`` follows."""
        self.submit(partial(_try_import, self.dropped), self.importTried.emit)

    def check_again(self) -> None:
        """Ask again where something could not be used and packages or libraries have changed."""
        if self._question is not None and not self._is_usable and not self._is_busy:
            self.submit(partial(self._memory.is_outdated, self._question), self._ask_again_if)

    @override
    def stop(self) -> None:
        """Ask no more; the process that was asked is ended."""
        self._timer.stop()
        self.drop()
        super().stop()

    def _begin(self, question: SupportQuestion) -> None:
        self._timer.stop()
        # An answer that is under way is of no use any more.
        self.drop()
        self._question = question
        self._set_busy(busy=True)
        self.submit(
            partial(self._memory.recall, question), self._take_memory, self._take_lost_memory
        )

    def _take_memory(self, support: GpuSupport | None) -> None:
        if support is not None:
            self._report(support)
        if support is None or support.faults:
            self._timer.start()
        else:
            self._set_busy(busy=False)

    def _take_lost_memory(self, problems: tuple[Problem, ...]) -> None:
        self.refused.emit(problems)
        self._timer.start()

    @Slot()
    def _ask_now(self) -> None:
        if self._question is not None:
            ask = partial(self._ask, self._question, self.dropped)
            self.submit(ask, self._take_answer, self._take_no_answer)

    def _take_answer(self, support: GpuSupport) -> None:
        self._set_busy(busy=False)
        self._report(support)

    def _take_no_answer(self, problems: tuple[Problem, ...]) -> None:
        self.refused.emit(problems)
        self._set_busy(busy=False)

    def _ask_again_if(self, is_outdated: bool) -> None:
        if is_outdated and self._question is not None and not self._is_busy:
            self._begin(SupportQuestion(self._question.gpus, self._question.driver))

    def _report(self, support: GpuSupport) -> None:
        self._is_usable = not support.faults and support.unanswered is None
        self.answered.emit(support)

    def _set_busy(self, *, busy: bool) -> None:
        if busy != self._is_busy:
            self._is_busy = busy
            self.busyChanged.emit(busy)
