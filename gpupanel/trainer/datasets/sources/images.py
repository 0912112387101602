"""Folders of images: by class, with a CSV of labels, or images alone; one or several sets."""

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
from PIL import Image
from typing_extensions import override

from gpupanel.domain.asked_prediction import PredictionAsked
from gpupanel.domain.choice import Choice
from gpupanel.domain.data import DataCache, ImagesData, Scaling, Target
from gpupanel.domain.decoded_images import PictureForm
from gpupanel.domain.images_data import IMAGE_INPUT, NUMBERS_INPUT
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.visible_text import as_utf8, visible_line
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.examples import (
    AllExamples,
    Array,
    DataSet,
    Examples,
    Features,
    PackedInput,
    chained,
)
from gpupanel.trainer.datasets.file_prints import DataFiles
from gpupanel.trainer.datasets.images.class_notes import PATHS
from gpupanel.trainer.datasets.images.decoded import decode_into_memory, decode_onto_disk
from gpupanel.trainer.datasets.images.decoding import ImageDecoding
from gpupanel.trainer.datasets.images.detected_columns import find_columns
from gpupanel.trainer.datasets.images.files import (
    ImageFiles,
    image_errors,
    image_unreadable,
    image_vanished,
)
from gpupanel.trainer.datasets.images.line_columns import LineColumns
from gpupanel.trainer.datasets.images.listing import look_into
from gpupanel.trainer.datasets.images.pixels import pixels_of
from gpupanel.trainer.datasets.images.recipe import (
    read_as_trained,
    recipe_of,
    trained_choices,
    wanted_pixels,
)
from gpupanel.trainer.datasets.images.set_folders import with_detected_sets
from gpupanel.trainer.datasets.images.sets import ImageSet, list_sets
from gpupanel.trainer.datasets.packed_inputs import packed
from gpupanel.trainer.datasets.progress import OnProgress, ignore_progress
from gpupanel.trainer.datasets.scanning.image_sets import list_all_sets
from gpupanel.trainer.datasets.scanning.images import listed_images, scan_images
from gpupanel.trainer.datasets.scanning.scanned import OnFirstReport, Scanned
from gpupanel.trainer.datasets.single_data import AskedModel, SingleData, example_refused
from gpupanel.trainer.datasets.skipped_files import SkippedFiles
from gpupanel.trainer.datasets.source import Found, Reading, Source, all_examples
from gpupanel.trainer.size_limits import check_size

_MOST_OFFERED = 1000
_BLANK_SIDE = 8


def read_images(
    data: ImagesData,
    on_progress: OnProgress = ignore_progress,
    *,
    must_differ: bool = True,
    may_skip: bool = True,
    decoding: ImageDecoding | None = None,
    all_now: bool = False,
) -> DataSet:
    """The images of the folder, and those of a validation and a test set.

    Args:
        data: ``cache`` decides where decoded images are kept: in memory, in a file that later runs
            find too, or nowhere (each is decoded anew every epoch).
        on_progress: Called while they are decoded.
        must_differ: Refuse images of one class.
        may_skip: Take note of so many unreadable images as ``unreadable_share`` allows for.
        decoding: What may decode many at once; ``None``: nothing.
        all_now: Decode what is missing in the file before this comes back; otherwise each image
            when it is asked for first. Then what a CSV says of them is kept, too.

    Raises:
        ProblemError: A folder or an image in it cannot be used.
    """
    sets, skipped = list_sets(data, must_differ=must_differ, keeps_cells=all_now), None
    sets = _with_decoding(sets, decoding)
    if may_skip:
        sets, skipped = _with_skipped(data, sets)
    files = _list_files(sets)
    examples, inputs = _read_sets(data, sets, on_progress, all_now=all_now)
    labels = sets["training"].labels
    return DataSet(
        training=examples["training"],
        test=examples.get("test"),
        validation=examples.get("validation"),
        class_names=() if labels is None else labels.names,
        inputs=inputs,
        scaling=Scaling.NONE if inputs else Scaling.DIVIDE,
        greatest=1.0 if inputs else 255.0,
        files=files,
        notes=tuple(note for each in sets.values() for note in each.notes),
        skipped=skipped,
        groups=sets["training"].groups,
        recipe=recipe_of(data),
        cells=_cells(data, sets),
    )


def _cells(data: ImagesData, sets: Mapping[str, ImageSet]) -> LineColumns | None:
    """What stands beside the images of all sets; ``None``: a set has no CSV."""
    known = [each.cells for each in sets.values() if each.cells is not None]
    if len(known) < len(sets):
        return None
    labels = sets["training"].labels
    targets = () if labels is None else labels.columns
    return LineColumns(known, data.decimal, data.empty_words, targets)


def _read_sets(
    data: ImagesData, sets: Mapping[str, ImageSet], on_progress: OnProgress, *, all_now: bool
) -> tuple[dict[str, Examples], tuple[PackedInput, ...]]:
    """The examples of each set, and of which inputs they are; none where they are one."""
    one_bytes = math.prod(sets["training"].files.shape[1:])
    if data.numbers:  # a pixel is a float beside them
        one_bytes = np.dtype(np.float32).itemsize * (one_bytes + len(data.numbers))
    check_size(one_bytes, "One image of data.image_size", "data.image_size")
    if data.cache is DataCache.MEMORY:
        count = sum(len(each.files.paths) for each in sets.values())
        check_size(count * one_bytes, f"The images in {data.path}", "data.cache")
    found, inputs = dict[str, Examples](), tuple[PackedInput, ...]()
    for name, each in sets.items():
        found[name] = _read(data.cache, each, on_progress, all_now=all_now)
        if each.numbers is not None:
            parts = {IMAGE_INPUT: found[name].features, NUMBERS_INPUT: each.numbers.array}
            features, inputs = packed(parts)
            found[name] = replace(found[name], features=features)
    return found, inputs


def _with_skipped(
    data: ImagesData, sets: Mapping[str, ImageSet]
) -> tuple[dict[str, ImageSet], SkippedFiles]:
    total = sum(len(each.files.paths) for each in sets.values())
    skipped = SkippedFiles(total, data.unreadable_share)
    return {name: each.with_skipped(skipped) for name, each in sets.items()}, skipped


def _with_decoding(
    sets: dict[str, ImageSet], decoding: ImageDecoding | None
) -> dict[str, ImageSet]:
    if decoding is None:
        return sets
    return {name: each.with_decoding(decoding) for name, each in sets.items()}


def _read_all(data: ImagesData, reading: Reading, *, may_skip: bool) -> AllExamples:
    """All images of the folder and of its sets; what they are need not be known."""
    sets, skipped = list_sets(data, must_differ=False, needs_labels=False), None
    sets = _with_decoding(sets, reading.decoding)
    if may_skip:
        sets, skipped = _with_skipped(data, sets)
    found = sets["training"].labels
    examples, inputs = _read_sets(data, sets, reading.on_progress, all_now=True)
    whole = chained(list(examples.values()))
    are_known = all(each.labels is not None for each in sets.values())
    note = skipped.note(are_left_out=True) if skipped is not None else None
    return AllExamples(
        features=whole.features,
        labels=whole.labels if are_known else None,
        target=data.predicts or Target.CLASSES if found is None else found.target,
        class_names=() if found is None else found.names,
        training_count=len(examples["training"]),
        class_count_is_known=found is not None,
        validation_count=len(examples.get("validation", ())),
        groups=sets["training"].groups,
        unreadable=whole.unreadable,
        notes=() if note is None else (note,),
        file_names=tuple(
            as_utf8(os.path.relpath(path, data.path))
            for each in sets.values()
            for path in each.files.paths
        ),
        inputs=inputs,
    )


def _list_files(listed: Mapping[str, ImageSet]) -> DataFiles:
    """Before the first of them is decoded, so that a change meanwhile is found."""
    sets = {name: (part.root, _all_paths(part)) for name, part in listed.items()}
    root, paths = sets.pop("training")
    try:
        return DataFiles(root, paths, sets)
    except OSError as error:
        path = str(error.filename)
        key = next(part.files.key for part in listed.values() if path in _all_paths(part))
        if isinstance(error, FileNotFoundError):
            raise image_vanished(path, key) from error
        raise image_unreadable(path, error, key) from error


def _all_paths(listed: ImageSet) -> tuple[str, ...]:
    labels = () if listed.labels_file is None else (str(listed.labels_file),)
    return (*listed.files.paths, *labels)


def _read(
    cache: DataCache, listed: ImageSet, on_progress: OnProgress, *, all_now: bool
) -> Examples:
    files = listed.files
    labels: Array = np.zeros(len(files.paths), np.int32)
    if listed.labels is not None:
        labels = listed.labels.array
    if cache is DataCache.NONE:
        return Examples(files, labels)
    features: Features
    if cache is DataCache.MEMORY:
        features = decode_into_memory(files, on_progress)
    else:
        features = decode_onto_disk(files, listed.root, on_progress, all_now=all_now)
        if not all_now:
            return Examples(features, labels)
    return Examples(features, labels, _unreadable(files))


def _unreadable(files: ImageFiles) -> Mapping[int, ProblemError]:
    if not files.skipped:
        return {}
    errors = ((row, files.skipped.error_of(path)) for row, path in enumerate(files.paths))
    return {row: error for row, error in errors if error is not None}


class _Images(Source[ImagesData]):
    """See :func:`read_images`."""

    @override
    def read(self, data: ImagesData, reading: Reading) -> DataSet:
        return read_images(
            read_as_trained(data, reading.recipe),
            reading.on_progress,
            must_differ=reading.must_differ,
            decoding=reading.decoding,
        )

    @override
    def single(
        self, data: ImagesData, asked: PredictionAsked, model: AskedModel, folder: Path
    ) -> SingleData:
        if asked.row is not None or asked.text is not None:
            raise ProblemError(
                example_refused("The model takes pictures.", "Give it a file of one.")
            )
        if asked.wants == "inputs":
            place = folder / "blank.png"
            Image.new("RGB", (_BLANK_SIDE, _BLANK_SIDE)).save(place)
            return SingleData(data.with_files([str(place)]))
        form = PictureForm(size=data.image_size, color=data.color)
        if form.channels > 1 or len(data.files) != 1:
            return SingleData(data, made=form.words)
        if not asked.swap:
            return SingleData(data, made=form.words, is_swapped=False)
        swapped = _swapped(read_as_trained(data, model.recipe), form, folder / "swapped.png")
        return SingleData(swapped, f"{form.words}, light and dark swapped", is_swapped=True)

    @override
    def read_all(self, data: ImagesData, reading: Reading, *, needs_labels: bool) -> AllExamples:
        data = read_as_trained(data, reading.recipe)
        # Where each is decoded when it is asked for, nobody knows beforehand which to leave out.
        may_skip = data.cache is not DataCache.NONE
        if not needs_labels:
            return _read_all(data, reading, may_skip=may_skip)
        found = read_images(
            data,
            reading.on_progress,
            must_differ=False,
            may_skip=may_skip,
            decoding=reading.decoding,
            all_now=True,
        )
        return all_examples(found)

    @override
    def find(self, data: ImagesData, reading: Reading) -> Found:
        found = with_detected_sets(data, needs_labels=reading.needs_labels) if data.path else data
        has_classes = found.path and not data.labels_csv and not data.files
        offers = {"leave_out": _classes(found)} if has_classes else {}
        columns: dict[str, int | str | tuple[str, ...]] = {}
        if found.path and found.labels_csv and not data.files:
            offered, found_columns = find_columns(read_as_trained(found, reading.recipe))
            columns.update(found_columns)
            offers |= {
                key: tuple(Choice(name, visible_line(name)) for name in names[:_MOST_OFFERED])
                for key, names in offered.items()
            }
        columns.update(trained_choices(read_as_trained(data, reading.recipe)))
        if found is data:
            return Found(offers=offers, found=columns)
        paths = {key: getattr(found, key) for key in PATHS.values()}
        if found.labels_csv:
            paths["labels_csv"] = str(Path(found.path) / found.labels_csv)
        changed = {key: path for key, path in paths.items() if path != getattr(data, key)}
        return Found(offers=offers, found={**columns, **changed})

    @override
    def scan(self, data: ImagesData, reading: Reading, on_first_report: OnFirstReport) -> Scanned:
        found = list_all_sets(
            data, must_differ=reading.must_differ, needs_labels=reading.needs_labels
        )
        listed = listed_images(found, data.unreadable_share)
        return scan_images(found.sets, listed, reading.on_progress, on_first_report)


def _swapped(data: ImagesData, form: PictureForm, place: Path) -> ImagesData:
    """The data with light and dark of its one image swapped, in a file of its own.

    Raises:
        ProblemError: It cannot be read.
    """
    (name,) = data.files
    path = Path(data.path) / name
    with image_errors(str(path), "data.path"), open_regular(path) as file:
        pixels = pixels_of(file, wanted_pixels(data))
    Image.fromarray(np.invert(pixels[..., 0])).save(place)
    # Its white is that of all images of 8 bits by now.
    return data.with_files([str(place)]).model_copy(update={"white_value": int(form.greatest)})


def _classes(data: ImagesData) -> tuple[Choice, ...]:
    """The class folders, as they are offered to be left out."""
    names = (as_utf8(folder.name) for folder in look_into(Path(data.path), "data.path").folders)
    return tuple(Choice(name, visible_line(name)) for name in islice(names, _MOST_OFFERED))


SOURCE = _Images()
