"""Evaluates and predicts with the model of a run, in a profile of its own."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.profile import LONGEST_NAME, Profile
from gpupanel.planning.resuming import changes_between
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.ui.live_page import LivePage
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.session import Session
from gpupanel.ui.task_choices import (
    Task,
    TaskChoices,
    TaskSwitch,
    evaluating,
    name_after_model,
    predicting,
)


class ModelUse(QObject):
    """What "Evaluate this model" and "Predict with it" do in Live.

    They begin an untitled profile, as "Use these settings" does: saving it does not overwrite the
    profile that the session had.
    """

    used = Signal()
    """The session evaluates or predicts."""

    def __init__(
        self, session: Session, profiles: ProfileActions, live: LivePage, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._profiles = profiles
        live.evaluateRequested.connect(self._evaluate)
        live.predictRequested.connect(self._predict)

    @Slot(object, str, bool)
    def _evaluate(self, trained: Profile | None, model_path: str, was_measured: bool) -> None:
        profile = self._doing("evaluate", name_after_model("evaluation", trained, model_path))
        self._begin(evaluating(profile, trained, model_path, was_measured=was_measured), trained)

    @Slot(object, str, object)
    def _predict(self, trained: Profile | None, model_path: str, paths: tuple[str, ...]) -> None:
        profile = self._doing("predict", name_after_model("predictions", trained, model_path))
        self._begin(predicting(profile, trained, model_path, paths), trained)

    def _doing(self, task: Task, name: str) -> Profile:
        """The session's profile with another task: it has the devices, and how to infer."""
        profile = self._session.profile
        choices = TaskChoices(task=task, inference=profile.inference)
        switched = TaskSwitch().switched(profile, choices)
        return switched.model_copy(update={"name": name[:LONGEST_NAME]})

    def _begin(self, profile: Profile, trained: Profile | None) -> None:
        # The run has the settings that it was started with: of them nothing is lost.
        here = anchored(self._session.profile, Path.cwd())
        is_of_run = trained is not None and not changes_between(here, trained)
        if is_of_run or self._profiles.may_lose_changes():
            self._session.open_profile(profile, None)
            self.used.emit()
