"""The first records of a file: which features they have, of which types and lengths."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image

from gpupanel.domain.choice import Choice
from gpupanel.domain.visible_text import visible_line
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.data_problems import data_problem, unreadable
from gpupanel.trainer.datasets.records import problems
from gpupanel.trainer.datasets.records.crc32c import masked_crcs
from gpupanel.trainer.datasets.records.example_fields import (
    Feature,
    FeatureKind,
    NoExampleError,
    Take,
    byte_spans,
    features_of,
    numbers_of,
)
from gpupanel.trainer.datasets.records.record_file import HEAD, TAIL, Framing
from gpupanel.trainer.datasets.records.unpacked import is_packed, unpacked_chunks
from gpupanel.trainer.parts.image_formats import FORMATS

LONGEST_NAME_BYTES = 1_000
"""The longest name of a class."""
_WITHOUT_CONTROLS = bytes(byte for byte in range(256) if byte >= 0x20 and byte != 0x7F)
_RECORDS = 10
_MOST_BYTES = 64 * 2**20
_READ_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class FeatureFacts:
    """A feature of the first records.

    Attributes:
        kind: Of its values.
        counts: Fewest and most values of a record.
        lengths: Of bytes, fewest and most of a value.
        image: What kind of encoded image the first is, such as "JPEG 500 x 400"; else empty.
        is_text: Whether what is bytes is text (:func:`is_text`).
    """

    kind: FeatureKind
    counts: tuple[int, int]
    lengths: tuple[int, int] = (0, 0)
    image: str = ""
    is_text: bool = True

    @property
    def may_be_name(self) -> bool:
        """Whether it may be the name of a class: one text that is short and no image."""
        is_one = self.is_text and self.kind == "bytes" and self.counts == (1, 1)
        is_one = is_one and not self.image
        return is_one and self.lengths[0] > 0 and self.lengths[1] <= LONGEST_NAME_BYTES

    @property
    def form(self) -> str:
        """In words: "float, 4 numbers"."""
        if self.image:
            return f"image, {self.image}"
        many = _range(self.counts)
        if self.kind == "bytes":
            several = "" if self.counts == (1, 1) else f" in {many} texts"
            return f"{_range(self.lengths)} bytes{several}"
        return f"{self.kind}, one number" if self.counts == (1, 1) else f"{self.kind}, {many}"


@dataclass(frozen=True, slots=True)
class FirstRecords:
    """What the first records of a file have in common.

    Attributes:
        path: Of the file.
        first: The bytes of the first one.
        features: Of these records, by name.
    """

    path: Path
    first: bytes
    features: Mapping[str, FeatureFacts]

    def choices(self, *kinds: FeatureKind) -> tuple[Choice, ...]:
        """The features of these kinds, or of all, as they are offered."""
        return tuple(
            Choice(name, f"{visible_line(name)}: {facts.form}")
            for name, facts in sorted(self.features.items())
            if not kinds or facts.kind in kinds
        )

    def label_choices(self) -> tuple[Choice, ...]:
        """The features that may be labels: numbers, and names of classes."""
        names = {name for name, facts in self.features.items() if facts.may_be_name}
        numbers = {choice.value for choice in self.choices("int64", "float")}
        return tuple(choice for choice in self.choices() if choice.value in names | numbers)


def read_first_records(paths: Sequence[Path], field: str) -> FirstRecords:
    """The first records of several files: those of the first one that has any.

    Args:
        paths: Of the files, compressed or not.
        field: The profile key that names them.

    Raises:
        ProblemError: It cannot be read, all are empty, or a record is no example.
    """
    for path in paths:
        found = _read_first(path, field)
        if found is not None:
            return found
    raise data_problem(
        "data_empty",
        f"{paths[0]} is empty: it has no record.",
        "Choose a file with at least one record.",
        field=field,
    )


def first_values(paths: Sequence[Path], field: str, name: str) -> Iterator[bytes]:
    """What a feature of bytes holds in the first records of the first file that has any.

    Args:
        paths: Of the files.
        field: The profile key that names them.
        name: Of the feature.

    Raises:
        ProblemError: As :func:`read_first_records`.
    """
    for path in paths:
        records = list(_first_records(path, field))
        for record in records:
            take = taker(record)
            feature = features_of(take, len(record)).get(name)
            for start, end in byte_spans(take, feature) if feature is not None else ():
                yield record[start:end]
        if records:
            return


def _read_first(path: Path, field: str) -> FirstRecords | None:
    features: dict[str, FeatureFacts] = {}
    first = None
    for number, record in enumerate(_first_records(path, field), 1):
        first = record if first is None else first
        try:
            for name, feature in features_of(taker(record), len(record)).items():
                features[name] = _with_record(record, feature, features.get(name))
        except NoExampleError as error:
            raise problems.no_example(path, number, str(error), field) from error
    return None if first is None else FirstRecords(path, first, features)


def is_image(value: bytes) -> str:
    """What kind of encoded image bytes are, with its size; empty: they are none."""
    try:
        with Image.open(BytesIO(value), formats=FORMATS) as image:
            return f"{image.format} {image.width:,} x {image.height:,}"
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - whatever bytes make of the decoders, they are no image
        return ""


def is_text(value: bytes) -> bool:
    """Whether bytes may be text, in whatever encoding: raw numbers have control characters."""
    return not value.translate(None, _WITHOUT_CONTROLS)


def taker(record: bytes) -> Take:
    """Gives the bytes of a record that is in memory."""
    return lambda at, count: record[at : at + count]


def _with_record(record: bytes, feature: Feature, before: FeatureFacts | None) -> FeatureFacts:
    take = taker(record)
    image, lengths, are_texts = "", (0, 0), True
    if feature.kind == "bytes":
        spans = byte_spans(take, feature)
        count = len(spans)
        sizes = [end - start for start, end in spans] or [0]
        lengths = min(sizes), max(sizes)
        are_texts = max(sizes) <= LONGEST_NAME_BYTES and all(
            is_text(record[slice(*span)]) for span in spans
        )
        if before is None and count == 1:
            image = is_image(record[slice(*spans[0])])
    else:
        count = len(numbers_of(take, feature))
    if before is None:
        return FeatureFacts(feature.kind, (count, count), lengths, image, are_texts)
    return FeatureFacts(
        before.kind,
        (min(before.counts[0], count), max(before.counts[1], count)),
        (min(before.lengths[0], lengths[0]), max(before.lengths[1], lengths[1])),
        before.image,
        before.is_text and are_texts,
    )


def _first_records(path: Path, field: str) -> Iterator[bytes]:
    framing = Framing(path, field)
    try:
        with open_regular(path) as file:
            head = file.read(2)
            file.seek(0)
            plain = None if is_packed(head) else os.fstat(file.fileno()).st_size
            pieces = (
                iter(lambda: file.read(_READ_BYTES), b"")
                if plain is not None
                else unpacked_chunks(file, path, field)
            )
            stream, offset = _Stream(pieces), 0
            for number in range(1, _RECORDS + 1):
                head = stream.take(HEAD.size)
                if not head:
                    return
                length = framing.length(head, number, offset)
                if plain is None and length > _MOST_BYTES:
                    what = f"it has {length:,} bytes, more than are taken of a compressed record"
                    raise problems.damaged(path, number, offset, what, field)
                if plain is not None and offset + HEAD.size + length + TAIL.size > plain:
                    raise framing.cut_short(number, offset)
                record, tail = stream.take(length), stream.take(TAIL.size)
                if len(tail) < TAIL.size:
                    raise framing.cut_short(number, offset)
                if masked_crcs([record]) != list(TAIL.unpack(tail)):
                    raise problems.wrong_checksum(path, number, field)
                yield record
                offset += HEAD.size + length + TAIL.size
                if offset > _MOST_BYTES:
                    return
    except OSError as error:
        raise unreadable(path, error, field) from error


class _Stream:
    """Bytes that come in pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._left = b""

    def take(self, count: int) -> bytes:
        """The next bytes; fewer where there are no more."""
        found, size = [self._left], len(self._left)
        while size < count and (piece := next(self._pieces, None)) is not None:
            found.append(piece)
            size += len(piece)
        whole = b"".join(found)
        self._left = whole[count:]
        return whole[:count]


def _range(least_and_most: tuple[int, int]) -> str:
    least, most = least_and_most
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
