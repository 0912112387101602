"""The scan of the data."""

from gpupanel.ui.tools.session_tools.scan.binding import TOOL

__all__ = ["TOOL"]
