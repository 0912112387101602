"""What a program calls its figures, and which of them gpupanel knows by another name."""

import math
from collections.abc import Mapping
from typing import Final

from gpupanel.domain.events import MOST_FIGURES
from gpupanel.domain.outcome import Metrics

_BY_KERAS: Final = {
    "loss": "loss",
    "accuracy": "accuracy",
    "acc": "accuracy",
    "binary_accuracy": "accuracy",
    "categorical_accuracy": "accuracy",
    "sparse_categorical_accuracy": "accuracy",
    "mae": "mean_absolute_error",
    "mean_absolute_error": "mean_absolute_error",
    "root_mean_squared_error": "root_mean_squared_error",
    "auc": "auc",
}
"""Of Keras's names those that mean the same here: a fraction of 1, not percent, for one."""
_BY_ANYBODY: Final = {"loss": "loss"}
"""A loop of the person's own may give its accuracy in percent."""
LONGEST_NAME: Final = 100


class Figures:
    """The figures of one report.

    Args:
        reported: By the names that the program gives them; numbers that are not finite, too.
        of_keras: Whether Keras reports them.

    Attributes:
        metrics: Those that gpupanel knows.
        others: The rest.
        not_finite: The names of those that are no finite number.
    """

    def __init__(self, reported: Mapping[str, float], *, of_keras: bool) -> None:
        known: dict[str, float] = {}
        self.others: dict[str, float] = {}
        self.not_finite: list[str] = []
        names = _BY_KERAS if of_keras else _BY_ANYBODY
        for name, value in list(reported.items())[:MOST_FIGURES]:
            if not math.isfinite(value):
                self.not_finite.append(name)
                continue
            prefix = "val_" if name.startswith("val_") else ""
            meant = names.get(name.removeprefix(prefix))
            key = f"{prefix}{meant}"
            if meant is None or key in known:
                self.others[name[:LONGEST_NAME]] = value
            else:
                known[key] = value
        self.metrics = Metrics(**known)
