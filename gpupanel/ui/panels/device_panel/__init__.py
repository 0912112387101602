"""The devices of this machine, a card each: what they do, and how much of them to use."""

from gpupanel.ui.panels.device_panel.device_panel import DevicePanel

__all__ = ["DevicePanel"]
