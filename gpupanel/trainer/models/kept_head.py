"""The classes of a saved model whose last layer is kept: those of the data, found by name."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.model import Head, ModelSettings, SavedModel
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.models.model_classes import (
    check_outputs,
    known_classes,
    matched_by_number,
    missing_labels,
    nameless,
    naming,
    unknown_classes,
)
from gpupanel.trainer.models.model_file_problems import saved_model_misfit
from gpupanel.trainer.parts.class_names import (
    UNKNOWN,
    are_numbers,
    are_other_numbers,
    by_places,
    places_of,
    used_classes,
)

_NEW_HEAD = Fix.of("Give it a new last layer", "model.head", Head.NEW.value)
_OTHERWISE = "give the model a new last layer for this data, instead of the one that is kept"


class KeptClasses:
    """What the classes of data are to the outputs of the saved model that is trained on it."""

    def __init__(self, model: SavedModel, data: DataSettings, path: Path | None = None) -> None:
        """Read what the model's file says of them.

        Args:
            model: Whose last layer is kept.
            data: What is read.
            path: Of a run's copy of the model; ``None``: the file itself is read.

        Raises:
            ProblemError: The file cannot be read.
        """
        self._data = data
        read = model if path is None else model.model_copy(update={"path": str(path)})
        self._known = replace(known_classes(read), path=model.path)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the model's classes or labels; empty for values and unknown names."""
        return self._known.names

    def match(
        self, target: Target, names: Sequence[str]
    ) -> tuple[npt.NDArray[np.int32], tuple[Problem, ...]]:
        """Find the classes of data among those of the model.

        Args:
            target: What the labels are.
            names: Of its classes or labels.

        Returns:
            Of each its number among the model's, and what is said of that.

        Raises:
            ProblemError: The last layer cannot be trained on them.
        """
        known, same = self._known, np.arange(len(names), dtype=np.int32)
        if known.predicts not in (None, target):
            why = f"its last layer predicts {known.predicts}, and the data has {target}"
            raise saved_model_misfit(known.path, why)
        if target is Target.VALUES:
            return same, ()
        if not known.names:
            return same, () if are_numbers(names) else (nameless(known, names),)
        check_outputs(known)
        if are_other_numbers(names, known.names):
            if len(names) > len(known.names):
                raise ProblemError(self._unknown(names[len(known.names) :], names))
            return same, (matched_by_number(known, _NEW_HEAD),)
        places = places_of(names, known.names)
        unknown = [name for name, place in zip(names, places, strict=True) if place == UNKNOWN]
        if unknown:
            raise ProblemError(self._unknown(unknown, names))
        missing = set(range(len(known.names))) - set(places.tolist())
        if missing and target is Target.LABELS:
            raise ProblemError(missing_labels(known, names, _NEW_HEAD, _OTHERWISE))
        return places, ()

    def _unknown(self, unknown: Sequence[str], names: Sequence[str]) -> Problem:
        known, left_out = self._known, self._data.left_out_classes
        ways = [_NEW_HEAD]
        if left_out is not None and len(unknown) < len(names):
            without = [*left_out, *unknown]
            ways.append(Fix.of("Leave those images out", "data.leave_out", without))
        if are_numbers(known.names) and len(known.names) == len(names):
            ways.append(naming(names))
        return unknown_classes(known, unknown, "model.head", ways, _OTHERWISE)


def kept_classes(
    model: ModelSettings | None, data: DataSettings, path: Path | None = None
) -> KeptClasses | None:
    """The classes that training keeps; ``None`` where the model has none yet.

    Of tables and texts the model's recipe has decided already.

    Raises:
        ProblemError: The model's file cannot be read.
    """
    if not isinstance(model, SavedModel) or model.head is Head.NEW or data.makes_features:
        return None
    return KeptClasses(model, data, path)


def with_kept_classes(divided: Split, kept: KeptClasses | None) -> Split:
    """The examples with the numbers that the model has for their classes.

    Args:
        divided: With those of the data, by which it was divided.
        kept: What the model says of them.

    Raises:
        ProblemError: The model's last layer cannot be trained on them.
    """
    if kept is None:
        return divided
    data = divided.data
    sets = [each for each in (divided.training, divided.validation, divided.test) if each]
    used = np.arange(len(data.class_names))
    if kept.names and data.target is Target.CLASSES:
        labels = np.concatenate([each.labels for each in sets])
        used = used_classes(labels, data.class_names, kept.names)
    matched, notes = kept.match(data.target, [data.class_names[place] for place in used])
    places = np.full(len(data.class_names), UNKNOWN, np.int32)
    places[used] = matched
    if notes:
        data = replace(data, notes=(*data.notes, *notes))
    names = kept.names
    if not names or data.class_names == names:
        return replace(divided, data=data)

    def numbered(examples: Examples | None) -> Examples | None:
        if examples is None:
            return None
        labels = by_places(examples.labels, data.target, places, len(names))
        return replace(examples, labels=labels)

    training = numbered(divided.training)
    assert training is not None
    return replace(
        divided,
        data=replace(data, class_names=names),
        training=training,
        validation=numbered(divided.validation),
        test=numbered(divided.test),
    )
