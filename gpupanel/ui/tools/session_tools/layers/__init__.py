"""The layers of the model, and the memory it takes."""

from gpupanel.ui.tools.session_tools.layers.binding import TOOL

__all__ = ["TOOL"]
