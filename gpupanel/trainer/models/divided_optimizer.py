"""An optimizer whose state is divided among replicas, the same as without to the last bit.

Every optimizer here treats each number of a weight by itself, so a weight can be updated in pieces:
each by the replica that keeps the state of that piece, which hands what comes out to the others
(Rajbhandari et al. 2020, arXiv:1910.02054, the first stage of ZeRO). Gradients are summed as ever.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Protocol, TypeAlias

import keras
import numpy as np
import tensorflow as tf

from gpupanel.domain.optimizer_pieces import Piece, cut
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.models.gathering import NOTHING, Gathering


class UpdateOf(Protocol):
    """Changes a weight, or a piece of one, by its gradient; called where it is."""

    def __call__(
        self,
        optimizer: keras.optimizers.Optimizer,
        weight: tf.Variable,
        gradient: tf.Tensor,
        rate: tf.Tensor,
        scale: tf.Tensor | None,
    ) -> None:
        """Change it.

        Args:
            optimizer: Keeps its state.
            weight: What is changed.
            gradient: Of its shape.
            rate: The learning rate.
            scale: What the gradient is multiplied by; ``None``: by nothing.
        """


@dataclass(frozen=True, slots=True)
class _Reference:
    """What Keras's optimizers ask of a weight to make its state."""

    path: str
    shape: tuple[int, ...]
    dtype: str
    device: str
    _unique_id: str


class _Part:
    """What one replica of this process keeps."""

    def __init__(
        self,
        make: Callable[[], keras.optimizers.Optimizer],
        device: str,
        pieces: Sequence[Piece],
        weights: Sequence[keras.Variable],
    ) -> None:
        self.device = device
        self.pieces = pieces
        with tf.device(device):
            # Each stands for its piece in an update, and holds nothing between two.
            self.stands = [
                tf.Variable(
                    tf.zeros([0], weights[piece.weight].dtype), trainable=False, shape=[None]
                )
                for piece in pieces
            ]
            self.optimizer = make()
            references = [
                _Reference(
                    str(number),
                    (piece.end - piece.begin,),
                    weights[piece.weight].dtype,
                    device,
                    stand._unique_id,  # noqa: SLF001 - by which Keras's optimizers know a variable
                )
                for number, (piece, stand) in enumerate(zip(pieces, self.stands, strict=True))
            ]
            self.optimizer.build(references)

    def slots(self) -> Iterator[tuple[Piece, str, keras.Variable]]:
        """What it keeps: of which piece, its name, and the variable."""
        for variable in self.optimizer.variables:
            number, _, name = variable.name.partition("_")
            if number.isdecimal():
                yield self.pieces[int(number)], name, variable


@dataclass(slots=True)
class DividedSlot:
    """One variable of the optimizer as it would be undivided, so that checkpoints are the same.

    Attributes:
        path: Its name, as Keras would call it.
        shape: Of the weight.
        dtype: Of the weight.
        gathering: Of processes that have the other pieces; ``None``: there are none.
        pieces: Those that this process has.
    """

    path: str
    shape: tuple[int, ...]
    dtype: str
    gathering: Gathering | None
    pieces: list[tuple[Piece, keras.Variable]] = field(default_factory=list)

    @property
    def value(self) -> Array:
        """All of it; where several processes keep it, each of them has to ask at the same time."""
        whole = np.full(math.prod(self.shape), NOTHING, np.dtype(self.dtype))
        for piece, variable in self.pieces:
            whole[piece.begin : piece.end] = np.asarray(variable.value)
        if self.gathering is not None:
            whole = self.gathering.sum(whole)
        return whole.reshape(self.shape)

    def assign(self, array: Array) -> None:
        """Keep this from now on, of which this process takes its pieces."""
        flat = array.reshape(-1)
        for piece, variable in self.pieces:
            variable.assign(flat[piece.begin : piece.end])


class DividedOptimizer:
    """Has each replica update what it keeps the state of.

    Attributes:
        optimizer: Counts updates and has the learning rate; it is never built, and keeps no state.
    """

    def __init__(
        self,
        strategy: tf.distribute.Strategy,
        optimizer: keras.optimizers.Optimizer,
        weights: Sequence[keras.Variable],
        make: Callable[[], keras.optimizers.Optimizer],
        quotas: Sequence[int],
        first_replica: int,
        gathering: Gathering | None = None,
    ) -> None:
        """Make the state; call it outside of the strategy's scope.

        Args:
            strategy: Of the training.
            optimizer: Made within that scope.
            weights: That learn.
            make: Makes another such optimizer.
            quotas: Of each replica; see :func:`~gpupanel.domain.optimizer_pieces.cut`.
            first_replica: Of this process.
            gathering: Over the processes, where others have the other replicas.
        """
        self.optimizer = optimizer
        self._strategy = strategy
        self._weights = weights
        self._gathering = gathering
        self._pieces = cut([math.prod(weight.shape) for weight in weights], quotas)
        self._parts = []
        for replica, device in enumerate(strategy.extended.worker_devices, first_replica):
            own = [piece for piece in self._pieces if piece.replica == replica]
            self._parts.append(_Part(make, device, own, weights))
        self._slots = self._slots_of_weights(make)

    @property
    def variables(self) -> list[keras.Variable | DividedSlot]:
        """Everything that a checkpoint has of it."""
        return [*self.optimizer.variables, *self._slots]

    @property
    def learning_rate(self) -> keras.Variable | tf.Tensor:
        """Of the next update."""
        return self.optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, rate: float) -> None:
        self.optimizer.learning_rate = rate

    def _slots_of_weights(
        self, make: Callable[[], keras.optimizers.Optimizer]
    ) -> list[DividedSlot]:
        if not self._weights:
            return []
        # What it keeps of one number says what it keeps of each.
        tried = _Part(make, self._parts[0].device, [Piece(0, 0, 1, 0)], self._weights)
        names = [name for _, name, _ in tried.slots()]
        slots = {}
        for number, weight in enumerate(self._weights):
            for name in names:
                path = f"{self.optimizer.name}/{weight.path.replace('/', '_')}_{name}"
                slots[number, name] = DividedSlot(
                    path, tuple(weight.shape), weight.dtype, self._gathering
                )
        for part in self._parts:
            for piece, name, variable in part.slots():
                slots[piece.weight, name].pieces.append((piece, variable))
        return list(slots.values())

    def learn(
        self,
        update: UpdateOf,
        gradients: Sequence[tf.Tensor],
        rate: tf.Tensor,
        scale: tf.Tensor | None,
    ) -> None:
        """Update all weights; within the context of all replicas.

        Args:
            update: Is called for each piece.
            gradients: Of the weights, the same on every replica.
            rate: The learning rate, on every replica.
            scale: What gradients are multiplied by, on every replica; ``None``: by nothing.
        """
        here = self._strategy.experimental_local_results
        updated = {}
        for number, part in enumerate(self._parts):
            iterations = here(self.optimizer.iterations.value)[number]
            own_scale = None if scale is None else here(scale)[number]
            with tf.device(part.device):
                part.optimizer.iterations.value.assign(iterations)
                for piece, stand in zip(part.pieces, part.stands, strict=True):
                    weight = here(self._weights[piece.weight].value)[number]
                    gradient = here(gradients[piece.weight])[number]
                    stand.assign(_taken(piece, weight))
                    update(
                        part.optimizer,
                        stand,
                        _taken(piece, gradient),
                        here(rate)[number],
                        own_scale,
                    )
                    # Every process has to know the shape, to pack the same into one sum.
                    size = [piece.end - piece.begin]
                    updated[piece] = tf.reshape(tf.convert_to_tensor(stand), size)
                    # Its memory is free again as soon as the others have read it.
                    stand.assign(tf.zeros([0], stand.dtype))
        if self._gathering is None:
            self._hand_out(updated)
        else:
            self._exchange(updated)

    def _hand_out(self, updated: Mapping[Piece, tf.Tensor]) -> None:
        """Give every replica of this process the new weights."""
        here = self._strategy.experimental_local_results
        for number, part in enumerate(self._parts):
            with tf.device(part.device):
                for weight, pieces in self._by_weight():
                    whole = _joined([updated[piece] for piece in pieces])
                    here(weight.value)[number].assign(tf.reshape(whole, weight.shape))

    def _exchange(self, updated: Mapping[Piece, tf.Tensor]) -> None:
        """Give every replica of all processes the new weights."""
        strategy, by_weight = self._strategy, list(self._by_weight())
        contributed = {}
        for part in self._parts:
            with tf.device(part.device):
                contributed[part.device] = [
                    _joined(
                        [
                            updated[piece]
                            if piece in part.pieces
                            else tf.fill([piece.end - piece.begin], tf.cast(NOTHING, weight.dtype))
                            for piece in pieces
                        ]
                    )
                    for weight, pieces in by_weight
                ]
        places = [weight.value for weight, _ in by_weight]
        of_replicas = strategy.extended.update(places[0], lambda first: contributed[first.device])
        # One sum for all: every collective costs a round trip.
        sums = strategy.extended.batch_reduce_to(
            tf.distribute.ReduceOp.SUM, list(zip(of_replicas, places, strict=True))
        )

        def take(weight: tf.Variable, whole: tf.Tensor) -> None:
            weight.assign(tf.reshape(whole, weight.shape))

        for place, whole in zip(places, sums, strict=True):
            strategy.extended.update(place, take, args=(whole,), group=False)

    def _by_weight(self) -> Iterator[tuple[keras.Variable, list[Piece]]]:
        """Each weight that has numbers, with the pieces that it consists of, in their order."""
        for number, pieces in groupby(self._pieces, lambda piece: piece.weight):
            yield self._weights[number], list(pieces)


LearningOptimizer: TypeAlias = keras.optimizers.Optimizer | DividedOptimizer
"""Keeps its state on every replica, or divided among them."""


def whole_of(optimizer: LearningOptimizer) -> keras.optimizers.Optimizer:
    """The one that counts updates and has the learning rate, whoever keeps the state."""
    return optimizer.optimizer if isinstance(optimizer, DividedOptimizer) else optimizer


def _taken(piece: Piece, whole: tf.Tensor) -> tf.Tensor:
    flat = tf.reshape(whole, [-1])
    return flat if flat.shape[0] == piece.end - piece.begin else flat[piece.begin : piece.end]


def _joined(pieces: Sequence[tf.Tensor]) -> tf.Tensor:
    return pieces[0] if len(pieces) == 1 else tf.concat(pieces, 0)
