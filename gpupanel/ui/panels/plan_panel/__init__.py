"""What will happen: shares, memory, problems, and the exact calls."""

from gpupanel.ui.panels.plan_panel.panel import PlanPanel

__all__ = ["PlanPanel"]
