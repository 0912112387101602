"""On which machines is trained: this one, or the nodes of a cluster."""

from functools import partial
from typing import Final

from pydantic import ValidationError
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.domain.choice import Choice
from gpupanel.domain.cluster import AUTO, ClusterSettings
from gpupanel.domain.setting import setting_of
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.forms.settings_form import SettingsForm
from gpupanel.ui.forms.value_form import ValueForm
from gpupanel.ui.inputs.checked_text import CheckedText
from gpupanel.ui.inputs.choice_box import ChoiceBox
from gpupanel.ui.inputs.choice_or_input import ChoiceOrInput
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.tips import teach

_HERE: Final = Choice("here", "This machine", "Its devices are listed on the left.")
_CLUSTER: Final = Choice(
    "cluster",
    "A Ray cluster",
    "Their devices are listed on the left, and processes of the run are started on them.",
)
_TIP: Final = (
    "A training of several processes can have them on several machines, joined by Ray: each has "
    "its own GPUs, and the weights are those of one device on the same global batch."
)
_NEEDS: Final = (
    "This machine has to be a node of the cluster, too (ray start), and every node needs the same "
    "gpupanel[cluster] and the same folder of runs: see “Beyond one machine” in the guide."
)
_OWN: Final = Choice(AUTO, "The one that this machine is in")


class ClusterPanel(SettingsCard):
    """Edits the ``[cluster]`` table: :class:`ClusterSettings`, or ``None`` without one."""

    valueChanged = Signal(object)
    """A person changed it: the new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Cluster", parent, tables=("cluster",))
        self.setObjectName("cluster_panel")
        self._value: ClusterSettings | None = None
        self._machines = ChoiceBox((_HERE, _CLUSTER))
        self._machines.setObjectName("machines_chooser")
        choice = SettingsForm()
        choice.add_row("Trains on", self._machines, _TIP, key="cluster")
        needs = Note(_NEEDS)
        choice.add_wide(needs)
        self._choice, self._needs = choice, needs
        self._form = ValueForm(
            ClusterSettings(), inputs={"address": _address(), "network": _network()}
        )
        self.add_form(choice)
        self.add_form(self._form)
        self._machines.valueChanged.connect(self._choose)
        self._form.valueChanged.connect(self._take)
        self.set_folded(folded=True)
        self.setValue(None)

    def value(self) -> ClusterSettings | None:
        """The settings as shown."""
        return self._value

    def setValue(self, value: ClusterSettings | None) -> None:
        """Shows other settings silently."""
        self._value = value
        self._machines.setValue((_HERE if value is None else _CLUSTER).value)
        if value is not None:
            self._form.setValue(value)
        self._form.setHidden(value is None)
        self._choice.set_row_visible(self._needs, visible=value is not None)
        self.set_summary(_summary(value))

    def _choose(self, machines: str) -> None:
        # What was typed for a cluster is kept for the next time that it is chosen.
        self._take(self._form.value() if machines == _CLUSTER.value else None)
        self.errorsChanged.emit()

    @Slot(object)
    def _take(self, value: ClusterSettings | None) -> None:
        if value != self._value:
            self.setValue(value)
            self.valueChanged.emit(value)


def _summary(value: ClusterSettings | None) -> str:
    if value is None:
        return "this machine only"
    return "that of this machine" if value.address == AUTO else value.address


def _address() -> ChoiceOrInput:
    declared = setting_of(ClusterSettings, "address")
    (example,) = declared.examples
    typed = CheckedText(partial(_mistake, "address"), first=AUTO, placeholder=str(example))
    teach(typed, declared.title, declared.description)
    return ChoiceOrInput((_OWN,), Choice("", "Another…"), typed)


def _network() -> CheckedText:
    declared = setting_of(ClusterSettings, "network")
    return CheckedText(partial(_mistake, "network"), placeholder=declared.off)


def _mistake(name: str, text: str) -> str:
    """What is wrong with a text for one of the settings; empty: nothing is."""
    try:
        ClusterSettings.model_validate({name: text})
    except ValidationError as error:
        return str(error.errors()[0].get("ctx", {}).get("error", "it is not allowed"))
    return ""
