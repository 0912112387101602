"""Layers on several devices, and the order in which these take micro-batches.

As a pipeline every device works at the same time, on another micro-batch each. Of S devices the
first one holds S of them at most, the last one a single one: before a device takes the next it has
the gradients of the one that is so many before it ("1F1B": Narayanan et al. 2019, PipeDream).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

import keras
import tensorflow as tf

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

_BEFORE: ContextVar[dict[str, list[tf.Tensor]] | None] = ContextVar("before_devices", default=None)


def put_on_device(layer: keras.layers.Layer, device: str) -> None:
    """Have a layer built there, with its weights, and called there from then on.

    Args:
        layer: That is not built yet.
        device: A logical device of this process.
    """
    layer.build = on_device(device, layer.build)
    layer.call = on_device(device, _after_what_comes_before(device, layer.call))


def on_device(
    device: str, function: Callable[Arguments, Returned]
) -> Callable[Arguments, Returned]:
    """The same function, carried out there."""

    # Keras reads the signature to see which arguments a layer takes: wraps keeps it.
    @wraps(function)
    def there(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        with tf.device(device):
            return function(*args, **kwargs)

    return there


@contextmanager
def taken_in_turn(gradients: Sequence[Sequence[tf.Tensor]]) -> Iterator[None]:
    """What is called within is the next micro-batch of a pipeline.

    Args:
        gradients: Of the weights, summed up to each of the micro-batches before it, from the first
            on: where each of them is shows the devices, in the order of the layers.
    """
    first = gradients[0] if gradients else []
    devices = list(dict.fromkeys(each.device for each in first))
    before = {}
    for stage, device in enumerate(devices):
        held = len(devices) - stage
        if len(gradients) >= held:
            before[device] = [each for each in gradients[-held] if each.device == device]
    token = _BEFORE.set(before)
    try:
        yield
    finally:
        _BEFORE.reset(token)


def _after_what_comes_before(
    device: str, function: Callable[Arguments, Returned]
) -> Callable[Arguments, Returned]:
    """The call of a layer: the first one on a device waits for what the device does before."""

    @wraps(function)
    def in_turn(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        # What it is given stays as it is: gradients of a copy would add up in another order.
        with tf.control_dependencies(_taken(device, _BEFORE.get() or {})):
            return function(*args, **kwargs)

    return in_turn


def _taken(device: str, before: dict[str, list[tf.Tensor]]) -> list[tf.Tensor]:
    for name in before:
        if name.endswith(device):
            return before.pop(name)
    return []
