"""The state of a program's callbacks as JSON and arrays: nothing that could be executed is read."""

from __future__ import annotations

from typing import Any

_OF_FILES = ("append", "append_header")
"""Attributes of a CSVLogger, whose file has lines by the time when it continues."""
_MOST_ENTRIES = 1_000_000


class StateCodec:
    """Writes and reads values that callbacks have as attributes.

    Numbers, texts, lists, tuples and dictionaries of them, arrays, and operations of Keras: one
    that compares belongs to the sign of what it compares with (``min_delta`` of callbacks that
    monitor a metric). Anything else, such as a model or a file, stays as the program makes it.

    Args:
        numpy: The module.
        ops: ``keras.ops``.

    Attributes:
        arrays: What was written of arrays, by their names; or is to be read.
    """

    def __init__(self, numpy: Any, ops: Any, arrays: dict[str, Any]) -> None:
        self._numpy = numpy
        self._ops = ops
        self._left = _MOST_ENTRIES
        self.arrays = arrays

    def written(self, callback: Any) -> dict[str, Any]:
        """The attributes of a callback that can be written, as JSON takes them."""
        found = {}
        for name, value in vars(callback).items():
            # A text is a choice of the program, such as a path, and no state.
            if name not in _OF_FILES and type(value) is not str:
                try:
                    found[name] = self._encoded(value)
                except ValueError:
                    continue
        return found

    def put_back(self, callback: Any, written: dict[str, Any]) -> None:
        """Give a callback its attributes again; a list that the program holds, too, stays its own.

        Args:
            callback: As the program has made it now.
            written: What :meth:`written` gave.
        """
        for name, value in written.items():
            if name in _OF_FILES or isinstance(value, str):
                continue
            read, own = self._decoded(value), vars(callback).get(name)
            if type(read) is list and type(own) is list:
                own[:] = read
            elif type(read) is dict and type(own) is dict:
                own.clear()
                own.update(read)
            else:
                setattr(callback, name, read)

    def _encoded(self, value: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise ValueError("too much")
        if isinstance(value, self._numpy.generic):
            return {"number": [str(value.dtype), value.item()]}
        if value is None or type(value) in (bool, int, float, str):
            return value
        if type(value) in (list, tuple):
            return {type(value).__name__: [self._encoded(each) for each in value]}
        if type(value) is dict:
            return {
                "dict": [[self._encoded(key), self._encoded(each)] for key, each in value.items()]
            }
        if isinstance(value, self._numpy.ndarray) and value.dtype.kind in "biufc":
            name = f"a{len(self.arrays)}"
            self.arrays[name] = value
            return {"array": name}
        name = getattr(value, "__name__", "")
        if name and getattr(self._ops, name, None) is value:
            return {"operation": name}
        raise ValueError("no plain value")

    def _decoded(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind == "number":
            return self._numpy.dtype(content[0]).type(content[1])
        if kind == "array":
            return self.arrays[content]
        if kind == "operation":
            return getattr(self._ops, content)
        if kind == "dict":
            return {self._decoded(key): self._decoded(each) for key, each in content}
        several = [self._decoded(each) for each in content]
        return tuple(several) if kind == "tuple" else several
