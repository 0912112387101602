"""Reading TOML that anybody may have written: whatever stands in it, an answer comes soon.

Python's :mod:`tomllib` (3.11 to 3.13) ends in ``RecursionError`` where values are nested a few
hundred deep, raises no ``TOMLDecodeError`` for integers of more than 4,300 digits, and takes a
time that grows with the square of the parts of a dotted key.
"""

import json
import re
import tomllib
from typing import Any, Final

from gpupanel.domain.integer_bounds import integer_beyond_64_bits

_MOST_PARTS: Final = 32
_BETWEEN_KEYS: Final = re.compile(r"[,=\n{}\[\]]")
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_DEEPEST: Final = 32
"""No profile nests deeper than 5."""


def read_toml(text: str) -> dict[str, Any]:
    """The document in a TOML text.

    Raises:
        ValueError: It is no TOML, or beyond what a file of ours holds; says in what.
    """
    if any(part.count(".") > _MOST_PARTS for part in _BETWEEN_KEYS.split(text)):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError as error:
        raise ValueError("its values are nested too deeply") from error
    except ValueError as error:
        raise ValueError("a number in it has too many digits") from error
    if _depth(document) > _DEEPEST:
        raise ValueError("its tables are nested too deeply")
    path = integer_beyond_64_bits(document)
    if path is not None:
        raise ValueError(f"{'.'.join(path)} is a number that 64 bits cannot hold")
    return document


def toml_value(value: object) -> str:
    """A value in one line, as TOML has it: ``"adam"``, ``true``, ``{ policy = "growth" }``."""
    match value:
        case dict():
            pairs = ", ".join(f"{_key(key)} = {toml_value(each)}" for key, each in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case list() | tuple():
            return f"[{', '.join(toml_value(each) for each in value)}]"
        case bool() | str():
            return json.dumps(value, ensure_ascii=False)
    return str(value)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _depth(document: object) -> int:
    depth = 0
    level: list[object] = [document]
    while level:
        depth += 1
        inner: list[object] = []
        for node in level:
            if isinstance(node, dict):
                inner += node.values()
            elif isinstance(node, list):
                inner += node
        level = inner
    return depth
