"""All that an evaluation left beside its metrics, as it is shown and reported."""

from dataclasses import dataclass

from gpupanel.domain.confusion import LabelMetrics
from gpupanel.domain.events import EvaluationDone
from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.calibration import Calibration, read_calibration
from gpupanel.runs.following.column_slices import ColumnSlices, read_slices
from gpupanel.runs.following.confusion_matrix import ConfusionMatrix, read_labels, read_matrix
from gpupanel.runs.following.thresholds import Thresholds, read_thresholds
from gpupanel.runs.following.value_pairs import ValueFigures, read_values


@dataclass(frozen=True, slots=True)
class EvaluationFigures:
    """What its file says; of classes, of several labels or of values.

    Attributes:
        matrix: Of classes.
        labels: The metrics of several labels at once.
        values: True and predicted values.
        calibration: Of classes; ``None``, too, where no outcome of single examples was kept.
        thresholds: Of classes and of labels; ``None``, too, where an earlier version evaluated.
        slices: Of examples that are rows of a table; ``None``, too, where an earlier version
            evaluated.
        problems: Why something cannot be read.
    """

    matrix: ConfusionMatrix | None = None
    labels: LabelMetrics | None = None
    values: ValueFigures | None = None
    calibration: Calibration | None = None
    thresholds: Thresholds | None = None
    slices: ColumnSlices | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def unread_words(self) -> str:
        """Why something cannot be read, in sentences; empty: all of it was."""
        return problem_sentences(self.problems[0]) if self.problems else ""

    def prepare(self) -> None:
        """Work out what is asked for later: whoever draws it cannot wait for that."""
        for each in (self.matrix, self.values, self.thresholds):
            if each is not None:
                each.prepare()


def read_figures(layout: RunLayout, found: EvaluationDone) -> EvaluationFigures:
    """Read them; of many examples or classes that takes a moment.

    Args:
        layout: The run, into whose folder others may write.
        found: What the run said of it.
    """
    matrix = read_matrix(layout, found)
    labels, values = read_labels(layout, found), read_values(layout, found)
    # Else its file is reported already.
    calibration = None if isinstance(matrix, Problem) else read_calibration(layout, found)
    known = labels if matrix is None else matrix
    classes = () if known is None or isinstance(known, Problem) else known.classes
    thresholds = read_thresholds(layout, found, classes)
    slices = read_slices(layout, found)
    parts = (matrix, labels, values, calibration, thresholds, slices)
    return EvaluationFigures(
        matrix=None if isinstance(matrix, Problem) else matrix,
        labels=None if isinstance(labels, Problem) else labels,
        values=None if isinstance(values, Problem) else values,
        calibration=None if isinstance(calibration, Problem) else calibration,
        thresholds=None if isinstance(thresholds, Problem) else thresholds,
        slices=None if isinstance(slices, Problem) else slices,
        problems=tuple(each for each in parts if isinstance(each, Problem)),
    )
