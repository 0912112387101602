"""A search over all pages of the guide: every word has to stand in a passage or its heading."""

from collections.abc import Sequence

from gpupanel.ui.dialogs.guide_dialog.guide_pages import GuidePage, Passage


def words_of(wanted: str) -> list[str]:
    """What is searched for, without case."""
    return wanted.casefold().split()


def found_passages(pages: Sequence[GuidePage], wanted: str) -> list[Passage]:
    """The passages that have every word, wherever in a word: headings first, in reading order.

    Args:
        pages: All of them.
        wanted: Words; without any nothing is found.
    """
    words = words_of(wanted)
    if not words:
        return []
    found = [
        passage
        for page in pages
        for passage in page.passages
        if _has(passage.text, words)
        or (not passage.is_heading and _has_with_heading(passage, words))
    ]
    return sorted(found, key=_rank)


def _has(text: str, words: Sequence[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _has_with_heading(passage: Passage, words: Sequence[str]) -> bool:
    """Whether some are in the heading and at least one is in the passage itself."""
    text, heading = passage.text.casefold(), passage.heading.casefold()
    return any(word in text for word in words) and all(
        word in text or word in heading for word in words
    )


def _rank(passage: Passage) -> int:
    return 0 if passage.is_heading else 1
