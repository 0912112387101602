"""Values of the domain in which every text is the same: made of their types, whatever they have."""

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

_T = TypeVar("_T")


def filled(kind: type[_T], text: str, **given: object) -> _T:
    """A value of that kind with that text wherever it has one, and one of each list.

    What is not valid so is made all the same: who shows it does not check it.

    Args:
        kind: A value of the domain, or a dataclass.
        text: In each text.
        given: Its fields that are to be other than that.
    """
    hints = get_type_hints(kind)
    if issubclass(kind, BaseModel):
        names, make = list(kind.model_fields), kind.model_construct
    else:
        assert is_dataclass(kind)
        names, make = [field.name for field in fields(kind)], kind
    made = {name: given.get(name, _of(hints[name], text)) for name in names}
    return make(**made)


def _of(hint: Any, text: str) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _of(parts[0], text)
    if origin is Literal:
        return parts[0]
    if origin in (Union, types.UnionType):
        return _of(next(part for part in parts if part is not type(None)), text)
    if origin is tuple:
        several = [part for part in parts if part is not Ellipsis]
        return tuple(_of(part, text) for part in several)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {_of(parts[0], text): _of(parts[1], text)}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return (_of(parts[0], text),)
    simple = {str: text, int: 1, float: 0.5, bool: True, bytes: b"x", Path: Path("/", text)}
    if hint in simple:
        return simple[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return next(iter(hint))
    if isinstance(hint, type) and (issubclass(hint, BaseModel) or is_dataclass(hint)):
        return filled(hint, text)
    return text
