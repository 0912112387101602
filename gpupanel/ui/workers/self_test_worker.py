"""Has the devices tested by processes of their own, and reports how far it is."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.profile import Profile
from gpupanel.domain.self_test import SelfTest
from gpupanel.runs.readiness import Machine, read_machine
from gpupanel.runs.self_test import SECONDS, SELF_TEST_COMMAND, run_self_test
from gpupanel.runs.self_test_memory import recall_self_test
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.single_request import SingleRequestFacade


class SelfTester(SingleRequestFacade):
    """One self-test at a time; a new request ends the one before.

    Whatever becomes of the processes, the answer is a :class:`SelfTest`: what went wrong is a
    problem in it.
    """

    tested = Signal(object)
    """The :class:`SelfTest` of the last request."""
    progressed = Signal(object)
    """How far it is: a :class:`SelfTestProgress`."""

    def __init__(
        self,
        command: Sequence[str] = SELF_TEST_COMMAND,
        read: Callable[[], Machine] = read_machine,
        parent: QObject | None = None,
    ) -> None:
        super().__init__("self-test", parent)
        self._command, self._read = command, read

    def begin(self, profile: Profile, *, again: bool = False) -> None:
        """Test the devices of that profile; ends a test that goes on.

        Args:
            profile: What would be trained.
            again: Also what is known from before.
        """
        command, read = self._command, self._read
        self.carry_out(
            # What is free is read now: beside a run it is less than the session remembers.
            lambda dropped, report: run_self_test(
                profile, read(), dropped, report, command, SECONDS, again=again
            ),
            self.tested.emit,
            failed=lambda problems: SelfTest(problems=problems),
            report=self.progressed.emit,
        )


class SelfTestMemory(WorkerFacade):
    """Reads what is remembered of tests of this machine."""

    recalled = Signal(object)
    """A :class:`SelfTest`; ``None``: nothing is remembered."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__("self-test memory", parent)

    def recall(self, inventory: DeviceInventory) -> None:
        """Read what is remembered of these devices; only the last answer is heard."""
        self.drop()
        self.submit(partial(recall_self_test, inventory), self.recalled.emit)
