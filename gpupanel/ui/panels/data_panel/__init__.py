"""What a run learns from, with a look at it."""

from gpupanel.ui.panels.data_panel.panel import DataPanel

__all__ = ["DataPanel"]
