"""What the name of a file or folder says: whether it is an image, or put there by a system."""

from collections.abc import Mapping
from typing import Final

IMAGE_SUFFIXES: Final = (
    *(".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".jif", ".pjpeg", ".pjp", ".bmp", ".dib"),
    *(".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".pbm", ".pnm"),
)
"""Every Pillow reads these."""
SUFFIXES_BY_READER: Final[Mapping[str, tuple[str, ...]]] = {
    "Pillow 11.3 or later": (".avif",),
    "the package pillow-heif": (".heic", ".heif", ".hif"),
}
"""Suffixes that are read only where the named reader is installed."""
OTHER_IMAGE_SUFFIXES: Final = frozenset(
    (
        *(".svg", ".psd", ".jp2", ".j2k", ".jxl", ".tga", ".ico", ".exr", ".hdr", ".pcx"),
        *(".dds", ".eps", ".xcf", ".dcm", ".nii", ".nef", ".cr2", ".cr3", ".arw", ".dng"),
        *(".orf", ".raf", ".rw2", ".npy", ".mat"),
    )
)
"""What people keep images in that are not read."""
BESIDE_IMAGES: Final = frozenset(
    (
        *(".csv", ".tsv", ".txt", ".json", ".jsonl", ".xml", ".yaml", ".yml", ".md", ".rst"),
        *(".html", ".htm", ".pdf", ".docx", ".xlsx", ".py", ".ipynb", ".m", ".sh", ".ini"),
        *(".cfg", ".toml", ".log", ".db", ".url", ".lnk", ".md5", ".sha256", ".parquet"),
        *(".xmp", ".aae"),
    )
)
"""What lies beside images without being one: that these are not read surprises nobody."""

HIDDEN_NAMES: Final = (
    "@eadir",
    "@__thumb",
    "#recycle",
    "#snapshot",
    "__macosx",
    "__pycache__",
    "$recycle.bin",
    "system volume information",
    "lost+found",
    "thumbs.db",
    "ehthumbs.db",
    "desktop.ini",
)
"""In small letters: what file managers, network storages and file systems put beside files."""


def is_hidden(name: str) -> bool:
    """Whether a file or folder of that name is the system's or a program's, not a person's."""
    return name.startswith(".") or name.lower() in HIDDEN_NAMES


def suffix_of(name: str) -> str:
    """From the last full stop on, in small letters; empty where nothing is before or behind it."""
    stem, _, suffix = name.rpartition(".")
    return f".{suffix.lower()}" if stem and suffix else ""
