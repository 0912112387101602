"""The tools that ask one question about the session, in the order of their buttons."""

from typing import TYPE_CHECKING, Final

from gpupanel.domain.read_speed import read_speed_request
from gpupanel.domain.scan import scan_request
from gpupanel.runs.questions.data_scan import scan_data
from gpupanel.runs.questions.read_speed import measure_reading
from gpupanel.ui.tools.session_tool_binding import SessionTool

if TYPE_CHECKING:
    from gpupanel.ui.tools.read_speed_dialog import ReadSpeedDialog
    from gpupanel.ui.tools.scan.dialog import ScanDialog


def _scan_dialog() -> "type[ScanDialog]":
    from gpupanel.ui.tools.scan.dialog import ScanDialog

    return ScanDialog


def _read_speed_dialog() -> "type[ReadSpeedDialog]":
    from gpupanel.ui.tools.read_speed_dialog import ReadSpeedDialog

    return ReadSpeedDialog


SCAN: Final = SessionTool(
    question=scan_data,
    request_of=scan_request,
    dialog=_scan_dialog,
    place=lambda page: page.data.preview.tools,
    text="Sca&n data…",
    button="scan_button",
    tip="Scans all of it for duplicates, examples in several sets, unreadable files and outliers.",
)
READ_SPEED: Final = SessionTool(
    question=measure_reading,
    request_of=read_speed_request,
    dialog=_read_speed_dialog,
    place=lambda page: page.data.preview.tools,
    text="Reading speed…",
    button="read_speed_button",
    tip="Reads training examples for ten seconds, as a run does, and says how many a second this "
    "machine can read: a training that computes faster waits for its data.",
    trains_only=True,
)
SESSION_TOOLS: Final = (SCAN, READ_SPEED)
