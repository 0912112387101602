"""Which image formats the Pillow that is installed reads, and names that such files have."""

import importlib
from contextlib import suppress
from typing import Final

from gpupanel.domain.image_names import IMAGE_SUFFIXES, SUFFIXES_BY_READER

_AVIF, _HEIF = SUFFIXES_BY_READER


def _has_avif() -> bool:
    with suppress(ImportError):
        return bool(importlib.import_module("PIL.AvifImagePlugin").SUPPORTED)
    return False


def _has_heif() -> bool:
    """Whether the package pillow-heif is installed, which has to be made known to Pillow."""
    with suppress(ImportError):
        importlib.import_module("pillow_heif").register_heif_opener()
        return True
    return False


_READERS: Final = tuple(
    reader for reader, is_there in ((_AVIF, _has_avif()), (_HEIF, _has_heif())) if is_there
)
FORMATS: Final = (
    *("PNG", "JPEG", "BMP", "DIB", "GIF", "WEBP", "TIFF", "PPM"),
    *(("AVIF",) if _AVIF in _READERS else ()),
    *(("HEIF",) if _HEIF in _READERS else ()),
)
"""The only ones that are tried, whatever a name ends in: Pillow would have a PostScript program
carried out, and read formats that nobody here means."""
SUFFIXES: Final = frozenset(
    (*IMAGE_SUFFIXES, *(each for reader in _READERS for each in SUFFIXES_BY_READER[reader]))
)
"""Suffixes of files that are taken for images."""
MISSING_READERS: Final = {
    suffix: reader
    for reader, suffixes in SUFFIXES_BY_READER.items()
    if reader not in _READERS
    for suffix in suffixes
}
"""What would have to be installed to read files with these suffixes."""
_BRANDS = {
    **dict.fromkeys((b"avif", b"avis"), _AVIF),
    **dict.fromkeys((b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"), _HEIF),
}


def reader_missing_for(head: bytes) -> str:
    """What would have to be installed to read a file; empty: nothing that is known.

    Args:
        head: Its first 12 bytes: a size, "ftyp" and the brand of ISO 14496-12.
    """
    reader = _BRANDS.get(head[8:12], "") if head[4:8] == b"ftyp" else ""
    return "" if reader in _READERS else reader
