"""Several runs side by side: their curves over each other, and what they were told differently."""

from gpupanel.ui.panels.comparison_panel.panel import ComparisonPanel

__all__ = ["ComparisonPanel"]
