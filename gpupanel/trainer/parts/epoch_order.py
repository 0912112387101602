"""The order of the examples of each epoch; rare classes may be repeated."""

import numpy as np
import numpy.typing as npt

STREAM_OF_REPEATS = 2
"""After seed and epoch: a stream that neither order nor augmentation draws from."""


class EpochOrder:
    """The examples of each epoch, in an order that depends on seed and epoch alone."""

    def __init__(
        self,
        examples: int,
        seed: int,
        *,
        shuffle: bool,
        classes: npt.NDArray[np.generic] | None = None,
    ) -> None:
        """Draws nothing yet.

        Args:
            examples: How many there are.
            seed: Of the training.
            shuffle: Without it they come as the source has them.
            classes: The class number of each, where those of rare classes are repeated so that each
                class comes as often as the most frequent one; ``None``: each comes once.
        """
        self._examples = examples
        self._seed = seed
        self._shuffle = shuffle
        self._members: list[npt.NDArray[np.int32]] = []
        self._drawn: tuple[int, npt.NDArray[np.int32]] | None = None
        if classes is not None:
            by_class = np.argsort(classes, kind="stable").astype(np.int32)
            borders = np.flatnonzero(np.diff(classes[by_class])) + 1
            self._members = np.split(by_class, borders)

    def __len__(self) -> int:
        """Examples of an epoch, those that are repeated as often as they come."""
        return len(self._members) * self._most if self._members else self._examples

    def of(self, epoch: int) -> npt.NDArray[np.int32]:
        """The examples of an epoch, counted from 1; the last that was asked for is held."""
        if self._drawn is None or self._drawn[0] != epoch:
            self._drawn = (epoch, self._of(epoch))
        return self._drawn[1]

    def _of(self, epoch: int) -> npt.NDArray[np.int32]:
        taken = self._repeated(epoch) if self._members else None
        if self._shuffle:
            order = np.random.default_rng([self._seed, epoch]).permutation(len(self))
            return (order if taken is None else taken[order]).astype(np.int32)
        return np.arange(self._examples, dtype=np.int32) if taken is None else np.sort(taken)

    @property
    def _most(self) -> int:
        return max(map(len, self._members))

    def _repeated(self, epoch: int) -> npt.NDArray[np.int32]:
        random = np.random.default_rng([self._seed, epoch, STREAM_OF_REPEATS])
        taken = []
        for members in self._members:
            times, rest = divmod(self._most, len(members))
            taken += [members] * times
            taken.append(random.permutation(members)[:rest])
        return np.concatenate(taken)
