"""The words of a text, and which of them a vocabulary has: as Keras's ``TextVectorization`` does.

That makes small letters of A to Z alone, and divides at spaces of ASCII (``tf.strings.lower``,
``tf.strings.split``), so bytes of UTF-8 need not become letters first. A test holds the two
together. TensorFlow has no part in it: an operation of its own would configure the devices.
"""

import string

import numpy as np
import numpy.typing as npt

PUNCTUATION = string.punctuation.encode()
"""What ``keras.layers.TextVectorization`` leaves out, as its ``standardize`` of old does."""
UNKNOWN = 1
"""The number of every word that the vocabulary has not; 0 fills up."""
FIRST_WORD = 2
SPECIAL_WORDS = ("", "[UNK]")
"""What Keras calls the numbers before the first word."""


def words_of(text: bytes) -> list[bytes]:
    """The words of a text in UTF-8."""
    return text.lower().translate(None, PUNCTUATION).split()


def most_frequent(
    words: npt.NDArray[np.bytes_], counts: npt.NDArray[np.int64], most: int
) -> npt.NDArray[np.intp]:
    """The places of the words that a vocabulary has, the most frequent one first.

    Of words that occur as often the one that is later in the alphabet comes first, as Keras has it.

    Args:
        words: Each different one.
        counts: How often each occurs; one that does not is none of them.
        most: How many there are at most.
    """
    occur = np.flatnonzero(counts)
    if len(occur) > most > 0:
        least = np.partition(counts[occur], len(occur) - most)[len(occur) - most]
        occur = occur[counts[occur] >= least]
    order = np.lexsort((words[occur], counts[occur]))[::-1]
    return np.asarray(occur[order][:most])
