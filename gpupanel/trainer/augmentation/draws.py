"""What is drawn for each example: numbers alone, so that any division of a batch has the same."""

import enum

import numpy as np
import numpy.typing as npt

from gpupanel.domain.augmentation import Augmentation, Flip
from gpupanel.domain.problem import Problem, ProblemError

Draws = npt.NDArray[np.float32]

_OWN_STREAM = 1
"""After seed and epoch, which alone draw the order of the examples."""


class Drawn(enum.IntEnum):
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


def cut_side(augmentation: Augmentation, height: int, width: int) -> int:
    """The side of the square that is covered, in pixels."""
    return round(augmentation.cutout * min(height, width))


def draw_epoch(
    augmentation: Augmentation,
    size: tuple[int, int],
    examples: int,
    seed: int,
    epoch: int,
) -> Draws:
    """What is drawn for each example in an epoch, shape [examples, :attr:`Drawn.COUNT`].

    Args:
        augmentation: What may be changed, and by how much.
        size: Height and width of an image.
        examples: How many there are.
        seed: Of the run.
        epoch: Counted from 1.
    """
    random = np.random.default_rng([seed, epoch, _OWN_STREAM])
    uniform = random.random((examples, 11), np.float32)
    mirrored = np.where(uniform[:, :2] < 0.5, np.float32(-1.0), np.float32(1.0))
    spread = 2.0 * uniform[:, 2:9] - 1.0
    height, width = size
    drawn = np.zeros((examples, Drawn.COUNT), np.float32)
    if augmentation.flip not in (Flip.HORIZONTAL, Flip.BOTH):
        mirrored[:, 0] = 1.0
    if augmentation.flip not in (Flip.VERTICAL, Flip.BOTH):
        mirrored[:, 1] = 1.0
    angle = np.deg2rad(augmentation.rotate_degrees) * spread[:, 0]
    scale = 1.0 / (1.0 + augmentation.zoom * spread[:, 1])
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
        places[:, first + 2] = middle - moved + augmentation.shift * length * shift
    drawn[:, Drawn.BRIGHTNESS] = 1.0 + augmentation.brightness * spread[:, 4]
    drawn[:, Drawn.CONTRAST] = 1.0 + augmentation.contrast * spread[:, 5]
    drawn[:, Drawn.HUE] = augmentation.hue * spread[:, 6]
    half = cut_side(augmentation, height, width) // 2
    drawn[:, Drawn.CUT_ROW] = np.floor(uniform[:, 9] * height) - half
    drawn[:, Drawn.CUT_COLUMN] = np.floor(uniform[:, 10] * width) - half
    drawn[:, Drawn.OWN_PART] = 1.0
    if augmentation.mixup:
        part = random.beta(augmentation.mixup, augmentation.mixup, examples)
        drawn[:, Drawn.OWN_PART] = np.maximum(part, 1.0 - part)
    return drawn


def check_images(augmentation: Augmentation, shape: tuple[int, ...]) -> None:
    """Refuse to change what cannot be changed so.

    Args:
        augmentation: What may be changed.
        shape: Of one example.

    Raises:
        ProblemError: It is no image, or has no colours, where it must.
    """
    if augmentation.changes_images and len(shape) not in (2, 3):
        raise ProblemError(
            Problem(
                code="augmentation_needs_pictures",
                field="data.augmentation",
                message="Only images can be flipped, moved or coloured, and these examples are "
                "not.",
                hint="Leave out data.augmentation but for mixup, or choose images.",
            )
        )
    if augmentation.hue and (len(shape) != 3 or shape[2] != 3):
        raise ProblemError(
            Problem(
                code="augmentation_needs_colours",
                field="data.augmentation.hue",
                message="The hue of these images cannot be changed: they are not red, green and "
                "blue.",
                hint="Set data.augmentation.hue to 0.",
            )
        )
