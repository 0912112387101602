"""Which data a training learned from and what it held out, in digests: for its model's file.

Paths stay on this machine: of a model that is given away nobody reads where its data was.
"""

import hashlib
import json
import os
from dataclasses import dataclass

import numpy as np

from gpupanel.domain.data import DataSettings
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.trained_on import HeldOut
from gpupanel.trainer.datasets.example_digests import digests_of, sample_of
from gpupanel.trainer.datasets.examples import Features, HeldRows, held_rows, read_features
from gpupanel.trainer.parts.image_edges import edge_means, is_grey

_MOST_OF_THEM = (0.05, 0.95)
_MEASURED = 1000
"""So many examples show what their edges are like."""
_SAMPLED = 16
"""So many examples are read to know data again: as many are read of it in its preview."""


@dataclass(frozen=True, slots=True)
class KnownContent:
    """What identifies the examples of a training, wherever they are stored.

    Attributes:
        content: Of all training examples, as :func:`content_of` gives it.
        learned: How many of them were learned from.
        value_range: Least and greatest number of these; ``None``: they are not held in memory.
        edges: Of most of these, where they are greyscale images; likewise.
        sample: Of these, as :func:`~gpupanel.trainer.datasets.example_digests.sample_of` gives it.
    """

    content: str = ""
    learned: int = 0
    sample: tuple[str, ...] = ()
    value_range: tuple[float, float] | None = None
    edges: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class LearnedFrom:
    """What identifies a training's data; digests have 128 bits, in hexadecimal digits.

    Attributes:
        data: As :func:`place_of` gives it.
        content: What is in it.
        held_out: How it was divided.
    """

    data: str
    content: KnownContent
    held_out: HeldOut


def known_content(training: Features, learned: Features) -> KnownContent:
    """What identifies the examples.

    Args:
        training: Of all training examples.
        learned: Of those of them that are not held out.
    """
    digests, count, held = digests_of(learned), learned.shape[0], held_rows(learned)
    sample = () if digests is None else sample_of(digests)
    content = content_of(training, training.shape[0])
    between = None if held is None else _value_range(held)
    edges = None if held is None else _edges(held, between)
    return KnownContent(content, count, sample, between, edges)


def _value_range(held: HeldRows) -> tuple[float, float] | None:
    if 0 in held.shape:
        return None
    bounds = np.array([(part.min(), part.max()) for part in held.parts()])
    least, greatest = float(bounds[:, 0].min()), float(bounds[:, 1].max())
    return (least, greatest) if np.isfinite([least, greatest]).all() else None


def _edges(held: HeldRows, between: tuple[float, float] | None) -> tuple[float, float] | None:
    """How bright the edges of most of some examples are, from the least to the greatest number."""
    if between is None or between[0] >= between[1] or not is_grey(held.shape[1:]):
        return None
    count = held.shape[0]
    rows = np.unique(np.linspace(0, count - 1, min(count, _MEASURED)).astype(np.int32))
    least, greatest = between
    bright = (edge_means(held.array, held.places(rows)) - least) / (greatest - least)
    low, high = np.quantile(bright, _MOST_OF_THEM).tolist()
    return low, high


def learned_from(data: DataSettings, seed: int, content: KnownContent) -> LearnedFrom:
    """What a training with that seed learns from.

    Args:
        data: As its profile has it; a path in it is absolute, or meant from the working directory.
        seed: Draws what is held out.
        content: What is in it.
    """
    held_out = HeldOut(
        held_out_fraction=data.held_out_fraction,
        holdout=data.holdout,
        stratify=data.stratify,
        group=data.chosen_group,
        fold=data.fold,
        seed=seed,
    )
    return LearnedFrom(place_of(data), content, held_out)


def place_of(data: DataSettings) -> str:
    """A digest of the kind of data, and of its paths and names."""
    paths = {key: os.path.abspath(path) for key, path in data.chosen_paths.items()}  # noqa: PTH100
    named = {key: paths.get(key) for key in ("path", "labels_csv") if key in paths}
    said = data.model_dump(mode="json", include={"name"})
    text = json.dumps([data.source, named, said.get("name", "")], sort_keys=True)
    return _digest(text.encode(errors="surrogatepass"))


def content_of(features: Features, count: int) -> str:
    """A digest of how many examples there are and of some of them, evenly spaced.

    Args:
        features: As a model takes them; of images the pixels, whatever the files are called.
        count: The first of them that are training examples.

    Returns:
        Empty where one of these cannot be read.
    """
    rows = np.unique(np.linspace(0, max(0, count - 1), min(count, _SAMPLED)).astype(np.int32))
    try:
        read = np.ascontiguousarray(read_features(features, rows))
    except ProblemError:
        return ""  # whoever learns from it says so, or leaves it out
    return _digest(repr((count, read.shape, read.dtype.str)).encode() + read.tobytes())


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
