"""Evaluates and predicts with the model of the run that is shown."""

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.profile import LONGEST_NAME, Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.resuming import changes_between
from gpupanel.runs.directory.profile_file import anchored
from gpupanel.ui.bindings.model_runs import ModelRuns
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.questions import Questions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.model_runs_page import ModelTask
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.session import Session
from gpupanel.ui.shown_models import model_of_shown, other_model
from gpupanel.ui.task_choices import (
    TaskChoices,
    TaskSwitch,
    evaluating,
    name_after_model,
    predicted_files,
    predicting,
)

_NONE = (None, None)
_NAMES: dict[ModelTask, str] = {"evaluate": "evaluation", "predict": "predictions"}


class ModelUse(QObject):
    """What the buttons of *Evaluation* and *Predict* do, and files that are dropped on the page.

    It is done at once, on the devices of the run where they are here and else on the session's,
    and seen on the page of the run: the session stays as it is. *Set up in Session* begins an
    untitled profile there, as "Use these settings" does.

    Args:
        session: Knows devices and what would happen.
        profiles: Asks before changes are lost.
        control: Knows the run that is shown, and starts.
        live: The page of the run.
        model_runs: Show what was begun, by what it does.
        questions: Asks for files.
        parent: The window.
    """

    used = Signal()
    """The session evaluates or predicts."""
    refused = Signal(object)
    """Why nothing was begun: a tuple of :class:`Problem`."""

    def __init__(
        self,
        session: Session,
        profiles: ProfileActions,
        control: RunControl,
        live: LivePage,
        model_runs: Mapping[ModelTask, ModelRuns],
        questions: Questions,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session, self._profiles, self._control = session, profiles, control
        self._model_runs, self._questions = model_runs, questions
        self._begun: ModelTask = "evaluate"
        live.evaluations.startRequested.connect(self._evaluate)
        live.evaluations.sessionRequested.connect(self._set_evaluation_up)
        live.predictions.startRequested.connect(self._predict_on_files)
        live.predictions.folderRequested.connect(self._predict_on_folder)
        live.predictions.sessionRequested.connect(self._set_prediction_up)
        live.filesDropped.connect(self._predict_on)
        control.launchedBeside.connect(self._show_begun)

    @Slot(bool)
    def _evaluate(self, is_other: bool) -> None:
        model = self._model(is_other=is_other)
        if model:
            self._begin("evaluate", lambda base: self._evaluation(base, model))

    @Slot()
    def _set_evaluation_up(self) -> None:
        model = self._model(is_other=False)
        if model:
            self._set_up(self._evaluation(self._session.profile, model))

    @Slot()
    def _set_prediction_up(self) -> None:
        model = self._model(is_other=False)
        if model:
            trained = self._control.shown_profile
            self._set_up(self._prediction(self._session.profile, model, (), trained))

    @Slot(bool)
    def _predict_on_files(self, is_other: bool) -> None:
        model, trained = self._model(is_other=is_other), self._control.shown_profile
        if model and trained is not None:
            paths = self._questions.files_to_predict_on(predicted_files(trained.data))
            if paths:
                # Another run may have been shown while somebody chose: it is this one's model.
                self._begin("predict", lambda base: self._prediction(base, model, paths, trained))

    @Slot()
    def _predict_on_folder(self) -> None:
        folder = self._questions.folder_to_predict_on()
        if folder:
            self._predict_on((folder,))

    @Slot(object)
    def _predict_on(self, paths: tuple[str, ...]) -> None:
        model, trained = model_of_shown(self._control), self._control.shown_profile
        if model:
            self._begin("predict", lambda base: self._prediction(base, model, paths, trained))

    def _model(self, *, is_other: bool) -> str:
        """The path of a model of the shown run; empty: there is none."""
        if is_other:
            return str(other_model(self._control) or "")
        return model_of_shown(self._control)

    def _begin(self, task: ModelTask, wanted: Callable[[Profile], Profile]) -> None:
        """Do it at once where nothing else goes on; else it waits in the session for its start.

        Args:
            task: What is done.
            wanted: Its profile, on the devices of another one.
        """
        if self._session.run_state.is_busy:
            self._set_up(wanted(self._session.profile))
            return
        trained = self._control.shown_profile
        errors = []
        for base in (trained, self._session.profile):
            if base is None:
                continue
            profile = wanted(base)
            preparation = self._session.prepare_other(profile)
            if preparation.is_startable and preparation.plan is not None:
                self._begun = task
                self._control.start_beside(profile, preparation.plan)
                self._model_runs[task].await_start()
                return
            errors = [each for each in preparation.problems if each.is_error]
        self.refused.emit(tuple(errors))

    @Slot(object)
    def _show_begun(self, layout: RunLayout) -> None:
        self._model_runs[self._begun].look_at(layout.root)

    def _evaluation(self, base: Profile, model_path: str) -> Profile:
        trained, status = self._control.shown_profile, self._control.shown_status
        # The model's epoch may not have been validated itself.
        was_measured = status is not None and (
            status.best is not None or (status.metrics.val_loss, status.metrics.test_loss) != _NONE
        )
        profile = self._doing(base, "evaluate", model_path, trained)
        return evaluating(profile, trained, model_path, was_measured=was_measured)

    def _prediction(
        self, base: Profile, model_path: str, paths: tuple[str, ...], trained: Profile | None
    ) -> Profile:
        profile = self._doing(base, "predict", model_path, trained)
        return predicting(profile, trained, model_path, paths)

    def _doing(
        self, base: Profile, task: ModelTask, model_path: str, trained: Profile | None
    ) -> Profile:
        """A profile with another task: it has the devices, and how to infer."""
        choices = TaskChoices.of(base).model_copy(update={"task": task})
        name = name_after_model(_NAMES[task], trained, model_path)
        switched = TaskSwitch().switched(base, choices)
        return switched.model_copy(update={"name": name[:LONGEST_NAME]})

    def _set_up(self, profile: Profile) -> None:
        """Bring it into the session, where it can be changed before it starts."""
        # The run has the settings that it was started with: of them nothing is lost.
        trained = self._control.shown_profile
        here = anchored(self._session.profile, Path.cwd())
        is_of_run = trained is not None and not changes_between(here, trained)
        if is_of_run or self._profiles.may_lose_changes():
            self._session.open_profile(profile, None)
            self.used.emit()
