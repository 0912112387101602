"""What is wrong or odd about data, as problems: what makes figures mean nothing comes first."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data_source import ClassWeights, Target
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.scan import ScanRequest
from gpupanel.trainer.datasets.scanning.labels_text import counts_of, example_of
from gpupanel.trainer.datasets.scanning.same_examples import PartOfSet, SameContents
from gpupanel.trainer.datasets.scanning.scanned import MOST_NAMED, Scanned
from gpupanel.trainer.datasets.skipped_files import SKIPPED_KEY, share_for

_SHOWN = 3
_UNEVEN = 10.0
"""Times as many examples of one class as of another: a model that never names the rare one is
nearly always right."""
_IGNORED = re.compile(r"[\s_\-.]+")
_MOST_OF_GROUP = 4
Counts = npt.NDArray[np.int64]


def findings(
    scanned: Scanned,
    request: ScanRequest,
    parts: Sequence[PartOfSet],
    same: SameContents | None,
    problems: Iterable[Problem],
) -> Iterator[Problem]:
    """Everything that is to be said.

    Args:
        scanned: The data.
        request: What was asked for.
        parts: Its sets as a run has them.
        same: What in them is the same; ``None``: they were not scanned.
        problems: What was said while it was read.
    """
    said = [*problems, *scanned.problems]
    if same is not None:
        yield from _leaks(same, scanned)
    yield from (problem for problem in said if problem.is_error)
    yield from _unreadable(scanned, parts)
    if same is not None:
        yield from _conflicts(same, scanned)
    yield from (problem for problem in said if not problem.is_error)
    if scanned.class_names and request.task == "train":
        yield from _names_alike(scanned.class_names)
        yield from _class_sizes(scanned, request, parts)
    if same is not None:
        yield from _copies(same, scanned)


def _leaks(same: SameContents, scanned: Scanned) -> Iterator[Problem]:
    sets = same.set_of[same.leaked]
    for number, name in ((1, "validation"), (2, "test")):
        leaked = int((sets == number).sum())
        if not leaked:
            continue
        total = sum(len(part) for part in same.parts if part.name == name)
        lines = [_line(same, group, scanned) for group in _groups_with(same, number)]
        others = "training" if name == "validation" else "training or validation"
        yield Problem(
            code=f"scan_{name}_leak",
            severity=Severity.WARNING,
            field="data.validation_fraction" if name == "validation" else "data.test_path",
            message=f"{leaked:,} of {total:,} {name} examples {_are(leaked)} among the {others} "
            f"examples, too: {_first(lines)}.",
            hint="Memorised examples cannot show how well the model does on new ones: keep one of "
            "each, or all copies in one set.",
            detail=_rest(lines),
        )


def _groups_with(same: SameContents, number: int) -> Iterator[int]:
    """The first groups that are in a set and in another one."""
    found = 0
    for group in same.groups():
        if not same.is_across[group] or found == MOST_NAMED:
            return
        members = same.members(group, _MOST_OF_GROUP)
        if (same.set_of[members] == number).any():
            found += 1
            yield group


def _line(same: SameContents, group: int, scanned: Scanned) -> str:
    members = [
        example_of(*same.part_of(each), scanned) for each in same.members(group, _MOST_OF_GROUP)
    ]
    named = [
        f"{each.name} ({each.set}{f', {each.label}' if each.label else ''})" for each in members
    ]
    more = int(same.sizes[group]) - len(members)
    return " = ".join(named) + (f" = {more:,} more" if more else "")


def _conflicts(same: SameContents, scanned: Scanned) -> Iterator[Problem]:
    count = int((~same.is_alike).sum())
    if not count:
        return
    groups = np.flatnonzero(~same.is_alike)[:MOST_NAMED].tolist()
    lines = [_line(same, group, scanned) for group in groups]
    are_values = scanned.target is Target.VALUES
    yield Problem(
        code="scan_labels_differ",
        severity=Severity.HINT if are_values else Severity.WARNING,
        field="data",
        message=f"{count:,} {'content has' if count == 1 else 'contents have'} different labels: "
        f"{_first(lines)}.",
        hint="No model can predict all of them correctly; check which label is right.",
        detail=_rest(lines),
    )


def _copies(same: SameContents, scanned: Scanned) -> Iterator[Problem]:
    if not same.copies:
        return
    groups = [group for group, _ in zip(same.groups(), range(MOST_NAMED), strict=False)]
    lines = [_line(same, group, scanned) for group in groups]
    yield Problem(
        code="scan_copies",
        severity=Severity.HINT,
        field="data",
        message=f"{same.copies:,} of {len(same.order):,} examples "
        f"{'is a copy of another' if same.copies == 1 else 'are copies of others'}: "
        f"{_first(lines)}.",
        hint="Each counts as an example of its own; remove duplicates that are not intended.",
        detail=_rest(lines),
    )


def _unreadable(scanned: Scanned, parts: Sequence[PartOfSet]) -> Iterator[Problem]:
    found = [
        (part, place) for part in parts for place in np.flatnonzero(~part.is_readable).tolist()
    ]
    if not found:
        return
    count, total, share = len(found), sum(map(len, parts)), scanned.unreadable_share
    names = [part.name_of(place) for part, place in found[:_SHOWN]]
    shown = ", ".join(names) + (f" and {count - _SHOWN:,} more" if count > _SHOWN else "")
    detail = "\n".join(
        part.whole.unreadable.get(part.index(place)) or part.name_of(place)
        for part, place in found[:MOST_NAMED]
    )
    message = f"{count:,} of {total:,} examples cannot be read: {shown}."
    if share is None:
        yield Problem(
            code="scan_examples_unreadable",
            field="data",
            message=message,
            hint="Repair or remove them.",
            detail=detail,
        )
        return
    are_skipped = count <= int(total * share)
    wanted = None if are_skipped else share_for(count, total)
    images = "1 unreadable image" if count == 1 else f"{count:,} unreadable images"
    yield Problem(
        code="scan_images_unreadable",
        severity=Severity.WARNING if are_skipped else Severity.ERROR,
        field=SKIPPED_KEY,
        message=message,
        hint="They are skipped: the next image with the same label takes the place of each."
        if are_skipped
        else (
            f"Repair or remove them; or skip them: {share:.2%} of the images may be unreadable now."
        ),
        detail=detail,
        fix=None if wanted is None else Fix.of(f"Skip {images}", SKIPPED_KEY, wanted),
    )


def _names_alike(names: Sequence[str]) -> Iterator[Problem]:
    """Classes that are one, written in several ways."""
    spelt: dict[str, list[str]] = {}
    for name in names:
        spelt.setdefault(_bare(name), []).append(name)
    alike = [each for each in spelt.values() if len(each) > 1]
    if not alike:
        return
    lines = [" and ".join(f'"{name}"' for name in each) for each in alike]
    yield Problem(
        code="scan_class_names_alike",
        severity=Severity.WARNING,
        field="data",
        message=f"Names of classes differ only in case, spaces or accents: {_first(lines)}.",
        hint=(
            "If they mean the same, give them the same name; otherwise a model learns to "
            "distinguish them."
        ),
        detail=_rest(lines),
    )


def _bare(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    bare = "".join(each for each in decomposed if not unicodedata.combining(each))
    return _IGNORED.sub("", bare) or name


def _class_sizes(
    scanned: Scanned, request: ScanRequest, parts: Sequence[PartOfSet]
) -> Iterator[Problem]:
    names = scanned.class_names
    for part in parts:
        labels = part.labels
        if labels is None or not len(labels):
            continue
        counts = counts_of(labels, scanned)
        missing = [names[place] for place in np.flatnonzero(counts == 0)]
        if missing:
            yield _of_classes(
                f"scan_class_not_in_{part.name}",
                Severity.WARNING if part.name == "training" else Severity.HINT,
                missing,
                f"no {part.name} example",
                "Such a class is never learned."
                if part.name == "training"
                else "How well the model does on such a class is not measured.",
            )
        if part.name != "training":
            continue
        single = [names[place] for place in np.flatnonzero(counts == 1)]
        if single:
            yield _of_classes(
                "scan_class_of_one",
                Severity.HINT,
                single,
                "a single training example",
                "A mistyped name looks like this, too; little is learned from one example.",
            )
        yield from _uneven(scanned, request, counts)


def _of_classes(
    code: str, severity: Severity, classes: Sequence[str], what: str, hint: str
) -> Problem:
    shown = ", ".join(f'"{name}"' for name in classes[:5]) + (", ..." if len(classes) > 5 else "")
    subject = "Class" if len(classes) == 1 else f"{len(classes):,} classes"
    verb = "has" if len(classes) == 1 else "have"
    message = (
        f"Class {shown} has {what}." if len(classes) == 1 else f"{subject} {verb} {what}: {shown}."
    )
    return Problem(
        code=code,
        severity=severity,
        field="data",
        message=message,
        hint=hint,
        detail=_rest(classes[:MOST_NAMED], 5),
    )


def _uneven(scanned: Scanned, request: ScanRequest, counts: Counts) -> Iterator[Problem]:
    held = counts[counts > 0]
    if scanned.target is not Target.CLASSES or len(held) < 2 or held.max() < _UNEVEN * held.min():
        return
    rare = int(np.argmin(np.where(counts > 0, counts, counts.max())))
    often = int(np.argmax(counts))
    names = scanned.class_names
    is_weighed = request.data.class_weights is not ClassWeights.NONE
    fix = Fix.of("Weight rare classes more", "data.class_weights", ClassWeights.BALANCED.value)
    yield Problem(
        code="scan_classes_uneven",
        severity=Severity.HINT,
        field="data.class_weights",
        message=f'Classes are uneven: "{names[often]}" has {int(counts[often]):,} training '
        f'examples, "{names[rare]}" {int(counts[rare]):,}.',
        hint="Rare classes are weighted more already."
        if is_weighed
        else "A model that never predicts the rare ones is nearly always right.",
        fix=None if is_weighed else fix,
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _first(lines: Sequence[str]) -> str:
    more = len(lines) - _SHOWN
    return "; ".join(lines[:_SHOWN]) + (f"; and {more:,} more" if more > 0 else "")


def _rest(lines: Sequence[str], shown: int = _SHOWN) -> str:
    """All of them, where the message does not say them."""
    return "\n".join(lines) if len(lines) > shown else ""
