"""The guide inside the window: its pages, a list of them, and a search over all."""

from gpupanel.ui.dialogs.guide_dialog.dialog import GuideDialog

__all__ = ["GuideDialog"]
