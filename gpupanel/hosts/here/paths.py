"""Paths of a host's runs, here and there: a copy has another place than what it is a copy of."""

import json
from pathlib import Path
from typing import Any

from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import document_of
from gpupanel.hosts.here.link import Link


class CopiedPaths:
    """Exchanges the folder of copies for that of the runs there, in texts and documents.

    Args:
        link: Knows the folder of runs of the host.
        runs_dir: The folder of copies.
    """

    def __init__(self, link: Link, runs_dir: Path) -> None:
        self._link, self._runs_dir = link, str(runs_dir)

    def there(self, text: str) -> str:
        """The text as the host is to read it."""
        place = self._place
        return text.replace(self._runs_dir, place) if place else text

    def here(self, text: str) -> str:
        """The text as the window is to read it."""
        place = self._place
        return text.replace(place, self._runs_dir) if place else text

    def is_copy(self, run: Path) -> bool:
        """Whether that is the folder of a run among the copies."""
        return str(run.parent) == self._runs_dir and run.name not in ("", "..")

    def document(self, profile: Profile) -> dict[str, Any]:
        """A profile as the host is to read it."""
        document: dict[str, Any] = json.loads(self.there(json.dumps(document_of(profile))))
        return document

    @property
    def _place(self) -> str:
        hello = self._link.state.hello
        place = "" if hello is None else hello.runs_dir
        # Of a host that says something else nothing is exchanged.
        is_folder = place.startswith("/") and len(place) > 1
        return place if is_folder else ""
