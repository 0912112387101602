"""What is in the data: first what is wrong with it and what mends it, then all that was seen."""

from gpupanel.ui.dialogs.scan_dialog.dialog import ScanDialog

__all__ = ["ScanDialog"]
