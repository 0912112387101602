"""What may decode images faster than one by one, as soon as a process has it."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gpupanel.trainer.datasets.images.pixels import PlainJpeg
from gpupanel.trainer.parts.image_pixels import WantedPixels

_LOOK_S = 0.2


@dataclass(frozen=True, slots=True)
class DecodedPart:
    """Some of the images that were to be decoded at once.

    Attributes:
        places: Which of them.
        pixels: Theirs, shape [places, height, width, channels]; not to be written to.
    """

    places: Sequence[int]
    pixels: npt.NDArray[np.uint8]


class JpegBatches(Protocol):
    """Decodes JPEGs to the pixels that :mod:`gpupanel.trainer.datasets.images.pixels` gives."""

    def decode(self, jpegs: Sequence[PlainJpeg], wanted: WantedPixels) -> list[DecodedPart]:
        """Their images in parts; what is in none has to be decoded one by one.

        Args:
            jpegs: What to decode.
            wanted: What is made of each.
        """


class ImageDecoding:
    """Shared by those who read images and who knows when TensorFlow may be used.

    Attributes:
        jpegs: ``None``: every image is decoded by itself, to the same pixels.
        looking: Held by the thread that looks at files in memory: each call into the system lets go
            of the interpreter, and two threads would hand it to and fro for every file.
    """

    def __init__(self, jpegs: JpegBatches | None = None, *, comes_later: bool = False) -> None:
        """Take what there is.

        Args:
            jpegs: See :attr:`jpegs`.
            comes_later: Somebody is about to set it, or not to, and then calls :meth:`settle`.
        """
        self.jpegs = jpegs
        self.looking = threading.Lock()
        self._is_settled = threading.Event()
        if not comes_later:
            self._is_settled.set()

    def settle(self) -> None:
        """Say that :attr:`jpegs` stays what it is."""
        self._is_settled.set()

    def wait(self, on_wait: Callable[[], None]) -> None:
        """Wait until it is known: who decodes much before is slower than who waits.

        The import of TensorFlow would wait, too, for the interpreter that decoding keeps busy.

        Args:
            on_wait: Called a few times a second; may raise, which ends it.
        """
        while not self._is_settled.wait(_LOOK_S):
            on_wait()
