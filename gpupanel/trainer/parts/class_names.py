"""Classes of one set of examples found among those of another: by their names.

A number says nothing: the folders "cat" and "dog" count from 0, and so do "dog" and "wolf".
"""

import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]

UNKNOWN = -1
"""The number of a class that is none of those that are known."""


def places_of(names: Sequence[str], known: Sequence[str]) -> npt.NDArray[np.int32]:
    """Where each name stands among those that are known; :data:`UNKNOWN` where it does not.

    A name is the same in composed and in decomposed characters (NFC and NFD, as macOS writes names
    of files), unless two of the known ones differ in that alone.

    Args:
        names: Of classes or labels, shape [names].
        known: Names in the order of the numbers that are given back.
    """
    is_unique = len(set(map(composed, known))) == len(known)
    form = composed if is_unique else str
    place = {form(name): number for number, name in reversed(list(enumerate(known)))}
    return np.array([place.get(form(name), UNKNOWN) for name in names], np.int32)


def are_numbers(names: Sequence[str]) -> bool:
    """Whether the names are the numbers of the classes and nothing more: "0", "1", "2"."""
    return all(name == str(number) for number, name in enumerate(names))


def are_other_numbers(names: Sequence[str], known: Sequence[str]) -> bool:
    """Whether names are numbers and nothing more, and say nothing of the names of a model.

    Names such as "1", "10" and "2", as folders have them, are names: 10 is not the second class.
    """
    if not names or not are_numbers(names) or are_numbers(known):
        return False
    return UNKNOWN in places_of(names, known)


def used_classes(
    labels: Array, names: Sequence[str], known: Sequence[str] = ()
) -> npt.NDArray[np.intp]:
    """The numbers of the classes that matter: those that an example is of.

    Numbers that are names count on, whether there are examples of all of them or not, unless
    those that have examples are names that the model knows.

    Args:
        labels: Class numbers, ``int32``, shape [examples].
        names: Of the classes.
        known: Of the classes of a model.
    """
    used = np.unique(labels).astype(np.intp)
    if not are_numbers(names):
        return used
    are_names = not are_numbers(known) and UNKNOWN not in places_of(names_at(names, used), known)
    return used if are_names else np.arange(len(names))


def used_names(counts: Sequence[tuple[str, int]], known: Sequence[str]) -> list[str]:
    """The names of the classes that matter, as :func:`used_classes` has them.

    Args:
        counts: The name of each class with the number of its examples.
        known: Of the classes of a model.
    """
    of_each = np.array([count for _, count in counts], np.int64)
    names = [name for name, _ in counts]
    return names_at(names, used_classes(np.flatnonzero(of_each), names, known))


def names_at(names: Sequence[str], places: npt.NDArray[np.intp]) -> list[str]:
    """The names in these places."""
    return [names[place] for place in places.tolist()]


def by_places(labels: Array, target: str, places: npt.NDArray[np.int32], count: int) -> Array:
    """The labels by the numbers of other classes.

    Args:
        labels: Class numbers, ``int32``, shape [examples]; or 0 and 1, ``float32``, shape
            [examples, labels].
        target: Which of the two they are, ``classes`` or ``labels``.
        places: Of each of these classes or labels its number among the others; an example of a
            class that is :data:`UNKNOWN` has that number, a label that is unknown is left out.
        count: How many others there are. Labels have all of them.
    """
    if target == "classes":
        return np.asarray(places[labels.astype(np.intp)], np.int32)
    ordered = np.zeros((len(labels), count), np.float32)
    is_known = places != UNKNOWN
    ordered[:, places[is_known]] = labels[:, is_known]
    return ordered


def composed(name: str) -> str:
    """The name in composed characters (NFC)."""
    return unicodedata.normalize("NFC", name)
