"""Fits settings to data of one's own, where nobody has chosen any yet."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot
from typing_extensions import override

from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.planning.own_data import (
    Fitted,
    Pretrained,
    fitted_to_data,
    is_own,
    may_be_fitted,
    may_use_pretrained,
    with_choices_since,
)
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker
from gpupanel.ui.workers.workplace import workplace


class OwnDataBinding(WorkerFacade):
    """Waits until the data that a person chose was read, and then edits the session once.

    Undo takes that back, and what was taken back is not done again. A session that was opened, or
    in which a model or a setting of the training was chosen, stays as it is.

    Args:
        session: Is edited.
        page: Says what was chosen, and why.
        ask: Which pretrained network can be had; called in a thread of its own.
        parent: The window.
    """

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        parent: QObject,
        ask: Callable[[], Pretrained | None] = lambda: workplace().tools.pretrained_at_hand(),
    ) -> None:
        super().__init__("Pretrained weights", parent, Worker(may_be_cut_short=True))
        self._session, self._page, self._ask = session, page, ask
        self._at = _place(session.profile)
        self._is_wanted = False
        self._preview: DataPreview | None = None
        self._chosen = session.profile
        self._before: Profile | None = None
        self._fitted: Fitted | None = None
        session.opened.connect(self._begin_anew)
        session.profileChanged.connect(self._on_profile)
        session.dataRead.connect(self._on_data)
        page.undo_fitted.clicked.connect(self._revert)

    @override
    def stop(self) -> None:
        """Ask no more; an answer of a server that is slow is not waited for."""
        self.drop()
        self._thread.end()

    @Slot()
    def _begin_anew(self) -> None:
        self._at = _place(self._session.profile)
        self._is_wanted, self._preview = False, None
        self._session.set_fitting(False)
        self._before = self._fitted = None

    @Slot(object)
    def _on_profile(self, profile: Profile) -> None:
        if profile.script is not None:
            # Its data comes back with the task, as it was.
            self._page.set_fitted("")
            return
        if (place := _place(profile)) != self._at:
            self._at, self._preview, self._chosen = place, None, profile
            self._session.set_fitting(False)
            # What was undone is the person's wish as much as what was chosen.
            was_undone = bool(self._session.history.redoes)
            is_free = self._session.path is None and may_be_fitted(profile, self._fitted)
            self._is_wanted = is_own(profile.data) and is_free and not was_undone
        self._show_note()

    @Slot(object)
    def _on_data(self, preview: DataPreview) -> None:
        if not self._is_wanted:
            return
        self._preview = preview
        if may_use_pretrained(self._session.profile.data):
            self.drop()
            self._session.set_fitting(True)
            self.submit(self._ask, self._fit, self._fit_without)
        else:
            self._fit(None)

    def _fit_without(self, _problems: tuple[Problem, ...]) -> None:
        """Which network can be had is not known: none is taken."""
        self._fit(None)

    def _fit(self, pretrained: Pretrained | None) -> None:
        self._session.set_fitting(False)
        profile, preview = self._session.profile, self._preview
        if not self._is_wanted or preview is None:
            return
        chosen = self._chosen
        fitted = fitted_to_data(chosen, preview, pretrained, self._fitted)
        if fitted is not None:
            self._is_wanted = False
            # What was changed while that was found out stays.
            fitted = with_choices_since(fitted, chosen, profile)
        if fitted is not None:
            self._before, self._fitted = profile, fitted
            self._session.edit(fitted.profile)
            self._show_note()

    @Slot()
    def _revert(self) -> None:
        """As Undo, whatever else was changed since."""
        if self._before is None:
            return
        now, before = self._session.profile, self._before
        parts: dict[str, object] = {
            "name": before.name,
            "model": before.model,
            "training": before.training,
        }
        if _place(now) == _place(before):
            parts["data"] = before.data
        self._session.edit(now.model_copy(update=parts))

    def _show_note(self) -> None:
        """As long as the session has what was chosen."""
        now, fitted = self._session.profile, self._fitted
        has_it = fitted is not None and (
            (now.model, now.training, _place(now))
            == (fitted.profile.model, fitted.profile.training, _place(fitted.profile))
        )
        self._page.set_fitted(fitted.reason if fitted is not None and has_it else "")


def _place(profile: Profile) -> tuple[str, str, bool]:
    """What makes it other data: the source, where it is, and whether it is trained on."""
    data = profile.data
    return data.source, data.chosen_path, bool(data.chosen_files)
