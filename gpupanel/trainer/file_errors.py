"""What an error says of the file system: TensorFlow has one error for full disks and full memory.

``absl::ErrnoToStatusCode`` (abseil, which TensorFlow 2.21 uses for what the system answers) makes
``RESOURCE_EXHAUSTED`` of a full disk, a used up quota, too many open files or links, and of memory
that is not there. Only the words distinguish them.
"""

import errno
import os
from collections.abc import Iterator
from typing import Final

NO_SPACE: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_NO_SPACE_WORDS: Final = tuple(os.strerror(number) for number in sorted(NO_SPACE))
_FILE_WORDS: Final = (
    *_NO_SPACE_WORDS,
    *(os.strerror(number) for number in (errno.EMFILE, errno.ENFILE, errno.EMLINK)),
)


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error, what it was raised from, and so on."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def is_no_space(error: BaseException) -> bool:
    """Whether an error, not what it came from, says that a disk is full or a quota used up."""
    if isinstance(error, OSError) and error.errno in NO_SPACE:
        return True
    return any(words in str(error) for words in _NO_SPACE_WORDS)


def is_of_files(error: BaseException) -> bool:
    """Whether an error, not what it came from, says that files ran out of something."""
    return is_no_space(error) or any(words in str(error) for words in _FILE_WORDS)
