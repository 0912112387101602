"""What may decode pictures faster than one by one, as soon as a process has it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gpupanel.trainer.datasets.images.pixels import PlainJpeg


class JpegBatches(Protocol):
    """Decodes JPEGs to the pixels that :mod:`gpupanel.trainer.datasets.images.pixels` gives."""

    def decode(
        self, jpegs: Sequence[PlainJpeg], size: tuple[int, int], channels: int
    ) -> list[npt.NDArray[np.uint8] | None]:
        """The picture of each; ``None`` for those that have to be decoded one by one.

        Args:
            jpegs: What to decode.
            size: Height and width that each is scaled to.
            channels: 3 for RGB, 1 for greyscale.
        """


@dataclass(slots=True)
class PictureDecoding:
    """Shared by those who read pictures and who knows when TensorFlow may be used.

    Attributes:
        jpegs: ``None``: every picture is decoded by itself, to the same pixels.
    """

    jpegs: JpegBatches | None = None
