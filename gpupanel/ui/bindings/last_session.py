"""Keeps what is in the session, so that the next window begins with it."""

import json
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QSettings, QTimer, Slot

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile, parse_profile
from gpupanel.runs.directory.profile_file import LARGEST_PROFILE_BYTES, read_profile
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.session import Session

KEEP_AFTER_MS = 1_000
"""So long after the last change: a window that is killed loses no more."""
_KEY = "session/last"


@dataclass(frozen=True, slots=True)
class SavedSession:
    """A session as it was left.

    Attributes:
        profile: As it was edited.
        saved: As its file holds it now; where it has none, what the changes were made to.
        path: Of that file.
    """

    profile: Profile
    saved: Profile
    path: Path | None


class LastSession(QObject):
    """Writes the session into the settings a moment after each change, and at the end.

    Args:
        session: What is kept.
        profiles: Says when a person gives changes up: these do not come back.
        settings: Where it is kept.
        parent: The window.
    """

    def __init__(
        self, session: Session, profiles: ProfileActions, settings: QSettings, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._settings = session, settings
        self._is_given_up = False
        self._timer = QTimer(self, singleShot=True, interval=KEEP_AFTER_MS)
        self._timer.timeout.connect(self._keep)
        session.profileChanged.connect(self._on_changed)
        session.documentChanged.connect(self._on_changed)
        profiles.changesGivenUp.connect(self._give_up)

    def stop(self) -> None:
        """Keep it now, for good."""
        self._timer.stop()
        self._keep()

    @Slot()
    def _on_changed(self) -> None:
        self._is_given_up = False
        self._timer.start()

    @Slot()
    def _give_up(self) -> None:
        self._is_given_up = True

    @Slot()
    def _keep(self) -> None:
        session = self._session
        profile = session.saved_profile if self._is_given_up else session.profile
        kept = {
            "profile": dump_profile(profile),
            "path": "" if session.path is None else str(session.path),
            "dirty": profile != session.saved_profile,
        }
        text = json.dumps(kept)
        # One that names thousands of files is not kept: settings are read as a whole each time.
        self._settings.setValue(_KEY, text if len(text) <= LARGEST_PROFILE_BYTES else "")


def saved_session(settings: QSettings) -> SavedSession | None:
    """The session as it was left; ``None`` where none was, or it cannot be read any more."""
    try:
        kept = json.loads(str(settings.value(_KEY, "")))
        profile = parse_profile(kept["profile"])
        path = Path(kept["path"]) if kept["path"] else None
        is_dirty = bool(kept["dirty"])
    except (ValueError, KeyError, TypeError, RecursionError, ProblemError):
        return None
    if path is not None:
        try:
            return SavedSession(profile, read_profile(path), path)
        except ProblemError:
            path = None  # its file is gone: what was in it is here
    return SavedSession(profile, Profile() if is_dirty else profile, path)


def is_first_start(settings: QSettings) -> bool:
    """Whether no window was ever closed, so that a person may be new here."""
    return not settings.contains(_KEY)
