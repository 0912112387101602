"""The last lines of a log, however long it is."""

from pathlib import Path

from gpupanel.files.guarded_files import open_to_read

_MOST_BYTES = 16 * 1024


def last_lines(path: Path, count: int = 20) -> tuple[str, ...]:
    """At most so many of the last lines; none where there is no log."""
    return tuple(line.decode(errors="replace") for line in last_bytes_lines(path)[-count:])


def last_bytes_lines(path: Path, most_bytes: int = _MOST_BYTES) -> list[bytes]:
    """The whole lines within the last bytes of a run's file; none where there is no such file."""
    try:
        with open_to_read(path) as file:
            size = file.seek(0, 2)
            start = max(0, size - most_bytes)
            file.seek(start)
            lines = file.read().splitlines()
    except OSError:
        return []
    return lines[1:] if start and len(lines) > 1 else lines
