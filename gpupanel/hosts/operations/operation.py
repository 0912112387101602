"""An operation that a window may ask of a host: what is asked, its parts and its answer."""

from dataclasses import dataclass
from typing import Annotated, Final, Generic, TypeVar

from pydantic import Field

from gpupanel.domain.value import Value

_RequestT = TypeVar("_RequestT", bound=Value)
_PartT = TypeVar("_PartT", bound=Value)
_AnswerT = TypeVar("_AnswerT", bound=Value)

MOST_PIECE: Final = 16 * 2**20

RunName = Annotated[str, Field(pattern=r"^[^/\x00.][^/\x00]*$", max_length=255)]
"""Of a run's folder: no path, none that leads upwards, none that is hidden."""

Bytes = Annotated[str, Field(max_length=MOST_PIECE)]
"""A file's bytes, each as the character of that number (Latin-1): text stays text, which is
compressed on its way, and no byte is lost."""


@dataclass(frozen=True, slots=True)
class Operation(Generic[_RequestT, _PartT, _AnswerT]):
    """One that is called by its name.

    Attributes:
        name: In a line.
        request: What is asked.
        part: What comes before the answer, any number of times.
        answer: What it comes to.
    """

    name: str
    request: type[_RequestT]
    part: type[_PartT]
    answer: type[_AnswerT]


class Nothing(Value):
    """Where nothing needs to be said."""
