"""What waits for its devices, in a table that reorders it."""

from gpupanel.ui.panels.queue_panel.panel import QueuePanel

__all__ = ["QueuePanel"]
