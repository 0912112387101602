"""A page of a session with one tool of it, and what answers the tool's question."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpupanel.domain.profile import Profile
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.tools.session_report_binding import SessionReportBinding
from gpupanel.ui.workers.tool_worker import QuestionWorker, ToolWorker
from tests.fakes.questions import asked_of
from tests.ui.values import TWO_GPUS

Bind = Callable[[Session, SessionPage, QWidget], SessionReportBinding[Any, Any]]
PageT = TypeVar("PageT", bound="ToolPage")


class ToolPage:
    """Opened by a click.

    Args:
        name: What the names of the dialog's parts begin with.
        opener: The name of the button that opens it.
        bind: Connects the tool.
        profile: Of a session on two GPUs; ``None``: nothing is known of devices.
    """

    def __init__(
        self, qtbot: QtBot, name: str, opener: str, bind: Bind, profile: Profile | None = None
    ) -> None:
        self.name, self._opener = name, opener
        self.window = QWidget()
        qtbot.addWidget(self.window)
        self.session = Session()
        self.loader = QuestionWorker(asked_of(preview_data, "print('{}')"))
        self.page = SessionPage(self.session, self.loader)
        qtbot.addWidget(self.page)
        self.binding = bind(self.session, self.page, self.window)
        if profile is not None:
            self.session.set_inventory(TWO_GPUS)
            self.session.edit(profile)
            self.session.prepare_now()

    @property
    def worker(self) -> ToolWorker:
        return self.binding.findChild(ToolWorker)

    @property
    def dialog(self) -> Any:
        return self.window.findChild(QDialog, f"{self.name}_dialog")

    def button(self, name: str) -> QPushButton:
        return self.dialog.findChild(QPushButton, f"{self.name}_{name}")

    def label(self, name: str) -> str:
        return self.dialog.findChild(QLabel, f"{self.name}_{name}").text().replace("\u200b", "")

    def click(self) -> None:
        self.page.findChild(QPushButton, self._opener).click()

    def close(self) -> None:
        self.binding.stop()
        self.loader.stop()
        self.session.close()


@contextmanager
def closing(make: Callable[..., PageT]) -> Iterator[Callable[..., PageT]]:
    """Makes pages, and closes all of them."""
    made: list[PageT] = []

    def made_page(*given: Any, **named: Any) -> PageT:
        made.append(make(*given, **named))
        return made[-1]

    yield made_page
    for each in made:
        each.close()
