"""Folders of images: by class, with a CSV of labels, or images alone."""

import json
import posixpath
from string import Template

from typing_extensions import override

from gpupanel.domain.data import ImagesData
from gpupanel.domain.images_data import JpegDecoding
from gpupanel.domain.table_data import RECIPE_MEMBER
from gpupanel.planning.script.data_section import AS_UTF8, SourceScript
from gpupanel.planning.script.images import image_function
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import added_to_model, joined, lines_of
from gpupanel.planning.script.sources.pieces.image_listing import images_by_class, images_by_csv

_IMAGES = """
unreadable = UnreadableImages()
Images = partial(DiskImages, image, $shape, unreadable)
"""

_BY_NAME = """
class_count = 0
named = NamedFiles()
folders, x, y = [], np.array([named.path_of(ROOT, name) for name in FILES], object), None
"""


class _Images(SourceScript[ImagesData]):
    """Python that lists the images, and reads them when they are needed."""

    @override
    def read(self, data: ImagesData, *, needs_labels: bool) -> str:
        functions = image_function(
            data.image_size,
            data.color,
            data.white_value,
            is_fast=data.decode is JpegDecoding.FAST,
            has_names=not data.files,
        )
        needed = ["listed_files"]
        if not data.labels_csv:
            needed += ["folders_in"] if needs_labels else ["folders_in", "by_folder"]
        images = joined(
            "from functools import partial",
            functions,
            part("disk_images"),
            "" if data.files else part("folder_listing", *needed),
            Template(_IMAGES).substitute(shape=data.chosen_shape),
        )
        if data.files:
            chosen = f"ROOT, FILES = {data.path!r}, {list(data.files)!r}"
            most = f"unreadable.most = int({data.unreadable_share} * len(x))"
            return joined(images, AS_UTF8, part("named_files"), chosen, _BY_NAME, most)
        if data.labels_csv:
            table = _table(data, data.path)
            listing = images_by_csv(data, table, needs_labels=needs_labels)
        else:
            listing = images_by_class(data, needs_labels=needs_labels)
        most = " + ".join(["len(x)", *(f"len(x_{name})" for name in _paths_of_sets(data))])
        share = f"unreadable.most = int({data.unreadable_share} * ({most}))"
        return joined(images, lines_of(listing), *_sets(data), share)

    @override
    def class_names(self, data: ImagesData) -> str:
        if data.files:
            return "class_names = []"
        if data.labels_csv:
            return "class_names = names"
        names = "class_names = [as_utf8(name) for name in folders]"
        return names if data.leave_out else f"\n\n{AS_UTF8}\n\n\n{names}"

    @override
    def kept_in_model(self, data: ImagesData, *, from_model: bool = False) -> str:
        chosen: dict[str, object] = {}
        if data.white_value is not None:
            chosen["white_value"] = data.white_value
        if data.decode is JpegDecoding.FAST:
            chosen["decode"] = data.decode.value
        if not chosen:
            return ""
        why = "# Who predicts with the model has to read images in the same way."
        recipe = f"recipe = {json.dumps({'schema_version': 1, **chosen})}"
        return joined(why, recipe, added_to_model("recipe", RECIPE_MEMBER))

    @override
    def pixels(
        self,
        data: ImagesData,
        *names: str,
        in_memory: bool,
        may_skip: bool = False,
        from_model: bool = False,
    ) -> str:
        arguments = {name: f"{name}, y{name[1:]}" if may_skip else name for name in names}
        ending = "[:]" if in_memory else ""
        made = (f"Images({arguments[name]}){ending}" for name in names)
        return f"{', '.join(names)} = {', '.join(made)}"


def _paths_of_sets(data: ImagesData) -> dict[str, str]:
    sets = {"val": data.validation_path, "test": data.test_path}
    return {name: path for name, path in sets.items() if path}


def _sets(data: ImagesData) -> list[str]:
    shared = f"{_table(data, data.path)!r}"
    return [
        f"_, x_{name}, y_{name} = list_images({path!r}"
        + (f", {_table(data, path)!r}, {shared}, names)" if data.labels_csv else ", folders)")
        for name, path in _paths_of_sets(data).items()
    ]


def _table(data: ImagesData, root: str) -> str:
    """The CSV of a set: where that of the training set is in its folder, or of the same name.

    A set without one takes that of the training images.
    """
    chosen = posixpath.normpath(posixpath.join(data.path, data.labels_csv))
    if root != data.path:
        folder = posixpath.normpath(data.path)
        is_within = chosen.startswith(f"{folder}/")
        inner = posixpath.relpath(chosen, folder) if is_within else posixpath.basename(chosen)
        return posixpath.join(root, inner)
    return chosen


SCRIPT = _Images()
