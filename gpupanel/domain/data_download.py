"""A download of a data set before a run: the question to the process that does it, its answer."""

from gpupanel.domain.data import DataSettings
from gpupanel.domain.problem import Problem
from gpupanel.domain.value import Value


class DownloadRequest(Value):
    """Which data is to be fetched into Keras's cache."""

    data: DataSettings


class DownloadProgress(Value):
    """How far a download is.

    Attributes:
        done: Bytes of the file that is fetched.
        total: Its bytes; ``None`` where the server does not say.
    """

    done: int
    total: int | None = None


class DownloadEnd(Value):
    """How a download ended.

    Attributes:
        problems: Why there is nothing; empty: it is there.
    """

    problems: tuple[Problem, ...] = ()
