"""Files that cannot be read and are skipped, up to a share of all."""

import math
import threading
from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.visible_text import as_utf8

SKIPPED_KEY = "data.unreadable_share"
"""The setting that says which part of the files may be unreadable."""
_MOST_NAMED = 1000
_SHOWN = 5


def share_for(count: int, total: int) -> float | None:
    """The least share, to four digits, with which so many of the files may be skipped.

    Returns:
        ``None`` where none does: a share is less than 1.
    """
    ten_thousandths = math.ceil(10_000 * count / total)
    # What the division rounds down would be one too few.
    while int(total * (ten_thousandths / 10_000)) < count:
        ten_thousandths += 1
    share = ten_thousandths / 10_000
    return share if share < 1.0 else None


class SkippedFiles:
    """Counts the files that cannot be read; several threads may report one.

    Args:
        total: How many files there are.
        share: The part of them that may be unreadable.
        field: The setting that says the share.
    """

    def __init__(self, total: int, share: float, field: str = SKIPPED_KEY) -> None:
        self._total = total
        self._most = int(total * share)
        self._share = share
        self._field = field
        self._errors: dict[str, ProblemError] = {}
        self._lock = threading.Lock()

    def add(self, path: str, error: ProblemError) -> None:
        """Take note of a file; one that is known counts once.

        Raises:
            ProblemError: It is one more than may be skipped.
        """
        with self._lock:
            self._errors.setdefault(path, error)
            count = len(self._errors)
        if not self._most:
            raise error
        if count > self._most:
            raise ProblemError(self._too_many()) from error

    def __len__(self) -> int:
        return len(self._errors)

    def error_of(self, path: str) -> ProblemError | None:
        """Why a file cannot be read; ``None``: it can, as far as anybody knows."""
        return self._errors.get(path)

    def note(self, *, are_left_out: bool = False) -> Problem | None:
        """What is reported of the skipped files; ``None``: there are none.

        Args:
            are_left_out: Nothing stands in for them.
        """
        if not self._errors:
            return None
        instead = "The next image with the same label takes the place of each."
        if are_left_out:
            instead = "They are left out."
        return Problem(
            code="data_images_skipped",
            severity=Severity.WARNING,
            field=self._field,
            message=f"{self._counted()} cannot be read: {self._named()}. {instead}",
            hint=f"Repair or remove them; or set {self._field} to 0, to end a run at the first. A "
            "scan of the data finds all.",
            detail=self._detail(),
        )

    def _too_many(self) -> Problem:
        return Problem(
            code="data_images_unreadable",
            field=self._field,
            message=f"{self._counted()} cannot be read, more than the {self._share:.2%} that may "
            f"be skipped: {self._named()}.",
            hint=f"Repair or remove them, or raise {self._field}.",
            detail=self._detail(),
        )

    def _counted(self) -> str:
        """How many were skipped so far: not all files may have been read yet."""
        return f"At least {len(self):,} of {self._total:,} images"

    def _named(self) -> str:
        with self._lock:
            names = [as_utf8(Path(path).name) for path in sorted(self._errors)[:_SHOWN]]
        more = ", ..." if len(self) > _SHOWN else ""
        return ", ".join(f'"{name}"' for name in names) + more

    def _detail(self) -> str:
        with self._lock:
            errors = [self._errors[path] for path in sorted(self._errors)[:_MOST_NAMED]]
        return "\n".join(problem.message for error in errors for problem in error.problems)
