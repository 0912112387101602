"""What a run was started again with, in words."""

import json
from collections.abc import Sequence

from gpupanel.domain.problem import Change


def change_words(changes: Sequence[Change]) -> str:
    """The keys with their new values, as a profile has them; empty where nothing changed.

    "strategy.kind = mirrored, strategy.shares = [48, 16], without memory.GPU-5f0c"
    """
    return ", ".join(_words(change) for change in changes)


def _words(change: Change) -> str:
    key = ".".join(change.path)
    if change.value is None:
        return f"without {key}"
    value = change.value
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{key} = {shown}"
