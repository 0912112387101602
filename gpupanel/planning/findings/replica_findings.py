"""What replicas lose to each other: the slowest one, and the exchange of gradients."""

from collections.abc import Iterator
from typing import Final

from gpupanel.domain.device import DeviceKind
from gpupanel.domain.finding import Finding
from gpupanel.domain.plan import replica_name
from gpupanel.domain.problem import Change, Fix
from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.domain.time_spent import TimeCategory, TimeSpent
from gpupanel.planning.all_reduce import hierarchical_copy_is_right, sums_gradients
from gpupanel.planning.findings.context import FindingContext, hint, since, trained_s
from gpupanel.planning.rules.suggestion_rules import use_batch

_WORTH_BALANCING: Final = 0.15
"""Of a step. Balanced shares are changed for a gain of 5 % (``trainer/balancing/adjusting.py``);
whoever is asked to start a training again must gain more than three such changes."""
_WORTH_ON_ONE_DEVICE: Final = 0.35
"""The same where the replicas are on one device, and take turns there: two equal ones on a busy
processor were measured to differ by a half, which seems a gain of 0.2."""
_MOST_EXCHANGING: Final = 0.3
"""Of the time of training. Twice the batch exchanges half as often: from there on that gains a
sixth and more of the time."""


def straggler(context: FindingContext) -> Iterator[Finding]:
    """A replica that the others wait for, where other shares would let them wait less."""
    plan, spent = context.plan, context.spent
    if not context.has_settled or not plan.divides_batches or plan.balanced:
        return
    gain = _gain(context, spent)
    # Each node calls its own processor "cpu".
    devices = {(context.node(each), each.device_key) for each in plan.replicas}
    least = _WORTH_BALANCING if len(devices) > 1 else _WORTH_ON_ONE_DEVICE
    computing = [each.computing_s for each in spent.replicas]
    # Of the whole time: over a network, steps may spend little of it computing.
    if gain is None or gain * max(computing) / trained_s(spent) < least:
        return
    slowest = max(range(len(computing)), key=computing.__getitem__)
    fastest = min(range(len(computing)), key=computing.__getitem__)
    times = computing[slowest] / computing[fastest]
    waiting = spent.replicas[fastest].waiting_for_replicas_s / spent.seconds
    key = plan.replicas[slowest].device_key
    yield Finding(
        problem=hint(
            "straggler",
            f"{_name(context, slowest)} takes {_times(times)} times as long for its "
            f"{context.shares[slowest]:,} examples as {_name(context, fastest)} for "
            f"{context.shares[fastest]:,}, which waits for {waiting * 100:.0f} % of the time.",
            f"Balanced shares give each what it can do: up to {gain * 100:.0f} % less time a "
            "step, as far as its time follows from its examples.",
            (context.fix(Fix.of("Balance the shares", "strategy.shares", "balanced")),),
            "strategy.shares",
        ),
        since_s=since(
            context.reports,
            lambda each: (_gain(context, each.spent) or 0.0) >= least,
        ),
        cost_fraction=min(1.0, gain * trained_s(spent) / spent.seconds),
        device_key=key,
    )


def _name(context: FindingContext, replica: int) -> str:
    planned = context.plan.replicas[replica]
    name, node = context.name(planned.device_key), context.node(planned)
    return replica_name(replica, f"{name} of {node}" if node else name)


def _gain(context: FindingContext, spent: TimeSpent) -> float | None:
    """Which part of computing the best shares would save; ``None``: not known."""
    times = [each.computing_s for each in spent.replicas]
    shares = context.shares
    if len(times) < 2 or len(times) != len(shares) or not all(times) or not all(shares):
        return None
    # Where clocks within the steps have not run yet, all replicas have the same time.
    speeds = [share / time for share, time in zip(shares, times, strict=True)]
    return 1.0 - sum(shares) / sum(speeds) / max(times)


def exchange_bound(context: FindingContext) -> Iterator[Finding]:
    """Gradients whose exchange takes long beside computing them."""
    plan, spent = context.plan, context.spent
    working = sum(share > 0 for share in context.shares)
    if not context.has_settled or not sums_gradients(context.profile, working):
        return
    exchanging = _exchanging(spent)
    if exchanging is None or exchanging < _MOST_EXCHANGING:
        return
    batch, steps = plan.global_batch_size, plan.accumulation_steps
    yield Finding(
        problem=hint(
            "exchange_bound",
            f"Exchanging gradients over {working} replicas takes {exchanging * 100:.0f} % of the "
            f"training time: a batch of {batch:,} is computed too soon for it.",
            "A larger batch exchanges less often; where it does not fit in memory, with twice the "
            "accumulation steps.",
            (*_less_often(context, batch, steps), *_other_ways(context, working)),
            "training.global_batch_size",
        ),
        since_s=since(
            context.reports, lambda each: (_exchanging(each.spent) or 0.0) >= _MOST_EXCHANGING
        ),
        cost_fraction=min(1.0, exchanging * trained_s(spent) / spent.seconds),
    )


def _exchanging(spent: TimeSpent) -> float | None:
    fraction = spent.fractions().get(TimeCategory.EXCHANGING)
    training_s = trained_s(spent)
    return None if fraction is None or not training_s else fraction * spent.seconds / training_s


def _less_often(context: FindingContext, batch: int, steps: int) -> Iterator[Fix | None]:
    examples = 0 if context.data is None else context.data.training_examples
    if not isinstance(context.profile.strategy.shares, str) or 2 * batch > examples:
        return
    yield context.fix(use_batch(2 * batch))
    accumulating = Fix(
        label=f"Accumulate {2 * batch:,} in {2 * steps:,} steps",
        changes=(
            Change(path=("training", "global_batch_size"), value=2 * batch),
            Change(path=("training", "accumulation_steps"), value=2 * steps),
        ),
    )
    yield context.fix(accumulating)


def _other_ways(context: FindingContext, working: int) -> Iterator[Fix | None]:
    """Other ways to sum that are right here; which one is faster a run shows."""
    chosen, kind = context.plan.all_reduce, context.profile.strategy.kind
    in_workers = kind is StrategyKind.MULTI_WORKER
    # Chosen automatically replicas of one process sum by NCCL where that works.
    by_nccl = chosen is AllReduce.NCCL or (
        context.profile.strategy.all_reduce is AllReduce.AUTO and not in_workers
    )
    gpus = [each for each in context.plan.devices if each.kind is DeviceKind.GPU]
    is_split = any(len(each.logical_limits_mib) > 1 for each in gpus)
    ways = []
    if gpus and not is_split and not by_nccl:
        ways.append(AllReduce.NCCL)
    if not in_workers and hierarchical_copy_is_right(working):
        ways.append(AllReduce.HIERARCHICAL_COPY)
    for way in ways:
        if way is not chosen:
            yield context.fix(Fix.of(f"Use {way.label}", "strategy.all_reduce", way.value))


def _times(times: float) -> str:
    return f"{times:.1f}" if times < 10.0 else f"{times:,.0f}"
