"""Texts as lists of word numbers, turned into rows that a dense network can read."""

import numpy as np

from gpupanel.trainer.datasets.examples import Array

WORD_COUNT = 5_000
"""Words that are told apart: the most frequent ones, since Keras numbers them by frequency."""


def multi_hot(texts: Array) -> Array:
    """One row a text: 1 at each word number that occurs in it, 0 elsewhere; ``uint8``.

    Word number ``n`` (from 1, the most frequent) stands in column ``n - 1``; rarer words than
    :data:`WORD_COUNT` are left out.

    Args:
        texts: One list of word numbers an example.
    """
    rows = np.zeros((len(texts), WORD_COUNT), np.uint8)
    for row, text in zip(rows, texts, strict=True):
        words = np.asarray(text, np.int64)
        row[words[(words >= 1) & (words <= WORD_COUNT)] - 1] = 1
    return rows
