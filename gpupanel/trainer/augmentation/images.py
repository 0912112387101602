"""What was drawn for images is done to them, inside the graph, each by itself."""

import tensorflow as tf

from gpupanel.domain.augmentation import Augmentation
from gpupanel.trainer.augmentation.draws import Drawn, cut_side


def changed_images(
    augmentation: Augmentation, images: tf.Tensor, draws: tf.Tensor, greatest: float | None
) -> tf.Tensor:
    """The images changed as it was drawn for each, float32 and of the same shape.

    Args:
        augmentation: What may be changed.
        images: Shape [n, height, width] or [n, height, width, channels].
        draws: Shape [n, :attr:`~gpupanel.trainer.augmentation.draws.Drawn.COUNT`].
        greatest: What a pixel is at most, where it is a byte; ``None``: any number.
    """
    changed = tf.cast(images, tf.float32)
    if images.shape.rank == 3:
        changed = changed[..., tf.newaxis]
    height, width = changed.shape[1:3]
    if augmentation.moves:
        changed = _moved(augmentation, changed, draws)
    if augmentation.hue:
        changed = _with_other_hue(changed, draws[:, Drawn.HUE])
    if augmentation.brightness:
        changed *= _per_image(draws[:, Drawn.BRIGHTNESS])
    if augmentation.contrast:
        mean = tf.reduce_mean(changed, axis=[1, 2], keepdims=True)
        changed = (changed - mean) * _per_image(draws[:, Drawn.CONTRAST]) + mean
    if greatest is not None and (augmentation.brightness or augmentation.contrast):
        changed = tf.clip_by_value(changed, 0.0, greatest)
    if side := cut_side(augmentation, height, width):
        mean = tf.reduce_mean(changed, axis=[1, 2], keepdims=True)
        rows = _within(height, draws[:, Drawn.CUT_ROW], side)[:, :, tf.newaxis]
        columns = _within(width, draws[:, Drawn.CUT_COLUMN], side)[:, tf.newaxis, :]
        changed = tf.where((rows & columns)[..., tf.newaxis], mean, changed)
    return changed[..., 0] if images.shape.rank == 3 else changed


def _moved(augmentation: Augmentation, images: tf.Tensor, draws: tf.Tensor) -> tf.Tensor:
    places = draws[:, Drawn.PLACES : Drawn.PLACES + 6]
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=images,
        # The last two would make a perspective.
        transforms=tf.pad(places, [[0, 0], [0, 2]]),
        output_shape=images.shape[1:3],
        fill_value=0.0,
        interpolation="BILINEAR",
        fill_mode="CONSTANT" if augmentation.fill == "zero" else augmentation.fill.upper(),
    )


def _with_other_hue(images: tf.Tensor, turn: tf.Tensor) -> tf.Tensor:
    hue, saturation, value = tf.unstack(tf.image.rgb_to_hsv(images), axis=-1)
    turned = tf.math.floormod(hue + turn[:, tf.newaxis, tf.newaxis], 1.0)
    return tf.image.hsv_to_rgb(tf.stack([turned, saturation, value], axis=-1))


def _within(length: int, first: tf.Tensor, side: int) -> tf.Tensor:
    """Which rows or columns of each image are covered, shape [n, length]."""
    places = tf.range(length, dtype=tf.float32)[tf.newaxis]
    first = first[:, tf.newaxis]
    return (places >= first) & (places < first + float(side))


def _per_image(numbers: tf.Tensor) -> tf.Tensor:
    return numbers[:, tf.newaxis, tf.newaxis, tf.newaxis]
