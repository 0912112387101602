"""Training images that are changed at random: what is drawn for each, and what it does to them.

What is drawn are numbers alone, by seed, epoch and place: any division of a batch has the same.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import tensorflow as tf

Draws = npt.NDArray[np.float32]

STREAM_OF_CHANGES = 1
"""After seed and epoch, which alone draw the order of the examples."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What may be changed, and by how much; see the settings of the same names.

    Attributes:
        flip: ``none``, ``horizontal``, ``vertical`` or ``both``.
        fill: What stands where an image that was moved has nothing: ``reflect``, ``nearest`` or
            ``zero``.
    """

    flip: str = "none"
    rotate_degrees: float = 0.0
    zoom: float = 0.0
    shift: float = 0.0
    fill: str = "reflect"
    brightness: float = 0.0
    contrast: float = 0.0
    hue: float = 0.0
    cutout: float = 0.0
    mixup: float = 0.0

    @property
    def moves(self) -> bool:
        """Whether pixels change their places."""
        return self.flip != "none" or any((self.rotate_degrees, self.zoom, self.shift))

    def cut_side(self, height: int, width: int) -> int:
        """The side of the square that is covered, in pixels."""
        return round(self.cutout * min(height, width))


class Drawn(IntEnum):
    """The columns of what is drawn for an example."""

    PLACES = 0
    """The first of six: the column that pixel (column, row) is taken from is
    ``a * column + b * row + c``, then its row likewise, as TensorFlow's
    ``ImageProjectiveTransformV3`` has them."""
    BRIGHTNESS = 6
    """Pixels are multiplied by it."""
    CONTRAST = 7
    """Differences from the mean are multiplied by it."""
    HUE = 8
    """Is added to the hue, a circle of length 1."""
    CUT_ROW = 9
    """The first row of what is covered, perhaps above the image."""
    CUT_COLUMN = 10
    """The first column, likewise."""
    OWN_PART = 11
    """How much of the blend is the example itself: at least a half."""
    COUNT = 12


def draw_epoch(
    changes: Changes, size: tuple[int, int], examples: int, seed: int, epoch: int
) -> Draws:
    """What is drawn for each example in an epoch, shape [examples, :attr:`Drawn.COUNT`].

    Args:
        changes: What may be changed, and by how much.
        size: Height and width of an image.
        examples: How many there are.
        seed: Of the training.
        epoch: Counted from 1.
    """
    random = np.random.default_rng([seed, epoch, STREAM_OF_CHANGES])
    uniform = random.random((examples, 11), np.float32)
    mirrored = np.where(uniform[:, :2] < 0.5, np.float32(-1.0), np.float32(1.0))
    spread = 2.0 * uniform[:, 2:9] - 1.0
    height, width = size
    drawn = np.zeros((examples, Drawn.COUNT), np.float32)
    if changes.flip not in ("horizontal", "both"):
        mirrored[:, 0] = 1.0
    if changes.flip not in ("vertical", "both"):
        mirrored[:, 1] = 1.0
    angle = np.deg2rad(changes.rotate_degrees) * spread[:, 0]
    scale = 1.0 / (1.0 + changes.zoom * spread[:, 1])
    cosine, sine = scale * np.cos(angle), scale * np.sin(angle)
    # Around the middle: what lies there stays there, but for the shift.
    middle_column, middle_row = (width - 1) / 2.0, (height - 1) / 2.0
    places = drawn[:, Drawn.PLACES : Drawn.PLACES + 6]
    places[:, 0], places[:, 1] = mirrored[:, 0] * cosine, -mirrored[:, 0] * sine
    places[:, 3], places[:, 4] = mirrored[:, 1] * sine, mirrored[:, 1] * cosine
    for first, middle, length, shift in (
        (0, middle_column, width, spread[:, 2]),
        (3, middle_row, height, spread[:, 3]),
    ):
        moved = middle_column * places[:, first] + middle_row * places[:, first + 1]
        places[:, first + 2] = middle - moved + changes.shift * length * shift
    drawn[:, Drawn.BRIGHTNESS] = 1.0 + changes.brightness * spread[:, 4]
    drawn[:, Drawn.CONTRAST] = 1.0 + changes.contrast * spread[:, 5]
    drawn[:, Drawn.HUE] = changes.hue * spread[:, 6]
    half = changes.cut_side(height, width) // 2
    drawn[:, Drawn.CUT_ROW] = np.floor(uniform[:, 9] * height) - half
    drawn[:, Drawn.CUT_COLUMN] = np.floor(uniform[:, 10] * width) - half
    drawn[:, Drawn.OWN_PART] = 1.0
    if changes.mixup:
        part = random.beta(changes.mixup, changes.mixup, examples)
        drawn[:, Drawn.OWN_PART] = np.maximum(part, 1.0 - part)
    return drawn


def changed_images(
    changes: Changes, images: tf.Tensor, draws: tf.Tensor, greatest: float | None
) -> tf.Tensor:
    """The images changed as it was drawn for each, float32 and of the same shape.

    Args:
        changes: What may be changed.
        images: Shape [n, height, width] or [n, height, width, channels].
        draws: Shape [n, :attr:`Drawn.COUNT`].
        greatest: What a pixel is at most, where it is a byte; ``None``: any number.
    """
    changed = tf.cast(images, tf.float32)
    if images.shape.rank == 3:
        changed = changed[..., tf.newaxis]
    height, width = changed.shape[1:3]
    if changes.moves:
        changed = moved_images(changes, changed, draws)
    if changes.hue:
        changed = with_other_hue(changed, draws[:, Drawn.HUE])
    if changes.brightness:
        changed *= per_image(draws[:, Drawn.BRIGHTNESS])
    if changes.contrast:
        mean = tf.reduce_mean(changed, axis=[1, 2], keepdims=True)
        changed = (changed - mean) * per_image(draws[:, Drawn.CONTRAST]) + mean
    if greatest is not None and (changes.brightness or changes.contrast):
        changed = tf.clip_by_value(changed, 0.0, greatest)
    if side := changes.cut_side(height, width):
        mean = tf.reduce_mean(changed, axis=[1, 2], keepdims=True)
        rows = within_square(height, draws[:, Drawn.CUT_ROW], side)[:, :, tf.newaxis]
        columns = within_square(width, draws[:, Drawn.CUT_COLUMN], side)[:, tf.newaxis, :]
        changed = tf.where((rows & columns)[..., tf.newaxis], mean, changed)
    return changed[..., 0] if images.shape.rank == 3 else changed


def moved_images(changes: Changes, images: tf.Tensor, draws: tf.Tensor) -> tf.Tensor:
    """The images mirrored, rotated, enlarged and shifted, at once."""
    places = draws[:, Drawn.PLACES : Drawn.PLACES + 6]
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=images,
        # The last two would make a perspective.
        transforms=tf.pad(places, [[0, 0], [0, 2]]),
        output_shape=images.shape[1:3],
        fill_value=0.0,
        interpolation="BILINEAR",
        fill_mode="CONSTANT" if changes.fill == "zero" else changes.fill.upper(),
    )


def with_other_hue(images: tf.Tensor, turn: tf.Tensor) -> tf.Tensor:
    """The images with their hue turned, each by its part of a circle."""
    hue, saturation, value = tf.unstack(tf.image.rgb_to_hsv(images), axis=-1)
    turned = tf.math.floormod(hue + turn[:, tf.newaxis, tf.newaxis], 1.0)
    return tf.image.hsv_to_rgb(tf.stack([turned, saturation, value], axis=-1))


def within_square(length: int, first: tf.Tensor, side: int) -> tf.Tensor:
    """Which rows or columns of each image are covered, shape [n, length]."""
    places = tf.range(length, dtype=tf.float32)[tf.newaxis]
    first = first[:, tf.newaxis]
    return (places >= first) & (places < first + float(side))


def per_image(numbers: tf.Tensor) -> tf.Tensor:
    """A number each, as it is multiplied with the pixels of an image."""
    return numbers[:, tf.newaxis, tf.newaxis, tf.newaxis]


def blended(own: tf.Tensor, before: tf.Tensor, part: tf.Tensor) -> tf.Tensor:
    """Features, or labels, blended with those of the examples before them.

    Args:
        own: Their first axis [n].
        before: Those of the examples before them, of the same shape.
        part: How much of each blend is its own, shape [n].
    """
    part = tf.reshape(part, [-1, *[1] * (own.shape.rank - 1)])
    return part * tf.cast(own, tf.float32) + (1.0 - part) * tf.cast(before, tf.float32)
