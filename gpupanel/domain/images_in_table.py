"""Which image of a folder a line of a table is about.

The exported script contains this file's text, so that it finds the images that a run finds: it
needs nothing but Python's standard library.
"""

import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from gpupanel.domain.written_numbers import is_number

MISSING, SEVERAL, OUTSIDE = -1, -2, -3
"""In place of an image's: it is not there, several could be it, it leads out of the folder."""
SAMPLED_LINES = 1000
"""Lines that are read to detect which column names the images."""
_NAMES_OF_FILE = (
    (
        "file",
        "filename",
        "path",
        "filepath",
        "imagepath",
        "imagefile",
        "imagename",
        "imagefilename",
    ),
    ("image", "imageid", "img", "imgid", "imgname", "picture", "photo", "pictureid", "photoid"),
    ("id", "name", "fileid", "idcode"),
)
"""What a column of files is called, the surest first, without capitals and marks."""
_SUFFIX = re.compile(r"\.(jpe?g|jpe|jfif|png|bmp|gif|webp|tiff?|p[gpnb]m|heic|heif|avif)", re.I)
_DRIVE = re.compile("[A-Za-z]:/")


class TableOfImages(NamedTuple):
    """The lines of a table, and what they are about.

    Attributes:
        columns: The names of all; numbers from 0 where no line names them.
        file_column: The place of the one that names the images.
        others: Further columns that may be it.
        is_named: The first line names the columns, and is about no image.
    """

    columns: tuple[str, ...]
    file_column: int
    others: tuple[int, ...]
    is_named: bool


class NamedImages:
    """Finds the images that cells name.

    A name is meant from the folder. Its suffix or its folders may be missing, the folders of
    another machine may stand before it, and its Unicode form or capitals may be others, where only
    one image can be meant.

    Args:
        root: The folder of the images.
        names: The path of each from there.
    """

    def __init__(self, root: str, names: Iterable[str]) -> None:
        self.names = list(names)
        self._root = root.rstrip("/") + "/"
        self._places = {name: place for place, name in enumerate(self.names)}
        self._deepest = max((name.count("/") + 1 for name in self.names), default=1)
        self._known: dict[tuple[int, int | None], dict[str, int]] = {}

    def places(self, cells: Iterable[str]) -> list[int]:
        """The place of the image that each cell names; MISSING, SEVERAL or OUTSIDE.

        Which folders stand before a name is decided by all cells: that of the images, where it is
        among them. Two cells of different folders do not name the same image.
        """
        cells = list(cells)
        known = {cell: self._place(cell) for cell in {*cells}}
        found = [known[cell] for cell in cells]
        before = {folder for place, folder in found if place >= 0 and folder}
        root = f"/{_without_capitals(self._root)}"
        own = {folder for folder in before if root.endswith(f"/{folder}/")}
        is_of_others = any(map(_is_absolute, before))
        reached: dict[int, str] = {}
        places = []
        for place, folder in found:
            if place >= 0 and folder and own and folder not in own:
                place = MISSING
            if place >= 0 and reached.setdefault(place, folder) != folder:
                place = SEVERAL
            if place == OUTSIDE and folder and is_of_others:
                place = MISSING
            places.append(place)
        return places

    def _place(self, cell: str) -> tuple[int, str]:
        """The match of one cell, and the folders before the image's name in it."""
        if cell in self._places:
            return self._places[cell], ""
        name = _path(cell)
        if name == ".." or name.startswith("../"):
            name = posixpath.normpath(self._root + name)
            if not name.startswith(self._root):
                return OUTSIDE, ""
        is_within = name.startswith(self._root)
        name = name.removeprefix(self._root)
        if name in self._places:
            return self._places[name], ""
        for level, form in enumerate(_FORMS):
            place, folder = self._of_tail(level, form(name).split("/"), is_whole=is_within)
            if place != MISSING:
                return place, folder
        return (OUTSIDE, name) if _is_absolute(name) else (MISSING, "")

    def _of_tail(self, level: int, parts: list[str], *, is_whole: bool) -> tuple[int, str]:
        """The image whose path ends in the same parts, as far as both have them.

        Returns:
            Its place, and the folders of the name that are none of the image's.
        """
        depth = len(parts)
        for mark in ("", "/"):  # with its suffix, then without
            name = "/".join(parts) + mark
            place = self._tails(level, None).get(name, MISSING)
            if place == MISSING and not is_whole and depth < self._deepest:
                place = self._tails(level, depth).get(name, MISSING)
            if place != MISSING:
                return place, ""
            for cut in range(max(1, depth - self._deepest), 0 if is_whole else depth):
                place = self._tails(level, None).get("/".join(parts[cut:]) + mark, MISSING)
                if place != MISSING:
                    return place, ("/".join(parts[:cut]) or "/").casefold()
        return MISSING, ""

    def _tails(self, level: int, depth: int | None) -> dict[str, int]:
        """The place of each image by so many last parts of its path; ``None``: by all of them.

        Each is there with its suffix, and without it and with "/".
        """
        known = self._known.get((level, depth))
        if known is None:
            known = self._known[level, depth] = {}
            for place, name in enumerate(self.names):
                parts = _FORMS[level](name).split("/")
                if depth is None or len(parts) > depth:
                    tail = "/".join(parts if depth is None else parts[-depth:])
                    for key in (tail, posixpath.splitext(tail)[0] + "/"):
                        known[key] = SEVERAL if key in known else place
        return known


def table_of_images(
    rows: Sequence[Sequence[str]], images: NamedImages, chosen: str | None
) -> TableOfImages | None:
    """The lines of a table of images; ``None``: it has no column of the chosen name.

    Args:
        rows: The cells of all lines, at least one.
        images: Those that there are.
        chosen: The name of the column that names them; ``None``: found by what it holds.
    """
    first, *rest = rows
    titles = _titles(first)
    others: tuple[int, ...] = ()
    at = titles.index(chosen) if chosen in titles else None
    if chosen is None:
        at, others = _detected_column(rest or rows, images, titles)
    elif at is None or (chosen.isdecimal() and not _names_columns(first, rest, at, images)):
        at = int(chosen) if chosen.isdecimal() and len(chosen) < 6 else len(first)
        if at >= len(first):
            return None
    is_named = _names_columns(first, rest, at, images)
    columns = titles if is_named else tuple(map(str, range(len(first))))
    return TableOfImages(columns, at, others, is_named)


def is_name_of_image(cell: str) -> bool:
    """Whether a cell ends as the names of images do."""
    return _SUFFIX.fullmatch(posixpath.splitext(cell.strip())[1]) is not None


def _detected_column(
    rows: Sequence[Sequence[str]], images: NamedImages, titles: tuple[str, ...]
) -> tuple[int, tuple[int, ...]]:
    """The column that names the images, and others that may as well."""
    rows = rows[:SAMPLED_LINES]
    usual = [_rank_of_name(title) for title in titles]
    likeliest = usual.index(min(usual))
    of_column: dict[int, list[int]] = {}
    for at in range(len(titles)):
        cells = [row[at] for row in rows if at < len(row)]
        places = images.places(cells)
        differ = 2 * len({*cells}) >= len(cells)
        if max(places, default=MISSING) >= 0 and (
            differ or at == likeliest or any(map(is_name_of_image, cells))
        ):
            of_column[at] = places
    if not of_column:
        return likeliest, ()
    sure = [
        at for at in of_column if any(is_name_of_image(row[at]) for row in rows if at < len(row))
    ]
    named = {at: sum(place >= 0 for place in of_column[at]) for at in sure or of_column}
    found = [at for at in named if 2 * named[at] >= max(named.values())]
    best = min(usual[at] for at in found)
    found = [at for at in found if usual[at] == best]
    at = found[0]
    return at, tuple(each for each in found if of_column[each] != of_column[at])


def _names_columns(
    first: Sequence[str], rest: Sequence[Sequence[str]], at: int, images: NamedImages
) -> bool:
    """Whether a line names the columns: it names no image, nor holds what other lines hold."""
    if is_name_of_image(first[at]) or images.places([first[at]])[0] >= 0:
        return False
    others = [place for place in range(len(first)) if place != at]
    held = [
        {row[place].strip() for row in rest[:SAMPLED_LINES] if place < len(row)} for place in others
    ]
    cells = [first[place].strip() for place in others]
    is_row = all(cell in there for cell, there in zip(cells, held, strict=True))
    if len(others) == 1 and rest and is_number(cells[0]):
        is_row = is_row or all(map(is_number, held[0]))
    return not (others and rest and is_row)


def _titles(first: Sequence[str]) -> tuple[str, ...]:
    """The cells as names, each another one; what has none is its place."""
    given: dict[str, None] = {}
    for place, cell in enumerate(first):
        name = wanted = cell.strip().encode(errors="surrogateescape").decode(
            errors="backslashreplace"
        ) or str(place)
        number = 2
        while name in given:
            name, number = f"{wanted} ({number})", number + 1
        given[name] = None
    return tuple(given)


def _rank_of_name(title: str) -> int:
    plain = re.sub(r"[\W_]", "", title).casefold()
    ranks = (rank for rank, names in enumerate(_NAMES_OF_FILE) if plain in names)
    return next(ranks, len(_NAMES_OF_FILE))


def _path(cell: str) -> str:
    return posixpath.normpath(cell.strip().replace("\\", "/"))


def _is_absolute(name: str) -> bool:
    return name.startswith("/") or _DRIVE.match(name + "/") is not None


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _without_capitals(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


_FORMS: tuple[Callable[[str], str], ...] = (_composed, _without_capitals)
