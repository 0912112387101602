"""Words that may be names and may mean that a cell holds nothing: what is said about them."""

from collections.abc import Iterable, Iterator, Sequence

from gpupanel.domain.empty_words import WORDS_OF_PEOPLE, WORDS_OF_PROGRAMS, EmptyWords
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.visible_text import visible_line
from gpupanel.trainer.datasets.tables.imported import ColumnFacts

_MOST_NAMED = 5
_LONGEST_WORD = 20


def known_words(
    chosen: Sequence[str] | None, names: Iterable[str], categories: Iterable[Sequence[str]]
) -> tuple[str, ...]:
    """The words that mean nothing to a model: what is none of its names is none.

    Args:
        chosen: As a person chose them when it was trained; ``None``: nobody did.
        names: Of its classes.
        categories: Of each column that it takes.
    """
    if chosen is not None:
        return tuple(chosen)
    known = {*names, *(name for each in categories for name in each)}
    return tuple(word for word in (*WORDS_OF_PROGRAMS, *WORDS_OF_PEOPLE) if word not in known)


def is_word_for_nothing(cell: str) -> bool:
    """Whether a cell among numbers or dates may mean nothing: it is short and has no digits."""
    word = cell.strip()
    is_no_day = word.startswith("0000-00-00")  # as MySQL writes it
    return is_no_day or (len(word) <= _LONGEST_WORD and not any(map(str.isdigit, word)))


def taken_as_empty(word: str, empty: EmptyWords) -> Fix:
    """The fix that one more word means nothing."""
    words = sorted({*empty.in_names, word})
    return Fix.of(f'Take "{visible_line(word)}" as empty', "data.empty_words", words)


def word_problems(
    columns: Iterable[ColumnFacts], targets: Sequence[str], chosen: Sequence[str] | None
) -> tuple[Problem, ...]:
    """What was taken for a name, or for nothing, and may be the other; none where it was chosen.

    Args:
        columns: Those that are used.
        targets: The names of those that are predicted.
        chosen: The words that a person chose.
    """
    if chosen is not None:
        return ()
    used = list(columns)
    emptied = sorted({word for each in used for word, _ in each.empty_words})
    return tuple(_word_problems(used, targets, emptied))


def _word_problems(
    columns: Sequence[ColumnFacts], targets: Sequence[str], emptied: Sequence[str]
) -> Iterator[Problem]:
    for is_target in (True, False):
        cells = [
            (each.name, word, count)
            for each in columns
            if (each.name in targets) is is_target and each.kind == "category"
            for word, count in zip(each.names, each.counts, strict=True)
            if word.strip() in WORDS_OF_PEOPLE and count
        ]
        if cells:
            words = sorted({word.strip() for _, word, _ in cells})
            what = "class" if is_target else "category"
            yield Problem(
                code="table_words_kept",
                severity=Severity.WARNING if is_target else Severity.HINT,
                field="data.empty_words",
                message=f"{_shown(cells)}: taken as a {what} of that name, and it may mean that "
                "these cells are empty.",
                hint="Choose which words mean that a cell is empty.",
                fix=Fix.of(f"Keep {_quoted(words)} as a name", "data.empty_words", list(emptied)),
                alternatives=(
                    Fix.of(
                        f"Take {_quoted(words)} as empty",
                        "data.empty_words",
                        sorted({*emptied, *words}),
                    ),
                ),
            )
    cells = [
        (each.name, word, count)
        for each in columns
        if each.name in targets and each.kind in ("category", "class")
        for word, count in each.empty_words
    ]
    if cells:
        words = sorted({word for _, word, _ in cells})
        yield Problem(
            code="table_words_empty",
            severity=Severity.WARNING,
            field="data.empty_words",
            message=f"{_shown(cells)}: taken as empty, so these rows are left out.",
            hint="Choose which words mean that a cell is empty.",
            fix=Fix.of(f"Take {_quoted(words)} as empty", "data.empty_words", list(emptied)),
            alternatives=(
                Fix.of(
                    f"Keep {_quoted(words)} as a name",
                    "data.empty_words",
                    [word for word in emptied if word not in words],
                ),
            ),
        )


def _shown(cells: Sequence[tuple[str, str, int]]) -> str:
    each = [
        f'"{word}" in {count:,} {"row" if count == 1 else "rows"} of column "{name}"'
        for name, word, count in cells[:_MOST_NAMED]
    ]
    more = ", ..." if len(cells) > _MOST_NAMED else ""
    return f"{', '.join(each)}{more}"


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)
