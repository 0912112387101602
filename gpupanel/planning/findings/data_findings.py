"""Devices that wait for their examples."""

from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import Final

from gpupanel.domain.data import DataCache
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.finding import Finding
from gpupanel.domain.problem import Fix
from gpupanel.domain.time_spent import TimeCategory
from gpupanel.planning.findings.context import FindingContext, hint, since, trained_s

_MOST_WAITING: Final = 0.1
"""Of the time of training. Our own: with the look-ahead of one call, waiting is below a hundredth
wherever reading keeps up, and above a tenth it is what a person can gain most from."""
_LEAST_SIDE: Final = 64
"""Pixels: smaller images are decoded in no time, and little is left to learn from."""
_BYTES_A_VALUE: Final = 4
_PART_OF_MEMORY: Final = 0.5
"""The fraction of free memory that the examples of a run may take."""


def training_waits_for_data(context: FindingContext) -> Iterator[Finding]:
    """Steps that wait for more than a tenth of the training's time.

    What is decoded in the first epoch of a run, and kept, says nothing about those after it.
    """
    data = context.profile.data
    reports = context.reports
    if data.is_decoded and data.cache is DataCache.DISK:
        reports = tuple(each for each in reports if each.epoch != context.first_epoch)
    context = replace(context, reports=reports)
    spent = context.spent
    if not context.has_settled:
        return
    waiting = _waiting(spent.fractions(), trained_s(spent) / spent.seconds)
    if waiting <= _MOST_WAITING:
        return
    yield Finding(
        problem=hint(
            "training_waits_for_data",
            f"The devices wait for examples in {waiting * 100:.0f} % of the training time: "
            "reading them takes longer than computing.",
            _what_to_do(context),
            (*_cached(context), _smaller(context)),
            "data.cache",
        ),
        since_s=since(
            reports,
            lambda each: _waiting(each.spent.fractions(), 1.0) > _MOST_WAITING,
        ),
        cost_fraction=waiting,
    )


def _waiting(fractions: dict[TimeCategory, float], trained: float) -> float:
    return min(1.0, fractions.get(TimeCategory.WAITING_FOR_DATA, 0.0) / trained)


def _what_to_do(context: FindingContext) -> str:
    data = context.profile.data
    may_be_cached, faster_disk = data.cache is DataCache.NONE, "put the data on a faster disk"
    if data.is_decoded and may_be_cached:
        what_to_do = 'set data.cache to "memory" or "disk", so that examples are decoded once'
    elif data.is_decoded:
        what_to_do = f"{faster_disk}, or make data.image_size smaller"
    elif may_be_cached:
        what_to_do = f'set data.cache to "memory" if the examples fit there, or {faster_disk}'
    else:
        what_to_do = faster_disk
    return f"{what_to_do[0].upper()}{what_to_do[1:]}."


def _cached(context: FindingContext) -> Iterator[Fix | None]:
    data = context.profile.data
    if data.cache is not DataCache.NONE:
        return
    if _fits_in_memory(context):
        yield context.fix(Fix.of("Cache in memory", "data.cache", DataCache.MEMORY.value))
    if data.is_decoded:
        yield context.fix(Fix.of("Cache on disk", "data.cache", DataCache.DISK.value))


def _fits_in_memory(context: FindingContext) -> bool:
    """Whether all examples fit in what is free now, as far as both are known."""
    readings = context.readings(CPU_KEY)
    free_mib = readings[-1][1].memory_free_mib if readings else None
    if context.data is None or free_mib is None:
        return False
    examples = context.data.training_examples + context.data.validation_examples
    mib = examples * prod(context.data.feature_shape) * _BYTES_A_VALUE / 2**20
    return mib < _PART_OF_MEMORY * free_mib


def _smaller(context: FindingContext) -> Fix | None:
    sides = getattr(context.profile.data, "image_size", None)
    if not context.profile.data.is_decoded or sides is None or min(sides) < 2 * _LEAST_SIDE:
        return None
    half = [side // 2 for side in sides]
    return context.fix(Fix.of(f"Use {half[0]}x{half[1]} pixels", "data.image_size", half))
