"""The examples that a GPU gets a copy of, all of them, before the first step."""

from gpupanel.domain.data import DataCache
from gpupanel.domain.data_on_device import most_call_bytes
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.strategy import StrategyKind
from gpupanel.planning.context import PlanningContext


def data_on_gpu_bytes(context: PlanningContext) -> int:
    """What all sets take together on a GPU that gets a copy of them; 0: none does, or not known."""
    step, preview, profile = context.step, context.known.preview, context.profile
    if step is None or preview is None or profile.data.cache is not DataCache.MEMORY:
        return 0
    if profile.strategy.kind is StrategyKind.PARAMETER_SERVER:
        return 0  # its workers read them from the host's memory
    counts = [preview.training_count, preview.held_out_count]
    if not profile.data.may_validate_on_test_set or preview.validation_example_count:
        counts.append(preview.test_example_count)
    return sum(counts) * step.kept_bytes


def streamed_data_bytes(context: PlanningContext, plan: LaunchPlan) -> int:
    """What a GPU holds at most of examples that are brought there: of a call, and the next.

    A call has one step at least, whatever that carries.
    """
    step, preview, profile = context.step, context.known.preview, context.profile
    if step is None or preview is None:
        return 0
    in_memory = profile.data.cache is DataCache.MEMORY
    if in_memory and profile.strategy.kind is StrategyKind.PARAMETER_SERVER:
        return 0  # each step reads its own from the host's memory
    most = max(most_call_bytes(plan), max(plan.shares, default=0) * step.feature_bytes)
    return 2 * min(most, preview.training_count * step.feature_bytes)
