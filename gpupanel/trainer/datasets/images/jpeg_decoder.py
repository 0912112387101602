"""JPEGs decoded many at once by TensorFlow, where a process has it: half the work of one by one.

The pixels are those of :mod:`gpupanel.trainer.datasets.images.pixels`, bit for bit. Both libraries
decode by libjpeg-turbo, and its accurate way gives one answer for a file, which TensorFlow takes
only when it is asked to; scaling is TensorFlow's there, too. A Pillow that was built with another
library is noticed (:func:`make_jpeg_decoder`).
"""

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from PIL import Image

from gpupanel.trainer.datasets.images.decoding import DecodedPart
from gpupanel.trainer.datasets.images.pixels import PlainJpeg
from gpupanel.trainer.parts.image_pixels import WantedPixels

Pixels = npt.NDArray[np.uint8]

_HOST = "/device:CPU:0"
_LEAST_AT_ONCE = 4
_CALLS_AT_ONCE = 2
"""Calls of the decoder at the same time, by threads that read ahead."""
_IMAGES_A_CALL = (32, 16)
"""The graphs for so many are unrolled: a loop takes a tenth of what an image does. Fewer, which are
left over, go through the loop."""


class JpegDecoder:
    """Decodes on several cores at once, without the interpreter; several threads may call."""

    def __init__(self) -> None:
        self._functions: dict[_Decoding, tf.types.experimental.Callable] = {}
        # Steps of the training go through the same threads of TensorFlow's.
        cores = len(os.sched_getaffinity(0))
        self._at_once = max(_LEAST_AT_ONCE, cores // _CALLS_AT_ONCE - 1)

    def decode(self, jpegs: Sequence[PlainJpeg], wanted: WantedPixels) -> list[DecodedPart]:
        """Their images in parts; one among which is a damaged one is left out.

        Args:
            jpegs: What to decode.
            wanted: What is made of each; its channels are those that are stored.
        """
        found: list[DecodedPart] = []
        for reduction in {jpeg.reduction for jpeg in jpegs}:
            places = [place for place, jpeg in enumerate(jpegs) if jpeg.reduction == reduction]
            while places:
                count = next((each for each in _IMAGES_A_CALL if each <= len(places)), None)
                part, places = places[:count], places[count:] if count else []
                decoding = _Decoding(wanted.size, wanted.channels, reduction, count)
                try:
                    pixels = self._decode(decoding, [jpegs[place].content for place in part])
                except tf.errors.InvalidArgumentError:
                    continue
                found.append(DecodedPart(part, pixels))
        return found

    def _decode(self, decoding: "_Decoding", contents: Sequence[bytes]) -> Pixels:
        with tf.device(_HOST):
            if decoding not in self._functions:
                # Two threads may make one each, of which one is forgotten.
                self._functions[decoding] = decoding.function(self._at_once)
            # As an operation: what Python does to call a function takes six times as long, while no
            # other thread gets the interpreter.
            (pixels,) = tf.raw_ops.PartitionedCall(
                args=[tf.constant(contents)], Tout=[tf.uint8], f=self._functions[decoding]
            )
            # What the tensor holds, not a copy of it.
            return np.asarray(pixels)


@dataclass(frozen=True, slots=True)
class _Decoding:
    """What a call does.

    Attributes:
        size: Height and width that each image is scaled to.
        channels: 3 for RGB, 1 for greyscale.
        reduction: As :attr:`PlainJpeg.reduction`.
        count: Of the images, for an unrolled graph; ``None``: any number, in a loop.
    """

    size: tuple[int, int]
    channels: int
    reduction: int
    count: int | None

    def function(self, at_once: int) -> tf.types.experimental.Callable:
        """Takes the files' contents, shape [count]; gives [count, height, width, channels].

        Args:
            at_once: How many images are decoded side by side.
        """

        def looped(contents: tf.Tensor) -> tf.Tensor:
            return tf.map_fn(
                self._decoded,
                contents,
                parallel_iterations=at_once,
                fn_output_signature=tf.TensorSpec((*self.size, self.channels), tf.uint8),
            )

        def unrolled(contents: tf.Tensor) -> tf.Tensor:
            images: list[tf.Tensor] = []
            for place, content in enumerate(tf.unstack(contents, self.count)):
                before = images[place - at_once] if place >= at_once else None
                # No more at once than in the loop.
                with tf.control_dependencies([] if before is None else [before]):
                    images.append(self._decoded(content))
            return tf.stack(images)

        # Traced here and once: TensorFlow takes functions made of the same lines for one, and would
        # warn in a run of several sizes that its calls are traced again and again.
        return tf.function(
            looped if self.count is None else unrolled,
            input_signature=[tf.TensorSpec([self.count], tf.string)],
            autograph=False,
        ).get_concrete_function()

    def _decoded(self, content: tf.Tensor) -> tf.Tensor:
        pixels = tf.io.decode_jpeg(
            content, channels=self.channels, ratio=self.reduction, dct_method="INTEGER_ACCURATE"
        )
        # Rounds half to even and casts in one pass, which two operations would not.
        rounded = tf.raw_ops.QuantizeV2(
            input=tf.image.resize(pixels, self.size),
            min_range=0.0,
            max_range=255.0,
            T=tf.quint8,
            mode="SCALED",
            round_mode="HALF_TO_EVEN",
        )
        return tf.bitcast(rounded.output, tf.uint8)


def make_jpeg_decoder() -> JpegDecoder | None:
    """``None`` where Pillow decodes by a library that gives other pixels than TensorFlow's.

    To be called when the devices are configured, which calling TensorFlow puts an end to.
    """
    decoder, noise = JpegDecoder(), np.random.default_rng(0).integers(0, 256, (40, 56, 3), np.uint8)
    content = io.BytesIO()
    Image.fromarray(noise).save(content, "JPEG", quality=90)
    for reduction in (1, 2):
        size = (40 // reduction, 56 // reduction)
        jpeg = PlainJpeg(content.getvalue(), reduction)
        found = decoder.decode([jpeg], WantedPixels(size, 3))
        with Image.open(content) as image:
            image.draft(None, (size[1], size[0]))
            if not found or not np.array_equal(found[0].pixels[0], np.asarray(image)):
                return None
    return decoder
