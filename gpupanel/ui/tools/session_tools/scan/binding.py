"""Has the session's data scanned when the page asks for it."""

from typing import TYPE_CHECKING, Final

from gpupanel.domain.scan import scan_request
from gpupanel.runs.questions.data_scan import scan_data
from gpupanel.ui.tools.session_tool_binding import SessionTool

if TYPE_CHECKING:
    from gpupanel.ui.tools.session_tools.scan.dialog import ScanDialog


def _dialog() -> "type[ScanDialog]":
    from gpupanel.ui.tools.session_tools.scan.dialog import ScanDialog

    return ScanDialog


TOOL: Final = SessionTool(
    question=scan_data,
    request_of=scan_request,
    dialog=_dialog,
    place=lambda page: page.data.preview.tools,
    rank=1,
    text="Sca&n data…",
    button="scan_button",
    tip="Scans all of it for duplicates, examples in several sets, unreadable files and outliers.",
)
