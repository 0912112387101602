"""The codes of all problems as a page of Markdown."""

import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from gpupanel.domain.problem_reference import (
    clusters,
    code,
    data,
    devices,
    driver,
    findings,
    images,
    inference,
    measuring,
    memory,
    models,
    profile,
    queue,
    records,
    runs,
    saving,
    scans,
    strategies,
    tables,
    training,
    window,
)
from gpupanel.domain.problem_reference.entry import ProblemChapter

CHAPTERS: Final[tuple[ProblemChapter, ...]] = (
    profile.CHAPTER,
    devices.CHAPTER,
    memory.CHAPTER,
    strategies.CHAPTER,
    training.CHAPTER,
    data.CHAPTER,
    images.CHAPTER,
    tables.CHAPTER,
    records.CHAPTER,
    scans.CHAPTER,
    models.CHAPTER,
    code.CHAPTER,
    inference.CHAPTER,
    runs.CHAPTER,
    saving.CHAPTER,
    queue.CHAPTER,
    clusters.CHAPTER,
    measuring.CHAPTER,
    findings.CHAPTER,
    driver.CHAPTER,
    window.CHAPTER,
)
_INTRODUCTION: Final = """\
<!-- Written by `make docs` from gpupanel/domain/problem_reference: changes here are lost. -->

# Problems

Whatever a person must know is a *problem*: an error keeps a run from starting or ended it, a
warning says what will not be as expected, a hint what could be better. Each has a code, which
`--json` prints and scripts may rely on, a sentence with the names and figures of this case, what to
do, and often a fix that one click applies (`gpupanel check --fixed FILE.toml` applies all of them).

This page has every code: what it means, what causes it, what to do.
"""
_WIDTH: Final = 100


def problem_reference(chapters: Iterable[ProblemChapter] = CHAPTERS) -> str:
    """The page: a section for each chapter, in which each code has a heading of its own."""
    blocks = [_INTRODUCTION.strip(), *(block for each in chapters for block in _section(each))]
    return "\n\n".join(blocks) + "\n"


def _section(chapter: ProblemChapter) -> Iterator[str]:
    yield f"## {chapter.title}"
    yield _wrapped(chapter.about)
    for name, entry in chapter.entries.items():
        yield f"### {name}"
        yield _wrapped(entry.meaning)
        items = (f"- **Cause:** {entry.cause}", f"- **Fix:** {entry.fix}")
        yield "\n".join(_wrapped(item, "  ") for item in items)


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
