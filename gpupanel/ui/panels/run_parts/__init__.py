"""The parts that a run is made of: its processes, its shares, its layers."""

from gpupanel.ui.panels.run_parts.panel import RunPartsPanel

__all__ = ["RunPartsPanel"]
