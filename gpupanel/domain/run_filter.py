"""What a person types to find runs: words, values that are compared, tags.

``val_accuracy > 0.9 and model = cnn and tag:baseline``. Without a comparison or a tag it is words
that all have to be found, as everywhere; what stands in quotes is one of them.
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.value import Value

_TOKEN: Final = re.compile(r'"[^"]*"|<=|>=|!=|==|[<>=]|(?:[^\s"<>=!]|!(?!=))+|"')
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_SIGNS: Final = ("=", "!=", "<", "<=", ">", ">=")
_SAME: Final = "=="
_TAG: Final = "tag:"
_AND: Final = "and"
_SHORT: Final = {"lr": "learning_rate", "batch": "global_batch_size"}
"""What people call settings in few letters."""
_EXAMPLE: Final = "Write it like this: val_accuracy > 0.9 and model = cnn."
_Compared = TypeVar("_Compared", str, float)
LONGEST_FILTER: Final = 1_000
"""Characters; nobody types more."""


class ValueComparison(Value):
    """A value that runs must have.

    Attributes:
        name: Of the setting or metric, as it was typed.
        sign: ``=``, ``!=``, ``<``, ``<=``, ``>`` or ``>=``.
        text: What it is compared with.
        number: That as a number, percent as a fraction; ``None``: it is a text.
    """

    name: str
    sign: str
    text: str
    number: float | None = None

    @property
    def is_order(self) -> bool:
        """Whether it asks for more or less, and not for the same or another value."""
        return self.sign not in ("=", "!=")

    def holds(self, value: str | float | None) -> bool:
        """Whether that value is as it asks; what a run does not have never is."""
        if value is None:
            return False
        if isinstance(value, str):
            return _holds(self.sign, value.casefold(), self.text.casefold())
        if self.number is None:
            return self.sign == "!="
        return _holds(self.sign, value, self.number)


class RunFilter(Value):
    """All of it has to be true of a run; empty: every run is found.

    Attributes:
        words: Parts of texts that are found in it, whatever their case.
        tags: It has each of them.
        comparisons: Its values are so.
    """

    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    comparisons: tuple[ValueComparison, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it is words only."""
        return not self.tags and not self.comparisons


def parse_run_filter(text: str) -> RunFilter:
    """What was typed, as a filter.

    Raises:
        ProblemError: It cannot be understood; says where and why.
    """
    tokens = _TOKEN.findall(text[:LONGEST_FILTER])
    if not any(_is_sign(token) or token.casefold().startswith(_TAG) for token in tokens):
        return RunFilter(words=tuple(word for word in map(_unquoted, tokens) if word))
    if '"' in tokens:
        raise ProblemError(_problem("A quote is opened and not closed", 'Add the closing ".'))
    found = RunFilter()
    for term in _terms(tokens):
        part = _term(term)
        found = RunFilter(
            words=found.words + part.words,
            tags=found.tags + part.tags,
            comparisons=found.comparisons + part.comparisons,
        )
    return found


def keys_named(name: str, keys: Iterable[str]) -> tuple[str, ...]:
    """The dotted keys that a name means: the same one, else those that end with it.

    Args:
        name: As a person types it: "learning rate", "epochs", "model.filters", "model".
        keys: Dotted keys of a profile. A table alone means the key that says which kind it is.
    """
    plain = plain_name(name)
    plain = _SHORT.get(plain, plain)
    by_name = {plain_name(key): key for key in keys}
    for whole in (plain, f"{plain}.source", f"{plain}.kind"):
        if whole in by_name:
            return (by_name[whole],)
    return tuple(key for each, key in by_name.items() if each.endswith(f".{plain}"))


def plain_name(name: str) -> str:
    """A name whatever its case, and whether spaces, hyphens or underscores join its words."""
    return re.sub(r"[\s_-]+", "_", name.strip().casefold())


def _holds(sign: str, value: _Compared, other: _Compared) -> bool:
    match sign:
        case "=":
            return value == other
        case "!=":
            return value != other
        case "<":
            return value < other
        case "<=":
            return value <= other
        case ">":
            return value > other
    return value >= other


def _is_sign(token: str) -> bool:
    return token == _SAME or token in _SIGNS


def _unquoted(token: str) -> str:
    is_quoted = len(token) > 1 and token.startswith('"') and token.endswith('"')
    return token[1:-1] if is_quoted else token


def _terms(tokens: Sequence[str]) -> list[list[str]]:
    terms: list[list[str]] = [[]]
    for token in tokens:
        if token.casefold() == _AND:
            terms.append([])
            continue
        if token.casefold().startswith(_TAG) and terms[-1]:
            terms.append([])  # what was before it needs no "and"
        terms[-1].append(token)
    for place, term in enumerate(terms):
        if not term:
            side = "before" if place == 0 else "after"
            raise ProblemError(_problem(f"There is nothing {side} “and”", _EXAMPLE))
    return terms


def _term(tokens: Sequence[str]) -> RunFilter:
    signs = [place for place, token in enumerate(tokens) if _is_sign(token)]
    if signs:
        return RunFilter(comparisons=(_comparison(tokens, signs),))
    if tokens[0].casefold().startswith(_TAG):
        name = " ".join([tokens[0][len(_TAG) :], *map(_unquoted, tokens[1:])]).strip()
        if not name:
            raise ProblemError(_problem("There is no tag after “tag:”", "Write tag:baseline."))
        return RunFilter(tags=(name.casefold(),))
    return RunFilter(words=tuple(word for word in map(_unquoted, tokens) if word))


def _comparison(tokens: Sequence[str], signs: Sequence[int]) -> ValueComparison:
    place = signs[0]
    sign = tokens[place]
    if len(signs) > 1:
        why = f"One comparison has “{sign}” and “{tokens[signs[1]]}”"
        raise ProblemError(_problem(why, "Join two comparisons by “and”."))
    name = " ".join(map(_unquoted, tokens[:place]))
    if not name.strip():
        why = f"There is no setting or metric before “{sign}”"
        raise ProblemError(_problem(why, _EXAMPLE))
    value = tokens[place + 1 :]
    text = " ".join(map(_unquoted, value))
    if not value:
        raise ProblemError(_problem(f"There is no value after “{sign}”", _EXAMPLE))
    is_quoted = any(token.startswith('"') for token in value)
    return ValueComparison(
        name=name,
        sign="=" if sign == _SAME else sign,
        text=text,
        number=None if is_quoted else _number(text),
    )


def _number(text: str) -> float | None:
    bare = text.removesuffix("%").strip()
    if not _NUMBER.fullmatch(bare):
        return None
    number = float(bare) / 100.0 if text.endswith("%") else float(bare)
    return number if math.isfinite(number) else None


def _problem(why: str, what_to_do: str) -> Problem:
    return Problem(code="run_filter_invalid", message=f"{why}.", hint=what_to_do)
