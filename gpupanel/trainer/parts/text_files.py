"""Files of which each holds a text."""

import codecs
from typing import BinaryIO

LONGEST_TEXT_BYTES = 2**20
"""What follows is not read."""


def text_in_file(file: BinaryIO, encoding: str) -> str:
    """The text in a file, as far as texts are read.

    Args:
        file: At its start.
        encoding: In which it is written.

    Raises:
        UnicodeError: It is in another one.
        OSError: It cannot be read.
    """
    content = file.read(LONGEST_TEXT_BYTES + 1)
    is_cut = len(content) > LONGEST_TEXT_BYTES
    decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == "utf-8" else encoding)()
    # A letter that the cut went through is left out.
    return decoder.decode(content[:LONGEST_TEXT_BYTES], final=not is_cut)
