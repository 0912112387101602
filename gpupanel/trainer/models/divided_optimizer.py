"""An optimizer whose state is divided among replicas, the same as without to the last bit.

Every optimizer here treats each number of a weight by itself, so a weight can be updated in pieces:
each by the replica that keeps the state of that piece, which hands what comes out to the others
(Rajbhandari et al. 2020, arXiv:1910.02054, the first stage of ZeRO). Gradients are summed as ever.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any, TypeAlias

import keras
import numpy as np
import tensorflow as tf

from gpupanel.domain.optimizer_pieces import Piece, cut
from gpupanel.trainer.datasets.examples import Array
from gpupanel.trainer.models.gathering import NOTHING, Gathering
from gpupanel.trainer.models.optimizers import clipped, decay_of


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
        """Make the state, there.

        Args:
            make: Makes the optimizer, whose state these pieces have.
            device: Of the replica.
            pieces: Of the weights.
            weights: All of them.
        """
        self.device = device
        self._pieces = pieces
        with tf.device(device):
            # Each stands for its piece in an update, and holds nothing between two.
            self.stands = {
                piece: tf.Variable(
                    tf.zeros([0], weights[piece.weight].dtype),
                    trainable=False,
                    shape=tf.TensorShape(None),
                )
                for piece in pieces
            }
            self.optimizer = make()
            self.optimizer.build(
                [
                    _Reference(
                        str(number),
                        _shape_of(piece, weights[piece.weight].shape),
                        weights[piece.weight].dtype,
                        device,
                        # By which Keras's optimizers know a variable.
                        self.stands[piece]._unique_id,  # noqa: SLF001
                    )
                    for number, piece in enumerate(pieces)
                ]
            )

    def slots(self) -> Iterator[tuple[Piece, str, keras.Variable]]:
        """What it keeps: of which piece, its name, and the variable."""
        for variable in self.optimizer.variables:
            number, _, name = variable.name.partition("_")
            if number.isdecimal():
                yield self._pieces[int(number)], name, variable

    def updated(
        self,
        piece: Piece,
        weight: tf.Variable,
        gradient: tf.Tensor,
        rate: tf.Tensor,
        scale: tf.Tensor | None,
    ) -> tf.Tensor:
        """What a piece of the weight is after its update: as many numbers as it has, in a row.

        Operation by operation as :class:`~gpupanel.trainer.steps.update.Update` does it, so that
        the last bits are the same.
        """
        optimizer, stand, shape = self.optimizer, self.stands[piece], _shape_of(piece, weight.shape)
        before = _taken(piece, weight, shape)
        if optimizer.weight_decay is not None:
            before -= decay_of(optimizer, before, rate)
        stand.assign(before)
        optimizer.update_step(clipped(_taken(piece, gradient, shape), scale), stand, rate)
        # Every process has to know the shape, to pack the same into one sum.
        after = tf.reshape(tf.convert_to_tensor(stand), [piece.end - piece.begin])
        # Its memory is free again as soon as the others have read what came out.
        stand.assign(tf.zeros([0], stand.dtype))
        return after


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
            whole[piece.begin : piece.end] = np.asarray(variable.value).reshape(-1)
        if self.gathering is not None:
            whole = self.gathering.sum(whole)
        return whole.reshape(self.shape)

    def assign(self, array: Array) -> None:
        """Keep this from now on, of which this process takes its pieces."""
        flat = array.reshape(-1)
        for piece, variable in self.pieces:
            variable.assign(flat[piece.begin : piece.end].reshape(variable.shape))


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
        self._own_count = len(optimizer.variables)
        self._strategy = strategy
        self._weights = weights
        self._gathering = gathering
        pieces = cut([math.prod(weight.shape) for weight in weights], quotas)
        by_weight = groupby(pieces, lambda piece: piece.weight)
        self._pieces_by_weight = [(number, list(of_weight)) for number, of_weight in by_weight]
        self._parts = {}
        for replica, device in enumerate(strategy.extended.worker_devices, first_replica):
            own = [piece for piece in pieces if piece.replica == replica]
            self._parts[device] = _Part(make, device, own, weights)
        self._slots = self._slots_of_weights(make)
        if any("GPU" in device for device in self._parts):
            # TensorFlow 2.21 takes the shape of what stands for a piece for that of its weight
            # there: convolutions end with "filter must be 4-dimensional".
            tf.config.optimizer.set_experimental_options({"constant_folding": False})

    @property
    def variables(self) -> list[keras.Variable | DividedSlot]:
        """Everything that a checkpoint has of it, averages of weights last, as undivided."""
        own = self.optimizer.variables
        return [*own[: self._own_count], *self._slots, *own[self._own_count :]]

    @property
    def learning_rate(self) -> keras.Variable | tf.Tensor:
        """Of the next update."""
        return self.optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, rate: Any) -> None:  # noqa: ANN401 - as Keras's optimizer takes it
        self.optimizer.learning_rate = rate

    def _slots_of_weights(
        self, make: Callable[[], keras.optimizers.Optimizer]
    ) -> list[DividedSlot]:
        if not self._weights:
            return []
        # What it keeps of one number says what it keeps of each.
        tried = _Part(make, next(iter(self._parts)), [Piece(0, 0, 1, 0)], self._weights)
        names = [name for _, name, _ in tried.slots()]
        slots = {}
        for number, weight in enumerate(self._weights):
            for name in names:
                path = f"{self.optimizer.name}/{weight.path.replace('/', '_')}_{name}"
                slots[number, name] = DividedSlot(
                    path, tuple(weight.shape), weight.dtype, self._gathering
                )
        for part in self._parts.values():
            for piece, name, variable in part.slots():
                slots[piece.weight, name].pieces.append((piece, variable))
        return list(slots.values())

    def learn(
        self,
        gradients: Sequence[tf.Tensor],
        rate: tf.Tensor,
        scale: tf.Tensor | None,
    ) -> None:
        """Update all weights; within the context of all replicas.

        Args:
            gradients: Of the weights, the same on every replica.
            rate: The learning rate, on every replica.
            scale: What gradients are multiplied by, on every replica; ``None``: by nothing.
        """
        updated: dict[Piece, tf.Tensor] = {}

        def learn(
            pieces: Sequence[Piece],
            weight: tf.Variable,
            gradient: tf.Tensor,
            rate: tf.Tensor,
            scale: tf.Tensor | None,
        ) -> None:
            part = self._parts[weight.device]
            with tf.device(weight.device):
                for piece in pieces:
                    if piece in part.stands:
                        updated[piece] = part.updated(piece, weight, gradient, rate, scale)

        extended, iterations = self._strategy.extended, self.optimizer.iterations.value
        for own in self._strategy.experimental_local_results(iterations):
            self._parts[own.device].optimizer.iterations.value.assign(own)
        for number, pieces in self._pieces_by_weight:
            place, args = self._weights[number].value, (gradients[number], rate, scale)
            extended.update(place, partial(learn, pieces), args=args, group=False)
        if self._gathering is None:
            self._hand_out(updated)
        else:
            self._exchange(updated)

    def _hand_out(self, updated: Mapping[Piece, tf.Tensor]) -> None:
        """Give every replica of this process the new weights."""
        here = self._strategy.experimental_local_results
        for number, pieces in self._pieces_by_weight:
            for weight in here(self._weights[number].value):
                with tf.device(weight.device):
                    whole = _joined([updated[piece] for piece in pieces])
                    weight.assign(tf.reshape(whole, weight.shape))

    def _exchange(self, updated: Mapping[Piece, tf.Tensor]) -> None:
        """Give every replica of all processes the new weights."""
        strategy, contributed = self._strategy, {}
        for device, part in self._parts.items():
            with tf.device(device):
                contributed[device] = [
                    _joined(
                        [
                            updated[each] if each in part.stands else _none_of(each, dtype)
                            for each in pieces
                        ]
                    )
                    for number, pieces in self._pieces_by_weight
                    for dtype in [self._weights[number].dtype]
                ]
        places = [self._weights[number].value for number, _ in self._pieces_by_weight]
        of_replicas = strategy.extended.update(places[0], lambda first: contributed[first.device])
        # One sum for all: every collective costs a round trip.
        sums = strategy.extended.batch_reduce_to(
            tf.distribute.ReduceOp.SUM, list(zip(of_replicas, places, strict=True))
        )

        def take(weight: tf.Variable, whole: tf.Tensor) -> None:
            weight.assign(tf.reshape(whole, weight.shape))

        for place, whole in zip(places, sums, strict=True):
            strategy.extended.update(place, take, args=(whole,), group=False)


LearningOptimizer: TypeAlias = keras.optimizers.Optimizer | DividedOptimizer
"""Keeps its state on every replica, or divided among them."""


def whole_of(optimizer: LearningOptimizer) -> keras.optimizers.Optimizer:
    """The one that counts updates and has the learning rate, whoever keeps the state."""
    return optimizer.optimizer if isinstance(optimizer, DividedOptimizer) else optimizer


def _shape_of(piece: Piece, shape: Sequence[int]) -> tuple[int, ...]:
    """That of the weight, if the piece is all of it; else so many numbers in a row."""
    size = piece.end - piece.begin
    return tuple(shape) if size == math.prod(shape) else (size,)


def _taken(piece: Piece, whole: tf.Tensor, shape: tuple[int, ...]) -> tf.Tensor:
    if shape == tuple(whole.shape):
        return tf.convert_to_tensor(whole)
    return tf.slice(tf.reshape(whole, [-1]), [piece.begin], [piece.end - piece.begin])


def _joined(pieces: Sequence[tf.Tensor]) -> tf.Tensor:
    return pieces[0] if len(pieces) == 1 else tf.concat(pieces, 0)


def _none_of(piece: Piece, dtype: str) -> tf.Tensor:
    return tf.fill([piece.end - piece.begin], tf.constant(NOTHING, dtype))
