"""Examples with the same content, within a set and across the sets."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpupanel.domain.scan import SetName
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.datasets.scanning.digests import digests_of_rows
from gpupanel.trainer.datasets.scanning.scanned import Digests, ExamplesOfSet

SETS: tuple[SetName, ...] = ("training", "validation", "test")
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PartOfSet:
    """Examples that a run does the same with.

    Attributes:
        name: What it does: learn, validate, test at the end.
        whole: The set of the source that they are of.
        chosen: Which of its examples; ``None``: all.
    """

    name: SetName
    whole: ExamplesOfSet
    chosen: npt.NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return self.whole.count if self.chosen is None else len(self.chosen)

    @property
    def labels(self) -> Array | None:
        """Theirs; ``None``: nobody knows them."""
        labels = self.whole.labels
        return labels if labels is None or self.chosen is None else labels[self.chosen]

    @property
    def digests(self) -> Digests:
        """Digests of their contents."""
        digests = self.whole.digests
        assert digests is not None, "the set was scanned"
        return digests if self.chosen is None else digests[self.chosen]

    @property
    def is_readable(self) -> npt.NDArray[np.bool_]:
        """Whether each example could be read."""
        readable = self.whole.is_readable
        if readable is None:
            return np.ones(len(self), np.bool_)
        return readable if self.chosen is None else readable[self.chosen]

    def index(self, place: int) -> int:
        """Where an example of the part is in the set."""
        return place if self.chosen is None else int(self.chosen[place])

    def name_of(self, place: int) -> str:
        """What such an example is called."""
        return self.whole.name_of(self.index(place))


@dataclass(frozen=True, slots=True, eq=False)
class SameContents:
    """The groups of examples with the same content, over all parts.

    Attributes:
        parts: One after the other, they number the examples.
        order: The readable examples, those of a group beside each other.
        starts: Where each group begins in it.
        set_of: Of each example, its place in :data:`SETS`.
        leaked: The examples of a validation or test set that the model learns from, too, or that
            both validate and test.
        is_across: Of each group, whether it is in several sets.
        is_alike: Of each group, whether all have the same label.
    """

    parts: tuple[PartOfSet, ...]
    order: Places
    starts: Places
    set_of: npt.NDArray[np.uint8]
    leaked: Places
    is_across: npt.NDArray[np.bool_]
    is_alike: npt.NDArray[np.bool_]

    @property
    def sizes(self) -> Places:
        """How many examples each group has."""
        return np.diff(np.append(self.starts, len(self.order)))

    @property
    def copies(self) -> int:
        """How many examples have a content that another one had before."""
        return len(self.order) - len(self.starts)

    def groups(self) -> Iterator[int]:
        """Groups of several examples: first those in several sets, then with different labels."""
        several = np.flatnonzero(self.sizes > 1)
        if not len(several):
            return
        firsts = np.minimum.reduceat(self.order, self.starts)
        keys = (
            firsts[several],
            -self.sizes[several],
            self.is_alike[several].astype(np.int8),
            ~self.is_across[several],
        )
        yield from several[np.lexsort(keys)].tolist()

    def members(self, group: int, most: int) -> list[int]:
        """The first examples of a group; one of each set among them."""
        start = int(self.starts[group])
        found = np.sort(self.order[start : start + int(self.sizes[group])])
        _, firsts = np.unique(self.set_of[found], return_index=True)
        others = np.delete(found, firsts)[: max(0, most - len(firsts))]
        chosen: list[int] = np.sort(np.concatenate([found[firsts], others])).tolist()
        return chosen

    def part_of(self, example: int) -> tuple[PartOfSet, int]:
        """The part that an example is in, and its place there."""
        for part in self.parts:
            if example < len(part):
                return part, example
            example -= len(part)
        raise IndexError(example)


def same_contents(parts: tuple[PartOfSet, ...]) -> SameContents:
    """Find the examples with the same content; takes some sixty bytes an example."""
    digests = np.concatenate([part.digests for part in parts])
    readable = np.flatnonzero(np.concatenate([part.is_readable for part in parts]))
    set_of = np.repeat(
        np.array([SETS.index(part.name) for part in parts], np.uint8), list(map(len, parts))
    )
    labels = np.concatenate([_label_codes(part) for part in parts])
    found = digests[readable]
    order = readable[np.lexsort((found[:, 1], found[:, 0]))]
    is_first = np.ones(len(order), np.bool_)
    if len(order):
        is_first[1:] = (digests[order[1:]] != digests[order[:-1]]).any(axis=1)
    starts = np.flatnonzero(is_first)
    group_of = np.cumsum(is_first) - 1
    in_sets = np.zeros((len(SETS), len(starts)), np.bool_)
    for number in range(len(SETS)):
        in_sets[number, group_of[set_of[order] == number]] = True
    is_leaked = (set_of[order] > 0) & in_sets[0, group_of]
    is_leaked |= (set_of[order] == 2) & in_sets[1, group_of]
    in_order = labels[order]
    is_alike = np.ones(len(starts), np.bool_)
    if len(starts):
        least, most = (each.reduceat(in_order, starts) for each in (np.minimum, np.maximum))
        is_alike = least == most
    return SameContents(
        parts=parts,
        order=order,
        starts=starts,
        set_of=set_of,
        leaked=np.sort(order[is_leaked]),
        is_across=in_sets.sum(axis=0) > 1,
        is_alike=is_alike,
    )


def _label_codes(part: PartOfSet) -> npt.NDArray[np.int64]:
    """A number of each example that differs where labels do; 0 where nobody knows them."""
    labels = part.labels
    if labels is None:
        return np.zeros(len(part), np.int64)
    if labels.dtype.kind in "iu" and labels.ndim == 1:
        return labels.astype(np.int64)
    return digests_of_rows(labels.reshape(len(labels), -1))[:, 0].view(np.int64)
