"""What very many devices do together: the least, the mean and the greatest of them."""

import warnings
from typing import TYPE_CHECKING, Final

from gpupanel.domain.device import DeviceInventory
from gpupanel.runs.following.readings import DeviceColumns, SampleBatch
from gpupanel.ui.plots.sample_buffer import Floats, SampleBuffer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CURVES: Final = 24
"""Devices that have a curve each: colours are eight, and a plot of hundreds of curves takes longer
to draw than the pause between two pictures."""
_CAPACITY: Final = 65_536


class ReadingSpread:
    """Three curves of one reading, in percent."""

    def __init__(self) -> None:
        self.least = SampleBuffer(_CAPACITY)
        self.mean = SampleBuffer(_CAPACITY)
        self.greatest = SampleBuffer(_CAPACITY)

    def extend(self, moments: Floats, values: "NDArray[np.float64]") -> None:
        """Take in readings: a row for each device, a column for each moment."""
        import numpy as np

        with warnings.catch_warnings():
            # Of a moment at which nobody reported anything there is a gap.
            warnings.simplefilter("ignore", RuntimeWarning)
            self.least.extend(moments, np.nanmin(values, axis=0))
            self.mean.extend(moments, np.nanmean(values, axis=0))
            self.greatest.extend(moments, np.nanmax(values, axis=0))


class DeviceSpread:
    """Utilization and memory of all devices of a run that has too many for a curve each.

    Of a run on GPUs its GPUs count; percent of each device's own memory.
    """

    def __init__(self) -> None:
        self.utilization, self.memory = ReadingSpread(), ReadingSpread()
        self.count = 0
        """The number of devices."""
        self._totals: dict[str, int | None] = {}

    def set_devices(self, inventory: DeviceInventory) -> None:
        """Know the devices; what was taken in before stays."""
        devices = inventory.gpus or inventory.devices
        self._totals = {device.key: device.memory_total_mib for device in devices}
        self.count = len(devices)

    def extend(self, moments: Floats, samples: SampleBatch, within: "NDArray[np.bool_]") -> None:
        """Take in what they reported.

        Args:
            moments: Of the run, in seconds.
            samples: With as many moments or more.
            within: Which of the samples these are.
        """
        import numpy as np

        nothing = DeviceColumns(len(samples))
        columns = [samples.devices.get(key, nothing) for key in self._totals]
        if not columns:
            return
        utilization = np.array([each.gpu_utilization_percent for each in columns])
        used = np.array([each.memory_used_mib for each in columns])
        totals = np.array([total or np.nan for total in self._totals.values()])
        self.utilization.extend(moments, utilization[:, within])
        self.memory.extend(moments, 100.0 * used[:, within] / totals[:, None])
