"""Curves as a picture (SVG) inside the page, with axes, a legend and round numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gpupanel.domain.number_text import number
from gpupanel.runs.report.markup import Html, element
from gpupanel.runs.report.plot_frame import HEIGHT, WIDTH, Frame, PlotAxis

_GREATEST: Final = 1e30
"""What is beyond that is no measurement, and no axis reaches it."""
_MOST_DOTS: Final = 40
_WHOLE: Final = PlotAxis(0.0, 1.0, 0.2)


@dataclass(frozen=True, slots=True)
class Line:
    """One curve.

    Attributes:
        label: In the legend.
        points: Place and value, in their order.
        style: Which of the styles of lines: 0, 1, and so on.
    """

    label: str
    points: Sequence[tuple[float, float]]
    style: int = 0


def chart(title: str, below: str, lines: Sequence[Line]) -> Html:
    """A picture of curves with its title and the last values; empty where nothing was measured.

    Args:
        title: Of the picture.
        below: What is along the lower axis.
        lines: The curves.
    """
    kept = [
        Line(line.label, _drawable(line.points), line.style)
        for line in lines
        if _drawable(line.points)
    ]
    if not kept:
        return Html()
    frame = Frame(
        PlotAxis.over([x for line in kept for x, _ in line.points]),
        PlotAxis.over([y for line in kept for _, y in line.points]),
    )
    legend = (_key(line, f" {number(line.points[-1][1])}") for line in kept)
    drawn = (each for line in kept for each in _drawn(line, frame, _ends_of(line)))
    return _figure(title, below, legend, (*frame.grid(below), *drawn))


def fractions(title: str, below: str, lines: Sequence[Line]) -> Html:
    """A picture of curves whose places and values are from 0 to 1, with its title.

    Args:
        title: Of the picture.
        below: What is along the lower axis.
        lines: The curves.
    """
    frame = Frame(_WHOLE, _WHOLE)
    drawn = (each for line in lines for each in _drawn(line, frame, ()))
    legend = (_key(line) for line in lines)
    return _figure(title, below, legend, (*frame.grid(below), *drawn))


def reliability(title: str, below: str, points: Sequence[tuple[float, float]]) -> Html:
    """A picture of points from 0 to 1 that a line joins, with the diagonal.

    Args:
        title: Of the picture.
        below: What is along the lower axis.
        points: Their places.
    """
    frame = Frame(_WHOLE, _WHOLE)
    line = _drawn(Line("", points), frame, points)
    return _figure(title, below, (), (*frame.grid(below), _diagonal(frame), *line))


def scatter(title: str, below: str, points: Sequence[tuple[float, float]]) -> Html:
    """A picture of points over two equal axes, with the diagonal; empty without any.

    Args:
        title: Of the picture.
        below: What is along the lower axis.
        points: Their places.
    """
    kept = _drawable(points)
    if not kept:
        return Html()
    axis = PlotAxis.over([value for point in kept for value in point])
    frame = Frame(axis, axis)
    dots = "".join(f"M{frame.x(x)} {frame.y(y)}h.01" for x, y in kept)
    drawn = (element("path", d=Html(dots), class_="dots"), _diagonal(frame))
    return _figure(title, below, (), (*frame.grid(below), *drawn))


def histogram(title: str, below: str, counts: Sequence[int], span: tuple[float, float]) -> Html:
    """A picture of how many there are in each of equal bins.

    Args:
        title: Of the picture.
        below: What is along the lower axis.
        counts: Of each bin.
        span: Where the first bin begins, and where the last one ends.
    """
    low, high = span
    if not -_GREATEST < low < high < _GREATEST or not counts:
        return Html()
    frame = Frame(PlotAxis.over([low, high]), PlotAxis.over([0.0, float(max(counts))]))
    width = (high - low) / len(counts)
    bars = []
    for place, each in enumerate(counts):
        left, right = (frame.x(low + (place + more) * width) for more in (0, 1))
        outline = f"M{left} {frame.bottom}V{frame.y(float(each))}H{right}V{frame.bottom}z"
        bars.append(element("path", d=Html(outline), class_="bin"))
    return _figure(title, below, (), (*frame.grid(below), *bars))


def _key(line: Line, more: str = "") -> Html:
    return element("span", element("i", class_=f"key s{line.style}"), f"{line.label}{more}")


def _figure(title: str, below: str, legend: Iterable[Html], drawn: Iterable[Html]) -> Html:
    return element(
        "figure",
        element("figcaption", element("strong", title), *legend),
        element(
            "svg",
            *drawn,
            viewBox=f"0 0 {WIDTH} {HEIGHT}",
            role="img",
            aria_label=f"{title} over {below}",
        ),
    )


def _drawable(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(x, y) for x, y in points if abs(x) < _GREATEST and abs(y) < _GREATEST]


def _diagonal(frame: Frame) -> Html:
    ends = {"x1": frame.left, "x2": frame.right, "y1": frame.bottom, "y2": frame.top}
    return element("line", **ends, class_="axis dashed")


def _ends_of(line: Line) -> Sequence[tuple[float, float]]:
    """The points of a curve that are dots, too: it is told from others without its colour."""
    if not line.style and len(line.points) > 1:
        return ()
    return line.points if len(line.points) <= _MOST_DOTS else line.points[-1:]


def _drawn(line: Line, frame: Frame, dots: Sequence[tuple[float, float]]) -> list[Html]:
    places = " ".join(f"{frame.x(x)},{frame.y(y)}" for x, y in line.points)
    found = [element("polyline", points=Html(places), class_=f"line s{line.style}")]
    return found + [
        element("circle", cx=frame.x(x), cy=frame.y(y), r=2.6, class_=f"dot s{line.style}")
        for x, y in dots
    ]
