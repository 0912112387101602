"""What the runs of the table can be drawn by, one against the other."""

from collections.abc import Sequence

from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.panels.runs_panel.columns import COLUMNS
from gpupanel.ui.panels.runs_panel.setting_columns import SettingColumns, is_setting
from gpupanel.ui.widgets.table_model import Column

_OF_WORDS = ("strategy", "devices", "outcome", "tags")
"""Columns of words that a few values are enough for."""


def scatter_axes(
    single: SettingColumns, runs: Sequence[RunSummary], shown: Sequence[RunSummary]
) -> tuple[tuple[Column[RunSummary], ...], tuple[Column[RunSummary], ...]]:
    """Columns for the axis across, settings that differ most first, and up, only numbers.

    Args:
        single: Knows settings and metrics.
        runs: All that there are.
        shown: Those that are drawn, in which a setting has to differ.
    """
    made = [single.column(offer.key) for offer in single.offers(runs)]
    there = [column for column in made if column is not None]
    differing = [each for each in there if is_setting(each.key) and len(_said(each, shown)) > 1]
    differing.sort(key=lambda column: (column.number_text is None, -len(_said(column, shown))))
    metrics = [each for each in there if not is_setting(each.key)]
    numbers = [*(each for each in COLUMNS if each.number_text), *metrics]
    reached = tuple(each for each in numbers if _said(each, runs))
    words = (each for each in COLUMNS if each.key in _OF_WORDS and _said(each, runs))
    return (*differing, *words, *reached), reached


def _said(column: Column[RunSummary], runs: Sequence[RunSummary]) -> set[str | float]:
    """What the column says of the runs; one of which it says nothing is no difference."""
    order = column.order
    said = () if order is None else (order(run) for run in runs)
    return {each for each in said if each is not None}
