"""Which batches each call takes: an epoch is one call after the other."""

from collections.abc import Iterator

import numpy as np

from gpupanel.trainer.datasets.examples import Indices
from gpupanel.trainer.loop.consensus import Pace
from gpupanel.trainer.steps.step_calls import StepCalls, TrainingCalls

CallBatches = tuple[int, Indices]
"""The place of a call's first example in the order, and its batches, shape [steps, batch]."""


def batches_of_calls(
    calls: StepCalls | TrainingCalls,
    order: Indices,
    batch_size: int,
    pace: Pace,
    *,
    first_step: int = 0,
    then: Indices | None = None,
) -> Iterator[CallBatches]:
    """Full batches, as many as fit into a call; the smaller last one by itself.

    Args:
        calls: What takes them, and makes ready what comes.
        order: All examples of the epoch.
        batch_size: Examples of a step, of all replicas together.
        pace: How many steps a call has.
        first_step: The step to begin with.
        then: The first examples of the next epoch, as far as they are known.
    """
    full = len(order) // batch_size
    rows = order[: full * batch_size].reshape(full, batch_size)
    last = order[np.newaxis, full * batch_size :]
    step, shares = first_step, calls.shares
    most = calls.most_steps(batch_size) or full
    calls.expect(order[step * batch_size :], batch_size, then)
    while step < full:
        if calls.shares != shares:
            # Of each batch, this process may take another part now.
            shares, most = calls.shares, calls.most_steps(batch_size) or full
            calls.expect(order[step * batch_size :], batch_size, then)
        batches = rows[step : step + min(pace.steps, most)]
        yield step * batch_size, batches
        step += len(batches)
    if step == full and last.size:
        yield full * batch_size, last
