"""What can be wrong with TFRecord files, as problems with stable codes."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.visible_text import visible_line
from gpupanel.trainer.datasets.data_problems import data_problem

_SHOWN = 20


def no_records(path: Path, field: str) -> ProblemError:
    """A file that was never one of records, as its first bytes show."""
    return data_problem(
        "data_file_damaged",
        f"{path} is not a TFRecord file: its first bytes are not a length with its checksum.",
        "Choose a file that tf.io.TFRecordWriter wrote, plain or with GZIP; one that was "
        "compressed with ZLIB has to be written again.",
        field=field,
    )


def damaged(path: Path, number: int, offset: int, what: str, field: str) -> ProblemError:
    """A file whose records end or change where they must not."""
    return data_problem(
        "data_file_damaged",
        f"{path} is damaged: {what}, in record {number:,} at byte {offset:,}.",
        "Get or write the file again; an interrupted copy looks like this.",
        field=field,
    )


def wrong_checksum(path: Path, number: int, field: str) -> ProblemError:
    """A record whose bytes are not those that were written."""
    return data_problem(
        "data_file_damaged",
        f"Record {number:,} of {path} is damaged: its checksum is another one.",
        "Get or write the file again; check the disk that holds it.",
        field=field,
    )


def no_example(path: Path, number: int, why: str, field: str) -> ProblemError:
    """A record of another kind."""
    return data_problem(
        "record_not_an_example",
        f"Record {number:,} of {path} is not a tf.train.Example: {why}.",
        "Write each example as a serialised tf.train.Example.",
        field=field,
    )


def missing_feature(
    path: Path, number: int, name: str, names: Iterable[str], field: str
) -> ProblemError:
    """A record without a feature that is needed."""
    there = _listed(names)
    return data_problem(
        "record_feature_missing",
        f'Record {number:,} of {path} has no feature "{visible_line(name)}"; its features: '
        f"{there or 'none'}.",
        f"Set {field} to a feature that every record has."
        if not field.endswith("path")
        else "Choose records that all have it. Those without labels can be predicted on.",
        field=field,
    )


def ambiguous(path: Path, what: str, names: Iterable[str], field: str) -> ProblemError:
    """Names that do not show which feature it is."""
    return data_problem(
        "record_features_ambiguous",
        f"It is not clear which feature of the records in {path} holds {what}. They have: "
        f"{_listed(names) or 'none'}.",
        f"Choose {field}.",
        field=field,
    )


def ambiguous_type(path: Path, name: str, types: tuple[str, ...]) -> ProblemError:
    """Raw bytes that may well be numbers of several types."""
    listed = " or ".join(types)
    return ProblemError(
        Problem(
            code="record_type_ambiguous",
            field="data.raw_type",
            message=f'Feature "{visible_line(name)}" of the records in {path} is raw bytes, and '
            f"they may be numbers of the type {listed}.",
            hint="Choose the type that was written, with the shape where the records do not say "
            "it.",
            fix=Fix.of(f"Read them as {types[-1]}", "data.raw_type", types[-1]),
        )
    )


def mask_beside(path: Path, image: str, mask: str) -> ProblemError:
    """Images with a mask of each, and nothing of the whole image that could be predicted."""
    return data_problem(
        "record_mask_is_no_label",
        f'The records in {path} hold an image ("{visible_line(image)}") and beside it what says '
        f'something of each of its pixels ("{visible_line(mask)}"), but no label of the whole '
        "image.",
        "Choose records that have a class, labels or values, or name that feature in data.labels; "
        "or have a Python model learn what stands in data.outputs.",
        field="data.labels",
    )


def differs(path: Path, number: int, name: str, what: str, field: str) -> ProblemError:
    """A record whose feature is not like that of the first."""
    return data_problem(
        "record_features_differ",
        f'Feature "{visible_line(name)}" of record {number:,} of {path} {what}.',
        "Write all examples alike: filled up or cut to one length, of one type. Encoded images "
        "may be of any size.",
        field=field,
    )


def unfit_shape(path: Path, name: str, what: str, field: str) -> ProblemError:
    """A shape that has another number of places than there are numbers."""
    return data_problem(
        "record_shape_misfit",
        f'Feature "{visible_line(name)}" of the first record of {path} {what}.',
        "Set data.shape and data.raw_type to what was written, or leave them out.",
        field=field,
    )


def unused_feature(path: Path, name: str, why: str, field: str) -> ProblemError:
    """A feature that cannot be learned from, or predicted."""
    return data_problem(
        "record_feature_unfit",
        f'Feature "{visible_line(name)}" of the records in {path} {why}.',
        f"Choose another feature in {field}.",
        field=field,
    )


def left_to_a_run(path: Path) -> ProblemError:
    """The hint that nothing is wrong: a preview of all records would take minutes."""
    return ProblemError(
        Problem(
            code="records_not_counted",
            severity=Severity.HINT,
            field="data.path",
            message=f"There are too many records in {path} to be counted while you wait: a run "
            "does so at its start.",
            hint="Which features they have is read from the first of them. A script is written "
            "when data.predicts says what the labels are.",
        )
    )


def shards_missing(missing: int, whole: int, example: str, field: str) -> Problem:
    """Files of which the names say that there were more."""
    return Problem(
        code="record_shards_missing",
        severity=Severity.WARNING,
        field=field,
        message=f"{missing:,} of {whole:,} files are not there, as the names of the others say, "
        f"such as {visible_line(example)}.",
        hint="Copy them, too; without them the data is a part of what it was.",
    )


def sets_left_out(names: Sequence[str], labels: str) -> Problem:
    """Sets that were found, and whose records have no labels."""
    return Problem(
        code="data_sets_left_out",
        severity=Severity.HINT,
        field="data.test_path",
        message=f"The records of the {' and '.join(names)} set are not used: they have no feature "
        f'"{visible_line(labels)}".',
        hint="Nothing, if they are to be predicted on; else write their labels, too.",
    )


def links_left_out(count: int, folder: Path, field: str) -> Problem:
    """Links in a folder."""
    return Problem(
        code="record_links_left_out",
        severity=Severity.WARNING,
        field=field,
        message=f"{count:,} links in {folder} are left out: they may lead anywhere.",
        hint="Choose the folder that holds the files themselves.",
    )


def cache_unusable(folder: Path, error: OSError) -> ProblemError:
    """Records that cannot be unpacked, or not be read back."""
    return data_problem(
        "records_not_kept",
        f"The unpacked records cannot be kept in {folder}: {error.strerror or error}.",
        "Records in GZIP are unpacked there once: make room, set GPUPANEL_CACHE_DIR to a folder on "
        "a disk that has some, or write them without compression.",
        field="data",
    )


def no_space(path: Path, folder: Path, unpacked_bytes: int) -> ProblemError:
    """A file that unpacks to more than there is room for."""
    return data_problem(
        "records_no_space",
        f"{path} unpacks to more than {unpacked_bytes / 2**20:,.0f} MiB, and the disk of {folder} "
        "has no room for more.",
        "Make space there, or set GPUPANEL_CACHE_DIR to a folder on another disk; a malicious "
        "file looks like this, too.",
    )


def decoded_no_space(folder: Path, needed_bytes: int) -> ProblemError:
    """Decoded images that there is no room for."""
    return data_problem(
        "decoded_images_no_space",
        f"The decoded images take {needed_bytes / 2**20:,.0f} MiB, and the disk of {folder} has "
        "less space than that.",
        'Make space there, set data.cache to "none", or set GPUPANEL_CACHE_DIR to a folder on '
        "another disk.",
        field="data.cache",
    )


def _listed(names: Iterable[str]) -> str:
    known = sorted(names)
    shown = ", ".join(f'"{visible_line(name)}"' for name in known[:_SHOWN])
    return shown + (", ..." if len(known) > _SHOWN else "")
