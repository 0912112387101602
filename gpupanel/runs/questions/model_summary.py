"""The layers of a profile's model, built before it is trained, and the memory that it takes."""

from typing import Final

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.model_summary import ModelSummary, SummaryRequest
from gpupanel.runs.measured_memory import with_measured
from gpupanel.runs.questions.question import Question


def _with_measured(request: SummaryRequest, found: ModelSummary) -> ModelSummary:
    """The summary, with what was measured of the model's step on this machine."""
    if found.step is None:
        return found
    return found.model_copy(update={"step": with_measured(request, found.step)})


summarize_model: Final = Question[SummaryRequest, ModelSummary](
    code="summary",
    process="the process that builds the model",
    work="building the model",
    command=python_module_command("gpupanel.trainer.tools.model_summary"),
    answer=ModelSummary,
    limit_s=300.0,
    slow_hint="It may have too many layers, or this machine may be busy.",
    death_hint="The model may be too large for this machine's memory; copy the detail.",
    field="model",
    complete=_with_measured,
)
