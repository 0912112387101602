"""Clocks that are held back: by heat, or by a lack of power."""

from collections.abc import Iterator
from statistics import fmean
from typing import Final, NamedTuple

from gpupanel.domain.finding import Finding
from gpupanel.domain.telemetry import DeviceReading, ThrottleReason
from gpupanel.planning.findings.context import FindingContext, hint

_MOST_OF_THE_TIME: Final = 0.5
"""Fraction of the busy samples: every GPU reaches a limit now and then."""
_COSTS_CLOCK: Final = 0.1
"""Of the clock. At its power limit a GPU is whenever it has much to do ("SW Power Cap" of NVML):
that is a finding where it costs a tenth of the clock that it had in this run before."""


class _Kind(NamedTuple):
    code: str
    reasons: frozenset[ThrottleReason]
    why: str
    what_to_do: str
    always: bool
    """Whether it is never as it should be, whatever it costs."""


_KINDS: Final = (
    _Kind(
        "thermal_throttling",
        frozenset({ThrottleReason.THERMAL, ThrottleReason.HARDWARE_THERMAL}),
        "because it is too hot",
        "Clean its fans, give it more air, or lower its power limit.",
        always=True,
    ),
    _Kind(
        "power_throttling",
        frozenset({ThrottleReason.HARDWARE_POWER_BRAKE, ThrottleReason.HARDWARE_SLOWDOWN}),
        "because the power supply does not give it enough",
        "Examine its power cables and the power supply.",
        always=True,
    ),
    _Kind(
        "power_throttling",
        frozenset({ThrottleReason.POWER_CAP}),
        "at its power limit",
        "Raise the power limit if cooling and power supply allow it: nvidia-smi --power-limit.",
        always=False,
    ),
)


def throttling(context: FindingContext) -> Iterator[Finding]:
    """A GPU at work whose clocks are held back for most of the samples."""
    for gpu in context.gpus:
        working = tuple(
            (time_s, each)
            for time_s, each in context.working(gpu.key)
            if each.throttle_reasons is not None
        )
        found = (_held_back(context, gpu.key, working, kind) for kind in _KINDS)
        first = next((each for each in found if each is not None), None)
        if working and first is not None:
            yield first


def _held_back(
    context: FindingContext,
    key: str,
    working: tuple[tuple[float, DeviceReading], ...],
    kind: _Kind,
) -> Finding | None:
    held = [(time_s, each) for time_s, each in working if _is_held(each, kind)]
    if len(held) <= _MOST_OF_THE_TIME * len(working) or not _is_held(working[-1][1], kind):
        return None
    clocks = [each.clock_mhz for _, each in held if each.clock_mhz is not None]
    fastest = next((each.clock_mhz for each in context.clocks if each.key == key), None)
    cost = None
    if clocks and fastest:
        cost = max(0.0, 1.0 - fmean(clocks) / fastest)
    if not kind.always and (cost is None or cost < _COSTS_CLOCK):
        return None
    temperature = held[-1][1].temperature_c
    heat = "" if temperature is None else f" at {temperature:.0f} °C"
    clock = ""
    if clocks and fastest and cost:
        clock = f": {fmean(clocks):,.0f} MHz of {fastest:,} MHz, {cost * 100:.0f} % less"
    return Finding(
        problem=hint(
            kind.code,
            f"{context.name(key)} slows itself down {kind.why}{heat}{clock}.",
            kind.what_to_do,
        ),
        since_s=_begun(working, kind),
        cost_fraction=cost,
        device_key=key,
    )


def _is_held(reading: DeviceReading, kind: _Kind) -> bool:
    return bool(kind.reasons.intersection(reading.throttle_reasons or ()))


def _begun(working: tuple[tuple[float, DeviceReading], ...], kind: _Kind) -> float:
    """The first of the samples since which it has been so, but for single ones."""
    begun_s, lapses = working[-1][0], 0
    for time_s, reading in reversed(working):
        lapses = 0 if _is_held(reading, kind) else lapses + 1
        if lapses > 1:
            break
        if not lapses:
            begun_s = time_s
    return begun_s
