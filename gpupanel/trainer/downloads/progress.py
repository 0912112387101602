"""How far a download is."""

from collections.abc import Callable

OnDownload = Callable[[str, int, int | None], None]
"""Called with the name of what is downloaded, the bytes done, and those in all if that is known."""
