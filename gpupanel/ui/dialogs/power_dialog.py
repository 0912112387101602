"""The power limit of one GPU: what it is, what it costs, and another one."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.power import LimitedGpu
from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.ui import formatting
from gpupanel.ui.forms.settings_form import SettingsForm
from gpupanel.ui.inputs.counter import Counter
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import ProseLabel, Tone, set_tone
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.tips import wrapped

_TIP = "What the whole board may draw at the most. It holds until the driver is loaded anew."
_GREATEST_W = 2_000
"""Where a GPU does not say what it takes."""
_MEASURING = "Looking for what limits cost by this machine's own runs…"


class PowerDialog(QDialog):
    """Asks for another limit.

    Args:
        device: The GPU.
        limited: Its limit in force.
        parent: Stands before it.
    """

    limitRequested = Signal(object, int)
    """The :class:`PhysicalDevice` is to have a limit of so many watts."""

    def __init__(
        self, device: PhysicalDevice, limited: LimitedGpu, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("power_dialog")
        self.setWindowTitle("Power limit")
        self._device = device
        about = ProseLabel()
        about.setProse(f"{device.name}: {_limits(device, limited)}.")
        self._limit = Counter(round(device.power_limit_least_w or 1), unit="watt")
        self._limit.setMaximum(round(device.power_limit_most_w or _GREATEST_W))
        self._limit.setValue(round(limited.limit_w))
        self._limit.setObjectName("power_limit")
        form = SettingsForm(self)
        form.add_row("&New limit", self._limit, _TIP)
        self._cost = ProseLabel(tone="muted")
        self._cost.setProse(_MEASURING)
        self._cost.setObjectName("power_cost")
        self._said = ProseLabel()
        self._said.setObjectName("power_said")
        self._command = QLineEdit()
        self._command.setObjectName("power_command")
        self._command.setReadOnly(True)
        self._command.setAccessibleName("Command")
        self._command.setToolTip(wrapped("Sets the limit when an administrator enters it"))
        self._copy = QPushButton("&Copy")
        self._copy.setToolTip(wrapped("Copies the command"))
        self._copy.clicked.connect(self._copy_command)
        row = QHBoxLayout()
        row.addWidget(self._command, 1)
        row.addWidget(self._copy)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        self._set = QPushButton("&Set limit", self)
        self._set.setObjectName("power_set")
        self._set.setToolTip(
            wrapped("Sets it where you may; else you get the command for the administrator")
        )
        buttons.addButton(self._set, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.reject)
        self._set.clicked.connect(self._request)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.setSpacing(2 * GRID)
        for part in (about, form, self._cost, self._said):
            layout.addWidget(part)
        layout.addLayout(row)
        layout.addStretch(1)
        layout.addWidget(buttons)
        self._show_command("")
        resize_within_screen(self, 64 * GRID, 44 * GRID)

    def setCost(self, sentence: str) -> None:
        """Say what limits of this GPU cost, as far as that was measured."""
        self._cost.setProse(f"{sentence[:1].upper()}{sentence[1:]}")

    def setDone(self, limit_w: int) -> None:
        """Say that the limit is in force."""
        self._show_command("")
        self._say(f"The limit is {limit_w} W now.", Tone.GOOD)

    def setRefused(self, problems: Sequence[Problem]) -> None:
        """Say why it is not, with the command that sets it, to be copied."""
        self._show_command(next((each.command for each in problems if each.command), ""))
        self._say("\n".join(map(problem_sentences, problems)), Tone.ERROR)

    @Slot()
    def _request(self) -> None:
        self._set.setEnabled(False)
        self._say("Setting…", Tone.MUTED)
        self.limitRequested.emit(self._device, self._limit.value())

    @Slot()
    def _copy_command(self) -> None:
        self._command.selectAll()
        self._command.copy()

    def _show_command(self, command: str) -> None:
        self._command.setText(command)
        self._command.setCursorPosition(0)
        for part in (self._command, self._copy):
            part.setVisible(bool(command))

    def _say(self, words: str, tone: Tone) -> None:
        self._set.setEnabled(tone is not Tone.MUTED)
        self._said.setProse(words)
        set_tone(self._said, tone)


def _limits(device: PhysicalDevice, limited: LimitedGpu) -> str:
    parts = [f"{formatting.watts(limited.limit_w)} now"]
    for value, words in (
        (device.power_limit_default_w, "by default"),
        (device.power_limit_least_w, "at the least"),
        (device.power_limit_most_w, "at the most"),
    ):
        if value is not None:
            parts.append(f"{formatting.watts(value)} {words}")
    return ", ".join(parts)
