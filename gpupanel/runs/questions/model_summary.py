"""The layers of a profile's model, built before it is trained, and the memory that it takes."""

from typing import Final

from gpupanel.domain.child_command import python_module_command
from gpupanel.domain.model_summary import ModelSummary, SummaryRequest
from gpupanel.domain.step_memory import StepVariant
from gpupanel.runs.measured_memory import with_measured
from gpupanel.runs.questions.question import Question


def _with_measured(request: SummaryRequest, found: ModelSummary) -> ModelSummary:
    """The summary, with what was measured of the model's step on this machine."""
    step = None if found.step is None else with_measured(request, found.step)
    variants = tuple(
        each
        if each.step is None
        else each.model_copy(update={"step": with_measured(_as_variant(request, each), each.step)})
        for each in found.variants
    )
    return found.model_copy(update={"step": step, "variants": variants})


def _as_variant(request: SummaryRequest, variant: StepVariant) -> SummaryRequest:
    return request.model_copy(update={"mixed_precision": variant.mixed_precision})


summarize_model: Final = Question[SummaryRequest, ModelSummary](
    code="summary",
    process="the process that builds the model",
    work="building the model",
    command=python_module_command("gpupanel.trainer.tools.model_summary"),
    answer=ModelSummary,
    # For all ways to fit it is built four times, of a large model each for a minute.
    limit_s=900.0,
    slow_hint="It may have too many layers, or this machine may be busy.",
    death_hint="The model may be too large for this machine's memory; copy the detail.",
    field="model",
    complete=_with_measured,
)
