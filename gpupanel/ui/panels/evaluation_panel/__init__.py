"""What the tasks ``evaluate`` and ``predict`` found."""

from gpupanel.ui.panels.evaluation_panel.panel import EvaluationPanel

__all__ = ["EvaluationPanel"]
