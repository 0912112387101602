"""The runs that there are, in a table that finds, sorts and chooses."""

from gpupanel.ui.panels.runs_panel.panel import RunsPanel

__all__ = ["RunsPanel"]
