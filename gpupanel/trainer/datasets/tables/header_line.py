"""Whether the first line of a table names its columns: by what these hold below it."""

from collections.abc import Callable, Sequence
from statistics import median
from typing import Final

from gpupanel.domain.empty_words import empty_words

_WORDS_OF_A_TEXT: Final = 4
"""Names of columns rarely have as many words."""
_AS_LONG: Final = 3
"""A text has at least this part, one over it, of the words that are usual."""
_EMPTY = empty_words(None).in_numbers


def detected_header(
    first: Sequence[str], rows: Sequence[Sequence[str]], is_number: Callable[[str], bool]
) -> tuple[bool, bool]:
    """Whether a first line names the columns, and whether that is unsure.

    A cell that is no number over a column of numbers is a name; so is one that a column of few
    values does not hold. The only cell of a line is a text, where it is about as long as those
    below it. A number is a cell of a row, unless the numbers of the line count: years,
    or the places of columns.

    Args:
        first: Its cells.
        rows: Some that follow, each with as many cells.
        is_number: Whether a cell is a number.
    """
    others = [row for row in rows if tuple(row) != tuple(first)]
    if others and len(others) < len(rows) and not any(map(is_number, first)):
        # Where files were joined, the line of names is there again.
        named, is_unsure = detected_header(first, others, is_number)
        if named and not is_unsure:
            return True, False
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(first)
    seen = [_is_name(cell, column, is_number) for cell, column in zip(first, columns, strict=True)]
    if not any(map(is_number, first)):
        # Without a number, names and rows are alike: most tables have names.
        is_row = len(first) > 1 and False in seen and True not in seen
        is_row = is_row or (len(first) == 1 and _is_text_of(first[0], [row[0] for row in rows]))
        has_names = not is_row and (any(cell.strip() for cell in first) or not rows)
        return has_names, is_row
    if rows and (_counts(first) and not any(map(_counts, rows[:20]))):
        return True, True
    if True in seen and all(cell.strip().isdecimal() for cell in first if is_number(cell)):
        numbers = [cell.strip() for cell in first if is_number(cell)]
        return len({*numbers}) == len(numbers), True
    return False, True in seen


def _is_text_of(cell: str, column: Sequence[str]) -> bool:
    """Whether the first line of a file of texts alone, one a line, is a text as the others are."""
    words, others = len(cell.split()), [len(each.split()) for each in column if each.strip()]
    # A survey's column has a question for its name.
    if words < _WORDS_OF_A_TEXT or not others or cell.rstrip().endswith(("?", ":")):
        return False
    usual = median(others)
    return usual >= _WORDS_OF_A_TEXT and _AS_LONG * words >= usual


def _is_name(cell: str, column: Sequence[str], is_number: Callable[[str], bool]) -> bool | None:
    """Whether a cell is the name of a column and no part of it; ``None``: it may be either."""
    held = [each for each in column if each.strip() and each.strip() not in _EMPTY]
    if not held or not cell.strip() or cell.strip() in _EMPTY:
        return None
    if all(map(is_number, held)):
        return not is_number(cell)
    different = set(held)
    if len(different) > len(held) / 3:
        return None
    return cell not in different


def _counts(cells: Sequence[str]) -> bool:
    """Whether two numbers or more of a line are whole, each one more than the one before."""
    numbers = [cell.strip() for cell in cells if cell.strip().isdecimal()]
    if len(numbers) < 2 or sum(map(len, numbers)) > 9 * len(numbers):
        return False
    found = list(map(int, numbers))
    return found == list(range(found[0], found[0] + len(found)))
