"""Settings that several sources of data have, each declared once."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from gpupanel.domain.setting import Meant, PathKind, setting

MOST_CLASSES = 100_000
"""The names of so many still fit into the one line that a run reports them in (1 MiB)."""
ClassCount = Annotated[int, Field(gt=0, le=MOST_CLASSES)]
MOST_INPUTS = 32
MOST_OUTPUTS = 8
"""Each has a loss and a measure among the metrics of a person's own."""
FOUND_TARGET = (
    "Detected: whole numbers are classes, and so are rows with a single 1; other rows of 0 and 1 "
    "are several labels; other numbers are values."
)


def one_or_several(names: object) -> object:
    """A list of one says the same as the one, and one of none the same as nothing."""
    if isinstance(names, list | tuple) and len(names) < 2:
        return names[0] if names else None
    return names


def names_in(chosen: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """One name, several or none."""
    if chosen is None:
        return ()
    return (chosen,) if isinstance(chosen, str) else chosen


def set_path_setting(title: str, description: str, path: PathKind) -> Any:  # noqa: ANN401
    """The declaration of ``validation_path`` or ``test_path``: a set beside the data."""
    return setting(title, description, default="", off="none", advanced=True, path=path)


def unreadable_share_setting(what: str) -> Any:  # noqa: ANN401
    """The part of the images that may be unreadable, of a source that decodes them."""
    return setting(
        "Allowed unreadable",
        f"The fraction of the images that may be {what}: these are reported, and the training "
        "continues; the next one with the same label takes the place of each.",
        default=0.01,
        advanced=True,
    )


def class_count_setting(
    *, advanced: bool = False, applies: Mapping[str, Meant] | None = None
) -> Any:  # noqa: ANN401
    """The declaration of ``class_count``, where labels are numbers of classes."""
    return setting(
        "Classes",
        "How many classes there are. By default the greatest label plus one.",
        default=None,
        off="automatic",
        advanced=advanced,
        applies=applies,
    )


ONE_INPUT: Mapping[str, Meant] = {"inputs": ((),)}
ONE_OUTPUT: Mapping[str, Meant] = {"outputs": ({},)}
"""Where one array or feature is the examples, or the labels."""


def inputs_setting(noun: str, nouns: str, more: str = "") -> Any:  # noqa: ANN401
    """The declaration of ``inputs``, of which each is called as the part of the data that it is."""
    return setting(
        f"Input {nouns}",
        f"For a model of Python code with several inputs: the {nouns} of examples, each called as "
        f"the input of the model that it is for. All have as many examples.{more}",
        default=(),
        off=f"one {noun} of examples",
        is_offered=True,
        advanced=True,
        examples=[["picture", "facts"]],
        max_length=MOST_INPUTS,
    )


def outputs_setting(noun: str, nouns: str, more: str = "") -> Any:  # noqa: ANN401
    """The declaration of ``outputs``, with what each of them predicts."""
    return setting(
        f"Output {nouns}",
        f"For a model of Python code with several outputs: the {nouns} of labels, each called as "
        f"the output of the model that it is for, and what each predicts.{more}",
        default={},
        off=f"one {noun} of labels",
        advanced=True,
        examples=[{"mask": "classes", "size": "values"}],
        max_length=MOST_OUTPUTS,
    )
