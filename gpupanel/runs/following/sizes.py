"""Sizes of memory in words."""

_MIB_PER_GIB = 1024


def size_words(mib: int) -> str:
    """A size in mebibytes: ``8192`` is "8.0 GiB", ``512`` is "512 MiB"."""
    return f"{mib:,} MiB" if mib < _MIB_PER_GIB else f"{mib / _MIB_PER_GIB:,.1f} GiB"
