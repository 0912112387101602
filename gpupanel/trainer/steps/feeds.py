"""Which feed examples have: from memory inside the graph, or handed in with the calls."""

from gpupanel.domain.data_on_device import most_call_bytes
from gpupanel.domain.plan import LaunchPlan
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.steps.feed import Feed, own_devices
from gpupanel.trainer.steps.resident_feed import ResidentFeed
from gpupanel.trainer.steps.streamed_feed import MostSteps, StreamedFeed


def make_feed(examples: Examples, plan: LaunchPlan, *, with_neighbour: bool = False) -> Feed:
    """The fastest feed that these examples allow: brought step by step if a GPU has no room."""
    most_steps = MostSteps(
        examples.example_bytes,
        [replica.process for replica in plan.replicas],
        with_neighbour,
        most_call_bytes(plan),
    )
    features, devices = examples.in_memory, own_devices(plan)
    if features is None or any(plan.replicas[number].data_on_host for number in devices):
        return StreamedFeed(examples, devices, most_steps)
    # Another process, which has no room, brings what its calls take.
    bound = most_steps if len(plan.gang) > 1 else None
    return ResidentFeed(features, examples.labels, plan, bound)
