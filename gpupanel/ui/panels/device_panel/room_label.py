"""What is asked of a device's memory beside what can be had of it now."""

from PySide6.QtWidgets import QWidget

from gpupanel.domain.memory import CUDA_CONTEXT_MIB
from gpupanel.ui import formatting
from gpupanel.ui.widgets.labels import ElidedLabel, Tone, set_tone
from gpupanel.ui.widgets.tips import wrapped

_LESSON = (
    f"A limit does not include the CUDA context: some {CUDA_CONTEXT_MIB} MiB more for "
    "each process. In the bar it is hatched, behind the line."
)


class RoomLabel(ElidedLabel):
    """One line that says whether a limit, with the CUDA context, fits into what is free."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setProperty("textSize", "small")
        self.setToolTip(wrapped(_LESSON))

    def show_room(
        self, wanted_mib: int, total_mib: int | None, free_mib: int | None, sum_: str
    ) -> None:
        """Say it.

        Args:
            wanted_mib: What TensorFlow may take.
            total_mib: The device's memory; ``None`` when it is not known.
            free_mib: What can be had now; ``None`` when it is not known.
            sum_: What comes before the words, where the limit is not to be seen elsewhere.
        """
        room = total_mib if free_mib is None else free_mib
        if room is None:
            self.setText("The memory size is not known.")
            set_tone(self, Tone.MUTED)
            return
        of = f"{formatting.mib(room)} {'in total' if free_mib is None else 'free now'}"
        context = "context" if sum_ else f"{CUDA_CONTEXT_MIB} MiB CUDA context"
        fits = wanted_mib + CUDA_CONTEXT_MIB <= room
        if wanted_mib > room:
            words = f"{sum_}, more than the {of}" if sum_ else f"More than the {of}"
        elif fits:
            words = f"{sum_} + {context}, of {of}".lstrip()
        else:
            words = f"{sum_} + {context}: over the {of}".lstrip()
        self.setText(words)
        set_tone(self, Tone.MUTED if fits else Tone.WARNING)
