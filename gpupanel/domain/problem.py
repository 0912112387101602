"""What a person must know: what happened, why, and what to do about it."""

import math
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AfterValidator

from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import visible_line, visible_lines

_Sentence = Annotated[str, AfterValidator(visible_line)]
_Lines = Annotated[str, AfterValidator(visible_lines)]


class Severity(StrEnum):
    """How much a problem matters."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


def _checked(value: Any) -> Any:  # noqa: ANN401 - as a change's
    """A value that TOML and JSON give back as it was: JSON makes null of NaN and of infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a setting is a finite number")
    if isinstance(value, dict):
        for each in value.values():
            _checked(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            _checked(each)
    return value


class Change(Value):
    """One profile key with the value that it gets.

    Attributes:
        path: The key's tables and name: ``("strategy", "shares")``.
        value: As TOML would hold it, every number of it finite; ``None`` removes the key, so that
            its default applies again.
    """

    path: tuple[str, ...]
    value: Annotated[Any, AfterValidator(_checked)] = None


class Fix(Value):
    """A change to the profile that one click applies.

    Attributes:
        label: What the button says, starting with a verb ("Use 62 + 2").
        changes: Applied together.
    """

    label: _Sentence
    changes: tuple[Change, ...]

    @classmethod
    def of(cls, label: str, key: str, value: Any = None) -> Self:  # noqa: ANN401 - as a change's
        """A fix that sets one key, dotted as a problem's ``field`` is; ``None`` removes it."""
        return cls(label=label, changes=(Change(path=tuple(key.split(".")), value=value),))


class Problem(Value):
    """One problem, worded so that a person can act on it.

    Names of files and what other programs wrote stand in it with control characters as escapes.

    Attributes:
        code: A stable name in snake_case that scripts and tests may rely on.
        severity: Errors keep a run from starting, or ended it.
        field: The profile key that it is about, dotted (``strategy.shares``); empty when it is
            about none.
        message: What is wrong and why, in one sentence.
        hint: What to do, in one sentence.
        detail: Copyable detail behind the sentence, such as a trace; empty when there is none.
        command: What mends it when it is pasted into a terminal; empty when no command does.
        fix: A change to the profile that mends it, when there is an obvious one.
        alternatives: Other changes that mend it, each of them alone.
    """

    code: str
    severity: Severity = Severity.ERROR
    field: str = ""
    message: _Sentence
    hint: _Sentence = ""
    detail: _Lines = ""
    command: _Sentence = ""
    fix: Fix | None = None
    alternatives: tuple[Fix, ...] = ()

    @property
    def is_error(self) -> bool:
        """Whether a run cannot start, or ended, because of it."""
        return self.severity is Severity.ERROR


class ProblemError(Exception):
    """Carries problems up to whoever shows them."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems
