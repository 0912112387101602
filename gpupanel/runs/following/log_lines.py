"""What kind of line a log has: a warning, an error, what TensorFlow always prints, or any other."""

import re
from enum import Enum, auto

_LONGEST_READ = 400
"""Characters: what kind of line it is stands at its beginning, however long it is."""


class LineKind(Enum):
    """What a line of the trainer's log is about."""

    PLAIN = auto()
    START_UP = auto()
    """What TensorFlow prints on every machine and in every run: nobody has to do anything."""
    WARNING = auto()
    ERROR = auto()

    @property
    def needs_attention(self) -> bool:
        """Whether it is a warning or an error."""
        return self in (LineKind.WARNING, LineKind.ERROR)


# As absl writes them ("E0000 00:00:1795417054.503703   20822 cuda_platform.cc:52] ...") and as
# TensorFlow did before ("2026-11-24 03:46:15.123456: I tensorflow/core/util/port.cc:153] ...").
_OF_CPP = re.compile(
    r"(?:(?P<absl>[IWEF])\d{4} [\d:.]+ +\d+|\d{4}-\d\d-\d\d [\d:.]+: (?P<tsl>[IWEF])) (?P<rest>.*)",
    re.DOTALL,
)
_ALWAYS = re.compile(
    r"WARNING: All log messages before absl::InitializeLog"
    r"|To enable the following instructions:"
)
_ALWAYS_OF_CPP = re.compile(
    # Several libraries of one process register the same factories, in every build since 2.14.
    r"Unable to register cu\w+ (factory|plugin)"
    r"|computation placer already registered"
    r"|TF-TRT Warning: Could not find TensorRT"
    # Without a driver, and where all GPUs are hidden: a run on the CPU. Other codes are errors.
    r"|[Ff]ailed call to cuInit: .*(\(303\)|NO_DEVICE|no CUDA-capable device)"
)
_LEVELS = {"W": LineKind.WARNING, "E": LineKind.ERROR, "F": LineKind.ERROR, "I": LineKind.START_UP}
_ERROR = re.compile(
    r"[\s|]*(Traceback \(most recent call last\)|(\w+\.)*\w*(Error|Exception|Interrupt)\b"
    r"|ERROR\b|FATAL\b|CRITICAL\b|Fatal Python error)"
)
_WARNING = re.compile(r"[\s|]*(WARNING\b|Warning:|W?arn(ing)?:|\S+:\d+: \w*Warning:|\w+Warning:)")


def line_kind(line: str, before: LineKind = LineKind.PLAIN) -> LineKind:
    """The kind of a line.

    Args:
        line: Without its end.
        before: The kind of the line above: what is indented below a warning or an error, such as
            the frames of a traceback, belongs to it.
    """
    begin = line[:_LONGEST_READ]
    if found := _OF_CPP.match(begin):
        if _ALWAYS_OF_CPP.search(found["rest"]):
            return LineKind.START_UP
        return _LEVELS[found["absl"] or found["tsl"]]
    if _ALWAYS.match(begin):
        return LineKind.START_UP
    if _ERROR.match(begin):
        return LineKind.ERROR
    if _WARNING.match(begin):
        return LineKind.WARNING
    return before if before.needs_attention and begin[:1] in (" ", "\t") else LineKind.PLAIN


_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
"""Colours and moves of the cursor (ECMA-48, control sequences), which nobody reads."""


def as_in_terminal(text: str, is_rewritten: bool = False) -> tuple[str, bool]:  # noqa: FBT001, FBT002 - what the last call gave
    """Lines as a terminal shows them, in which a progress bar writes over itself.

    Args:
        text: What was printed; its first line continues the last one before.
        is_rewritten: The line before ended with a carriage return: what follows writes over it.

    Returns:
        Of each line what was written last, the last one with its carriage return where it ends with
        one; and whether the first stands in the place of the line that it continues.
    """
    first, *rest = _SEQUENCE.sub("", text).replace("\r\n", "\n").split("\n")
    writings = first.split("\r")
    last = next((place for place in reversed(range(len(writings))) if writings[place]), 0)
    writes_over = bool(writings[last]) and (last > 0 or is_rewritten)
    lines = [writings[last], *(_last_writing(line) for line in rest)]
    end = "\r" if text.endswith("\r") or (is_rewritten and not text) else ""
    return "\n".join(lines) + end, writes_over


def _last_writing(line: str) -> str:
    return next((each for each in reversed(line.split("\r")) if each), "")
