"""Names that tell the compared runs apart."""

from collections.abc import Sequence
from dataclasses import replace

from gpupanel.ui.workers.comparison_worker import ComparedRun


def distinct_titles(runs: Sequence[ComparedRun]) -> tuple[ComparedRun, ...]:
    """The runs, those that are called the same by the names of their directories.

    Such a name begins with the time of the run's start.
    """
    titles = [run.summary.title for run in runs]
    return tuple(
        run if titles.count(title) == 1 else _told_apart(run)
        for run, title in zip(runs, titles, strict=True)
    )


def _told_apart(run: ComparedRun) -> ComparedRun:
    summary = run.summary
    label = f"{summary.label} ({summary.name})" if summary.label else summary.name
    return replace(run, summary=summary.model_copy(update={"label": label}))
