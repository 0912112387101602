"""Examples that are changed at random on their way to the replicas.

What is drawn comes with each step from the host; the changes are made where the examples are used.
"""

from collections.abc import Sequence

import tensorflow as tf

from gpupanel.trainer.augmentation.augmenter import Augmenter
from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.parts.augmentation import Drawn
from gpupanel.trainer.steps.feed import Feed, Step
from gpupanel.trainer.steps.worker_feeds import ReadStep, WorkerFeed

_DRAWS = tf.TensorSpec([None, None, Drawn.COUNT], tf.float32)


class AugmentedFeed:
    """Hands over the examples of another feed changed.

    Attributes:
        examples: See :class:`~gpupanel.trainer.steps.feed.Feed`.
    """

    def __init__(self, feed: Feed, augmenter: Augmenter) -> None:
        self.examples = feed.examples
        self._feed = feed
        self._augmenter = augmenter

    @property
    def signature(self) -> tuple[tf.TensorSpec, ...]:
        """See :attr:`~gpupanel.trainer.steps.feed.Feed.signature`."""
        return (*self._feed.signature, _DRAWS)

    def expect(self, coming: Sequence[tuple[Indices, Indices]]) -> None:
        """See :meth:`~gpupanel.trainer.steps.feed.Feed.expect`."""
        self._feed.expect(coming)

    def most_steps(self, bounds: Indices) -> int | None:
        """See :meth:`~gpupanel.trainer.steps.feed.Feed.most_steps`."""
        return self._feed.most_steps(bounds)

    def close(self) -> None:
        """See :meth:`~gpupanel.trainer.steps.feed.Feed.close`."""
        self._feed.close()

    def tensors(
        self, batches: Indices, bounds: Indices | None = None, place: int = 0
    ) -> tuple[tf.Tensor, ...]:
        """See :meth:`~gpupanel.trainer.steps.feed.Feed.tensors`."""
        draws = tf.constant(self._augmenter.draws(place, batches.shape))
        return (*self._feed.tensors(batches, bounds, place), draws)

    def part(
        self,
        replica: int,
        tensors: Sequence[tf.Tensor],
        step: Step,
        first: tf.Tensor,
        end: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """See :meth:`~gpupanel.trainer.steps.feed.Feed.part`."""
        *inner, all_draws = tensors
        draws = all_draws[step]

        def changed(first: tf.Tensor, end: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            features, labels = self._feed.part(replica, inner, step, first, end)
            return self._augmenter.changed(features, draws[first:end]), labels

        own = changed(first, end)
        if not self._augmenter.blends:
            return own
        # Of a part only the first example has its neighbour elsewhere; the first of a batch has
        # the last one.
        place = tf.math.floormod(first - 1, tf.shape(draws)[0])
        neighbour = changed(place, place + 1)
        before = tuple(
            tf.concat([one, many[:-1]], axis=0) for one, many in zip(neighbour, own, strict=True)
        )
        return self._augmenter.blended(own, before, draws[first:end])


class AugmentedWorkerFeed:
    """Hands over the batches of another feed of workers changed."""

    def __init__(self, feed: WorkerFeed, augmenter: Augmenter) -> None:
        self._feed = feed
        self._augmenter = augmenter

    @property
    def signature(self) -> tuple[tf.TypeSpec, ...]:
        """See :attr:`~gpupanel.trainer.steps.worker_feeds.WorkerFeed.signature`."""
        return (*self._feed.signature, _DRAWS)

    def expect(self, coming: Indices) -> None:
        """See :meth:`~gpupanel.trainer.steps.worker_feeds.WorkerFeed.expect`."""
        self._feed.expect(coming)

    def most_steps(self, batch_size: int) -> int | None:
        """See :meth:`~gpupanel.trainer.steps.worker_feeds.WorkerFeed.most_steps`."""
        return self._feed.most_steps(batch_size)

    def close(self) -> None:
        """See :meth:`~gpupanel.trainer.steps.worker_feeds.WorkerFeed.close`."""
        self._feed.close()

    def arguments(self, batches: Indices, place: int = 0) -> tuple[object, ...]:
        """See :meth:`~gpupanel.trainer.steps.worker_feeds.WorkerFeed.arguments`."""
        draws = self._augmenter.draws(place, batches.shape)
        return (*self._feed.arguments(batches, place), draws)

    def reader(self, *arguments: tf.Tensor) -> ReadStep:
        """See :meth:`~gpupanel.trainer.steps.worker_feeds.WorkerFeed.reader`."""
        *inner, draws = arguments
        read_inner = self._feed.reader(*inner)

        def read(step: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            features, labels = read_inner(step)
            own = self._augmenter.changed(features, draws[step]), labels
            if not self._augmenter.blends:
                return own
            before = tuple(tf.roll(each, 1, axis=0) for each in own)
            return self._augmenter.blended(own, before, draws[step])

        return read
