"""The Session tab: what is chosen, and beside it what will happen."""

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication, QLabel, QStackedLayout, QWidget

from gpupanel.domain.model_summary import ModelSummary, SummaryRequest, summary_request
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.previewed_profile import preview_request
from gpupanel.domain.problem import Fix
from gpupanel.domain.profile import Profile
from gpupanel.planning.layers import ModelLayer, model_layers
from gpupanel.planning.prepare import Preparation
from gpupanel.planning.shares import proportional_shares
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.measured_shares import as_measured
from gpupanel.ui.panels.cluster_panel import ClusterPanel
from gpupanel.ui.panels.data_panel import DataPanel
from gpupanel.ui.panels.live_panel import OPEN_TIP, RESUME_TIP
from gpupanel.ui.panels.model_panel import ModelPanel
from gpupanel.ui.panels.plan_panel import PlanPanel
from gpupanel.ui.panels.script_panel import ScriptPanel
from gpupanel.ui.panels.strategy_panel import StrategyPanel
from gpupanel.ui.panels.task_panel import TaskPanel
from gpupanel.ui.panels.training_panel import TrainingPanel
from gpupanel.ui.run_devices import shown_plan
from gpupanel.ui.session import Session
from gpupanel.ui.session_layout import SessionLayout
from gpupanel.ui.sweep_text import sweep_sentence
from gpupanel.ui.task_choices import TaskChoices, TaskSwitch
from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.note_card import NoteCard
from gpupanel.ui.workers.tool_worker import QuestionWorker

PREVIEW_DELAY_MS = 300
EXAMPLE_LIMIT = 24

_Built = tuple[SummaryRequest, tuple[ModelLayer, ...]]
"""What was built, and its layers with weights."""


class SessionPage(QWidget):
    """Binds the editors and the plan to the session; they know neither it nor each other."""

    def __init__(
        self,
        session: Session,
        loader: QuestionWorker[PreviewRequest],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._loader = loader
        self._previewed: PreviewRequest | None = None
        self._preview_has_problems = False
        self._task_switch = TaskSwitch()
        self._task, self._on_cluster = "train", False
        self._preview: DataPreview | None = None
        self.task = TaskPanel()
        self.strategy = StrategyPanel()
        self.cluster = ClusterPanel()
        self.data = DataPanel()
        self.model = ModelPanel()
        self.training = TrainingPanel()
        self.script = ScriptPanel()
        """What runs in the place of data, model and training."""
        self._panels = (
            *(self.task, self.script, self.strategy, self.cluster),
            *(self.data, self.model, self.training),
        )
        self.plan = PlanPanel()
        self._note = QLabel(
            "The current run keeps the profile that it was started with. Changes here apply "
            "to the next run."
        )
        self._note.setProperty("tone", "muted")
        self._note.setWordWrap(True)
        self._notes = QWidget()
        self.waiting = NoteCard("waiting_note")
        """Says which run waits to be resumed."""
        self.resume = self.waiting.add_button("Resume", "resume", RESUME_TIP)
        self.open_waiting = self.waiting.add_button("Open", "open", OPEN_TIP)
        self.hide_waiting = self.waiting.add_button(
            "Hide",
            "hide",
            "Says nothing more of this run here; it stays under Runs",
            spoken="Hide the note about the run",
        )
        self.sweep = NoteCard("sweep_note")
        """Says what the profile's sweep is, which a run of it alone does without."""
        self.open_sweep = self.sweep.add_button(
            "Open sweep…", "open", "Shows the trials that would run, and queues them"
        )
        self._no_sweep = self.sweep.add_button(
            "Remove",
            "remove",
            "Takes the sweep out of the profile; Undo brings it back",
            spoken="Remove the sweep",
        )
        self.fitted = NoteCard("fitted_note")
        """Says which settings were chosen for the data."""
        self.undo_fitted = self.fitted.add_button(
            "Undo",
            "revert",
            "Brings back the settings that the session had before",
            spoken="Undo the choice of settings",
        )
        self._built: _Built | None = None
        self._preview_timer = QTimer(self, singleShot=True, interval=PREVIEW_DELAY_MS)
        self._compose()
        self._connect()
        self._show_profile(session.profile)
        self._show_run()

    def _compose(self) -> None:
        notes = column_in(self._notes)
        notes.addWidget(self._note)
        notes.addWidget(self.waiting)
        notes.addWidget(self.sweep)
        notes.addWidget(self.fitted)
        sections = (self.task, self.script, self.data, self.model, self.strategy, self.cluster)
        self.sections = SessionLayout(self._notes, sections, (self.training, self.plan))
        """The layout of the panels."""
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.sections)
        self._show_sections()

    def show_instead(self, page: QWidget) -> None:
        """Show something else in place of the sections, until :meth:`show_sections`."""
        self._stack.addWidget(page)
        self._stack.setCurrentWidget(page)

    def show_sections(self) -> None:
        """Show the sections again."""
        self._stack.setCurrentWidget(self.sections)

    def _connect(self) -> None:
        self.task.valueChanged.connect(self._choose_task)
        self.strategy.valueChanged.connect(self._edit)
        self.cluster.valueChanged.connect(self._edit)
        self.data.valueChanged.connect(self._edit)
        self.model.valueChanged.connect(self._edit)
        self.training.valueChanged.connect(self._edit)
        self.script.valueChanged.connect(self._edit)
        self._no_sweep.clicked.connect(self._remove_sweep)
        for panel in self._panels:
            panel.errorsChanged.connect(self._report_errors)
        self.plan.problems.fixRequested.connect(self._apply_fix)
        self.plan.estimate.ways.fixRequested.connect(self._apply_fix)
        self.plan.shares.sharesChosen.connect(self.choose_shares)
        self.plan.stages.placementChosen.connect(self._choose_placement)
        self.plan.problems.fieldActivated.connect(self.go_to_field)
        self.plan.estimate.batchChosen.connect(self.choose_batch)
        self._session.inventoryChanged.connect(self.strategy.setInventory)
        self._session.inventoryChanged.connect(self.plan.setInventory)
        self._session.opened.connect(self._show_opened)
        self._session.profileChanged.connect(self._show_profile)
        self._session.preparationChanged.connect(self._show_preparation)
        self._session.checkingChanged.connect(self._show_checking)
        self._session.runChanged.connect(self._show_run)
        self._preview_timer.timeout.connect(self._load_preview)
        self._loader.answered.connect(self._show_preview)
        self._loader.busyChanged.connect(self.data.setPreviewBusy)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.applicationStateChanged.connect(self._check_again)

    @Slot()
    def _edit(self) -> None:
        parts = {
            "strategy": self.strategy.value(),
            "cluster": self.cluster.value(),
            "data": self.data.value(),
            "model": self.model.value(),
            "training": self.training.value(),
            "script": self.script.value() if self._task == "script" else None,
        }
        self._session.edit(self._session.profile.model_copy(update=parts))

    @Slot()
    def _report_errors(self) -> None:
        """What was typed and is no value keeps a run from starting with the value before it."""
        shown = (panel for panel in self._panels if not panel.isHidden())
        self._session.set_input_errors(
            {field: error for panel in shown for field, error in panel.errors().items()}
        )

    @Slot(object)
    def _choose_task(self, choices: TaskChoices) -> None:
        self._session.edit(self._task_switch.switched(self._session.profile, choices))

    def leave_program(self) -> None:
        """Do again what was done before a program was to run: data or a model was chosen."""
        if self._task == "script":
            before = {"task": self._task_switch.task_before_program}
            self._choose_task(self.task.value().model_copy(update=before))

    @Slot(object)
    def choose_shares(self, shares: tuple[int, ...]) -> None:
        """Put these shares into the profile as given numbers."""
        profile = self._session.profile
        strategy = profile.strategy.model_copy(update={"shares": shares})
        self._session.edit(profile.model_copy(update={"strategy": strategy}))

    @Slot(object)
    def _choose_placement(self, placement: dict[str, int]) -> None:
        profile = self._session.profile
        strategy = profile.strategy.model_copy(update={"placement": placement})
        self._session.edit(profile.model_copy(update={"strategy": strategy}))

    @Slot(int)
    def choose_batch(self, batch: int) -> None:
        """Put that global batch into the profile; given shares keep their proportions."""
        profile = self._session.profile
        training = profile.training.model_copy(update={"global_batch_size": batch})
        parts: dict[str, object] = {"training": training}
        shares = profile.strategy.shares
        if isinstance(shares, tuple):
            given = proportional_shares(batch, shares)
            parts["strategy"] = profile.strategy.model_copy(update={"shares": given})
        self._session.edit(profile.model_copy(update=parts))

    @Slot(object)
    def _apply_fix(self, fix: Fix) -> None:
        self._session.apply_fix(fix)

    @Slot(str)
    def go_to_field(self, field: str) -> None:
        """Show the editor of a dotted profile key."""
        panel = self._panel_of(field)
        if panel is not None:
            self.sections.show_widget(panel.focus_editor(field))

    def section_of(self, field: str) -> str | None:
        """The title of the section that edits a dotted profile key; ``None``: none is shown."""
        panel = self._panel_of(field)
        return None if panel is None or panel.isHidden() else panel.section_title

    def _panel_of(self, field: str) -> SettingsCard | None:
        return next((each for each in self._panels if each.edits(field)), None)

    @Slot(object)
    def _show_profile(self, profile: Profile) -> None:
        self._show_task(profile)
        if self.strategy.value() != profile.strategy:
            self.strategy.setValue(profile.strategy)
        if self.cluster.value() != profile.cluster:
            self.cluster.setValue(profile.cluster)
        if self.data.value() != profile.data:
            self.data.setValue(profile.data)
        if self.model.value() != profile.model:
            self.model.setValue(profile.model)
        if self.training.value() != profile.training:
            self.training.setValue(profile.training)
        if profile.script is not None:
            self.script.setValue(profile.script)
            self._ask_for_no_preview()
        elif self._previewed != preview_request(profile, EXAMPLE_LIMIT):
            self._preview = None
            self._preview_timer.start()
            self._session.await_preview()
            if self._session.is_reading_data:
                self.plan.setData(None)
        self.strategy.setLayers(_layers(profile, self._preview, self._built))
        self.plan.setEpochs(profile.epochs_to_train)
        self.plan.setFineTuning(profile.fine_tuning)
        self.training.setFineTuning(profile.fine_tuning)
        self.sweep.setSentence(sweep_sentence(profile))
        self._show_notes()
        self._report_errors()  # of another kind or task, which asks for other values

    def set_built_layers(self, request: SummaryRequest, summary: ModelSummary) -> None:
        """Take over the layers of a model that was built: they are placed by hand from them."""
        layers = tuple(
            ModelLayer(name=each.name, what=each.kind, parameters=each.parameters)
            for each in summary.layers
            if each.parameters and not each.within
        )
        self._built = (request, layers)
        self.strategy.setLayers(_layers(self._session.profile, self._preview, self._built))

    @Slot()
    def _show_opened(self) -> None:
        """What was typed for other kinds belongs to the profile that was open before."""
        profile = self._session.profile
        self._task_switch = TaskSwitch()
        for panel in self._panels:
            panel.forget()
        self.strategy.setValue(profile.strategy)
        self.cluster.setValue(profile.cluster)
        self.data.setValue(profile.data)
        self.model.setValue(profile.model)

    def _ask_for_no_preview(self) -> None:
        """The session has no data: what was read of the one before is not known any more."""
        self._preview_timer.stop()
        self._previewed = self._preview = None
        self.plan.setData(None)

    def _show_task(self, profile: Profile) -> None:
        self._task_switch.remember(profile)
        choices = TaskChoices.of(profile)
        if self.task.value() != choices:
            self.task.setValue(choices)
        on_cluster = profile.cluster is not None
        if (profile.task, on_cluster) != (self._task, self._on_cluster):
            self._task, self._on_cluster = profile.task, on_cluster
            self.strategy.setTask(profile.task, on_cluster=on_cluster)
            self.plan.setTask(profile.task)
            self.model.setTrains(profile.task == "train")
            self._show_sections()

    def _show_sections(self) -> None:
        """What the task is about comes first: the saved model, where there is one."""
        beside: tuple[SettingsCard, ...] = (self.plan,)
        match self._task:
            case "train":
                chosen: tuple[SettingsCard, ...] = (self.data, self.model)
                beside = (self.training, self.plan)
            case "script":
                chosen = (self.script,)
            case _:
                chosen = (self.model, self.data)
        # A program runs on this machine; a cluster that its profile has is shown to be removed.
        is_shown = self._task != "script" or self._on_cluster
        cluster = (self.cluster,) if is_shown else ()
        self.sections.set_order((self.task, *chosen, self.strategy, *cluster), beside)

    @Slot(object)
    def _show_preparation(self, preparation: Preparation) -> None:
        planned = preparation.plan
        if planned is None:
            self.plan.setPreparation(preparation)
        else:
            shown = preparation.model_copy(update={"plan": shown_plan(planned)})
            self.plan.setPreparation(shown)
        if preparation.plan is not None:
            self.model.setReplicaCount(len(preparation.plan.replicas))
        for panel in self._panels:
            panel.setProblems(preparation.problems)
        self._show_checking()
        self._show_division()

    @Slot()
    def _show_checking(self) -> None:
        self.plan.setChecking(self._session.is_checking_gpus)
        self.plan.setReading(self._session.is_reading_data)

    @Slot()
    def _show_run(self) -> None:
        self._note.setVisible(self._session.run_state.is_busy)
        self._show_notes()
        self.plan.setRunStatus(self._session.run_status)
        self._show_division()

    def _show_notes(self) -> None:
        notes = (self._note, self.waiting, self.sweep, self.fitted)
        self._notes.setHidden(all(note.isHidden() for note in notes))

    def set_waiting(self, sentence: str) -> None:
        """Say which run waits to be resumed; empty: none does."""
        self.waiting.setSentence(sentence)
        self._show_notes()

    def set_fitted(self, sentence: str) -> None:
        """Say which settings were chosen for the data, and why; empty: none were."""
        self.fitted.setSentence(sentence)
        self._show_notes()

    @Slot()
    def _remove_sweep(self) -> None:
        self._session.edit(self._session.profile.for_one_run)

    def _show_division(self) -> None:
        plan = self._session.preparation.plan
        status = self._session.run_status
        self.strategy.setPlan(None if plan is None else as_measured(shown_plan(plan), status))

    @Slot(object)
    def _show_preview(self, preview: DataPreview) -> None:
        asked = self._previewed
        if asked is None or asked != preview_request(self._session.profile, EXAMPLE_LIMIT):
            return  # of what was chosen before: what is chosen now is asked about in a moment
        self._preview_has_problems = bool(preview.problems or preview.model_problems)
        self.data.setPreview(preview)
        self._preview = preview
        self.strategy.setLayers(_layers(self._session.profile, preview, self._built))
        self.plan.setData(preview)
        self._session.set_preview(asked, preview)

    @Slot(Qt.ApplicationState)
    def _check_again(self, state: Qt.ApplicationState) -> None:
        """Somebody who comes back to the window may have mended the data elsewhere."""
        is_active = state is Qt.ApplicationState.ApplicationActive
        if is_active and self._preview_has_problems and self._task != "script":
            self._preview_timer.start()

    def stop(self) -> None:
        """Ask for no preview any more: the window closes."""
        self._preview_timer.stop()

    @Slot()
    def preview_again(self) -> None:
        """The data may be another one than before: it was downloaded."""
        if self._task != "script":
            self._load_preview()

    @Slot()
    def _load_preview(self) -> None:
        self._previewed = preview_request(self._session.profile, EXAMPLE_LIMIT)
        self._loader.ask(self._previewed)


def _layers(
    profile: Profile, preview: DataPreview | None, built: _Built | None
) -> tuple[ModelLayer, ...]:
    """The layers that can be placed, with their sizes as far as the data is known.

    Args:
        profile: Whose model it is.
        preview: Of its data.
        built: The layers of a model whose layers are only known when it is built.
    """
    if profile.model.stack is None:
        is_this = (
            built is not None and built[0].in_every_way == summary_request(profile).in_every_way
        )
        return built[1] if built is not None and is_this and profile.model.is_divided else ()
    if preview is None or not preview.feature_shape:
        return model_layers(profile.model, token_count=profile.data.token_count)
    return model_layers(
        profile.model, preview.feature_shape, preview.output_count, profile.data.token_count
    )
