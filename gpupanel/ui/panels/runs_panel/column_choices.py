"""How a person wants the table of runs."""

from dataclasses import dataclass

from gpupanel.ui.panels.runs_panel.run_rows import Figure


@dataclass(frozen=True, slots=True)
class ColumnChoices:
    """What is remembered of the table.

    Attributes:
        shown: Which are shown against what is usual, or hidden, by their keys.
        widths: In pixels, of those that were drawn wider or narrower by hand.
        sorted_by: The key of the column that the rows are sorted by.
        order: The keys of the columns from left to right, hidden ones too; empty: as usual.
        grouped_by: The key of the column that the runs are grouped by; empty: none.
        figure: What the titles of groups show of numbers: a :class:`Figure`.
        baseline: The name of the run that stands first; empty: none.
        trainings_only: Evaluations and predictions are not listed between trainings.
    """

    shown: dict[str, bool]
    widths: dict[str, int]
    sorted_by: str = "started"
    descending: bool = True
    order: tuple[str, ...] = ()
    grouped_by: str = ""
    figure: str = Figure.MEAN.value
    baseline: str = ""
    trainings_only: bool = True
