"""Writes ``model.keras``, complete or not at all."""

from pathlib import Path

import keras


def save_model(model: keras.Model, path: Path) -> None:
    """Save a model that plain Keras loads.

    Raises:
        OSError: It cannot be written; a model that was there before stays.
    """
    beside = path.with_name(f".partial-{path.name}")
    try:
        model.save(beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
