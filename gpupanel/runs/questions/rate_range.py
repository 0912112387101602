"""A range test of the learning rate for a profile: training for some steps with rising rates."""

from typing import Final

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.rate_range import RateRange, RateRangeRequest
from gpupanel.runs.questions.question import Question

try_learning_rates: Final = Question[RateRangeRequest, RateRange](
    code="rate_range",
    process="the process that tries learning rates",
    work="trying learning rates",
    command=python_module_command("gpupanel.trainer.tools.rate_range"),
    answer=RateRange,
    limit_s=1800.0,
    slow_hint="Try it with fewer or smaller examples, or a smaller global batch.",
    death_hint="The examples of a step may need more memory than there is; copy the detail.",
    field="training.learning_rate",
)
