"""Preparing a sweep of the session: which settings, which values, how many trials."""

from gpupanel.ui.dialogs.new_sweep_dialog.dialog import NewSweepDialog

__all__ = ["NewSweepDialog"]
