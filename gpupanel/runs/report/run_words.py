"""Words about a run that several parts of a report use."""

from datetime import UTC, datetime
from typing import Final

from gpupanel.domain.number_text import DASH

_ABBREVIATIONS: Final = {"auc": "AUC", "f1": "F1", "r2": "R²"}


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
    """A metric as people read it: "Mean absolute error" of ``mean_absolute_error``."""
    return _ABBREVIATIONS.get(name) or name.replace("_", " ").capitalize()


def size_text(count: int) -> str:
    """Bytes as people read them."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024.0:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1024.0
    return f"{size:,.1f} GiB"
