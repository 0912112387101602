"""Which entry of the queue is open in the session, and when it is not any more."""

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.session import Session
from gpupanel.ui.workers.queue_worker import QueueWatch


class QueueEditing(QObject):
    """Opens the profile of a waiting entry in the session, and puts it back.

    Opening another profile leaves the entry as it is. An entry that was started meanwhile cannot
    be edited any more, nor one that another window or program has changed: the profile stays in the
    session, to be queued anew.
    """

    changed = Signal()
    """Another entry is edited, or none any more."""
    opened = Signal()
    """The profile of an entry was opened in the session."""
    overtaken = Signal(object)
    """Problems: the entry was started, removed or changed before it was put back."""

    def __init__(
        self, session: Session, profiles: ProfileActions, watch: QueueWatch, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._profiles = profiles
        self._watch = watch
        self._entry_id = ""
        self._name = ""
        self._revision = 0
        self._sent: Profile | None = None
        self._is_opening = False
        watch.profileRead.connect(self._open)
        watch.edited.connect(self._on_put_back)
        watch.changed.connect(self._find_entry)
        session.opened.connect(self._on_session_opened)

    @property
    def entry_id(self) -> str:
        """The entry that is edited; empty: none is."""
        return self._entry_id

    @Slot(str)
    def edit(self, entry_id: str) -> None:
        """Open the profile of an entry in the session, if nothing is lost by that."""
        if self._profiles.may_lose_changes():
            self._watch.read_profile(entry_id)

    @Slot()
    def put_back(self) -> None:
        """Give the entry the profile as it is now."""
        self._sent = self._session.profile
        self._watch.edit(self._entry_id, self._sent, self._revision)

    @Slot()
    def leave(self) -> None:
        """Leave the entry as it is."""
        self._set("")

    @Slot(str, int, object)
    def _open(self, entry_id: str, revision: int, profile: Profile) -> None:
        self._is_opening = True
        self._session.open_profile(profile, None)
        self._is_opening = False
        self._name, self._revision = profile.name, revision
        self._set(entry_id)
        self.opened.emit()

    @Slot(str)
    def _on_put_back(self, entry_id: str) -> None:
        if entry_id != self._entry_id:
            return
        if self._session.profile == self._sent:
            # The queue holds it now: nothing is lost by opening another one.
            self._session.open_profile(self._sent, None)
        else:
            self._set("")

    @Slot(object)
    def _find_entry(self, line: WaitingLine) -> None:
        if not self._entry_id:
            return
        found = next((entry for entry in line.entries if entry.id == self._entry_id), None)
        if found is None:
            self._give_up("was removed from the queue")
        elif not found.can_be_edited:
            self._give_up("was started")
        elif found.revision > self._revision:
            self._give_up("was changed by another window or program")

    def _give_up(self, what: str) -> None:
        self._set("")
        self.overtaken.emit(
            (
                Problem(
                    code="queue_entry_overtaken",
                    message=f"“{self._name}” {what} before it was put back.",
                    hint="The session still has the profile: Queue adds it as a new entry.",
                ),
            )
        )

    @Slot()
    def _on_session_opened(self) -> None:
        if not self._is_opening:
            self._set("")

    def _set(self, entry_id: str) -> None:
        if entry_id != self._entry_id:
            self._entry_id = entry_id
            self.changed.emit()
