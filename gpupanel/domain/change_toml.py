"""A change to a profile as TOML, for the terminal and for what fits no setting."""

from collections.abc import Sequence

from gpupanel.domain.problem import Change
from gpupanel.domain.toml_text import toml_value


def change_toml(change: Change) -> str:
    """The change as a profile has it: ``strategy.shares = [3, 2]``, ``without memory.default``."""
    key = ".".join(change.path)
    return f"without {key}" if change.value is None else f"{key} = {toml_value(change.value)}"


def changes_toml(changes: Sequence[Change]) -> str:
    """Several changes as a profile has them, separated by commas; empty without any."""
    return ", ".join(change_toml(change) for change in changes)
