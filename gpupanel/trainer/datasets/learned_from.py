"""Where the examples of a training are and how they were divided, in digests: for its model's file.

Paths stay on this machine: of a model that is given away nobody reads where its data was.
"""

import hashlib
import json
import os
from dataclasses import dataclass

from gpupanel.domain.data import DataSettings

_NOT_DIVISION = frozenset(
    ["augmentation", "cache", "class_weights", "unreadable_share", "white_value"]
)
"""Settings that change neither which examples there are nor which are held out."""


@dataclass(frozen=True, slots=True)
class LearnedFrom:
    """Of a training's data; 128 bits in hexadecimal digits each.

    Attributes:
        data: Its kind, and its paths and names.
        division: All that decides which examples are held out, with the seed.
    """

    data: str
    division: str


def learned_from(data: DataSettings, seed: int) -> LearnedFrom:
    """The digests of data as a training with that seed reads it.

    Args:
        data: Which; a path in it is absolute, or meant from the working directory.
        seed: Draws what is held out.
    """
    paths = {key: os.path.abspath(path) for key, path in data.chosen_paths.items()}  # noqa: PTH100
    named = {key: paths.get(key) for key in ("path", "labels_csv") if key in paths}
    said = {**data.model_dump(mode="json", exclude=set(_NOT_DIVISION)), **paths}
    place = [data.source, named, said.get("name", "")]
    return LearnedFrom(_digest(place), _digest([said, seed]))


def _digest(what: object) -> str:
    text = json.dumps(what, sort_keys=True)
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()
