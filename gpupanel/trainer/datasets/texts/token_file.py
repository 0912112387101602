"""Texts as numbers of words, in a file of the cache, whatever vocabulary is chosen.

Each different word gets a number when it is first met, from 1 on; 0 stands for those that came
when there were too many, and for those that are too long to be words. Which of them a vocabulary
has, and how many words of a text count, is decided when texts are read.
"""

import hashlib
import struct
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
import numpy.typing as npt

from gpupanel.domain.text_data import MOST_VOCABULARY
from gpupanel.trainer.datasets.row_files import RowFile
from gpupanel.trainer.datasets.texts import problems
from gpupanel.trainer.datasets.texts.words import words_of
from gpupanel.trainer.parts.text_files import LONGEST_TEXT_BYTES

_LONGEST_WORD_BYTES: Final = 100
_TAIL: Final = struct.Struct("<5q")
"""At the end of the file: how many words, texts, numbers of the target, bytes of different words
and of what is known of the target there are. Before it stand these: words of 32 bits, where each
text ends, the digest of each text, the target, each different word on a line, what is known."""
_WORD_BYTES: Final = 4
_END_BYTES: Final = 8
_DIGEST_BYTES: Final = 16

Numbers = npt.NDArray[np.int32]


class TokenWriter:
    """Writes the words of texts, in memory that does not grow with how many texts there are.

    Args:
        file: At its start.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._numbers: dict[bytes, int] = {}
        self._ends = array("q")
        self._digests = bytearray()
        self._count = 0

    def add(self, text: bytes) -> None:
        """The next text, in UTF-8; what it has beyond the longest is left out.

        Raises:
            OSError: It cannot be written.
        """
        numbers, found = self._numbers, array("i")
        words = words_of(text[:LONGEST_TEXT_BYTES])
        self._digests += _digest_of(words, text)
        for word in words:
            number = numbers.get(word)
            if number is None:
                number = 0
                if len(word) <= _LONGEST_WORD_BYTES and len(numbers) < MOST_VOCABULARY:
                    number = numbers[word] = len(numbers) + 1
            found.append(number)
        self._file.write(found.tobytes())
        self._count += len(found)
        self._ends.append(self._count)

    def close(self, targets: npt.NDArray[np.float32], known: bytes) -> None:
        """Write what is known of all texts.

        Args:
            targets: The numbers of each text's target; of none or several columns.
            known: What is known of these, in whatever form.

        Raises:
            OSError: It cannot be written.
        """
        words = b"\n".join(self._numbers)
        ends = self._ends.tobytes()
        for content in (ends, self._digests, targets.tobytes(), words, known):
            self._file.write(content)
        counts = self._count, len(self._ends), targets.size, len(words), len(known)
        self._file.write(_TAIL.pack(*counts))


def _digest_of(words: list[bytes], text: bytes) -> bytes:
    """128 bits that differ where the words of two texts do, also those without a number.

    Case and punctuation make no difference, as they make none to a model; of a text without any
    word, and of what follows the longest text, each byte counts.
    """
    hasher = hashlib.blake2b(b" ".join(words), digest_size=_DIGEST_BYTES)
    hasher.update(b" " + (text[LONGEST_TEXT_BYTES:] if words else text))
    return hasher.digest()


@dataclass(frozen=True, slots=True, eq=False)
class TokenFile:
    """Texts as numbers of words.

    Attributes:
        file: Where they are.
        ends: Where each text ends, in words.
        digests: Of the words of each text, shape [texts, 2]: 128 bits of BLAKE2b.
        targets: Numbers of the targets, one text after the other.
        words: Each different word, from that with number 1 on.
        known: What is known of the targets.
    """

    file: RowFile
    ends: npt.NDArray[np.int64]
    digests: npt.NDArray[np.uint64]
    targets: npt.NDArray[np.float32]
    words: npt.NDArray[np.bytes_]
    known: bytes

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many words each text has."""
        return np.diff(self.ends, prepend=0)

    def numbers(self, first: int, count: int) -> Numbers:
        """So many words from that one on, whatever text they are of.

        Raises:
            ProblemError: They cannot be read any more.
        """
        try:
            return self.file.read_bytes(first * _WORD_BYTES, count * _WORD_BYTES).view(np.int32)
        except (OSError, EOFError) as error:
            folder = self.file.path.parent
            if isinstance(error, EOFError):
                cut = OSError("they were truncated; remove that folder")
                raise problems.cache_unusable(folder, cut) from error
            raise problems.cache_unusable(folder, error) from error


def open_tokens(path: Path) -> TokenFile:
    """What :class:`TokenWriter` wrote.

    Raises:
        OSError: It cannot be read, or is no such file.
    """
    file = RowFile(path)
    try:
        tail = file.read_bytes(max(0, file.size_bytes - _TAIL.size), _TAIL.size).tobytes()
        count, texts, targets, words, more = _TAIL.unpack(tail)
        at = count * _WORD_BYTES
        ends = file.read_bytes(at, texts * _END_BYTES).view(np.int64)
        at += texts * _END_BYTES
        digests = file.read_bytes(at, texts * _DIGEST_BYTES).view(np.uint64).reshape(texts, 2)
        at += texts * _DIGEST_BYTES
        numbers = file.read_bytes(at, targets * _WORD_BYTES).view(np.float32)
        at += targets * _WORD_BYTES
        lines = file.read_bytes(at, words).tobytes()
        known = file.read_bytes(at + words, more).tobytes()
    except (EOFError, ValueError, struct.error) as error:
        raise OSError(f"it is not a file of words: {error}") from error
    found = np.array(lines.split(b"\n") if lines else [], f"S{_LONGEST_WORD_BYTES}")
    return TokenFile(file, ends, digests, numbers, found, known)
