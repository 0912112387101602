"""A console to which a string is text, and never an instruction, and which keeps names whole."""

from collections.abc import Iterable
from typing import Any, Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line, visible_lines

_LONGEST_WORD: Final = 20
"""A longer word of a cell is folded on a narrow terminal, unless it is a name: paths are."""
_UNBOUNDED: Final = 100_000
"""Columns of text that no table of ours has."""


class LiteralConsole(Console):
    """Prints a string as one line of literal text, in tables too.

    Nothing in it is markup or an emoji's name, and what would act on the terminal is shown. What
    is to have styles is a :func:`styled` line, several lines are a :func:`paragraph`.

    In a pipe or a file nothing is folded: a line is a sentence, or a row of a table. On a terminal
    that is too narrow for a table, its last columns are left out and named below it; the first
    column, and each that is ``no_wrap``, is never folded, so that what it names can be copied.
    """

    @override
    def print(
        self, *objects: Any, crop: bool = False, soft_wrap: bool | None = None, **options: Any
    ) -> None:
        if soft_wrap is None:
            soft_wrap = not self.is_terminal
        super().print(*objects, crop=crop, soft_wrap=soft_wrap, **options)

    @override
    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(
            visible_line(text), **{**options, "markup": False, "emoji": False}
        )

    @override
    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        options = options or self.options
        left_out: list[str] = []
        if isinstance(renderable, Table):
            if not self.is_terminal:
                options = options.update_width(max(1, self._measured(renderable).maximum))
            elif renderable.show_header:  # a grid has sentences that can be folded
                left_out = self._fitted(renderable, options.max_width)
                # A name that is longer than a line goes on in the next one.
                needed = self._measured(renderable).minimum
                options = options.update_width(max(options.max_width, needed))
        yield from self._harmless(renderable, options)
        if left_out:
            yield from self._harmless(_left_out(left_out), self.options)

    def _harmless(self, renderable: RenderableType, options: ConsoleOptions) -> Iterable[Segment]:
        # Also what was made otherwise than by a string: only Rich's own segments may steer.
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(visible_lines(segment.text), segment.style)

    def _measured(self, renderable: RenderableType) -> Measurement:
        return Measurement.get(self, self.options.update_width(_UNBOUNDED), renderable)

    def _fitted(self, table: Table, width: int) -> list[str]:
        """Leave out what has no room, from the right; returns the titles of that."""
        if self._measured(table).maximum <= width:
            return []
        widths = [self._widths(column, is_name=n == 0) for n, column in enumerate(table.columns)]
        _, right, _, left = table.padding
        room = width + (0 if table.pad_edge else left + right)
        left_out = []
        while len(widths) > 1 and sum(least + left + right for least, _ in widths) > room:
            widths.pop()
            left_out.append(str(table.columns.pop().header))
        room -= sum(least + left + right for least, _ in widths)
        for column, (least, most) in zip(table.columns, widths, strict=True):
            more = max(0, min(most - least, room))
            column.width = least + more
            room -= more
        return left_out[::-1]

    def _widths(self, column: Column, *, is_name: bool) -> tuple[int, int]:
        """The least that a column can do with, and what its longest cell takes."""
        measured = [self._measured(each) for each in (column.header, *column.cells)]
        most = max(each.maximum for each in measured)
        if column.no_wrap or is_name:
            return most, most
        return min(_LONGEST_WORD, max(each.minimum for each in measured)), most


def _left_out(titles: list[str]) -> Text:
    return styled(
        (f"Left out, as there is no room: {', '.join(titles)}. A pipe (| cat) has all.", "dim")
    )


def styled(*parts: str | tuple[str, str]) -> Text:
    """One line of literal texts; those with a style stand with it."""
    return Text.assemble(
        *(
            visible_line(part) if isinstance(part, str) else (visible_line(part[0]), part[1])
            for part in parts
        )
    )


def paragraph(text: str, style: str = "") -> Text:
    """Literal text of several lines, such as the end of a log."""
    return Text(visible_lines(text), style)
