"""Writes ``model.keras``, complete or not at all."""

from pathlib import Path

import tensorflow as tf

from gpupanel.trainer.models.build import BuiltModel

_HOST = "/device:CPU:0"


def save_model(built: BuiltModel, path: Path) -> None:
    """Save a model that plain Keras loads, whatever the strategy made of the trained one.

    Raises:
        OSError: It cannot be written; a model that was there before stays.
    """
    beside = path.with_name(f".partial-{path.name}")
    with tf.device(_HOST):
        model = built.plain()
    try:
        model.save(beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
