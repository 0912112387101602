"""How a script lists images: those of folders of classes, and those that a CSV labels."""

from collections.abc import Iterator

from gpupanel.domain.data import ImagesData, Target

_LISTING = '''
from unicodedata import normalize


def place_of(name, names):
    """Where a name is among others, in whatever form of Unicode."""
    composed = [normalize("NFC", each) for each in names]
    return names.index(name) if name in names else composed.index(normalize("NFC", name))


def list_images(root, classes=None):
    """The folders of the classes, and each image with the number of its class."""
    folders = [path for path in sorted(Path(root).iterdir()) if path.is_dir()]
    folders = [path for path in folders if not is_hidden(path.relative_to(root))]
'''
_LEFT_OUT = """
    folders = [path for path in folders if as_utf8(path.name) not in LEFT_OUT]
"""
_NAMES = """
    names = [path.name for path in classes or folders]
"""
_MAY_BE_ALONE = """
    everything = images_below(root)
    are_classes = {normalize("NFC", path.name) for path in folders} <= {
        normalize("NFC", name) for name in names
    }
    if not are_classes or any(path.parent == Path(root) for path in everything):
        return [], np.array(everything, object), None
"""
_FILES = """
    files = [
        (path, number)
        for folder, number in [(each, place_of(each.name, names)) for each in folders]
        for path in images_below(folder)
"""
_FILES_LEFT_OUT = """
        if LEFT_OUT.isdisjoint(map(as_utf8, path.relative_to(folder).parts[:-1]))
"""
_NO_FILES = """
    if not files:
        return [], np.array(everything, object), None
"""
_NUMBERED = """
    numbers = np.array([number for _, number in files], np.int32)
    return folders, np.array([path for path, _ in files], object), numbers


folders, x, y = list_images($path)
class_count = len(folders)
"""
_LABELS_IN_CSV = """

FILE_COLUMN, LABEL_COLUMNS, DECIMAL = $columns
EMPTY_NAMES = {"", *$in_names}
EMPTY_NUMBERS = {"", *$in_numbers}
known = {}  # how the training images' labels are written
"""
_GROUPS = """
group_of = {}  # images of the same are held out together
"""
_LABELLED = '''
def empty_words(cells):
    """What means in a column that there is no label."""
    held = {*cells} - EMPTY_NUMBERS
    return EMPTY_NUMBERS if held and all_numbers(held) else EMPTY_NAMES


def list_images(root, table, shared, names=None):
    """The names of classes or labels; each image in the CSV, and what that says of it."""
    table = table if os.path.isfile(table) else shared
    there = images_below(root)
'''
_MAY_LACK_LABELS = """
    unlabelled = [], np.array([*there, None], object)[:-1], None
    if not os.path.isfile(table):
        return unlabelled
"""
_LINES = """
    with open(table, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        delimiter = max(",;\\t", key=file.readline().count)
        file.seek(0)
        rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
    images = NamedImages(os.path.abspath(root), [str(each.relative_to(root)) for each in there])
    found = table_of_images(rows, images, None)
    if FILE_COLUMN in found.columns:
        found = table_of_images(rows, images, FILE_COLUMN)
    rows, at = rows[found.is_named :], found.file_column
    others = [name for name in found.columns if name != found.columns[at]]
    wanted = LABEL_COLUMNS
    if not {*wanted} <= {*others}:
        wanted = [name for name in others if name != $group]
    places = images.places(row[at] for row in rows)
    lines = {}
    for place, row in zip(places, rows):
        if place >= 0:
            lines.setdefault(there[place], dict(zip(found.columns, map(str.strip, row))))
"""
_GROUP_OF_EACH = """
    group_of.update((path, line.get($group, "")) for path, line in lines.items())
"""
_SAID = """
    said = {path: [line[name] for name in wanted] for path, line in lines.items()}
    empty = [empty_words(cells) for cells in zip(*said.values())]
    said = {
        path: cells
        for path, cells in said.items()
        if not any(cell in each for cell, each in zip(cells, empty))
    }
"""
_NONE_SAID = """
    if not said:
        return unlabelled
"""
_CLASS_COLUMN = """
    if len(wanted) == 1:
        texts = [normalize("NFC", as_utf8(cells[0])) for cells in said.values()]
        are_whole = all(re.fullmatch(r"[+-]?[0-9]{1,1000}", text) for text in texts)
        order = (lambda text: (int(text), text)) if are_whole else None
        names = names or sorted(set(texts), key=order)
        numbers = {normalize("NFC", name): number for number, name in enumerate(names)}
        return names, x, np.array([numbers[text] for text in texts], np.int32)
"""
_TAGS = """
    cells = [each[0] for each in said.values()]
    separator = known.setdefault("separator", tag_separator(cells))
    if separator or not all_numbers(cells):
        tags = [
            tags_in(unicodedata.normalize("NFC", as_utf8(cell)), separator) for cell in cells
        ]
        names = names or sorted({tag for each in tags for tag in each})
        return names, x, np.float32([[name in each for name in names] for each in tags])
"""
_NUMBERS = """
    forms = known.setdefault("forms", detected_forms(zip(*said.values()), DECIMAL))
    numbers = [
        [number_in(cell, each.form) for cell, each in zip(row, forms)]
        for row in said.values()
    ]
    y = np.array(numbers, np.float64)
"""
_LABELS_OF = {
    Target.CLASSES: """
    return [as_utf8(name) for name in wanted], x, y.argmax(axis=1).astype(np.int32)
""",
    Target.LABELS: """
    return [as_utf8(name) for name in wanted], x, y.astype(np.float32)
""",
    Target.VALUES: """
    return [], x, (y[:, 0] if len(wanted) == 1 else y).astype(np.float32)
""",
}
_GROUPS_OF_EXAMPLES = """
groups = np.array([group_of.get(path, "") for path in x])
"""


def images_by_class(data: ImagesData, *, needs_labels: bool) -> Iterator[str]:
    """From the folders of classes to ``folders``, ``x`` and ``y``.

    Args:
        data: Which.
        needs_labels: Without it the images may stand alone.
    """
    yield _LISTING
    if data.leave_out:
        yield _LEFT_OUT
    yield _NAMES
    if not needs_labels:
        yield _MAY_BE_ALONE
    yield _FILES
    if data.leave_out:
        yield _FILES_LEFT_OUT
    yield "    ]"
    if not needs_labels:
        yield _NO_FILES
    yield _NUMBERED


def images_by_csv(data: ImagesData, *, needs_labels: bool) -> Iterator[str]:
    """From a CSV of labels to ``names``, ``x`` and ``y``.

    Args:
        data: Which.
        needs_labels: Without it the CSV may lack, or its labels.
    """
    target = data.target_kind or Target.CLASSES
    yield "import csv"
    if target is Target.CLASSES:
        yield "from unicodedata import normalize"
    yield ""
    yield _LABELS_IN_CSV
    if data.chosen_group:
        yield _GROUPS
    yield from ("", "")
    yield _LABELLED
    if not needs_labels:
        yield _MAY_LACK_LABELS
    yield _LINES
    if data.chosen_group:
        yield _GROUP_OF_EACH
    yield _SAID
    if not needs_labels:
        yield _NONE_SAID
    yield "    x = np.array([*said, None], object)[:-1]"
    if target is Target.CLASSES:
        yield _CLASS_COLUMN
    elif target is Target.LABELS and len(data.chosen_labels) < 2:
        yield _TAGS
    yield _NUMBERS
    yield _LABELS_OF[target]
    yield from ("", "")
    yield "names, x, y = list_images($path, $table, $table)"
    if data.chosen_group:
        yield _GROUPS_OF_EXAMPLES
    if target is not Target.VALUES:
        yield "class_count = len(names)"
