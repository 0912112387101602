"""The devices of the host: their inventory when it has changed, and a sample a second."""

from collections.abc import Callable
from threading import Event
from typing import Final

from gpupanel.devices.machine_devices import machine_devices
from gpupanel.hosts.operations.machine import DeviceNews
from gpupanel.hosts.operations.operation import Nothing
from gpupanel.runs.locations import default_runs_dir

SAMPLE_S: Final = 1.0


def tell_devices(_: Nothing, say: Callable[[DeviceNews], None], dropped: Event) -> Nothing:
    """Tell of the devices until nobody wants it.

    Args:
        say: Called with what is new; it waits while the connection is slow.
        dropped: Set, by any thread, when nobody wants it any more.
    """
    source = machine_devices(default_runs_dir())
    try:
        told = None
        while True:
            inventory = source.inventory()
            is_new, told = inventory != told, inventory
            say(DeviceNews(inventory=inventory if is_new else None, sample=source.sample()))
            if dropped.wait(SAMPLE_S):
                return Nothing()
    finally:
        source.close()
