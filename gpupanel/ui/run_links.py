"""Which runs belong to each other: a training, and those that took its model."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.history.run_text import run_outcome_text
from gpupanel.ui import formatting

MOST_LINKS = 50
"""The most links of one run: the newest ones; all of them are under Runs."""


@dataclass(frozen=True, slots=True)
class RunLinks:
    """The runs that belong to a run.

    Attributes:
        origin: That which saved the model that the run took; ``None``: it took no run's.
        others: Those that took the model that the run saved, the newest first.
    """

    origin: RunSummary | None = None
    others: tuple[RunSummary, ...] = ()


def links_of(shown: Path | None, runs: Iterable[RunSummary]) -> RunLinks:
    """The links of a run.

    Args:
        shown: Its directory; ``None``: none is shown.
        runs: All that there are, the newest first.
    """
    if shown is None:
        return RunLinks()
    place, known = _place(shown), {_place(run.path): run for run in runs}
    run = known.get(place)
    model_run = None if run is None else run.model_run
    others = [
        each
        for each in known.values()
        if each.model_run is not None and _place(each.model_run) == place
    ]
    return RunLinks(
        origin=None if model_run is None else known.get(_place(model_run)),
        others=tuple(others[:MOST_LINKS]),
    )


def link_texts(runs: Sequence[RunSummary]) -> list[str]:
    """Runs as entries of a menu: what each is called, how it ended, what it found.

    Those that would read alike say when they were started, too.
    """
    texts = [_link_text(run) for run in runs]
    counts = Counter(texts)
    return [
        text if counts[text] == 1 else f"{text} · {formatting.day_and_time(run.started_s)}"
        for text, run in zip(texts, runs, strict=True)
    ]


def _link_text(run: RunSummary) -> str:
    words = [run.title, run_outcome_text(run)]
    if run.metrics.accuracy is not None:
        words.append(f"accuracy {formatting.fraction(run.metrics.accuracy)}")
    return visible_line(" · ".join(filter(None, words)))


def _place(path: Path) -> str:
    return os.path.abspath(path)  # noqa: PTH100 - without asking a disk where links lead
