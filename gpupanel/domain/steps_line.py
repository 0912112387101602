"""What a training reports of its steps, declared once.

From a metric here follow its key in ``events.jsonl``, the struct that reads it and its packed
column (``runs/following/steps.py``), its curve in the window, in comparisons and in reports, and
its rows in tables of curves. What is left to write is the trainer's: what it comes to.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Final, Literal, get_type_hints

from gpupanel.domain.metric import Metric, Unit, metrics_of


@dataclass(kw_only=True, eq=False, repr=False)
class StepsLine:
    """One line about steps, as it is written and read; a process without Pydantic knows it, too.

    Attributes:
        time_s: When it was written, in seconds since the epoch (UTC).
        kind: Of the event.
        step: Optimizer updates since the start of the run, these included.
        steps: How many of them this line reports.
        epoch: Counted from 1.
        step_in_epoch: Updates of this epoch done.
        examples: Examples of the reported steps.
        loss: Mean over those examples.
        accuracy: Fraction right over those examples; ``None`` where values are predicted.
        examples_per_second: Over the reported steps; ``None``: a program of the person's own does
            not say how many a step takes.
        learning_rate: Of the last of them; ``None``: an earlier version wrote this.
        gradient_norm: Mean over the reported steps of the global norm of the whole batch's
            gradient, before it is clipped; with ``parameter_server`` each batch is that of one
            worker. ``None``: an earlier version wrote this, or it was not finite.
        waiting_for_data: The share of about the last ten seconds of training, 0 to 1, in which
            steps waited for their examples.
        step_time_ms: Time of the reported steps divided by their number, waiting for their
            examples included. ``None``: an earlier version wrote this.
    """

    time_s: float
    kind: Literal["steps_done"] = "steps_done"
    step: int
    steps: int
    epoch: int
    step_in_epoch: int
    examples: int
    loss: Annotated[
        float,
        Metric(
            "Loss",
            "Mean loss over the training examples of the steps reported.",
            is_of_model=True,
        ),
    ]
    accuracy: Annotated[
        float | None,
        Metric(
            "Accuracy",
            "Fraction of training examples classified correctly in the reported steps.",
            Unit.FRACTION,
            more_is_better=True,
            is_of_model=True,
        ),
    ] = None
    examples_per_second: Annotated[
        float | None,
        Metric(
            "Examples per second",
            "Training only: validation and start-up are not counted.",
            Unit.EXAMPLES_PER_SECOND,
            column="Speed",
            more_is_better=True,
        ),
    ] = None
    learning_rate: Annotated[
        float | None,
        Metric(
            "Learning rate",
            "Of the last update of each report, as the schedule has it.",
            is_even=True,
        ),
    ] = None
    gradient_norm: Annotated[
        float | None,
        Metric(
            "Gradient norm",
            "Global norm of the gradient of the whole batch before it is clipped: mean over the "
            "steps of each report.",
            empty_note="No gradient norms recorded",
        ),
    ] = None
    waiting_for_data: Annotated[
        float,
        Metric(
            "Waiting for data",
            "Percent of the last ten seconds of training in which steps waited for examples.",
            Unit.FRACTION,
            column="Waiting",
            is_even=True,
            is_in_report=False,
        ),
    ] = 0.0
    step_time_ms: Annotated[
        float | None,
        Metric(
            "Step time, ms",
            "Mean time of the steps of each report, waiting for examples included. It can be "
            "compared between batch sizes.",
            column="Step time",
            is_in_report=False,
            empty_note="No step times recorded",
        ),
    ] = None


LINE_TYPES: Final = MappingProxyType(get_type_hints(StepsLine))
"""The type of each key of a line, in their order."""
STEP_METRICS: Final = metrics_of(StepsLine)
"""The metrics of a line by their keys, in the order in which people are shown them."""
