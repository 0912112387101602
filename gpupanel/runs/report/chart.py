"""Curves as a picture (SVG) inside the page, with axes, a legend and round numbers."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from gpupanel.domain.number_text import number
from gpupanel.domain.round_numbers import round_step
from gpupanel.runs.report.markup import Html, element

_WIDTH, _HEIGHT = 560, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 10, 38
_GREATEST: Final = 1e30
"""What is beyond that is no measurement, and no axis reaches it."""
_LEAST: Final = 1e-20
"""Differences below that are none."""
_MOST_DOTS: Final = 40


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
    """A picture of curves with its title; empty where nothing was measured.

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
    across, upward = (
        _Axis.over([x for line in kept for x, _ in line.points]),
        _Axis.over([y for line in kept for _, y in line.points]),
    )
    legend = (
        element(
            "span",
            element("i", class_=f"key s{line.style}"),
            f"{line.label} {number(line.points[-1][1])}",
        )
        for line in kept
    )
    drawn = (each for line in kept for each in _drawn(line, across, upward))
    return _figure(title, below, legend, (*_grid(across, upward, below), *drawn))


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
    axis = _Axis.over([value for point in kept for value in point])
    dots = "".join(f"M{_x(axis, x)} {_y(axis, y)}h.01" for x, y in kept)
    ends = {"x1": _LEFT, "x2": _WIDTH - _RIGHT, "y1": _HEIGHT - _BOTTOM, "y2": _TOP}
    drawn = (
        element("path", d=Html(dots), class_="dots"),
        element("line", **ends, class_="axis dashed"),
    )
    return _figure(title, below, (), (*_grid(axis, axis, below), *drawn))


def histogram(title: str, below: str, counts: Sequence[int], end: float) -> Html:
    """A picture of how many there are in each of equal bins around 0.

    Args:
        title: Of the picture.
        below: What is along the lower axis.
        counts: Of each bin.
        end: How far the outer ends of the bins are from 0.
    """
    if not 0.0 < end < _GREATEST or not counts:
        return Html()
    across, upward = _Axis.over([-end, end]), _Axis.over([0.0, float(max(counts))])
    width = 2.0 * end / len(counts)
    bars = []
    for place, each in enumerate(counts):
        left, right = (_x(across, -end + (place + more) * width) for more in (0, 1))
        top = _y(upward, float(each))
        outline = f"M{left} {_HEIGHT - _BOTTOM}V{top}H{right}V{_HEIGHT - _BOTTOM}z"
        bars.append(element("path", d=Html(outline), class_="bin"))
    return _figure(title, below, (), (*_grid(across, upward, below), *bars))


def _figure(title: str, below: str, legend: Iterable[Html], drawn: Iterable[Html]) -> Html:
    return element(
        "figure",
        element("figcaption", element("strong", title), *legend),
        element(
            "svg",
            *drawn,
            viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
            role="img",
            aria_label=f"{title} over {below}",
        ),
    )


@dataclass(frozen=True, slots=True)
class _Axis:
    """The span of an axis and its marks.

    Attributes:
        least: Where it begins.
        most: Where it ends.
        step: From mark to mark.
    """

    least: float
    most: float
    step: float

    @classmethod
    def over(cls, values: Sequence[float]) -> "_Axis":
        least, most = min(values), max(values)
        size = max(abs(least), abs(most))
        if most - least <= max(1e-9 * size, _LEAST):
            pad = 0.1 * size if size > _LEAST else 1.0
            least, most = least - pad, most + pad
        step = round_step(most - least)
        return cls(math.floor(least / step) * step, math.ceil(most / step) * step, step)

    def marks(self) -> list[float]:
        count = round((self.most - self.least) / self.step)
        return [self.least + place * self.step for place in range(count + 1)]

    def fraction(self, value: float) -> float:
        return (value - self.least) / (self.most - self.least)

    def text(self, value: float) -> str:
        if abs(value) < self.step / 2:
            return "0"
        if max(abs(self.least), abs(self.most)) >= 1e7 or self.step < 1e-5:
            return f"{value:.6g}"
        decimals = max(0, -math.floor(math.log10(self.step) + 1e-9))
        return f"{value:,.{decimals}f}"


def _drawable(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(x, y) for x, y in points if abs(x) < _GREATEST and abs(y) < _GREATEST]


def _x(axis: _Axis, value: float) -> str:
    return f"{_LEFT + axis.fraction(value) * (_WIDTH - _LEFT - _RIGHT):.1f}"


def _y(axis: _Axis, value: float) -> str:
    return f"{_HEIGHT - _BOTTOM - axis.fraction(value) * (_HEIGHT - _TOP - _BOTTOM):.1f}"


def _grid(across: _Axis, upward: _Axis, below: str) -> list[Html]:
    bottom = _HEIGHT - _BOTTOM
    found = []
    for value in upward.marks():
        y = _y(upward, value)
        found.append(element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y, class_="grid"))
        found.append(
            element("text", upward.text(value), x=_LEFT - 8, y=y, dy="0.32em", text_anchor="end")
        )
    for value in across.marks():
        x = _x(across, value)
        found.append(element("line", x1=x, x2=x, y1=bottom, y2=bottom + 4, class_="axis"))
        found.append(element("text", across.text(value), x=x, y=bottom + 17, text_anchor="middle"))
    found.append(element("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=bottom, y2=bottom, class_="axis"))
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    found.append(element("text", below, x=middle, y=_HEIGHT - 5, text_anchor="middle"))
    return found


def _drawn(line: Line, across: _Axis, upward: _Axis) -> list[Html]:
    places = [(_x(across, x), _y(upward, y)) for x, y in line.points]
    found = [
        element(
            "polyline",
            points=Html(" ".join(f"{x},{y}" for x, y in places)),
            class_=f"line s{line.style}",
        )
    ]
    if line.style or len(places) == 1:
        dots = places if len(places) <= _MOST_DOTS else places[-1:]
        found += [
            element("circle", cx=x, cy=y, r=2.6, class_=f"dot s{line.style}") for x, y in dots
        ]
    return found
