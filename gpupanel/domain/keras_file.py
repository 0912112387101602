"""A file that Keras publishes, and where it is kept."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KerasFile:
    """One file as Keras names it (addresses and hashes: its source, 3.15).

    Attributes:
        url: Where it is downloaded from.
        place: Where it is kept below the folder in Keras's home; for an archive, the folder that
            it is unpacked into.
        digest: Hexadecimal SHA-256 or MD5 of the downloaded file; empty where Keras knows none.
        holds: For an archive, a file in it that shows it was unpacked.
        size_bytes: Of the downloaded file, as its server says; 0 where nobody knows.
        folder: Of Keras's home: ``datasets`` or ``models``.
    """

    url: str
    place: str
    digest: str = ""
    holds: str = ""
    size_bytes: int = 0
    folder: str = "datasets"
