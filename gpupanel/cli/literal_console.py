"""A console to which a string is text, and never an instruction."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text
from typing_extensions import override

from gpupanel.domain.visible_text import visible_line, visible_lines


class LiteralConsole(Console):
    """Prints a string as one line of literal text, in tables too.

    Nothing in it is markup or an emoji's name, and what would act on the terminal is shown. What
    is to have styles is a :func:`styled` line, several lines are a :func:`paragraph`.
    """

    @override
    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(
            visible_line(text), **{**options, "markup": False, "emoji": False}
        )

    @override
    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        # Also what was made otherwise than by a string: only Rich's own segments may steer.
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(visible_lines(segment.text), segment.style)


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
