"""Which words in a cell mean that it holds nothing.

In a column of numbers or dates each usual word does, since it can be nothing else. In a column of
names a word such as "None" may be one of the names, and nobody but a person knows.
"""

from typing import Annotated, Any

from pydantic import Field

from gpupanel.domain.setting import setting
from gpupanel.domain.value import Value
from gpupanel.domain.written_numbers import numbers_among

EmptyWord = Annotated[str, Field(min_length=1)]

WORDS_OF_PROGRAMS = (
    *("NaN", "nan", "-NaN", "-nan", "#N/A", "#NA", "#N/A N/A", "<NA>", "null", "NULL"),
    *("1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "\\N"),
    *("#DIV/0!", "#REF!", "#VALUE!", "#NUM!", "#NAME?", "#NULL!"),
)
"""What pandas, R, C, spreadsheets and databases write for nothing, and what is no name."""
WORDS_OF_PEOPLE = ("NA", "N/A", "n/a", "None", "?", "-")
"""What often means nothing, and may be a name."""


class EmptyWords(Value):
    """The words that mean nothing; a cell of white space alone holds nothing anyhow.

    Attributes:
        in_numbers: In columns of numbers and dates.
        in_names: In columns of categories, classes and labels.
        unsure: Words that are names in these columns and often mean nothing.
    """

    in_numbers: frozenset[str]
    in_names: frozenset[str]
    unsure: frozenset[str]

    @property
    def numbers(self) -> tuple[float, ...]:
        """The empty words that are numbers, such as -999, however a cell writes them."""
        return numbers_among(sorted(self.in_numbers))


def empty_words(chosen: tuple[str, ...] | None) -> EmptyWords:
    """The words that mean nothing.

    Args:
        chosen: Those that a person chose for columns of names; ``None``: nobody did.
    """
    usual = frozenset((*WORDS_OF_PROGRAMS, *WORDS_OF_PEOPLE))
    if chosen is None:
        people = frozenset(WORDS_OF_PEOPLE)
        return EmptyWords(in_numbers=usual, in_names=frozenset(WORDS_OF_PROGRAMS), unsure=people)
    words = frozenset(word.strip() for word in chosen)
    return EmptyWords(in_numbers=usual | words, in_names=words, unsure=frozenset())


def empty_words_setting(said: str = "", **more: Any) -> Any:  # noqa: ANN401 - as pydantic's
    """Which words mean that a cell holds nothing.

    Args:
        said: What else is said of it.
        more: As :func:`~gpupanel.domain.setting.setting` takes it.
    """
    return setting(
        "Empty words",
        "Words that mean that a cell holds nothing, in columns of classes, labels and categories; "
        "an empty list: no word does, so that None is a name. Automatic: NaN, null and what else "
        "only programs write; None, NA, N/A, ? and - are names there, with a warning. In columns "
        "of numbers and dates all of these words mean nothing, and those that are named here."
        f"{said}",
        default=None,
        off="automatic",
        advanced=True,
        **more,
    )
