"""Checkpoints: complete or absent, never half."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.loop.position import Position

STATE_FILE = "state.npz"
POSITION_FILE = "position.json"
_KEPT = 3


class Checkpoints:
    """Saves checkpoints, a folder each, and keeps the newest three.

    A folder holds ``state.npz`` (each variable of model and optimizer, by name) and
    ``position.json``. It is written beside, forced to disk and then renamed, so that whatever
    has a checkpoint's name is whole.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, state: Mapping[str, Array], position: Position) -> Path:
        """Save one; gives its folder.

        Raises:
            OSError: It cannot be written; what was there before stays.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        place = self._folder / f"step-{position.step:09d}"
        beside = self._folder / f".{place.name}.partial"
        shutil.rmtree(beside, ignore_errors=True)
        try:
            self._write(beside, state, position)
            shutil.rmtree(place, ignore_errors=True)
            beside.replace(place)
        except OSError:
            # A full disk: what was begun must not keep it full.
            shutil.rmtree(beside, ignore_errors=True)
            raise
        for old in self.saved()[:-_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        return place

    def saved(self) -> list[Path]:
        """The complete ones, oldest first."""
        return sorted(self._folder.glob("step-*"))

    def latest(self) -> tuple[dict[str, Array], Position, Path] | None:
        """State, position and folder of the newest one; ``None`` when there is none.

        Raises:
            ProblemError: It cannot be read.
        """
        saved = self.saved()
        if not saved:
            return None
        place = saved[-1]
        try:
            with np.load(place / STATE_FILE, allow_pickle=False) as arrays:
                state = {name: arrays[name] for name in arrays}
            position = Position.model_validate_json((place / POSITION_FILE).read_bytes())
        except (OSError, ValueError, EOFError, BadZipFile) as error:
            raise ProblemError(_unreadable(place, error)) from error
        return state, position, place

    @staticmethod
    def _write(folder: Path, state: Mapping[str, Array], position: Position) -> None:
        folder.mkdir()
        with (folder / STATE_FILE).open("wb") as file:
            np.savez(file, allow_pickle=False, **state)
            file.flush()
            os.fsync(file.fileno())
        with (folder / POSITION_FILE).open("w", encoding="utf-8") as text:
            json.dump(position.model_dump(mode="json"), text, indent=1)
            text.flush()
            os.fsync(text.fileno())


def _unreadable(place: Path, error: Exception) -> Problem:
    return Problem(
        code="checkpoint_unreadable",
        message=f"The checkpoint {place.name} cannot be read, so the run cannot go on from it.",
        hint="Delete its folder to go on from the one before, or start the profile again.",
        detail=f"{place}\n{type(error).__name__}: {error}",
    )
