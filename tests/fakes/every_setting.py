"""A profile that nobody knows: a setting of each type in a table, and tables of each shape."""

from typing import Annotated, Literal

from pydantic import Field

from gpupanel.domain.choice import Choice, ChoiceEnum
from gpupanel.domain.setting import PathKind, setting
from gpupanel.domain.value import PositiveInt, Value

Side = Annotated[int, Field(gt=0, le=512)]
Text = Annotated[str, Field(min_length=1, max_length=9)]


class Shade(ChoiceEnum):
    """A docstring that is no description of a setting."""

    LIGHT = "light", "Light grey", "As | snow."
    DARK = "dark"


class EverySetting(Value):
    """One of each type.

    A second paragraph.
    """

    switch: bool = setting("Switch title", "Switch description.", default=False, advanced=True)
    count: PositiveInt = setting(
        "Count title", "Count description.", default=3, unit="epoch", off="never"
    )
    zero: Annotated[int, Field(ge=0, lt=100)] = setting(
        "Zero title", "Zero description.", default=0, off="not at all"
    )
    optional_count: PositiveInt | None = setting(
        "Optional title", "Optional description.", default=None, unit="worker", off="as many"
    )
    optional_five: int | None = setting(
        "Five title", "Five description.", default=5, off="never seen"
    )
    number: Annotated[float, Field(gt=0, lt=1)] = setting(
        "Number title", "Number description.", default=0.5
    )
    any_number: float = setting("Any title", "Any description.", default=1.5)
    least: Annotated[float, Field(ge=-2.5)] = setting(
        "Least title", "Least description.", default=1e20
    )
    most: Annotated[float, Field(le=1e20)] = setting("Most title", "Most description.", default=0.0)
    choice: Shade = setting("Choice title", "Choice description.", default=Shade.DARK)
    literal: Literal["left", "right"] = setting(
        "Literal title",
        "Literal description.",
        default="left",
        choices=(
            Choice("left", "To the left", "Where the heart is."),
            Choice("right", "To the right"),
        ),
        applies={"choice": ("light", "dark"), "switch": (True,)},
    )
    undescribed: Literal["up", "down"] = setting(
        "Undescribed title", "Undescribed description.", default="up"
    )
    counts: tuple[PositiveInt, ...] = setting(
        "Counts title", "Counts description.", default=(8,), off="none", max_length=4
    )
    many_counts: tuple[int, ...] = setting("Many title", "Many description.", default=())
    size: tuple[Side, Side] = setting(
        "Size title", "Size description.", default=(64, 32), unit="pixel"
    )
    text: str = setting("Text title", "Text description.", default="x")
    short_text: Text = setting("Short title", "Short description.", default="y")
    texts: tuple[Text, ...] = setting("Texts title", "Texts description.", default=(), off="any")
    places: Literal["auto"] | dict[str, Side] | None = setting(
        "Places title", "Places description.", default=None
    )
    shades: dict[str, Shade] = setting(
        "Shades title", "Shades description.", default={}, off="no shades"
    )
    lists: dict[str, tuple[Text, ...]] = setting("Lists title", "Lists description.", default={})
    word_or_count: Literal["auto"] | int = setting(
        "Word title", "Word description.", default="auto"
    )
    mixed: tuple[int, str] = setting("Mixed title", "Mixed description.", default=(1, "a"))
    odd: tuple[tuple[int, ...], ...] = setting("Odd title", "Odd description.", default=())
    path: str = setting(
        "Path title", "Path description.", path=PathKind((".npz",), "NumPy files", "Choose")
    )
    folder: str = setting(
        "Folder title", "Folder description.", default="", path=PathKind((), "", "Choose")
    )


class _Shape(Value):
    filled: bool = setting("Filled title", "What every shape has.", default=False)


class Dot(_Shape):
    """A ``point``
    of no extent.
    """

    kind: Literal["dot"] = "dot"


class Circle(_Shape):
    """A round shape."""

    kind: Literal["circle", "ring"]
    radius: Side = setting("Radius title", "What a circle has.", default=7)


Shape = Annotated[Dot | Circle, Field(discriminator="kind")]


class WithoutWords(Value):
    """Nothing of it is declared yet."""

    silent: int = 1


class WithTable(Value):
    """Has no setting of its own, but a table that has."""

    inner: WithoutWords = WithoutWords()
    spoken: dict[str, Circle] = Field(default_factory=dict)


class UnknownProfile(Value):
    """A profile of another program."""

    version: Literal[4] = 4
    name: Text = setting("Name title", "Name description.", default="unnamed")
    every: EverySetting = EverySetting(path="x")
    shape: Shape = Circle(kind="ring", radius=9)
    shapes: dict[str, Shape] = setting("Shapes title", "One for each place.", default_factory=dict)
    quiet: WithoutWords = WithoutWords()
    quiet_kinds: dict[str, WithoutWords] = Field(default_factory=dict)
    described: dict[str, WithoutWords] = setting(
        "Described title", "What it was.", default_factory=dict
    )
    outer: WithTable = setting("Outer title", "What holds a table.", default=WithTable())
