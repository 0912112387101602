"""Goes once through the records of a set: where each begins, its label, and whether all are alike.

Of large records only the few bytes are read that say so.
"""

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from gpupanel.domain.data import MOST_CLASSES
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.records import problems
from gpupanel.trainer.datasets.records.example_fields import (
    Feature,
    NoExampleError,
    Take,
    byte_spans,
    count_of,
    features_of,
    numbers_of,
)
from gpupanel.trainer.datasets.records.first_records import LONGEST_NAME_BYTES, is_text, taker
from gpupanel.trainer.datasets.records.layout import RecordLayout
from gpupanel.trainer.datasets.records.record_file import (
    RecordFile,
    RecordSource,
    Window,
    index,
)

_MOST_RECORDS = 2**31 - 1
"""Examples are counted with 32 bits."""
_REPORTED_RECORDS = 1000
_SMALL_BYTES = 4096


@dataclass(frozen=True, slots=True, eq=False)
class ScannedRecords:
    """The records of a set.

    Attributes:
        files: In their order.
        labels: One number, or a row of them, a record; ``None``: they are not read.
        names: Of classes, which the numbers mean, where the records name them.
    """

    files: tuple[RecordFile, ...]
    labels: npt.NDArray[np.generic] | None
    names: tuple[bytes, ...] = ()

    def __len__(self) -> int:
        return sum(map(len, self.files))


def scan(
    sources: Iterable[RecordSource],
    layout: RecordLayout,
    progress: Callable[[int, int], None],
) -> ScannedRecords:
    """Find the records of files, and their labels.

    Args:
        sources: The files.
        layout: What every record must be like.
        progress: Called with how many files are done, and how many bytes of the next; may raise,
            which ends it.

    Raises:
        ProblemError: A file is damaged, or a record is not like that.
    """
    files: list[RecordFile] = []
    labels = array("f" if layout.labels_kind == "float" else "q")
    names: dict[bytes, int] = {}
    for number, source in enumerate(sources):
        visitor = _Visitor(source, layout, labels, names, partial(progress, number))
        files.append(index(source, visitor.visit, _MOST_RECORDS - sum(map(len, files))))
    if not sum(map(len, files)):
        raise data_problem(
            "data_empty",
            f"{files[0].source.chosen} has no record.",
            "Choose files with at least one record.",
            field=files[0].source.field,
        )
    if not layout.labels:
        return ScannedRecords(tuple(files), None)
    raw = np.frombuffer(labels, np.float32 if layout.labels_kind == "float" else np.int64)
    shape = (-1,) if layout.labels_count == 1 else (-1, layout.labels_count)
    return ScannedRecords(tuple(files), raw.reshape(shape), tuple(names))


@dataclass(slots=True)
class _Visitor:
    source: RecordSource
    layout: RecordLayout
    labels: "array[float] | array[int]"
    names: dict[bytes, int]
    progress: Callable[[int], None]
    checker: "RecordChecker" = field(init=False)

    def __post_init__(self) -> None:
        self.checker = RecordChecker(self.source, self.layout)

    def visit(self, window: Window, number: int, start: int, length: int) -> None:
        if number % _REPORTED_RECORDS == 0:
            self.progress(start)

        def within(at: int, count: int) -> bytes:
            return window.take(start + at, min(count, length - at))

        take = taker(window.take(start, length)) if length <= _SMALL_BYTES else within
        found = self.checker.checked(take, length, number)
        if self.layout.labels and self.layout.labels_kind == "bytes":
            name = self.checker.name(take, found, number)
            self.labels.append(self.names.setdefault(name, len(self.names)))
            if len(self.names) > MOST_CLASSES:
                what = f"names one more class than the {MOST_CLASSES:,} that can be distinguished"
                raise self.checker.differs(self.layout.labels, number, what)
        elif self.layout.labels:
            numbers = self.checker.numbers(take, found, self.layout.labels, number)
            if len(numbers) != self.layout.labels_count:
                what = f"has {len(numbers):,} numbers, and that of the first {{:,}}"
                raise self.checker.differs(
                    self.layout.labels, number, what.format(self.layout.labels_count)
                )
            self.labels.extend(numbers.tolist())


@dataclass(frozen=True, slots=True)
class RecordChecker:
    """Holds records against what all of them must be like."""

    source: RecordSource
    layout: RecordLayout

    def checked(self, take: Take, size: int, number: int) -> dict[str, Feature]:
        """The features of a record that are read, once their types and lengths were found right.

        Args:
            take: Gives its bytes.
            size: How many there are.
            number: Of the record, from 1.

        Raises:
            ProblemError: It is no example, or not like the others.
        """
        layout = self.layout
        try:
            found = features_of(take, size, layout.names)
            for name, kind, key in (
                (layout.features, layout.kind, "features"),
                (layout.labels, layout.labels_kind, "labels"),
                *((each, "int64", "shape_features") for each in layout.shape_features),
            ):
                if name and name not in found:
                    there = features_of(take, size)
                    raise problems.missing_feature(
                        self.source.chosen, number, name, there, self._key(key)
                    )
                if name and found[name].kind != kind:
                    what = f"holds {found[name].kind}, and that of the first {kind}"
                    raise self.differs(name, number, what)
            count = self._count(take, found[layout.features])
        except NoExampleError as error:
            raise self._no_example(number, error) from error
        if count is not None and count != layout.count:
            things = "bytes" if layout.kind == "bytes" else "numbers"
            what = f"has {count:,} {things}, and that of the first {layout.count:,}"
            raise self.differs(layout.features, number, what)
        if layout.shape_features:
            said = tuple(
                each
                for name in layout.shape_features
                for each in self.numbers(take, found, name, number).tolist()
            )
            if said != layout.recorded_shape:
                raise self.differs(
                    layout.shape_features[0],
                    number,
                    f"says another shape ({_shown(said)}) than that of the first "
                    f"({_shown(layout.recorded_shape)})",
                )
        return found

    def numbers(
        self, take: Take, found: dict[str, Feature], name: str, number: int
    ) -> npt.NDArray[np.generic]:
        """The values of a feature of numbers.

        Raises:
            ProblemError: It is damaged.
        """
        try:
            return numbers_of(take, found[name])
        except NoExampleError as error:
            raise self._no_example(number, error) from error

    def value(self, take: Take, found: dict[str, Feature], number: int) -> bytes:
        """The bytes of the example.

        Raises:
            ProblemError: It is damaged.
        """
        try:
            ((start, end),) = byte_spans(take, found[self.layout.features])
        except (NoExampleError, ValueError) as error:
            raise self._no_example(number, error) from error
        return take(start, end - start)

    def name(self, take: Take, found: dict[str, Feature], number: int) -> bytes:
        """The name of its class.

        Raises:
            ProblemError: It has none, several, one that is too long, or one that is no text.
        """
        labels = self.layout.labels
        try:
            spans = byte_spans(take, found[labels])
        except NoExampleError as error:
            raise self._no_example(number, error) from error
        if len(spans) != 1:
            raise self.differs(labels, number, f"has {len(spans):,} names, and that of the first 1")
        start, end = spans[0]
        if not 0 < end - start <= LONGEST_NAME_BYTES:
            what = f"has {end - start:,} bytes, which are not the name of a class"
            raise self.differs(labels, number, what)
        name = take(start, end - start)
        if not is_text(name):
            raise self.differs(labels, number, "holds bytes that are not text")
        return name

    def differs(self, name: str, number: int, what: str) -> ProblemError:
        """The problem of a record that is not like the first."""
        return problems.differs(self.source.chosen, number, name, what, self.source.field)

    def _count(self, take: Take, feature: Feature) -> int | None:
        """How many numbers or bytes an example has; of images it does not matter."""
        if feature.kind == "float":
            return count_of(take, feature)
        if feature.kind == "int64":
            return len(numbers_of(take, feature))
        spans = byte_spans(take, feature)
        if len(spans) != 1:
            raise NoExampleError(f"the example has {len(spans):,} texts of bytes")
        return None if self.layout.is_image else spans[0][1] - spans[0][0]

    def _key(self, key: str) -> str:
        return f"data.{key}" if self.source.field == "data.path" else self.source.field

    def _no_example(self, number: int, error: Exception) -> ProblemError:
        return problems.no_example(self.source.chosen, number, str(error), self.source.field)


def _shown(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape[:10]))
