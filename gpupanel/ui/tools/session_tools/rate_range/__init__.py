"""The range test of the learning rate."""

from gpupanel.ui.tools.session_tools.rate_range.binding import TOOL

__all__ = ["TOOL"]
