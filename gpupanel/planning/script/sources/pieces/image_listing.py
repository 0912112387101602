"""How a script lists images: those of folders of classes, and those that a CSV labels."""

from collections.abc import Iterator
from string import Template

from gpupanel.domain.data import ImagesData, Target
from gpupanel.domain.empty_words import empty_words
from gpupanel.planning.script.data_section import AS_UTF8
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined

_BELOW = """
def images_below(folder):
    return list(listed_files(folder, SUFFIXES, takes_links=True))
"""
_LISTING = '''
def place_of(name, names):
    """Where a name is among others, in whatever form of Unicode."""
    composed = [normalize("NFC", each) for each in names]
    return names.index(name) if name in names else composed.index(normalize("NFC", name))


def list_images(root, names=None):
    """The folders of the classes, and each image with the number of its class."""
    folders = folders_in(root)
'''
_LEFT_OUT = """
    folders = [name for name in folders if as_utf8(name) not in LEFT_OUT]
"""
_MAY_BE_ALONE = """
    everything = images_below(root)
    known = {normalize("NFC", name) for name in names}
    are_classes = {normalize("NFC", name) for name in folders} <= known
    if not are_classes or "" in by_folder(root, everything):
        return [], np.array(everything, object), None
"""
_FILES = """
    files = [
        (path, place_of(folder, names))
        for folder in folders
        for path in images_below(os.path.join(root, folder))
"""
_FILES_LEFT_OUT = """
        if LEFT_OUT.isdisjoint(map(as_utf8, os.path.relpath(path, root).split(os.sep)[1:-1]))
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
_BY_CSV = '''
COLUMNS = $columns
EMPTY = $in_numbers, $in_names


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
_NUMBERS = """
    found = known.setdefault("forms", detected_forms(zip(*said.cells), $decimal))
    forms = [each.form for each in found]
    y = np.array([numbers_in_row(cells, forms) for cells in said.cells], np.float64)
"""
_CLASSES = """
    if len(said.columns) == 1:
        classes = class_names_in(cell for cell, in said.cells)
        names = names or ordered_classes(classes)
        return names, x, np.array(numbers_of_classes(classes, names), np.int32)
"""
_TAGS = """
    cells = [cell for cell, *_ in said.cells]
    separator = known.setdefault("separator", tag_separator(cells))
    if separator or not all_numbers(cells):
        tags = tags_of_each(cells, separator)
        names = names or sorted({tag for each in tags for tag in each})
        return names, x, rows_of_tags(tags, names)
"""
_LABELS_OF = {
    Target.CLASSES: "columns, x, y.argmax(axis=1).astype(np.int32)",
    Target.LABELS: "columns, x, y.astype(np.float32)",
    Target.VALUES: "[], x, np.float32(y[:, 0] if len(said.columns) == 1 else y)",
}


def images_by_class(data: ImagesData, *, needs_labels: bool) -> Iterator[str]:
    """From the folders of classes to ``folders``, ``x`` and ``y``.

    Args:
        data: Which.
        needs_labels: Without it the images may stand alone.
    """
    yield "from unicodedata import normalize"
    yield from ("", "")
    left_out = f"LEFT_OUT = {{{', '.join(map(repr, data.leave_out))}}}"
    yield joined(*([left_out, AS_UTF8] if data.leave_out else []), _BELOW, _LISTING)
    if data.leave_out:
        yield _LEFT_OUT
    yield "    names = names or folders"
    if not needs_labels:
        yield _MAY_BE_ALONE
    yield _FILES
    if data.leave_out:
        yield _FILES_LEFT_OUT
    yield "    ]"
    if not needs_labels:
        yield _NO_FILES
    yield Template(_NUMBERED).substitute(path=repr(data.path))


def images_by_csv(data: ImagesData, table: str, *, needs_labels: bool) -> Iterator[str]:
    """From a CSV of labels to ``names``, ``x`` and ``y``.

    Args:
        data: Which.
        table: The CSV.
        needs_labels: Without it the CSV may lack, or its labels.
    """
    target, words = data.target_kind or Target.CLASSES, empty_words(data.empty_words)
    have_tags = target is Target.LABELS and len(data.chosen_labels) < 2
    needed = ["words_for_nothing", "numbers_in_row"]
    if target is Target.CLASSES:
        needed += ["class_names_in", "ordered_classes", "numbers_of_classes"]
    elif have_tags:
        needed += ["tags_of_each", "rows_of_tags"]
    yield joined(
        part("written_numbers"),
        part("written_tags", "tag_separator", "tags_in") if have_tags else "",
        part("images_in_table"),
        AS_UTF8,
        part("cell_labels", *needed),
        part("labelled_files"),
        _BELOW,
        "known = {}  # how the training images' labels are written",
        "group_of = {}  # images of the same are held out together" if data.chosen_group else "",
        Template(_BY_CSV).substitute(
            columns=(data.file_column, list(data.chosen_labels), data.chosen_group or None),
            in_names=sorted(words.in_names),
            in_numbers=sorted(words.in_numbers),
        ),
    )
    if not needs_labels:
        yield _MAY_LACK_LABELS
    yield "    said = labelled_files(table, root, there, COLUMNS, EMPTY)"
    if data.chosen_group:
        yield "    group_of.update(zip(said.paths, said.groups))"
    if not needs_labels:
        yield "    if not said.paths:"
        yield "        return unlabelled"
    yield "    x = np.array([*said.paths, None], object)[:-1]"
    if target is Target.CLASSES:
        yield _CLASSES
    elif have_tags:
        yield _TAGS
    yield Template(_NUMBERS).substitute(decimal=repr(data.decimal))
    if target is not Target.VALUES:
        yield "    columns = [as_utf8(name) for name in said.columns]"
    yield f"    return {_LABELS_OF[target]}"
    yield from ("", "")
    yield f"names, x, y = list_images({data.path!r}, {table!r}, {table!r})"
    if data.chosen_group:
        yield 'groups = np.array([group_of.get(path, "") for path in x])'
    if target is not Target.VALUES:
        yield "class_count = len(names)"
