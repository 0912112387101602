"""How much a document may hold that anybody may have written: profile, plan, event, queue.

A file that is small enough to be read can name 100,000 devices, each of which would be a card in
the window. What is beyond these bounds is refused where it is read, with the key that is beyond
and the bound. Lists of devices, replicas and processes have bounds of their own, declared where
they are (:data:`~gpupanel.domain.value.MOST_PLACES`).
"""

from typing import Final, NamedTuple

from pydantic_core import from_json

from gpupanel.domain.integer_bounds import integer_beyond_64_bits, json_has_integer_beyond_64_bits
from gpupanel.domain.visible_text import visible_beginning


class DocumentBounds(NamedTuple):
    """What a document may hold at most.

    Attributes:
        entries: Of a list or a table.
        characters: Of a text, or of a key.
        depth: Of lists and tables within each other.
    """

    entries: int
    characters: int
    depth: int


class Beyond(NamedTuple):
    """What is beyond a bound.

    Attributes:
        path: Its key, with those of the tables around it: ``data.leave_out``.
        words: How much it is, and what the bound is, to stand behind its name.
    """

    path: str
    words: str


OF_A_PROFILE: Final = DocumentBounds(entries=32_768, characters=4_096, depth=32)
"""ImageNet-21k has 21,841 classes, and no set has more that somebody would list by name. Linux
takes no path of more than 4,095 bytes (PATH_MAX). No profile nests deeper than 5."""
OF_A_RECORD: Final = DocumentBounds(entries=2**17, characters=2**16, depth=64)
"""What is written while a run goes on, such as names of all classes that its data has, or the
last words of a process. A line of a log is kept with 8,192 characters, a traceback of Python's
with a thousand frames of 60 characters fits."""


def beyond_bounds(document: object, bounds: DocumentBounds) -> Beyond | None:
    """The first thing in a document that is beyond; ``None``: there is none.

    Args:
        document: Dictionaries, lists and what is in them, however deep and however many.
        bounds: What it may hold.
    """
    waiting: list[tuple[tuple[str, ...], object]] = [((), document)]
    while waiting:
        path, node = waiting.pop()
        words = _beyond(node, bounds, len(path))
        if words:
            return Beyond(".".join(map(visible_beginning, path)), words)
        if isinstance(node, dict):
            waiting += [((*path, str(key)), value) for key, value in reversed(node.items())]
        elif isinstance(node, list):
            waiting += [((*path, str(place)), value) for place, value in enumerate(node)][::-1]
    integer = integer_beyond_64_bits(document)
    if integer is None:
        return None
    return Beyond(".".join(map(visible_beginning, integer)), "is a number beyond 64 bits")


def json_beyond_bounds(text: bytes, bounds: DocumentBounds) -> Beyond | None:
    """The same of a JSON text; ``None``, too, where it is no JSON."""
    # In so few bytes nothing can be beyond but a number: most lines of a run are that short.
    is_short = len(text) <= min(bounds.entries, bounds.characters)
    if is_short and not json_has_integer_beyond_64_bits(text):
        return None
    try:
        return beyond_bounds(from_json(text), bounds)
    except ValueError:
        return None


def check_json(text: bytes, bounds: DocumentBounds) -> None:
    """See to it that a JSON text is within bounds.

    Raises:
        ValueError: It is not: names what is beyond, and the bound.
    """
    beyond = json_beyond_bounds(text, bounds)
    if beyond is not None:
        raise ValueError(f"{beyond.path or 'it'} {beyond.words}")


def _beyond(node: object, bounds: DocumentBounds, depth: int) -> str:
    if isinstance(node, dict | list):
        if depth >= bounds.depth:
            return f"is nested more than {bounds.depth} deep"
        if len(node) > bounds.entries:
            return f"has {len(node):,} entries; at most {bounds.entries:,} are read"
    if isinstance(node, dict):
        longest = max((len(key) for key in node if isinstance(key, str)), default=0)
        if longest > bounds.characters:
            return f"has a key of {longest:,} characters; at most {bounds.characters:,} are read"
    if isinstance(node, str) and len(node) > bounds.characters:
        return f"has {len(node):,} characters; at most {bounds.characters:,} are read"
    return ""
