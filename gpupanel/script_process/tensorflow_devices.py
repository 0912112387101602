"""The memory of each GPU as it was chosen, set before TensorFlow can have used one.

A program that sets it itself would be refused by TensorFlow, which knows growth or logical devices
and not both: its calls are passed over then, and the panel says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .reports import Reports


def configure(tensorflow: Any, settings: dict[str, Any], reports: Reports) -> None:
    """Configure the devices of a TensorFlow that was just imported.

    Args:
        tensorflow: The module.
        settings: See :func:`hooks.begin`.
        reports: Where it is said what is passed over.
    """
    config = tensorflow.config
    of_kind: dict[str, Any] = {}
    chosen = []
    for device in settings["devices"]:
        kind = device["kind"].upper()
        if kind not in of_kind:
            of_kind[kind] = config.list_physical_devices(kind)
        if device["index"] >= len(of_kind[kind]):
            reports.write("device_missing", name=device["name"], version=tensorflow.__version__)
            continue
        physical = of_kind[kind][device["index"]]
        if device["growth"]:
            config.experimental.set_memory_growth(physical, enable=True)
        if device["limits_mib"]:
            logical = [
                config.LogicalDeviceConfiguration()
                if limit is None
                else config.LogicalDeviceConfiguration(memory_limit=limit)
                for limit in device["limits_mib"]
            ]
            config.set_logical_device_configuration(physical, logical)
            chosen.append(kind)
    if "GPU" in chosen or settings["mirrored"]:
        _pass_over(config, reports)


def _pass_over(config: Any, reports: Reports) -> None:
    """Let what the program says of memory pass: it was chosen in the panel."""

    def passed_over(name: str) -> Callable[..., None]:
        def call(*arguments: Any, **named: Any) -> None:
            reports.write("passed_over", call=name)

        call.__name__ = call.__qualname__ = name
        return call

    for place, name in (
        (config.experimental, "set_memory_growth"),
        (config.experimental, "set_virtual_device_configuration"),
        (config, "set_logical_device_configuration"),
        (config, "set_visible_devices"),
        (config.experimental, "set_visible_devices"),
    ):
        if hasattr(place, name):
            setattr(place, name, passed_over(name))
