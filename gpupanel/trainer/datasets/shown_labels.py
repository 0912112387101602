"""What is predicted of an example, and what it is, as people read both."""

from collections.abc import Sequence

import numpy as np

from gpupanel.domain.number_text import short_number
from gpupanel.domain.shown_examples import ShownClass
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.examples import Array

_TOP = 3


def top_classes(numbers: Array, names: Sequence[str]) -> tuple[ShownClass, ...]:
    """The most probable classes; values as they are, where there are no names."""
    found = np.nan_to_num(numbers.astype(np.float64), posinf=0.0, neginf=0.0)
    if not names:
        return tuple(ShownClass(name=short_number(value)) for value in found[:_TOP].tolist())
    order = np.argsort(-found, kind="stable")[:_TOP].tolist()
    return tuple(
        ShownClass(name=as_utf8(names[place]), probability=float(found[place])) for place in order
    )


def array_in_words(numbers: Array) -> str:
    """What one of several outputs is for an example: its numbers, or how many and their range."""
    flat = np.nan_to_num(np.ravel(numbers).astype(np.float64), posinf=0.0, neginf=0.0)
    if flat.size <= _TOP:
        return "; ".join(map(short_number, flat.tolist()))
    sides = "x".join(map(str, numbers.shape))
    least, most = short_number(float(flat.min())), short_number(float(flat.max()))
    return f"{sides} numbers from {least} to {most}"


def readable_label(label: Array, names: Sequence[str], *, of_labels: bool) -> str:
    """A label as people read it."""
    if of_labels:
        flags = np.ravel(label)[: len(names)]
        return ", ".join(as_utf8(names[place]) for place in np.flatnonzero(flags).tolist())
    if names:
        number = int(label)
        return as_utf8(names[number]) if 0 <= number < len(names) else str(number)
    return "; ".join(map(short_number, np.ravel(label).tolist()[:_TOP]))
