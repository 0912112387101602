"""The top of a report: which run, how it ended, when, and its few most important figures."""

from typing import Final

from gpupanel.domain.number_text import byte_size, count, duration, number, rate, watt_hours
from gpupanel.domain.outcome import Outcome
from gpupanel.runs.following.evaluated_text import evaluated_text
from gpupanel.runs.history.label import LONGEST_NOTES
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.run_text import run_outcome_text
from gpupanel.runs.report.markup import Html, element, note, terms, text
from gpupanel.runs.report.material import ReportMaterial
from gpupanel.runs.report.metrics_section import measured
from gpupanel.runs.report.run_texts import metric_title, moment_text

_TASKS: Final = {
    "train": "Training",
    "evaluate": "Evaluation",
    "predict": "Prediction",
    "script": "Own program",
}
_TONES: Final = {
    Outcome.COMPLETED: "good",
    Outcome.STOPPED: "neutral",
    Outcome.SUSPENDED: "neutral",
}
_LONGEST_TITLE: Final = 200
_SAID_BY_IT: Final = tuple(metric_title(name).lower() for name in ("loss", "mean_absolute_error"))


def heading(material: ReportMaterial) -> Html:
    """The top of the page."""
    run = material.summary
    tone = "neutral" if run.outcome is None else _TONES.get(run.outcome, "bad")
    words = run_outcome_text(run) or "not known"
    return element(
        "header",
        note(f"{_TASKS.get(run.task, 'Run')} report", "eyebrow"),
        element("h1", run.title[:_LONGEST_TITLE]),
        element(
            "p",
            element("span", words, class_=f"badge {tone}"),
            element("span", run.name, class_="name"),
        ),
        note(_when(run, material.events.restarts)),
        note(_what_was_evaluated(material)),
        note(text(run.notes, LONGEST_NOTES), "notes"),
        _figures(material),
    )


def _when(run: RunSummary, restarts: int) -> str:
    parts = [f"Started {moment_text(run.started_s)}"]
    if run.ended_s is not None:
        parts.append(f"ended {moment_text(run.ended_s)}")
    if restarts:
        parts.append(f"started again {'once' if restarts == 1 else f'{restarts:,} times'}")
    return ", ".join(parts)


def _what_was_evaluated(material: ReportMaterial) -> str:
    """Model and examples; empty where nothing was evaluated."""
    found, profile = material.events.evaluation, material.profile
    if found is None:
        return ""
    examples = evaluated_text(found) or f"{count(found.examples)} examples"
    is_saved = profile is not None and profile.model.is_saved
    path = profile.model.chosen_path if profile is not None and is_saved else ""
    model = f"{path} on " if path else ""
    return f"Evaluated: {model}{examples}."


def _figures(material: ReportMaterial) -> Html:
    run, events = material.summary, material.events
    part = "val_" if run.is_training else ""
    found = [
        (f"{'Validation ' if part else ''}{_inside(metric_title(name))}", number(value))
        for name, value in measured(run.metrics, part).items()
    ]
    if run.metrics.mean_absolute_error is not None and run.task == "evaluate":
        # In the unit of the values; the mean squared error says little to a person.
        off_by = ("Off by, on average", number(run.metrics.mean_absolute_error))
        found = [off_by, *(each for each in found if each[0] not in _SAID_BY_IT)]
    figures = [(title[:1].upper() + title[1:], value) for title, value in found[:3]]
    if run.lasted_s is not None:
        figures.append(("Took", duration(run.lasted_s)))
    if run.examples_per_second is not None:
        figures.append(("Speed", rate(run.examples_per_second)))
    if run.energy is not None:
        figures.append(("Energy", watt_hours(run.energy.watt_hours)))
    if events.epochs:
        figures.append(("Epochs", count(events.epochs)))
    if run.kept_epoch is not None:
        figures.append(("Epoch of the model", count(run.kept_epoch)))
    if events.predicted is not None:
        figures.append(("Predictions", count(events.predicted)))
    if events.parameters is not None:
        figures.append(("Parameters", count(events.parameters.parameters)))
    if material.model_bytes is not None:
        figures.append(("model.keras", byte_size(material.model_bytes)))
    return terms(figures, class_="figures")


def _inside(title: str) -> str:
    """A title inside another one; abbreviations keep their capitals."""
    return title if title[1:2].isupper() or title[1:2].isdigit() else title.lower()
