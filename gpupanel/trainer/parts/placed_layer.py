"""Layers on several devices, and the order in which these take micro-batches.

As a pipeline every device works at the same time, on another micro-batch each. Of S devices the
first one holds S of them at most, the last one a single one: before a device takes the next it has
the gradients of the one that is so many before it ("1F1B": Narayanan et al. 2019, PipeDream).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, wraps
from typing import ParamSpec, TypeVar

import keras
import tensorflow as tf

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

_HOST = "/device:CPU:0"
_BEFORE: ContextVar[dict[str, list[tf.Tensor]] | None] = ContextVar("before_devices", default=None)


def put_on_device(layer: keras.layers.Layer, *devices: str) -> None:
    """Have a layer built there, with its weights, and called there from then on.

    Args:
        layer: That is not built yet.
        devices: A logical device of this process, or one for each replica of a mirrored strategy,
            in whose scope the layer is built.
    """
    layer.build = _built_on(devices, layer.build)
    layer.call = _called_on(devices, layer.call)


def put_beside_input(operation: keras.Operation) -> None:
    """Have what is no layer called on the device of the last tensor that it takes."""
    call = operation.call

    @wraps(call)
    def there(*args: object, **kwargs: object) -> object:
        given = [each for each in tf.nest.flatten((args, kwargs)) if isinstance(each, tf.Tensor)]
        device = given[-1].device if given else ""
        with tf.device(device) if device else nullcontext():
            return call(*args, **kwargs)

    operation.call = there


def _built_on(
    devices: tuple[str, ...], build: Callable[Arguments, Returned]
) -> Callable[Arguments, Returned]:
    # Keras reads the signature to see which arguments a layer takes: wraps keeps it.
    @wraps(build)
    def there(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        with tf.device(devices[0]) if len(devices) == 1 else _mirrored_over(devices):
            return build(*args, **kwargs)

    return there


def on_the_host() -> AbstractContextManager[None]:
    """Variables that are made within are in the host's memory, those of each replica, too."""
    count = tf.distribute.get_strategy().num_replicas_in_sync
    return tf.device(_HOST) if count == 1 else _mirrored_over((_HOST,) * count)


@dataclass(frozen=True)
class _OnDevices:
    """What a mirrored strategy asks of a variable to make another one beside each copy of it."""

    _devices: tuple[str, ...]


def _mirrored_over(devices: tuple[str, ...]) -> AbstractContextManager[None]:
    """Variables that are made within have a copy on each of these, and not of the strategy's own.

    ``MirroredExtended._create_variable`` of TensorFlow 2.21 asks for nothing else.
    """

    def create(make: Callable[..., tf.Variable], **wanted: object) -> tf.Variable:
        return make(**{**wanted, "colocate_with": _OnDevices(devices)})

    found: AbstractContextManager[None] = tf.variable_creator_scope(create)
    return found


def _called_on(
    devices: tuple[str, ...], call: Callable[Arguments, Returned]
) -> Callable[Arguments, Returned]:
    """The call of a layer: the first one on a device waits for what the device does before."""

    @wraps(call)
    def there(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        device = devices[_replica() if len(devices) > 1 else 0]
        # What it is given stays as it is: gradients of a copy would add up in another order.
        before = _taken(device, _BEFORE.get() or {})
        with tf.device(device), tf.control_dependencies(before):
            return call(*args, **kwargs)

    # Puts there what is called in its stead, such as batch_norm.py does.
    there.placed = partial(_called_on, devices)  # type: ignore[attr-defined]
    return there


def _replica() -> int:
    """The number of the replica that is traced; 0 where all are."""
    context = tf.distribute.get_replica_context()
    return 0 if context is None else int(tf.get_static_value(context.replica_id_in_sync_group))


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


def _taken(device: str, before: dict[str, list[tf.Tensor]]) -> list[tf.Tensor]:
    for name in before:
        if name.endswith(device):
            return before.pop(name)
    return []
