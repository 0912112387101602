"""Which set the name of a folder means, in the spellings that people use."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from unicodedata import normalize

TRAINING: Final = "path"
VALIDATION: Final = "validation_path"
TEST: Final = "test_path"
UNLABELLED: Final = ""
"""Of folders of examples to predict on, which are none of the three sets."""

_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "train": (TRAINING,),
    "training": (TRAINING,),
    "trn": (TRAINING,),
    "val": (VALIDATION,),
    "valid": (VALIDATION,),
    "validation": (VALIDATION,),
    "validate": (VALIDATION,),
    "dev": (VALIDATION,),
    "eval": (VALIDATION, TEST),
    "evaluation": (VALIDATION, TEST),
    "test": (TEST,),
    "tests": (TEST,),
    "testing": (TEST,),
    "tst": (TEST,),
    "holdout": (TEST, VALIDATION),
    "pred": (UNLABELLED,),
    "predict": (UNLABELLED,),
    "prediction": (UNLABELLED,),
    "unlabeled": (UNLABELLED,),
    "unlabelled": (UNLABELLED,),
    "unsup": (UNLABELLED,),
    "unsupervised": (UNLABELLED,),
}
"""What each word means; of two the second where another folder is the first."""
_FILLING: Final = (
    *("set", "sets", "data", "dataset", "images", "image", "imgs", "img", "pictures", "photos"),
    *("split", "folder", "files", "the", "jpg", "jpeg", "png"),
)
_TOGETHER: Final = re.compile(f"({'|'.join(_WORDS)})(?:{'|'.join(_FILLING)})")


def meant_by(name: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The settings of the sets that a name may mean, and the other words in it.

    ``seg_train``, ``training-set``, ``TrainSet``, ``1_train`` and ``train_images`` are of the
    training set; ``None``: the name does not say a set, or says two of them.
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", normalize("NFKC", name)).lower()
    words = re.findall(r"[^\W\d_]+", re.sub(r"hold[\W_]out", "holdout", apart))
    words = [whole[1] if (whole := _TOGETHER.fullmatch(word)) else word for word in words]
    sets = [word for word in words if word in _WORDS]
    if len(sets) != 1:
        return None
    others = (word for word in words if word not in _WORDS and word not in _FILLING)
    return _WORDS[sets[0]], tuple(others)


def known_sets(folders: Sequence[Path]) -> dict[Path, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Those whose names say a set, with the settings that each may mean and its other words."""
    meant = {folder: meant_by(folder.name) for folder in folders}
    return {folder: each for folder, each in meant.items() if each is not None}
