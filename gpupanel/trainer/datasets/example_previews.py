"""Examples and their labels as people see them: small images, the first values, names."""

import base64
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gpupanel.domain.data import Target
from gpupanel.domain.number_text import short_number
from gpupanel.domain.preview import ExamplePreview
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.examples import (
    AllExamples,
    Array,
    DataSet,
    Features,
    PackedOutput,
    file_of,
)
from gpupanel.trainer.datasets.packed_inputs import apart, first_input

_SHOWN_VALUES = 8
_SHOWN_WORDS = 12
_LONGEST_SIDE = 128
_NAMED_FOLDERS = 2


def label_texts(data: DataSet, labels: Array) -> list[str]:
    """What examples are, as people read it: the name of a class, all labels, or values.

    Of arrays it is their shape: nobody reads as many numbers.

    Args:
        data: Knows what labels are.
        labels: Shape [examples], [examples, outputs], or those of arrays.
    """
    if data.outputs:
        return ["; ".join(_output_text(each, row) for each in data.outputs) for row in labels]
    if data.arrays_of is not None:
        return ["itself" if data.learns_inputs else _shape_text(data.label_shape)] * len(labels)
    names = data.class_names
    match data.target:
        case Target.CLASSES:
            return [names[int(label)] for label in labels.astype(np.int64)]
        case Target.LABELS:
            rows = ([names[place] for place in np.flatnonzero(row)] for row in labels)
            return [_shortened(row) or "none" for row in rows]
    values = labels[:, np.newaxis] if labels.ndim == 1 else labels
    # A comma stands within a number.
    return [
        _shortened([short_number(value) for value in row], "; ")
        for row in values.astype(np.float64).tolist()
    ]


def _output_text(output: PackedOutput, row: Array) -> str:
    """An output of an example with its label, or the shape of its labels."""
    if output.shape:
        return f"{output.name} {_shape_text(output.shape)}"
    value = float(row[output.start])
    names = output.class_names
    return f"{output.name} {names[int(value)] if names else short_number(value)}"


def _shape_text(shape: Sequence[int]) -> str:
    return " x ".join(f"{side:,}" for side in shape)


def seen(features: Array, data: DataSet | AllExamples, greatest: float) -> tuple[Array, float]:
    """What is shown of examples: of several inputs the first one; and its greatest pixel.

    Args:
        features: As the loop carries them.
        data: Knows which inputs they are.
        greatest: That of one input.
    """
    if not data.inputs:
        return features, greatest
    (first,) = apart(features, data.inputs[:1]).values()
    return first, 255.0


def _shortened(texts: Sequence[str], between: str = ", ") -> str:
    more = ["..."] if len(texts) > _SHOWN_VALUES else []
    return between.join([*texts[:_SHOWN_VALUES], *more])


def example_name(features: Features, index: int) -> str:
    """The file of an example, with the folder that it lies in; empty where it has none of its own.

    Args:
        features: Of all examples.
        index: Which of them.
    """
    path = file_of(first_input(features), index)
    return as_utf8(str(Path(*Path(path).parts[-_NAMED_FOLDERS:]))) if path else ""


def example_preview(
    label: str,
    features: Array,
    greatest: float,
    words: Sequence[str] = (),
    *,
    longest_side: int = _LONGEST_SIDE,
    between: tuple[float, float] | None = None,
) -> ExamplePreview:
    """An example, small enough to be shown.

    Args:
        label: What it is.
        features: Of it alone.
        greatest: The greatest value that a pixel of bytes can have.
        words: What its numbers stand for, where they stand for words.
        longest_side: Of an image, in pixels; of a larger one every n-th pixel is left.
        between: The numbers that are black and white. ``None``: 0 and ``greatest`` of bytes, else
            the least and the greatest of the example.
    """
    if words:
        return ExamplePreview(label=label, text=_sentence(features, words))
    if between is None and features.dtype == np.uint8:
        between = 0.0, greatest
    pixels = _as_image(features, between, longest_side)
    if pixels is None:
        values = features.ravel()
        text = ", ".join(f"{value:g}" for value in values[:_SHOWN_VALUES].astype(np.float64))
        return ExamplePreview(label=label, text=text + (", ..." if values.size > 8 else ""))
    height, width, channels = pixels.shape
    return ExamplePreview(
        label=label,
        pixels_base64=base64.b64encode(pixels.tobytes()).decode("ascii"),
        width=width,
        height=height,
        channels=channels,
    )


def _sentence(features: Array, words: Sequence[str]) -> str:
    """The words that numbers stand for, as far as they are shown."""
    numbers = [int(number) for number in features.astype(np.int64) if number]
    shown = " ".join(words[number] for number in numbers[:_SHOWN_WORDS])
    return shown + (" ..." if len(numbers) > _SHOWN_WORDS else "")


def _as_image(
    features: Array, between: tuple[float, float] | None, longest_side: int
) -> Array | None:
    """``uint8`` pixels, shape [height, width, 1 or 3]; ``None`` when it is no image."""
    if features.ndim == 2:
        features = features[..., np.newaxis]
    if features.ndim != 3 or features.shape[-1] not in (1, 3):
        return None
    # Every n-th pixel is enough for a preview.
    stride = -(-max(features.shape[:2]) // longest_side)
    values = features[::stride, ::stride].astype(np.float64)
    least, most = between or (float(values.min()), float(values.max()))
    scaled = (values - least) / max(most - least, 1e-12) * 255.0
    return np.ascontiguousarray(np.rint(np.clip(scaled, 0.0, 255.0)).astype(np.uint8))
