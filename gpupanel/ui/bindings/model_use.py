"""Evaluates and predicts with the model of a run, in a profile of its own."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.profile import LONGEST_NAME, Profile
from gpupanel.planning.resuming import changes_between
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.ui.live_page import LivePage
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.session import Session
from gpupanel.ui.shown_models import model_of_shown, other_model
from gpupanel.ui.task_choices import (
    Task,
    TaskChoices,
    TaskSwitch,
    evaluating,
    name_after_model,
    predicting,
)

_NONE = (None, None)


class ModelUse(QObject):
    """What "Evaluate this model" and "Predict with it" do in Live.

    They begin an untitled profile, as "Use these settings" does: saving it does not overwrite the
    profile that the session had.
    """

    used = Signal()
    """The session evaluates or predicts."""

    def __init__(
        self,
        session: Session,
        profiles: ProfileActions,
        control: RunControl,
        live: LivePage,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session, self._profiles, self._control = session, profiles, control
        steps = live.banner.steps
        steps.evaluateRequested.connect(self._evaluate)
        steps.evaluateOtherRequested.connect(self._evaluate_other)
        steps.predictRequested.connect(self._predict)
        steps.predictOtherRequested.connect(self._predict_other)
        live.filesDropped.connect(self._predict_on)

    @Slot()
    def _evaluate(self) -> None:
        if self._control.shown_facts is not None:
            self._begin_evaluation(str(self._control.shown_facts.layout.model))

    @Slot()
    def _evaluate_other(self) -> None:
        other = other_model(self._control)
        if other is not None:
            self._begin_evaluation(str(other))

    @Slot()
    def _predict(self) -> None:
        if self._control.shown_facts is not None:
            self._begin_prediction(str(self._control.shown_facts.layout.model))

    @Slot()
    def _predict_other(self) -> None:
        other = other_model(self._control)
        if other is not None:
            self._begin_prediction(str(other))

    @Slot(object)
    def _predict_on(self, paths: tuple[str, ...]) -> None:
        model = model_of_shown(self._control)
        if model:
            self._begin_prediction(model, paths)

    def _begin_evaluation(self, model_path: str) -> None:
        trained, status = self._control.shown_profile, self._control.shown_status
        metrics = None if status is None else status.metrics
        was_measured = metrics is not None and (metrics.val_loss, metrics.test_loss) != _NONE
        profile = self._doing("evaluate", name_after_model("evaluation", trained, model_path))
        self._begin(evaluating(profile, trained, model_path, was_measured=was_measured), trained)

    def _begin_prediction(self, model_path: str, paths: tuple[str, ...] = ()) -> None:
        trained = self._control.shown_profile
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
