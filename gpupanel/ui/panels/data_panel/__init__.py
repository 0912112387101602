"""What a run learns from, with a preview of it."""

from gpupanel.ui.panels.data_panel.panel import DataPanel

__all__ = ["DataPanel"]
