"""Folders of images: by class, with a CSV of labels, or images alone."""

import posixpath
from string import Template

from typing_extensions import override

from gpupanel.domain.data import ImagesData
from gpupanel.domain.empty_words import empty_words
from gpupanel.domain.image_names import HIDDEN_NAMES, IMAGE_SUFFIXES
from gpupanel.domain.table_data import RECIPE_MEMBER
from gpupanel.planning.script.data_section import AS_UTF8, SourceScript
from gpupanel.planning.script.images import image_function
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import items_of_set, joined, lines_of
from gpupanel.planning.script.sources.pieces.image_listing import images_by_class, images_by_csv

_IMAGES = """
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SUFFIXES = {
$suffixes
}
SUFFIXES |= {".avif"} if "AVIF" in FORMATS else set()
SUFFIXES |= {".heic", ".heif", ".hif"} if "HEIF" in FORMATS else set()
HIDDEN = {  # what systems and programs put beside files; so is what begins with a full stop
$hidden
}
unreadable = set()


class Images:
    \"\"\"Reads images when they are asked for, as an array gives its rows.

    In the place of one that cannot be read stands the next one with the same label.
    \"\"\"

    def __init__(self, paths, labels=None):
        self.paths, self.labels = paths, labels
        self.shape = (len(paths), $height, $width, $channels)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, rows):
        with ThreadPoolExecutor(8) as pool:
            pixels = list(pool.map(self.readable, np.arange(len(self.paths))[rows]))
        return np.stack(pixels) if pixels else np.zeros((0, *self.shape[1:]), np.uint8)

    def readable(self, row):
        try:
            return image(self.paths[row])
        except Exception:
            unreadable.add(self.paths[row])
            if self.labels is None or len(unreadable) > most_unreadable:
                raise
            labels = self.labels.reshape(len(self.labels), -1)
            alike = np.flatnonzero((labels == labels[row]).all(axis=1))
            for other in (*alike[alike > row], *alike[alike < row]):
                try:
                    return image(self.paths[other])
                except Exception:
                    continue
            raise


def is_hidden(path):
    return any(part.startswith(".") or part.lower() in HIDDEN for part in path.parts)


def images_below(folder):
    found = (path for path in sorted(Path(folder).rglob("*")) if not path.is_dir())
    found = (path for path in found if not is_hidden(path.relative_to(folder)))
    return [path for path in found if path.suffix.lower() in SUFFIXES]
"""

_BY_NAME = '''
class_count = 0


def chosen_images():
    """The images that the profile names; what is no UTF-8 stands written out there."""
    for name in FILES:
        path = Path(ROOT, name)
        if not path.exists():
            path = Path(ROOT)
            for part in Path(name).parts:
                odd = {as_utf8(each): each for each in os.listdir(path)}
                path = path / (part if (path / part).exists() else odd[part])
        yield path


folders, x, y = [], np.array([*chosen_images(), None], object)[:-1], None
'''

_KEPT_IN_MODEL = """
import json
import zipfile

# Who predicts with the model has to read images with the same white.
with zipfile.ZipFile("model.keras", "a") as archive:
    archive.writestr("$member", json.dumps({"schema_version": 1, "white_value": $white}))
"""


class _Images(SourceScript[ImagesData]):
    """Python that lists the images, and reads them when they are needed."""

    @override
    def read(self, data: ImagesData, *, needs_labels: bool) -> str:
        height, width, channels = data.chosen_shape
        images = Template(_IMAGES).substitute(
            channels=channels,
            height=height,
            width=width,
            suffixes=items_of_set(IMAGE_SUFFIXES),
            hidden=items_of_set(HIDDEN_NAMES),
        )
        if data.files:
            named = f"ROOT, FILES = {data.path!r}, {list(data.files)!r}"
            return joined(
                image_function(data.image_size, data.color, data.white_value),
                images,
                AS_UTF8,
                named,
                _BY_NAME,
                f"most_unreadable = int({data.unreadable_share} * len(x))",
            )
        find = images_by_csv if data.labels_csv else images_by_class
        listing = lines_of(find(data, needs_labels=needs_labels))
        words = empty_words(data.empty_words)
        listed = Template(listing).substitute(
            path=repr(data.path),
            table=repr(_table(data, data.path)),
            group=repr(data.chosen_group),
            columns=f"{data.file_column!r}, {list(data.chosen_labels)}, {data.decimal!r}",
            in_names=sorted(words.in_names),
            in_numbers=sorted(words.in_numbers),
        )
        as_utf8 = ""
        if data.labels_csv:
            names = ("written_numbers", "written_tags", "images_in_table")
            as_utf8 = joined(*map(part, names), AS_UTF8)
        elif data.leave_out:
            left_out = f"LEFT_OUT = {{{', '.join(map(repr, data.leave_out))}}}"
            as_utf8 = f"{left_out}\n\n\n{AS_UTF8}"
        most = " + ".join(["len(x)", *(f"len(x_{name})" for name in _paths_of_sets(data))])
        share = f"most_unreadable = int({data.unreadable_share} * ({most}))"
        return joined(
            image_function(data.image_size, data.color, data.white_value),
            images,
            as_utf8,
            listed,
            *_sets(data),
            share,
        )

    @override
    def class_names(self, data: ImagesData) -> str:
        if data.files:
            return "class_names = []"
        if data.labels_csv:
            return "class_names = names"
        names = "class_names = [as_utf8(folder.name) for folder in folders]"
        return names if data.leave_out else f"\n\n{AS_UTF8}\n\n\n{names}"

    @override
    def kept_in_model(self, data: ImagesData, *, from_model: bool = False) -> str:
        if data.white_value is None:
            return ""
        return Template(_KEPT_IN_MODEL).substitute(member=RECIPE_MEMBER, white=data.white_value)

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
