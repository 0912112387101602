"""Questions that are asked of a few lines of Python in place of the process that answers them."""

import sys
from dataclasses import replace
from typing import TypeVar

from gpupanel.domain.value import Value
from gpupanel.runs.questions.question import Question

_RequestT = TypeVar("_RequestT", bound=Value)
_AnswerT = TypeVar("_AnswerT", bound=Value)


def asked_of(question: Question[_RequestT, _AnswerT], code: str) -> Question[_RequestT, _AnswerT]:
    """The same question, which that code answers."""
    return replace(question, command=(sys.executable, "-c", code))


def answering(answer: Value, wait_s: float = 0.0) -> str:
    """Code that answers that."""
    return f"import time; time.sleep({wait_s}); print({answer.model_dump_json()!r})"
