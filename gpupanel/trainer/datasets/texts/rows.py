"""Texts as numbers of a vocabulary, made when they are asked for."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.datasets.row_files import read_in_chunks
from gpupanel.trainer.datasets.texts.token_file import TokenFile
from gpupanel.trainer.datasets.texts.words import FIRST_WORD, UNKNOWN

Floats = npt.NDArray[np.float32]
_CHUNK_WORDS = 2**18


@dataclass(frozen=True, slots=True, eq=False)
class TextRows:
    """Numbers of words, as ``float32``: it holds each whole number of a vocabulary exactly.

    Attributes:
        tokens: The texts.
        numbers: Of each of their different words, the number in the vocabulary; the first is that
            of what is no word.
        length: How many words of a text count.
        chosen: The texts that are examples, in their order; ``None``: all.
    """

    tokens: TokenFile
    numbers: npt.NDArray[np.int32]
    length: int
    chosen: Indices | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Examples first, then the words of one."""
        return len(self.tokens) if self.chosen is None else len(self.chosen), self.length

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of the numbers that are read."""
        return np.dtype(np.float32)

    def read(self, indices: Indices) -> Floats:
        """The features of these examples, in this order.

        Raises:
            ProblemError: They cannot be read.
        """
        rows = indices if self.chosen is None else self.chosen[indices]
        found = np.zeros((len(rows), self.length), np.float32)
        ends = self.tokens.ends
        for place, row in enumerate(rows.tolist()):
            start = int(ends[row - 1]) if row else 0
            count = min(int(ends[row]) - start, self.length)
            if count:
                found[place, :count] = self.numbers[self.tokens.numbers(start, count)]
            else:
                found[place, 0] = UNKNOWN  # a mean of no words is no number
        return found

    def digests(self, indices: Indices) -> npt.NDArray[np.uint64]:
        """Of the words of these examples, shape [examples, 2], whatever the vocabulary has."""
        return self.tokens.digests[indices if self.chosen is None else self.chosen[indices]]

    def in_memory(self) -> Floats:
        """The features of all examples.

        Raises:
            ProblemError: They cannot be read.
        """
        return read_in_chunks(self.read, self.shape)


def counted(tokens: TokenFile, rows: Indices) -> npt.NDArray[np.int64]:
    """How often each different word occurs in some texts; the first counts what is no word.

    Args:
        tokens: The texts.
        rows: Which of them.

    Raises:
        ProblemError: They cannot be read.
    """
    counts = np.zeros(len(tokens.words) + 1, np.int64)
    counts_here = np.zeros(len(tokens), np.bool_)
    counts_here[rows] = True
    first, start = 0, 0
    while first < len(tokens):
        # At least one text, and few enough that their words take little memory.
        end = max(first + 1, int(np.searchsorted(tokens.ends, start + _CHUNK_WORDS)))
        stop = int(tokens.ends[end - 1])
        numbers = tokens.numbers(start, stop - start)
        is_counted = np.repeat(counts_here[first:end], tokens.lengths[first:end])
        counts += np.bincount(numbers[is_counted], minlength=len(counts))
        first, start = end, stop
    return counts


def numbers_in(tokens: TokenFile, words: npt.NDArray[np.bytes_]) -> npt.NDArray[np.int32]:
    """The number of each different word of texts in a vocabulary, whose words are known.

    Args:
        tokens: The texts.
        words: Of the vocabulary, from the first word on.
    """
    known = {word: place for place, word in enumerate(words.tolist(), FIRST_WORD)}
    found = [known.get(word, UNKNOWN) for word in tokens.words.tolist()]
    return np.array([UNKNOWN, *found], np.int32)
