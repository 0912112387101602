"""Profiles of older formats are brought to the present one.

A key that is new has a default and changes no format. A key that is renamed, removed, or means
something else does: ``SCHEMA_VERSION`` rises, and one function here, named after what it does,
brings a document of the format before to the new one. It is tested with a profile of its time.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, Final

Migration = Callable[[dict[str, Any]], dict[str, Any]]
"""Migrates a document of one format, which it may modify, to the next one."""

MIGRATIONS: Final[tuple[Migration, ...]] = ()
"""The first one reads format 1, each further one what the one before gives. There is one format."""


def migrated(
    document: dict[str, Any], migrations: Sequence[Migration] = MIGRATIONS
) -> dict[str, Any]:
    """The document in the present format; one of a newer or of no format is given back as it is.

    Args:
        document: As :mod:`tomllib` reads it; it is not changed.
        migrations: See :data:`MIGRATIONS`.
    """
    version = document.get("schema_version", 1)
    if type(version) is not int or not 1 <= version <= len(migrations):
        return document
    document = deepcopy(document)
    for number, migrate in enumerate(migrations[version - 1 :], start=version + 1):
        document = {**migrate(document), "schema_version": number}
    return document
