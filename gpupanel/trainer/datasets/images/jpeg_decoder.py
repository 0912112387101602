"""JPEGs decoded many at once by TensorFlow, where a process has it: half the work of one by one.

The pixels are those of :mod:`gpupanel.trainer.datasets.images.pixels`, bit for bit. Both libraries
decode by libjpeg-turbo, and its accurate way gives one answer for a file, which TensorFlow takes
only when it is asked to; scaling is TensorFlow's there, too. A Pillow that was built with another
library is noticed (:func:`make_jpeg_decoder`).
"""

import io
import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from PIL import Image

from gpupanel.trainer.datasets.images.pixels import PlainJpeg

Pixels = npt.NDArray[np.uint8]

_HOST = "/device:CPU:0"
_LEAST_AT_ONCE = 4
_CALLS_AT_ONCE = 2
"""Of those who read ahead."""


class JpegDecoder:
    """Decodes on several cores at once, without the interpreter; several threads may call."""

    def __init__(self) -> None:
        self._functions: dict[tuple[tuple[int, int], int, int], tf.types.experimental.Callable] = {}
        # Steps of the training go through the same threads of TensorFlow's.
        cores = len(os.sched_getaffinity(0))
        self._at_once = max(_LEAST_AT_ONCE, cores // _CALLS_AT_ONCE - 1)

    def decode(
        self, jpegs: Sequence[PlainJpeg], size: tuple[int, int], channels: int
    ) -> list[Pixels | None]:
        """The image of each; ``None`` for one of those among which is a damaged one.

        Args:
            jpegs: What to decode.
            size: Height and width that each is scaled to.
            channels: 3 for RGB, 1 for greyscale: as they are stored.

        Returns:
            Shape [height, width, channels] each.
        """
        found: list[Pixels | None] = [None] * len(jpegs)
        for reduction in {jpeg.reduction for jpeg in jpegs}:
            places = [place for place, jpeg in enumerate(jpegs) if jpeg.reduction == reduction]
            function = self._function(size, channels, reduction)
            with tf.device(_HOST):
                contents = tf.constant([jpegs[place].content for place in places])
                try:
                    pixels = function(contents).numpy()
                except tf.errors.InvalidArgumentError:
                    continue
            for place, image in zip(places, pixels, strict=True):
                found[place] = image
        return found

    def _function(
        self, size: tuple[int, int], channels: int, reduction: int
    ) -> tf.types.experimental.Callable:
        key = (size, channels, reduction)
        if key not in self._functions:
            # Two threads may make one each, of which one is forgotten.
            self._functions[key] = _decoding(size, channels, reduction, self._at_once)
        return self._functions[key]


def _decoding(
    size: tuple[int, int], channels: int, reduction: int, at_once: int
) -> tf.types.experimental.Callable:
    def decoded(content: tf.Tensor) -> tf.Tensor:
        pixels = tf.io.decode_jpeg(
            content, channels=channels, ratio=reduction, dct_method="INTEGER_ACCURATE"
        )
        return tf.cast(tf.round(tf.image.resize(pixels, size)), tf.uint8)

    def all_decoded(contents: tf.Tensor) -> tf.Tensor:
        return tf.map_fn(
            decoded,
            contents,
            parallel_iterations=at_once,
            fn_output_signature=tf.TensorSpec((*size, channels), tf.uint8),
        )

    signature = [tf.TensorSpec([None], tf.string)]
    return tf.function(all_decoded, input_signature=signature, autograph=False)


def make_jpeg_decoder() -> JpegDecoder | None:
    """``None`` where Pillow decodes by a library that gives other pixels than TensorFlow's.

    To be called when the devices are configured, which calling TensorFlow puts an end to.
    """
    decoder, noise = JpegDecoder(), np.random.default_rng(0).integers(0, 256, (40, 56, 3), np.uint8)
    content = io.BytesIO()
    Image.fromarray(noise).save(content, "JPEG", quality=90)
    for reduction in (1, 2):
        size = (40 // reduction, 56 // reduction)
        (found,) = decoder.decode([PlainJpeg(content.getvalue(), reduction)], size, 3)
        with Image.open(content) as image:
            image.draft(None, (size[1], size[0]))
            if found is None or not np.array_equal(found, np.asarray(image)):
                return None
    return decoder
