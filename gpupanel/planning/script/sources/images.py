"""Folders of images: by class, with a CSV of labels, or images alone."""

import posixpath
from string import Template

from typing_extensions import override

from gpupanel.domain.data import ImagesData, Target
from gpupanel.domain.empty_words import empty_words
from gpupanel.domain.image_names import HIDDEN_NAMES, IMAGE_SUFFIXES
from gpupanel.domain.table_data import RECIPE_MEMBER
from gpupanel.domain.written_source import labels_source
from gpupanel.planning.script.data_section import AS_UTF8, SourceScript
from gpupanel.planning.script.images import image_function
from gpupanel.planning.script.sections import items_of_set, joined, lines_for

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

# In the margin: P nobody need know what the images are, L classes are left out.
_BY_CLASS = '''
  |from unicodedata import normalize
  |
  |
  |def place_of(name, names):
  |    """Where a name is among others, in whatever form of Unicode."""
  |    composed = [normalize("NFC", each) for each in names]
  |    return names.index(name) if name in names else composed.index(normalize("NFC", name))
  |
  |
  |def list_images(root, classes=None):
  |    """The folders of the classes, and each image with the number of its class."""
  |    folders = [path for path in sorted(Path(root).iterdir()) if path.is_dir()]
  |    folders = [path for path in folders if not is_hidden(path.relative_to(root))]
L |    folders = [path for path in folders if as_utf8(path.name) not in LEFT_OUT]
  |    names = [path.name for path in classes or folders]
P |    everything = images_below(root)
P |    are_classes = {normalize("NFC", path.name) for path in folders} <= {
P |        normalize("NFC", name) for name in names
P |    }
P |    if not are_classes or any(path.parent == Path(root) for path in everything):
P |        return [], np.array(everything, object), None
  |    files = [
  |        (path, number)
  |        for folder, number in [(each, place_of(each.name, names)) for each in folders]
  |        for path in images_below(folder)
L |        if LEFT_OUT.isdisjoint(map(as_utf8, path.relative_to(folder).parts[:-1]))
  |    ]
P |    if not files:
P |        return [], np.array(everything, object), None
  |    numbers = np.array([number for _, number in files], np.int32)
  |    return folders, np.array([path for path, _ in files], object), numbers
  |
  |
  |folders, x, y = list_images($path)
  |class_count = len(folders)
'''

_BY_NAME = """
  |class_count = 0
  |
  |
  |def chosen_images():
  |    \"\"\"The images that the profile names; what is no UTF-8 stands written out there.\"\"\"
  |    for name in FILES:
  |        path = Path(ROOT, name)
  |        if not path.exists():
  |            path = Path(ROOT)
  |            for part in Path(name).parts:
  |                odd = {as_utf8(each): each for each in os.listdir(path)}
  |                path = path / (part if (path / part).exists() else odd[part])
  |        yield path
  |
  |
  |folders, x, y = [], np.array([*chosen_images(), None], object)[:-1], None
"""

# In the margin: C classes, K several labels at once, V values to be predicted, G some are held out
# together, T the labels are in one column; P as above.
_BY_CSV = '''
  |import csv
C |from unicodedata import normalize
  |
  |FILE_COLUMN, LABEL_COLUMNS, DECIMAL = $columns
  |EMPTY_NAMES = {"", *$in_names}
  |EMPTY_NUMBERS = {"", *$in_numbers}
  |known = {}  # how the training images' labels are written
G |group_of = {}  # images of the same are held out together
  |
  |
  |def empty_words(cells):
  |    """What means in a column that there is no label."""
  |    held = {*cells} - EMPTY_NUMBERS
  |    return EMPTY_NUMBERS if held and all_numbers(held) else EMPTY_NAMES
  |
  |
  |def list_images(root, table, shared, names=None):
  |    """The names of classes or labels; each image in the CSV, and what that says of it."""
  |    table = table if os.path.isfile(table) else shared
  |    there = images_below(root)
P |    unlabelled = [], np.array([*there, None], object)[:-1], None
P |    if not os.path.isfile(table):
P |        return unlabelled
  |    with open(table, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
  |        delimiter = max(",;\\t", key=file.readline().count)
  |        file.seek(0)
  |        rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
  |    images = NamedImages(os.path.abspath(root), [str(each.relative_to(root)) for each in there])
  |    found = table_of_images(rows, images, None)
  |    if FILE_COLUMN in found.columns:
  |        found = table_of_images(rows, images, FILE_COLUMN)
  |    rows, at = rows[found.is_named :], found.file_column
  |    others = [name for name in found.columns if name != found.columns[at]]
  |    wanted = LABEL_COLUMNS
  |    if not {*wanted} <= {*others}:
  |        wanted = [name for name in others if name != $group]
  |    places = images.places(row[at] for row in rows)
  |    lines = {}
  |    for place, row in zip(places, rows):
  |        if place >= 0:
  |            lines.setdefault(there[place], dict(zip(found.columns, map(str.strip, row))))
G |    group_of.update((path, line.get($group, "")) for path, line in lines.items())
  |    said = {path: [line[name] for name in wanted] for path, line in lines.items()}
  |    empty = [empty_words(cells) for cells in zip(*said.values())]
  |    said = {
  |        path: cells
  |        for path, cells in said.items()
  |        if not any(cell in each for cell, each in zip(cells, empty))
  |    }
P |    if not said:
P |        return unlabelled
  |    x = np.array([*said, None], object)[:-1]
C |    if len(wanted) == 1:
C |        texts = [normalize("NFC", as_utf8(cells[0])) for cells in said.values()]
C |        are_whole = all(re.fullmatch(r"[+-]?[0-9]{1,1000}", text) for text in texts)
C |        order = (lambda text: (int(text), text)) if are_whole else None
C |        names = names or sorted(set(texts), key=order)
C |        numbers = {normalize("NFC", name): number for number, name in enumerate(names)}
C |        return names, x, np.array([numbers[text] for text in texts], np.int32)
KT|    cells = [each[0] for each in said.values()]
KT|    separator = known.setdefault("separator", tag_separator(cells))
KT|    if separator or not all_numbers(cells):
KT|        tags = [
KT|            tags_in(unicodedata.normalize("NFC", as_utf8(cell)), separator) for cell in cells
KT|        ]
KT|        names = names or sorted({tag for each in tags for tag in each})
KT|        return names, x, np.float32([[name in each for name in names] for each in tags])
  |    forms = known.setdefault("forms", detected_forms(zip(*said.values()), DECIMAL))
  |    numbers = [
  |        [number_in(cell, each.form) for cell, each in zip(row, forms)]
  |        for row in said.values()
  |    ]
  |    y = np.array(numbers, np.float64)
C |    return [as_utf8(name) for name in wanted], x, y.argmax(axis=1).astype(np.int32)
K |    return [as_utf8(name) for name in wanted], x, y.astype(np.float32)
V |    return [], x, (y[:, 0] if len(wanted) == 1 else y).astype(np.float32)
  |
  |
  |names, x, y = list_images($path, $table, $table)
G |groups = np.array([group_of.get(path, "") for path in x])
v |class_count = len(names)
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
                lines_for(_BY_NAME, []),
                f"most_unreadable = int({data.unreadable_share} * len(x))",
            )
        target = data.target_kind or Target.CLASSES
        holds = {
            "P": not needs_labels,
            "L": bool(data.leave_out),
            "C": target is Target.CLASSES,
            "K": target is Target.LABELS,
            "V": target is Target.VALUES,
            "G": bool(data.chosen_group),
            "T": len(data.chosen_labels) < 2,
        }
        listing = lines_for(
            _BY_CSV if data.labels_csv else _BY_CLASS, [each for each in holds if holds[each]]
        )
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
            as_utf8 = f"{labels_source()}\n\n\n{AS_UTF8}"
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
