"""How the work is divided over devices."""

from gpupanel.ui.panels.strategy_panel.panel import StrategyPanel

__all__ = ["StrategyPanel"]
