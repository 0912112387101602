"""Several runs side by side: their curves over each other, and how their profiles differ."""

from gpupanel.ui.panels.comparison_panel.panel import ComparisonPanel

__all__ = ["ComparisonPanel"]
