"""Whether spaces divide the cells of a table, as a delimiter does not."""

import io
import re
from collections.abc import Callable
from itertools import islice

_MOST_LINES = 200
_FEWEST_LINES = 3
_SPACES = re.compile(r" +")


def are_divided_by_spaces(text: str, delimiter: str, is_number: Callable[[str], bool]) -> bool:
    """Whether spaces divide all lines into as many cells, and columns of these are numbers.

    The comma of 1,5 2,5 a would be taken for a delimiter otherwise. One column of numbers is
    enough where the first line, which holds names then, has no delimiter.

    Args:
        text: The beginning of a file.
        delimiter: What was found to divide it.
        is_number: Whether a cell is a number.
    """
    lines = [line.strip() for line in islice(io.StringIO(text), _MOST_LINES)]
    rows = [_SPACES.split(line) for line in lines if line]
    rows = rows[:-1] if len(lines) == _MOST_LINES else rows
    if len(rows) < _FEWEST_LINES or len({*map(len, rows)}) > 1 or len(rows[0]) == 1:
        return False
    if any(cell.endswith(delimiter) or cell.startswith(delimiter) for cell in rows[-1]):
        return False  # a space beside a delimiter
    has_names = not any(delimiter in cell for cell in rows[0])
    columns = zip(*rows[has_names:], strict=True)
    numbers = sum(all(map(is_number, column)) for column in columns)
    return numbers >= (1 if has_names else 2)
