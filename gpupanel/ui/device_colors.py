"""Which colour each device has, for as long as anybody remembers the device."""

from collections.abc import Iterable, Mapping

from gpupanel.domain.device import CPU_KEY
from gpupanel.ui.theme import DEVICE_COLORS, PROCESSOR_COLOR

_MOST = 64
"""Devices that are remembered beside more that are shown: MIG instances come and go, and so do
nodes of clusters."""


class DeviceColors:
    """Numbers of colours by device key: a device keeps its own whoever comes, goes or returns.

    The numbers are those of :func:`gpupanel.ui.theme.device_color`.
    """

    def __init__(self) -> None:
        self._remembered: dict[str, int] = {}

    def remembered(self) -> dict[str, int]:
        """The numbers by device key; those seen last come last."""
        return dict(self._remembered)

    def restore(self, remembered: Mapping[str, int]) -> None:
        """Go on with these numbers, and no others."""
        self._remembered = {key: number for key, number in remembered.items() if key != CPU_KEY}

    def see(self, keys: Iterable[str]) -> None:
        """Remember the devices that are shown; each that is new gets a number."""
        shown = self.numbers(key for key in keys if key != CPU_KEY)
        for key, number in shown.items():
            self._remembered.pop(key, None)
            self._remembered[key] = number
        most = _MOST if len(shown) < _MOST else _MOST + len(shown)
        self._remembered = dict(list(self._remembered.items())[-most:])

    def numbers(self, keys: Iterable[str]) -> dict[str, int]:
        """A number for each of the devices that are shown together, in their order.

        One that is not remembered, such as of another machine, gets the first that is free: of
        colours that no other device has, even one that is absent, as long as there are any. This
        machine's CPU has its own, which no GPU ever has.
        """
        every = tuple(dict.fromkeys(keys))
        shown = [key for key in every if key != CPU_KEY]
        found: dict[str, int] = {}
        taken: set[int] = set()
        for key in shown:
            number = self._remembered.get(key)
            # Of two that were never seen together one may have the other's.
            if number is not None and number not in taken:
                found[key] = number
                taken.add(number)
        remembered, lowest = set(self._remembered.values()), DEVICE_COLORS
        for key in shown:
            if key in found:
                continue
            free = [number for number in range(DEVICE_COLORS) if number not in taken]
            unused = [number for number in free if number not in remembered]
            if free:
                number = (unused or free)[0]
            else:
                # More devices than colours: they begin anew.
                while lowest in taken:
                    lowest += 1
                number = lowest
            found[key] = number
            taken.add(number)
        found[CPU_KEY] = PROCESSOR_COLOR
        return {key: found[key] for key in every}


known = DeviceColors()
"""Of the devices that this process shows, as :data:`gpupanel.ui.theme.changes` is its theme."""
