"""Writes ``model.keras``, complete or not at all."""

from pathlib import Path

import tensorflow as tf

from gpupanel.files.guarded_files import open_to_write, remove, rename
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
    remove(beside)
    try:
        # Made here, since Keras opens it by its name, wherever a link of that name would lead.
        open_to_write(beside).close()
        model.save(beside)
        rename(beside, path)
    finally:
        remove(beside)
