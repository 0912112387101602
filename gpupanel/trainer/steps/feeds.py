"""Which feed examples have: from memory inside the graph, or handed in with the calls."""

from typing import Final

from gpupanel.domain.data_on_device import most_call_bytes
from gpupanel.domain.plan import LaunchPlan
from gpupanel.trainer.datasets.examples import Examples, held_rows
from gpupanel.trainer.steps.data_copies import DataCopies
from gpupanel.trainer.steps.feed import Feed, own_devices
from gpupanel.trainer.steps.resident_feed import ResidentFeed
from gpupanel.trainer.steps.streamed_feed import MostSteps, StreamedFeed

_MOST_COPIED_BYTES: Final = 64 * 2**20
"""A replica on the host gets a copy of examples in the host's memory up to this size: it makes
small steps fast, and of large ones little is gained for twice the memory."""


def make_feed(
    examples: Examples, plan: LaunchPlan, copies: DataCopies, *, with_neighbour: bool = False
) -> Feed:
    """The fastest feed that these examples allow: brought step by step if a device has no room.

    Args:
        examples: To be stepped over.
        plan: Of the run.
        copies: Those of the run.
        with_neighbour: Of each part the example before the first is needed, too.
    """
    most_steps = MostSteps(
        examples.carried_bytes,
        [replica.process for replica in plan.replicas],
        with_neighbour,
        most_call_bytes(plan),
    )
    held, devices = held_rows(examples.features), own_devices(plan)
    # A copy is one of the whole array, of which these may be a few rows.
    if held is None or any(
        plan.replicas[number].data_on_host
        or ("GPU" not in device and held.array.nbytes > _MOST_COPIED_BYTES)
        for number, device in devices.items()
    ):
        return StreamedFeed(examples, devices, most_steps)
    # Another process, which has no room, brings what its calls take.
    bound = most_steps if len(plan.gang) > 1 else None
    return ResidentFeed(held, examples.labels, plan, copies, bound)
