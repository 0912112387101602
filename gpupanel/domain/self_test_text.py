"""A self-test in words: for tables, sentences and the terminal."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.number_text import count
from gpupanel.domain.self_test import (
    CaseOutcome,
    CaseResult,
    SelfTest,
    SelfTestCase,
    SelfTestKind,
    SelfTestPlace,
    SelfTestProgress,
)

_MOST_NAMES: Final = 4


def place_text(place: SelfTestPlace, names: Mapping[str, str]) -> str:
    """A device by its name; of several logical ones also by TensorFlow's."""
    if place.part or place.device_key == CPU_KEY:
        return _with_logical_name(place, names)
    return names.get(place.device_key, place.device_key)


def _with_logical_name(place: SelfTestPlace, names: Mapping[str, str]) -> str:
    name = names.get(place.device_key, place.device_key)
    return f"{name} ({place.logical_device.removeprefix('/device:')})"


def places_text(case: SelfTestCase, names: Mapping[str, str]) -> str:
    """The devices of a case: "RTX 4090 and RTX 3060"."""
    if len(case.places) > _MOST_NAMES:
        return f"{len(case.places)} devices"
    shown = [place_text(place, names) for place in case.places]
    if len(set(shown)) < len(shown):
        shown = [_with_logical_name(place, names) for place in case.places]
    *others, last = shown
    return f"{', '.join(others)} and {last}" if others else last


def case_text(case: SelfTestCase) -> str:
    """What is tested: "All-reduce: NCCL"."""
    if case.all_reduce is None:
        return case.kind.label
    without = "" if case.peer_to_peer else ", without peer-to-peer"
    return f"{case.kind.label}: {case.all_reduce.label}{without}"


def figure_text(outcome: CaseOutcome) -> str:
    """The figure with its unit; empty where there is none."""
    figure = outcome.figure
    if figure is None:
        return ""
    match outcome.case.kind:
        case SelfTestKind.MEMORY:
            return f"{count(round(figure))} MiB"
        case SelfTestKind.STEP:
            return f"differs by {figure:.1g}" if figure else "the same"
        case _:
            return f"{count(round(figure))} MiB/s"


def date_text(seconds: float) -> str:
    """A moment in this machine's time: "24 November 2026, 17:05"."""
    moment = datetime.fromtimestamp(seconds, tz=UTC).astimezone()
    return f"{moment.day} {moment:%B %Y, %H:%M}"


def progress_text(progress: SelfTestProgress, names: Mapping[str, str]) -> str:
    """What is done now, in one sentence."""
    if progress.case is None:
        return "Starting TensorFlow on the devices…"
    return f"{case_text(progress.case)} on {places_text(progress.case, names)}…"


def self_test_sentence(test: SelfTest) -> str:
    """What came of it, in one sentence or two."""
    if not test.tested_something:
        return "Nothing could be tested."
    passed = sum(each.result is CaseResult.PASSED for each in test.outcomes)
    words = f"{passed} of {len(test.outcomes)} tests passed"
    if test.bad:
        words += f", {len(test.bad)} failed"
    if test.not_done:
        words += f", {len(test.not_done)} not done"
    when = f" Tested on {date_text(test.tested_s)}" if test.tested_s else ""
    if when and test.is_remembered:
        when += ", with the same driver, devices and TensorFlow"
    return f"{words}.{when}{'.' if when else ''}"
