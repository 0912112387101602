"""Changes the training examples of a run."""

import math

import numpy as np
import tensorflow as tf

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.data import Target
from gpupanel.trainer.augmentation.image_checks import check_images
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.parts.augmentation import (
    Changes,
    Drawn,
    Draws,
    blended,
    changed_images,
    draw_epoch,
)


class Augmenter:
    """Draws for each example in each epoch, and does it to them."""

    def __init__(
        self,
        augmentation: Augmentation,
        examples: Examples,
        *,
        class_count: int,
        greatest: float,
        seed: int,
    ) -> None:
        """Nothing is drawn yet.

        Args:
            augmentation: What may be changed.
            examples: That are trained on.
            class_count: Of labels that are classes; 0 of others.
            greatest: What a byte of an image is at most.
            seed: Of the run.

        Raises:
            ProblemError: The examples are no images, or have no colours, where they must.
        """
        check_images(augmentation, examples.feature_shape)
        self._changes = Changes(**augmentation.model_dump(mode="json"))
        self._changes_images = augmentation.changes_images
        self._class_count = class_count
        is_byte = examples.features.dtype == np.uint8
        self._greatest = greatest if is_byte else None
        self._seed = seed
        height, width, *_ = examples.feature_shape if augmentation.changes_images else (1, 1)
        self._size = (height, width)
        self._drawn: Draws | None = None

    @property
    def blends(self) -> bool:
        """Whether an example is blended with the one before it in its batch."""
        return self._changes.mixup > 0.0

    def begin_epoch(self, epoch: int, examples: int) -> None:
        """Draw for so many examples of an epoch, counted from 1, from now on."""
        self._drawn = draw_epoch(self._changes, self._size, examples, self._seed, epoch)

    def draws(self, place: int, shape: tuple[int, ...]) -> Draws:
        """What is drawn for examples of the epoch.

        Args:
            place: Of the first of them in the epoch.
            shape: How many there are, by step and place in its batch.

        Returns:
            Shape [*shape, :attr:`Drawn.COUNT`].
        """
        count = math.prod(shape)
        if self._drawn is None:
            drawn = draw_epoch(self._changes, self._size, count, self._seed, 0)
        else:
            drawn = self._drawn[place : place + count]
        return drawn.reshape(*shape, Drawn.COUNT)

    def changed(self, features: tf.Tensor, draws: tf.Tensor) -> tf.Tensor:
        """The features as it was drawn for each, float32; inside the graph."""
        if not self._changes_images:
            return tf.cast(features, tf.float32)
        return changed_images(self._changes, features, draws, self._greatest)

    def blended(
        self,
        own: tuple[tf.Tensor, tf.Tensor],
        before: tuple[tf.Tensor, tf.Tensor],
        draws: tf.Tensor,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Features and labels blended with those of the examples before them; inside the graph.

        Args:
            own: Changed features and labels, their first axis [n].
            before: Those of the example before each in its batch, likewise.
            draws: Of the own ones.

        Returns:
            Labels that are classes become shares of each class, shape [n, classes].
        """
        part = draws[:, Drawn.OWN_PART]
        features, labels = own
        features_before, labels_before = before
        if self._class_count:
            labels, labels_before = (
                tf.one_hot(each, self._class_count) for each in (labels, labels_before)
            )
        return (
            blended(features, features_before, part),
            blended(labels, labels_before, part),
        )


def make_augmenter(
    augmentation: Augmentation,
    examples: Examples,
    target: Target,
    *,
    class_count: int,
    greatest: float,
    seed: int,
) -> Augmenter | None:
    """What changes the training examples; ``None``: they stay as they are.

    Args:
        augmentation: See :class:`Augmenter`.
        examples: See :class:`Augmenter`.
        target: What the labels are.
        class_count: How many classes the model distinguishes, where it does.
        greatest: See :class:`Augmenter`.
        seed: See :class:`Augmenter`.

    Raises:
        ProblemError: See :class:`Augmenter`.
    """
    if not augmentation.changes_anything:
        return None
    classes = class_count if target is Target.CLASSES else 0
    return Augmenter(augmentation, examples, class_count=classes, greatest=greatest, seed=seed)
