"""What a run reached: metrics at its end, and the best of each while it trained."""

from typing import Final

from gpupanel.domain.number_text import DASH, count, number
from gpupanel.domain.outcome import Metrics
from gpupanel.runs.following.evaluated_text import evaluated_text
from gpupanel.runs.history.curves import MetricPoints
from gpupanel.runs.history.metrics import METRICS
from gpupanel.runs.report.markup import Html, note, section, table
from gpupanel.runs.report.material import ReportMaterial
from gpupanel.runs.report.run_events import RunEvents
from gpupanel.runs.report.run_texts import metric_title

_PARTS: Final = {"": "Training", "val_": "Validation", "test_": "Test"}
_EVALUATED: Final = {
    None: "Evaluated examples",
    "all": "All examples",
    "validation": "Validation examples",
    "training": "Training examples",
}


def measured(metrics: Metrics, part: str) -> dict[str, float]:
    """Metrics of one set by name, the best known ones first.

    Args:
        metrics: Of a run.
        part: How their names begin: ``val_`` or ``test_``; empty: with neither.
    """
    numbers = {
        name: float(value)
        for name, value in metrics.model_dump(exclude_none=True).items()
        if isinstance(value, int | float)
    }
    if part:
        return {
            name.removeprefix(part): value
            for name, value in numbers.items()
            if name.startswith(part)
        }
    others = tuple(prefix for prefix in _PARTS if prefix)
    return {name: value for name, value in numbers.items() if not name.startswith(others)}


def metrics_section(material: ReportMaterial) -> Html:
    """A row for each metric; columns of sets that were not measured are left out."""
    run = material.summary
    parts = {part: measured(run.metrics, part) for part in _PARTS}
    evaluation = material.events.evaluation
    which = None if evaluation is None else evaluation.which
    titles = dict(_PARTS) if run.is_training else {"": _EVALUATED[which]}
    shown = {part: title for part, title in titles.items() if parts[part]}
    names = list(dict.fromkeys(name for part in shown for name in parts[part]))
    best = {name: _best(material.events, name) for name in names}
    has_best = any(best.values())
    rows = []
    for name in names:
        numbers = [number(parts[part].get(name)) for part in shown]
        extra = (best[name] or (DASH, DASH)) if has_best else ()
        rows.append((metric_title(name), *numbers, *extra))
    heads = ("Metric", *shown.values(), *(("Best validation", "after") if has_best else ()))
    words = "At the end of the run, over whole sets." if run.task == "train" else ""
    if evaluation is not None and (examples := evaluated_text(evaluation)):
        words = f"Of {examples}."
    if run.kept_epoch is not None:
        words = f"Of epoch {run.kept_epoch:,}, whose weights the model has, over whole sets."
    # Words alone, without a number below them, are no section.
    return section("Metrics", note(words), table(heads, rows)) if rows else Html()


def _best(events: RunEvents, name: str) -> tuple[str, str] | None:
    """The best value of the validation, and when that was."""
    points = events.curves.get(f"val_{name}")
    if points is None or not len(points):
        return None
    value = points.best(more_is_better=METRICS[f"val_{name}"].more_is_better)
    return number(value), _when(points, value, events)


def _when(points: MetricPoints, value: float | None, events: RunEvents) -> str:
    step = round(float(points.steps[points.values.tolist().index(value)]))
    of_epoch = 0 if events.data is None else events.data.steps_per_epoch
    return f"epoch {count(-(-step // of_epoch))}" if of_epoch > 0 else f"step {count(step)}"
