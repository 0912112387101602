"""The columns of tables whose rows are trials: what of the settings differs between them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from gpupanel.domain.sweep import SweptValue
from gpupanel.domain.toml_text import toml_value
from gpupanel.ui.formatting import DASH, setting_number
from gpupanel.ui.setting_titles import setting_tip, setting_title
from gpupanel.ui.widgets.table_model import Column

RowT = TypeVar("RowT")


def setting_column(
    key: str, values: Callable[[RowT], Mapping[str, SweptValue]], rows: Sequence[RowT]
) -> Column[RowT]:
    """The values of one setting.

    Args:
        key: Of the setting, from the top.
        values: Of a row, by their keys.
        rows: All of them: numbers and texts in one column have no order but that of their texts.
    """
    has_texts = any(isinstance(number_or_text(values(row).get(key)), str) for row in rows)

    def order(row: RowT) -> str | float | None:
        value = values(row).get(key)
        return value_text(value) if has_texts and value is not None else number_or_text(value)

    return Column(
        setting_title(key),
        setting_tip(key),
        lambda row: value_text(values(row).get(key)),
        order=order,
        is_number=not has_texts,
        key=key,
    )


def value_text(value: SweptValue | None) -> str:
    """A value as it is shown; a dash where a trial has none."""
    if value is None:
        return DASH
    number = number_or_text(value)
    return number if isinstance(number, str) else setting_number(number)


def exact_text(value: SweptValue) -> str:
    """A value with all its digits, as a profile has it."""
    return value if isinstance(value, str) else toml_value(value)


def number_or_text(value: SweptValue | None) -> str | float | None:
    """A number, or what else a value is called."""
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and isinstance(value, int | float) else exact_text(value)
