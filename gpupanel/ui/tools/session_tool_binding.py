"""A tool that asks one question about the session: declared once, bound in one way."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.profile import Profile
from gpupanel.domain.value import Value
from gpupanel.runs.questions.question import Question
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.tools.session_report_binding import SessionReportBinding
from gpupanel.ui.widgets.tool_buttons import ToolButtons
from gpupanel.ui.workers.tool_worker import Ask, QuestionWorker

_RequestT = TypeVar("_RequestT", bound=Value)


@dataclass(frozen=True, kw_only=True)
class SessionTool:
    """What the window has to know of it.

    Attributes:
        question: What it asks.
        request_of: What it asks about a profile.
        dialog: Imports what shows the answer: a subclass of :class:`SessionReportDialog`.
        place: Where in the page its button stands.
        rank: Its place among the buttons.
        text: What stands on the button.
        button: The button's object name.
        tip: The button's tip.
        trains_only: Whether it is for profiles whose task is train.
        binding: A subclass of :class:`SessionToolBinding`; ``None``: that itself.
    """

    question: Question[Any, Any]
    request_of: Callable[[Profile], Any]
    dialog: Callable[[], Callable[[QWidget], Any]]
    place: Callable[[SessionPage], ToolButtons]
    rank: int
    text: str
    button: str
    tip: str
    trains_only: bool = False
    binding: "type[SessionToolBinding[Any]] | None" = None


class SessionToolBinding(SessionReportBinding[Any, _RequestT], Generic[_RequestT]):
    """Puts the tool's button into the page, and asks as it is clicked.

    Args:
        page: Has the button, and shows a setting that a problem is about.
        window: What the dialog stands before.
        tool: Which one.
    """

    worker: QuestionWorker[Any]

    def __init__(
        self, session: Session, page: SessionPage, window: QWidget, tool: SessionTool
    ) -> None:
        self._tool = tool
        self._button = tool.place(page).add(tool.text, tool.button, tool.tip)
        worker = QuestionWorker(tool.question)
        super().__init__(session, page, window, worker, self._button.clicked)
        session.profileChanged.connect(self._offer)
        self._offer(session.profile)

    @override
    def _dialog_class(self) -> Callable[[QWidget], Any]:
        return self._tool.dialog()

    @override
    def _request_of(self, profile: Profile) -> _RequestT:
        request: _RequestT = self._tool.request_of(profile)
        return request

    @override
    def _ask(self, request: _RequestT) -> Ask:
        return partial(self.worker.question, request)

    @override
    def _prepare(self, dialog: Any) -> None:
        if self._request_of(self._session.profile) != self._request:
            dialog.forget()

    @Slot(object)
    def _offer(self, profile: Profile) -> None:
        self._button.setVisible(profile.task == "train" or not self._tool.trains_only)


def bind_session_tool(
    tool: SessionTool, session: Session, page: SessionPage, window: QWidget
) -> SessionToolBinding[Any]:
    """The binding of a tool, by which its button stands in the page."""
    return (tool.binding or SessionToolBinding)(session, page, window, tool)
