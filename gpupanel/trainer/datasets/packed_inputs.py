"""Several inputs an example, packed into one row of numbers: the one place that knows how.

The loop carries one array of features, whatever a model takes: shares, indices, copies on devices,
digests and what layers draw need know nothing of inputs then. The first layers of a model of
several take the row apart again (``models/scaling``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpupanel.domain.data_source import DataSource
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.checks import rows_at_once
from gpupanel.trainer.datasets.examples import (
    Array,
    DataSet,
    Features,
    Indices,
    PackedInput,
    read_features,
)

MOST_INPUTS: Final = 32


def packed(parts: Mapping[str, Features]) -> tuple[Features, tuple[PackedInput, ...]]:
    """Inputs as one array of rows, in memory where all of them are.

    Args:
        parts: By their names: ``uint8`` or ``float32``, first axis the examples, of which each has
            as many.

    Returns:
        Shape [examples, numbers], ``uint8`` where all inputs are, else ``float32``; and where each
        input stands in a row.
    """
    inputs, start = list[PackedInput](), 0
    for name, part in parts.items():
        inputs.append(PackedInput(name, tuple(part.shape[1:]), part.dtype == np.uint8, start))
        start = inputs[-1].end
    whole = _PackedFeatures(tuple(parts.values()), tuple(inputs))
    if not all(isinstance(part, np.ndarray) for part in parts.values()):
        return whole, whole.inputs
    rows = np.empty(whole.shape, whole.dtype)
    at_once = rows_at_once(whole.shape, whole.dtype)
    for first in range(0, len(rows), at_once):
        chosen = np.arange(first, min(first + at_once, len(rows)), dtype=np.int32)
        rows[first : first + at_once] = whole.read(chosen)
    return rows, whole.inputs


def apart(rows: Array, inputs: Sequence[PackedInput]) -> dict[str, Array]:
    """The inputs of some examples by their names, as they were before they were packed.

    Args:
        rows: Shape [examples, numbers].
        inputs: Where each stands.
    """
    return {
        each.name: rows[:, each.start : each.end]
        .reshape(len(rows), *each.shape)
        .astype(np.uint8 if each.are_pixels else np.float32, copy=False)
        for each in inputs
    }


@dataclass(frozen=True, slots=True, eq=False)
class _PackedFeatures:
    """Features that are packed as they are read."""

    parts: tuple[Features, ...]
    inputs: tuple[PackedInput, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.parts[0].shape[0], self.inputs[-1].end)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        are_pixels = all(each.are_pixels for each in self.inputs)
        return np.dtype(np.uint8 if are_pixels else np.float32)

    def read(self, indices: Indices) -> Array:
        rows = np.empty((len(indices), self.inputs[-1].end), self.dtype)
        for each, part in zip(self.inputs, self.parts, strict=True):
            rows[:, each.start : each.end] = read_features(part, indices).reshape(len(indices), -1)
        return rows


def inputs_text(shapes: Mapping[str, Sequence[int | None]]) -> str:
    """Inputs with their shapes, within a sentence."""
    return ", ".join(f"{name} {tuple(shape)}" for name, shape in shapes.items())


def inputs_refused(data: DataSource, inputs: Sequence[PackedInput], who: str) -> Problem:
    """What is said of examples with several inputs where one is needed.

    Args:
        data: Where they come from.
        inputs: Of an example.
        who: Takes one, as the subject of a sentence.
    """
    shown = inputs_text({each.name: each.shape for each in inputs})
    return Problem(
        code="examples_have_inputs",
        field="data.source",
        message=f"Each example of {data.described} has the inputs {shown}, and {who} one.",
        hint='Train a Python model on them (model.source = "python") whose inputs have these '
        "names; or give one array of examples.",
    )


def check_packed_settings(profile: Profile, data: DataSet) -> None:
    """Refuse what would take a packed row for an example.

    Args:
        profile: Trains.
        data: What it was read as.

    Raises:
        ProblemError: Everything of the profile that would.
    """
    if not data.inputs:
        return
    found = []
    model = profile.model
    if not model.is_code and (model.has_new_head or not model.is_saved):
        who = f"a model of {profile.model.source} takes"
        found.append(inputs_refused(profile.data, data.inputs, who))
    if profile.data.chosen_augmentation.changes_anything:
        found.append(
            Problem(
                code="augmentation_of_inputs",
                field="data.augmentation",
                message="Each example has several inputs, and which of them is to be changed at "
                "random nobody says.",
                hint="Leave it out, and have layers of your model change what should be.",
                fix=Fix.of("Leave it out", "data.augmentation"),
            )
        )
    if found:
        raise ProblemError(*found)
