"""What the files of a run held when they were checked: a start obeys and executes nothing else.

Whoever starts a run reads its profile, its plan and its Python code, and asks whether that code
is trusted. The processes of the run read these files again, seconds or days later. So they are
handed the digest of each with their start, and compare it with the very bytes that they then use.
"""

import hashlib
from typing import Self

from pydantic import Field

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import visible_line


def digest_of(content: bytes) -> str:
    """SHA-256 of all that stands in a file, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


class CheckedFiles(Value):
    """The digests of a run's files as they were checked.

    Attributes:
        digests: By the file's path in the run's folder: ``code/model.py``. A file without one was
            not checked: of such, data is read, and no code is executed.
    """

    digests: dict[str, str] = Field(default_factory=dict)

    def and_of(self, other: Self) -> Self:
        """These, and others that were checked or written later, which hold instead."""
        return self.model_copy(update={"digests": {**self.digests, **other.digests}})

    def check(self, name: str, content: bytes) -> None:
        """Refuse content that is not what was checked.

        Args:
            name: The file's path in the run's folder.
            content: All that was read of it, and will be used.

        Raises:
            ProblemError: It is something else.
        """
        wanted = self.digests.get(name)
        if wanted is not None and digest_of(content) != wanted:
            raise changed_file(name)


def changed_file(name: str) -> ProblemError:
    """The problem of a file of a run that holds something else than what was checked.

    Args:
        name: Its path in the run's folder.
    """
    return ProblemError(
        Problem(
            code="run_file_changed",
            message=f"{visible_line(name)} in the run's folder was changed after the run was "
            "checked to be started, so what stands there now was not used.",
            hint="Find out what writes into that folder, and who may. Then resume the run, which "
            "checks the file as it is now, or start its profile again.",
        )
    )
