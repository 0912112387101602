"""A layer on a device of several."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import keras
import tensorflow as tf

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def put_on_device(layer: keras.layers.Layer, device: str) -> None:
    """Have a layer built there, with its weights, and called there from then on.

    Args:
        layer: That is not built yet.
        device: A logical device of this process.
    """
    layer.build = on_device(device, layer.build)
    layer.call = on_device(device, layer.call)


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
