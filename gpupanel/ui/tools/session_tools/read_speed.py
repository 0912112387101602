"""How fast the training examples of the session can be read on this machine."""

from typing import Final

from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.number_text import byte_size, count
from gpupanel.domain.problem import Severity
from gpupanel.domain.read_speed import ReadSpeed, read_speed_request, read_speed_sentence
from gpupanel.runs.questions.read_speed import measure_reading
from gpupanel.ui.theme import GRID
from gpupanel.ui.tools.session_report_dialog import ReportWords, SessionReportDialog
from gpupanel.ui.tools.session_tool_binding import SessionTool
from gpupanel.ui.widgets.facts_card import FactsCard
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.screen_fit import resize_within_screen

_WORDS = ReportWords(
    name="read_speed",
    title="Reading speed",
    again=("&Read again", "Reads for ten seconds with the settings as they are now."),
    cancel=("S&top", "Ends the reading and discards its result."),
    empty="How many training examples a second this machine can read: whether a training that "
    "computes faster than that would wait for its data.",
    unknown=("Not measured yet", ""),
    busy=(
        "Reading examples…",
        "Ten seconds, batch by batch as a training does, from the moment the data is open.",
    ),
    outdated="The settings have changed since. Read again for current results.",
)
_NOTE = (
    "Nothing was computed, and no cache was used. Files that were read lately are still in the "
    "system's memory, and quicker than from the disk."
)


class ReadSpeedDialog(SessionReportDialog[ReadSpeed, object]):
    """Says what it means for a training, and from what that follows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_WORDS, parent)
        resize_within_screen(self, 84 * GRID, 48 * GRID)

    @override
    def _text_of(self, found: ReadSpeed) -> str:
        rows = ("\t".join(row) for row in _facts(found))
        return "\n".join([read_speed_sentence(found), "", *rows]) if found.examples else ""

    @override
    def _title_of(self, found: ReadSpeed) -> str:
        return "Reading speed" if found.examples else "Nothing was read"

    @override
    def _sentence_of(self, found: ReadSpeed) -> str:
        return "" if found.problems else read_speed_sentence(found)

    @override
    def _severity_of(self, found: ReadSpeed) -> Severity | None:
        return super()._severity_of(found) if found.examples or found.problems else Severity.HINT

    @override
    def _parts_of(self, found: ReadSpeed) -> list[QWidget]:
        if not found.examples:
            return super()._parts_of(found)
        facts = FactsCard("What was read", _facts(found))
        return [facts] if found.is_in_memory else [facts, Note(_NOTE)]


def _facts(found: ReadSpeed) -> tuple[tuple[str, str], ...]:
    """A name and a text each."""
    read = f"{count(found.read_examples)} examples in {found.read_seconds:.1f} s"
    return (
        *(() if found.is_in_memory else (("Read", read),)),
        ("Training examples", count(found.examples)),
        ("One example", f"{byte_size(found.example_bytes)} in memory"),
        ("Opening the data", f"{found.opening_seconds:.1f} s"),
    )


TOOL: Final = SessionTool(
    question=measure_reading,
    request_of=read_speed_request,
    dialog=lambda: ReadSpeedDialog,
    place=lambda page: page.data.preview.tools,
    rank=2,
    text="Reading speed…",
    button="read_speed_button",
    tip="Reads training examples for ten seconds, as a run does, and says how many a second this "
    "machine can read: a training that computes faster waits for its data.",
    trains_only=True,
)
