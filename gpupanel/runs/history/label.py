"""What a person calls a run, its tags, and what they noted: ``label.toml`` in its directory."""

from typing import Annotated, Any

import tomli_w
from filelock import Timeout
from pydantic import BeforeValidator, ConfigDict

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.toml_text import read_toml
from gpupanel.domain.value import Value
from gpupanel.domain.visible_text import as_utf8
from gpupanel.files.guarded_files import UnsafeFileError, read_file, remove
from gpupanel.files.locks import lock_in_folder
from gpupanel.files.whole_files import write_whole
from gpupanel.runs.directory.disk_problems import disk_problem

LONGEST_NAME = 200
LONGEST_NOTES = 20_000
LONGEST_TAG = 40
MOST_TAGS = 20
_MOST_BYTES = 2**20
_LOCK_WAIT_S = 5.0
"""Far longer than writing so small a file takes."""


# A label that anybody may have written keeps what of it can be read.
def _one_line(text: object) -> object:
    return " ".join(as_utf8(text).split())[:LONGEST_NAME] if isinstance(text, str) else ""


def _some_lines(text: object) -> object:
    return as_utf8(text).strip()[:LONGEST_NOTES] if isinstance(text, str) else ""


def beyond_tags(text: str) -> str:
    """What is not kept of tags as a person writes them, with commas between; empty: all is."""
    words = [" ".join(word.split()) for word in as_utf8(text).split(",")]
    if any(len(word) > LONGEST_TAG for word in words):
        return f"A tag has at most {LONGEST_TAG} characters: what is beyond them is not kept."
    if len({word.casefold() for word in words if word}) > MOST_TAGS:
        return f"A run has at most {MOST_TAGS} tags: those beyond them are not kept."
    return ""


def _short_text(tags: object) -> object:
    if not isinstance(tags, list | tuple):
        return ()
    # A comma divides them where a person writes them.
    texts = (as_utf8(tag).replace(",", " ") for tag in tags if isinstance(tag, str))
    words = (" ".join(text.split()) for text in texts)
    by_word: dict[str, str] = {}
    for word in words:
        short = word[:LONGEST_TAG].rstrip()
        if short:
            by_word.setdefault(short.casefold(), short)
    return tuple(by_word.values())[:MOST_TAGS]


class RunLabel(Value):
    """A run's name, notes and tags.

    Attributes:
        name: One line; empty: the run is called as its profile is.
        notes: Any number of lines; empty: none were taken.
        tags: Short words by which runs are found and grouped; upper and lower case are the same.
    """

    # A newer version may keep more there: what is known of it is shown all the same.
    model_config = ConfigDict(extra="ignore")

    name: Annotated[str, BeforeValidator(_one_line)] = ""
    notes: Annotated[str, BeforeValidator(_some_lines)] = ""
    tags: Annotated[tuple[str, ...], BeforeValidator(_short_text)] = ()

    def changes_of(self, before: "RunLabel") -> dict[str, Any]:
        """What it changes of a label, as :func:`change_label` takes it."""
        return {
            part: getattr(self, part)
            for part in type(self).model_fields
            if getattr(self, part) != getattr(before, part)
        }


def read_label(layout: RunLayout) -> RunLabel:
    """The run's label; an empty one where none was given, or where something else stands there.

    Raises:
        OSError: It cannot be read now.
    """
    try:
        return RunLabel.model_validate(_document(layout))
    except ValueError:
        return RunLabel()


def _document(layout: RunLayout) -> dict[str, Any]:
    """All that stands in the file; nothing where there is none, or something else in its place.

    Raises:
        OSError: It cannot be read now.
        ValueError: It is no TOML.
    """
    try:
        return read_toml(read_file(layout.label, most_bytes=_MOST_BYTES).decode())
    except (FileNotFoundError, UnsafeFileError):
        return {}


def change_label(
    layout: RunLayout,
    *,
    name: str | None = None,
    notes: str | None = None,
    tags: tuple[str, ...] | None = None,
    before: RunLabel | None = None,
) -> RunLabel:
    """Give the run a name, notes or tags and leave the others as they are.

    Whoever else writes meanwhile, nothing is lost: what is given is refused where the same was
    changed by somebody else. Nor is what a newer version keeps there.

    Args:
        layout: The run.
        name: The new name; empty: none any more; ``None``: as it is.
        notes: The new notes, the same way.
        tags: All tags that it is to have, the same way.
        before: What was seen when that was written; ``None``: what stands there is replaced.

    Returns:
        The label as it now stands.

    Raises:
        ProblemError: The run's directory is gone or cannot be written, or nobody can say what
            would be lost, since the label is damaged, or somebody else has changed the same
            meanwhile; nothing has changed.
    """
    asked = {"name": name, "notes": notes, "tags": tags}
    given = {key: each for key, each in asked.items() if each is not None}
    try:
        with lock_in_folder(layout.label.with_suffix(".lock"), _LOCK_WAIT_S):
            document = _document(layout)
            label = RunLabel.model_validate({**document, **given})
            if before is not None:
                _check_unchanged(layout, before, RunLabel.model_validate(document), label)
            unknown = document.keys() - RunLabel.model_fields.keys()
            if label == RunLabel() and not unknown:
                remove(layout.label)
            else:
                text = tomli_w.dumps({**document, **label.model_dump(mode="json")})
                write_whole(layout.label, text, private=True)
    except Timeout as error:
        raise ProblemError(_busy(layout)) from error
    except ValueError as error:
        raise ProblemError(_damaged(layout, str(error))) from error
    except OSError as error:
        raise ProblemError(disk_problem(error, layout.label)) from error
    return label


def _check_unchanged(layout: RunLayout, before: RunLabel, now: RunLabel, wanted: RunLabel) -> None:
    for part in RunLabel.model_fields:
        there, asked = getattr(now, part), getattr(wanted, part)
        if there in (getattr(before, part), asked) or asked == getattr(before, part):
            continue
        written = asked if isinstance(asked, str) else ", ".join(asked)
        raise ProblemError(
            Problem(
                code="label_changed_meanwhile",
                message=f"The {part} of {layout.name} were not changed: another window or program "
                "has changed them meanwhile."
                if part != "name"
                else f"{layout.name} was not given another name: another window or program has "
                "given it one meanwhile.",
                hint="Read the current text, and write yours again if it still applies.",
                detail=written,
            )
        )


def _busy(layout: RunLayout) -> Problem:
    return Problem(
        code="label_busy",
        message=f"The name, tags and notes of {layout.name} are being written by another program.",
        hint="Try again.",
    )


def _damaged(layout: RunLayout, detail: str) -> Problem:
    return Problem(
        code="label_damaged",
        message=f"Name, tags and notes of {layout.name} were not changed: {layout.label} is "
        "damaged, and what it holds would be lost.",
        hint="Correct the file, or remove it.",
        detail=detail,
    )
