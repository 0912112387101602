"""The tools that ask one question about the session, in the order of their buttons."""

from typing import TYPE_CHECKING, Final

from gpupanel.domain.scan import scan_request
from gpupanel.runs.questions.data_scan import scan_data
from gpupanel.ui.tools.session_tool_binding import SessionTool

if TYPE_CHECKING:
    from gpupanel.ui.tools.scan.dialog import ScanDialog


def _scan_dialog() -> "type[ScanDialog]":
    from gpupanel.ui.tools.scan.dialog import ScanDialog

    return ScanDialog


SCAN: Final = SessionTool(
    question=scan_data,
    request_of=scan_request,
    dialog=_scan_dialog,
    place=lambda page: page.data.preview.tools,
    text="Sca&n data…",
    button="scan_button",
    tip="Scans all of it for duplicates, examples in several sets, unreadable files and outliers.",
)
SESSION_TOOLS: Final = (SCAN,)
