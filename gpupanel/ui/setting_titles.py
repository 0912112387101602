"""What settings and metrics are called where a table or a plot shows any of them."""

from gpupanel.domain.outcome import SET_METRICS
from gpupanel.domain.setting import within_words as within_words
from gpupanel.domain.setting_keys import settings_by_key

_KINDS = {"data.source": "Data", "model.source": "Model"}
"""Keys that say which of several kinds a table is; they declare no title."""
_PARTS = {"val": "Validation", "test": "Test", "": "Training"}


def setting_title(key: str) -> str:
    """The title of the setting with that dotted key; of none that is known, the key."""
    setting = settings_by_key().get(key)
    return _KINDS.get(key, key) if setting is None else setting.title


def setting_tip(key: str) -> str:
    """What the setting is for, and its key."""
    setting = settings_by_key().get(key)
    return key if setting is None else f"{setting.description} ({key})"


def part_and_metric(name: str) -> tuple[str, str]:
    """Of which examples a metric is, and what is measured: "val" and "loss" of "val_loss".

    Those that are trained with have no name of their own: "" and "loss" of "loss".
    """
    part = name.partition("_")[0]
    part = part if part in _PARTS else ""
    return part, name.removeprefix(f"{part}_")


def metric_title(name: str) -> str:
    """The title of a metric of a run: "Validation loss" of "val_loss"; of none known, its name."""
    part, measured = part_and_metric(name)
    metric = SET_METRICS.get(measured)
    return name if metric is None else f"{_PARTS[part]} {within_words(metric.title)}"
