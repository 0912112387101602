"""Words about a run that several parts of a report use."""

from datetime import UTC, datetime
from typing import Final

from gpupanel.domain.number_text import DASH
from gpupanel.domain.outcome import SET_METRICS
from gpupanel.domain.steps_line import STEP_METRICS

_TITLES: Final = {
    name: metric.title for name, metric in (*SET_METRICS.items(), *STEP_METRICS.items())
}


def moment_text(seconds: float | None) -> str:
    """A moment, seconds since the epoch, in the time zone of this machine, which is named."""
    if seconds is None:
        return DASH
    try:
        moment = datetime.fromtimestamp(seconds, UTC).astimezone()
    except (OverflowError, OSError, ValueError):
        return DASH  # a clock beyond all calendars
    return moment.strftime("%Y-%m-%d %H:%M:%S %Z")


def metric_title(name: str) -> str:
    """A metric as people read it: "Mean absolute error" of ``mean_absolute_error``.

    One of a program or of other code of the person's own is called as that calls it.
    """
    return _TITLES.get(name, name)
