"""Texts for tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

GOOD = ["a Fine film", "wonderful, FINE story!", "great; great acting", "fine and great"]
BAD = ["a dull film", "boring, DULL story?", "poor (poor) acting", "dull and poor"]


def make_texts(root: Path, texts: Mapping[str, Sequence[str | bytes]]) -> Path:
    """A folder of texts for each class."""
    for name, of_class in texts.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        for number, text in enumerate(of_class):
            content = text.encode() if isinstance(text, str) else text
            (root / name / f"{number:04}.txt").write_bytes(content)
    return root


def reviews(count: int, seed: int = 0) -> list[tuple[str, int]]:
    """Texts of a few words with as many stars as they have good ones."""
    draw, found = np.random.default_rng(seed), []
    words = np.array(["the", "film", "was", "Ärger", "straße", "und", "so", "it", "is", "x1"])
    for _ in range(count):
        good = int(draw.integers(0, 4))
        text = [*draw.choice(words, int(draw.integers(1, 12))), *["good!"] * good, *["bad,"] * 2]
        found.append((" ".join(draw.permutation(text)), good))
    return found


def write_table(
    path: Path, rows: Sequence[tuple[str, object]], header: str = "review,stars"
) -> Path:
    lines = [header, *(f'"{text}",{stars}' for text, stars in rows)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path
