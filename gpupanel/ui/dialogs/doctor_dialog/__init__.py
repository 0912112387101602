"""The doctor's dialog: what is wrong and the command that mends it, then all that was seen."""

from gpupanel.ui.dialogs.doctor_dialog.dialog import DoctorDialog

__all__ = ["DoctorDialog"]
