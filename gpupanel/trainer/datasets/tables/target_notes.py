"""What may be classes, and was found to be values."""

from collections.abc import Iterator, Sequence

import numpy as np

from gpupanel.domain.data_source import Target
from gpupanel.domain.number_text import number_range, short_number
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.table_data import TableData
from gpupanel.domain.visible_text import visible_line
from gpupanel.trainer.datasets.tables.targets import TargetLabels

_MOST_ODD = 0.01
_MOST_CLASSES = 20


def target_notes(
    data: TableData, labels: TargetLabels, targets: Sequence[str]
) -> Iterator[Problem]:
    """Whether values are classes, where nobody said which they are.

    Args:
        data: What was chosen.
        labels: Of all rows.
        targets: The columns that are predicted.
    """
    if data.predicts is not None or labels.predicts is not Target.VALUES or len(targets) > 1:
        return
    name = visible_line(targets[0])
    numbers, counts = np.unique(labels.array, return_counts=True)
    total = int(counts.sum())
    is_usual = counts > max(1, _MOST_ODD * total / 2)
    usual, odd = numbers[is_usual], int(counts[~is_usual].sum())
    if not 0 < odd <= _MOST_ODD * total or not 1 < len(usual) <= _MOST_CLASSES:
        return
    if usual[0] in (0.0, 1.0) and np.array_equal(usual, usual[0] + np.arange(len(usual))):
        yield _note(
            Severity.WARNING,
            f"All but {odd:,} of the {total:,} rows hold a whole number from "
            f'{number_range(usual[0], usual[-1])} in the target "{name}", and one of the others '
            f"holds {short_number(numbers[~is_usual][0])}: they are taken as values, not as "
            "classes.",
        )


def _note(severity: Severity, message: str) -> Problem:
    return Problem(
        code="table_target_values",
        severity=severity,
        field="data.predicts",
        message=message,
        hint="Say in data.predicts what they are.",
        fix=Fix.of("Predict values", "data.predicts", Target.VALUES.value),
        alternatives=(Fix.of("Predict classes", "data.predicts", Target.CLASSES.value),),
    )
