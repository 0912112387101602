"""Where the time of a run goes, as a band under its loss."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal, Slot
from typing_extensions import override

from gpupanel.domain.time_spent import TimeCategory
from gpupanel.ui import formatting, theme
from gpupanel.ui.inputs.quiet_inputs import ComboBox
from gpupanel.ui.plots.curve import Curve
from gpupanel.ui.plots.time_plot import TimePlot
from gpupanel.ui.plots.time_track import BandPoints, TimeTrack

_LEAST_MEAN, _LEAST_ONCE = 0.5, 10.0
"""Percent of the whole time, or of some second, that an activity took which is drawn and named."""


class TimeBand(TimePlot):
    """What takes how many percent of the time, over the time of the run.

    Of several replicas a mean is shown, or one device's, as a person chooses.
    """

    deviceChosen = Signal()
    """Another device's time is to be shown."""

    def __init__(self) -> None:
        super().__init__(
            "time_spent_plot",
            "Where time goes, %",
            "Percent of each second: computing, exchanging gradients, waiting for the slowest "
            "replica or for data, and what the host does between the steps.",
            value_range=(0.0, 100.0),
            empty_note="No times recorded",
            has_readout=True,
            # Those of the loss, above, are the same: so there is room for the band.
            has_bottom_labels=False,
        )
        self._track = TimeTrack()
        self._replicas: dict[str, tuple[int, ...]] = {}
        self._drawn: tuple[tuple[int, ...], tuple[TimeCategory, ...]] | None = None
        self._device = ComboBox()
        self._device.setObjectName("time_spent_device")
        self._device.setAccessibleName("Device whose time is shown")
        self._device.setToolTip("The device whose time is shown.")
        self._device.setProperty("textSize", "small")
        self._device.setProperty("role", "head")
        self._device.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
        self._device.currentIndexChanged.connect(self._choose)
        self._device.hide()
        self.setCorner(self._device)

    def setTrack(self, track: TimeTrack) -> None:
        """Show another run's."""
        self._track, self._drawn = track, None
        self._show_activities()

    def setDevices(self, labels: Sequence[str]) -> None:
        """Offer these devices.

        Args:
            labels: What the device of each replica of the run is called.
        """
        replicas: dict[str, tuple[int, ...]] = {}
        for replica, label in enumerate(labels):
            replicas[label] = (*replicas.get(label, ()), replica)
        if replicas == self._replicas:
            return
        self._replicas = replicas
        chosen = self._device.currentText()
        self._device.blockSignals(True)
        self._device.clear()
        self._device.addItem("all devices")
        for label in replicas:
            self._device.addItem(label)
        self._device.setCurrentIndex(max(0, self._device.findText(chosen)))
        self._device.blockSignals(False)
        self._device.setVisible(len(replicas) > 1)
        self._show_activities()

    @override
    def redraw(self, pointer_s: float | None) -> None:
        self._show_activities()
        super().redraw(pointer_s)

    @Slot()
    def _choose(self) -> None:
        self._show_activities()
        self.deviceChosen.emit()

    def _show_activities(self) -> None:
        chosen = self._replicas.get(self._device.currentText(), ())
        found = self._found_activities(chosen)
        if (chosen, found) != self._drawn:
            self._drawn = chosen, found
            self.setCurves(tuple(self._curve(activity, chosen) for activity in found))

    def _found_activities(self, replicas: Sequence[int]) -> tuple[TimeCategory, ...]:
        """The activities that took enough of the time to be seen."""
        if not len(self._track):
            return ()  # without NumPy, which would be imported before the window is on the screen
        return tuple(
            activity
            for activity, part in zip(TimeCategory, self._track.percents(replicas).T, strict=True)
            if part.mean() >= _LEAST_MEAN or part.max() >= _LEAST_ONCE
        )

    def _curve(self, activity: TimeCategory, replicas: Sequence[int]) -> Curve:
        points = partial(BandPoints, self._track, activity, replicas)
        return Curve(
            points(stands_on_others=True),
            activity.short_label,
            partial(theme.activity_color, activity),
            formatting.percent,
            "100 %",
            band=list(TimeCategory).index(activity),
            said=points(stands_on_others=False),
        )
