"""The view-model of the window: what is being edited, on which devices, and what would happen."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from gpupanel.domain.device import DeviceInventory, DeviceKind
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.ladder import Ladder
from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.model_summary import ModelSummary, SummaryRequest
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import Fix, Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.self_test import SelfTest
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import Preparation, prepare
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.edit_history import EditHistory
from gpupanel.ui.run_state import ButtonStates, RunState, button_states
from gpupanel.ui.run_texts import state_text, state_tone
from gpupanel.ui.session_facts import Preparer, SessionFacts, is_used_alike
from gpupanel.ui.widgets.labels import Tone

_LOOKING = "Looking for devices…"
PREPARE_DELAY_MS = 40
"""Typing and dragging ask for one preparation a frame or two, not one a keystroke."""


class Session(QObject):
    """Profile, file, devices, preparation and run state; widgets show it and change it through it.

    Signals are facts: the new state can be read from the properties when they arrive.
    """

    profileChanged = Signal(object)
    """The :class:`Profile`, by whatever means it changed."""
    opened = Signal()
    """Another profile was opened, from a file or anew; what follows are its changes."""
    documentChanged = Signal()
    """The file, its name or the dirty mark."""
    inventoryChanged = Signal(object)
    dataRead = Signal(object)
    """The :class:`DataPreview` of the data that is chosen."""
    preparationChanged = Signal(object)
    checkingChanged = Signal()
    """Whether TensorFlow is being asked about the GPUs, or the data is being read."""
    runChanged = Signal()
    """The run's state or status."""

    def __init__(self, preparer: Preparer = prepare, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._facts = SessionFacts(preparer)
        self._profile = Profile()
        self._saved = self._profile
        self._path: Path | None = None
        self.history = EditHistory()
        """What can be undone; it changes with the document."""
        self._awaiting = _LOOKING
        self._awaits_preview = self._is_fitting = False
        self._is_checking_gpus = False
        self._preparation = Preparation()
        self._run_state = RunState.IDLE
        self._run_status: RunStatus | None = None
        self._stopped_now = False
        self._timer = QTimer(self, singleShot=True, interval=PREPARE_DELAY_MS)
        self._timer.timeout.connect(self.prepare_now)
        self._is_closed = False

    @property
    def profile(self) -> Profile:
        """The profile as edited."""
        return self._profile

    @property
    def saved_profile(self) -> Profile:
        """The profile without the changes that no file holds."""
        return self._saved

    @property
    def path(self) -> Path | None:
        """The file that it was read from or saved to last; ``None`` for a new one."""
        return self._path

    @property
    def is_dirty(self) -> bool:
        """Whether there are changes that no file holds."""
        return self._profile != self._saved

    @property
    def inventory(self) -> DeviceInventory | None:
        """The devices of this machine, or of the profile's cluster; ``None`` until they are known.

        See :attr:`no_devices`.
        """
        return self._facts.inventory

    @property
    def no_devices(self) -> tuple[Problem, ...]:
        """Why there are no devices: the cluster cannot be asked; empty: they come in a moment."""
        return self._facts.no_devices

    @property
    def sample(self) -> TelemetrySample | None:
        """What the devices reported last, while no run went on; ``None`` before they did."""
        return self._facts.sample

    @property
    def preparation(self) -> Preparation:
        """What would happen, a moment after the last change."""
        return self._preparation

    @property
    def trained_count(self) -> int | None:
        """How many examples an epoch has; ``None`` until the data was read."""
        preview = self._facts.preview_of(self._profile)
        return None if preview is None else preview.trained_count

    @property
    def run_state(self) -> RunState:
        """The state of the run."""
        return self._run_state

    @property
    def run_status(self) -> RunStatus | None:
        """The sum of the events of the run that goes on, or went on last in this window."""
        return self._run_status

    @property
    def buttons(self) -> ButtonStates:
        """Which buttons can be pressed now."""
        status = self._run_status
        return button_states(
            self._run_state,
            self._preparation,
            evaluates=status is not None and status.evaluates,
            is_program=status is not None and bool(status.program),
            stopped_now=self._stopped_now,
            checking=self.is_checking_gpus,
            reading=self.is_reading_data,
        )

    @property
    def is_reading_data(self) -> bool:
        """Whether the data that is chosen is being read, or settings looked for that fit it.

        What is wrong with it is not known then, or the settings are not those to start with: a run
        waits with its start.
        """
        if self._profile.script is not None:
            return False  # it has no data
        unread = self._awaits_preview and self._facts.preview_of(self._profile) is None
        return unread or self._is_fitting

    @property
    def is_checking_gpus(self) -> bool:
        """Whether all that is not known of a start is whether TensorFlow can use its GPUs."""
        plan = self._preparation.plan
        return (
            self._is_checking_gpus
            and not self._facts.address
            and self._preparation.is_startable
            and plan is not None
            and any(device.kind is DeviceKind.GPU for device in plan.devices)
        )

    @property
    def state_text(self) -> str:
        """The state in words."""
        if self._awaits_devices:
            return self._awaiting
        if self._run_state is RunState.IDLE and self.is_checking_gpus:
            return "Checking whether TensorFlow can use the GPUs…"
        if self._is_only_reading:
            return "Reading the data…"
        return state_text(self._run_state, self._run_status, self._preparation)

    @property
    def state_tone(self) -> Tone:
        """How these words are meant."""
        if self._awaits_devices:
            return Tone.MUTED
        if self._run_state is RunState.IDLE and self.is_checking_gpus:
            return Tone.MUTED
        if self._is_only_reading:
            return Tone.MUTED
        return state_tone(self._run_state, self._run_status, self._preparation)

    @property
    def state_is_of_run(self) -> bool:
        """Whether these words are about a run, and not about what is being edited."""
        if self._run_state in (RunState.IDLE, RunState.LAUNCHING) or self._is_only_reading:
            return False
        is_over = self._run_state is RunState.ENDED
        return not (is_over and any(each.is_error for each in self._preparation.problems))

    @property
    def _is_only_reading(self) -> bool:
        """Whether nothing but that keeps a run from starting."""
        is_idle = self._run_state in (RunState.IDLE, RunState.ENDED)
        return is_idle and self.is_reading_data and self._preparation.is_startable

    @property
    def _awaits_devices(self) -> bool:
        is_idle = self._run_state is RunState.IDLE
        return self._facts.inventory is None and is_idle and not self._facts.no_devices

    def open_profile(
        self, profile: Profile, path: Path | None, *, saved: Profile | None = None
    ) -> None:
        """Go on with another profile.

        Args:
            profile: As it is edited from now on.
            path: Of its file; ``None``: it has none yet.
            saved: As that file holds it; ``None``: just so.
        """
        self._path = path
        self._saved = profile if saved is None else saved
        self._profile = profile
        self.history.clear()
        self.opened.emit()
        self._set_profile(profile)
        self.documentChanged.emit()

    def mark_saved(self, path: Path) -> None:
        """Remember that the file at ``path`` holds the profile as it is now."""
        self._path = path
        self._saved = self._profile
        self.documentChanged.emit()

    def edit(self, profile: Profile) -> None:
        """Take over a change that a person made."""
        if profile != self._profile:
            self.history.note(self._profile, profile)
            self._set_profile(profile)
            self.documentChanged.emit()

    @Slot()
    def undo(self) -> None:
        """Take the last change back, if there is one."""
        self._go_to(self.history.undo(self._profile))

    @Slot()
    def redo(self) -> None:
        """Make the change again that was taken back last."""
        self._go_to(self.history.redo(self._profile))

    def apply_fix(self, fix: Fix) -> None:
        """Change the profile as a problem's fix says.

        Raises:
            ProblemError: The fix does not lead to a profile.
        """
        self.edit(apply_fix(self._profile, fix))

    def set_input_errors(self, errors: Mapping[str, str]) -> None:
        """Take over what was typed and is no value: nothing starts until it is corrected.

        Args:
            errors: Why it is none, as a sentence, by the profile key.
        """
        if dict(errors) != self._facts.input_errors:
            self._facts.input_errors = dict(errors)
            self._prepare_soon()

    def set_inventory(self, inventory: DeviceInventory, address: str = "") -> None:
        """Take over which devices there are.

        Args:
            inventory: The devices.
            address: Of the cluster whose they are; empty: they are this machine's.
        """
        if address != self._facts.address:
            self._facts.sample = None
        self._facts.inventory, self._facts.address, self._facts.no_devices = inventory, address, ()
        self._facts.of_nodes = self._facts.of_nodes if address else ()
        self.inventoryChanged.emit(inventory)
        self._prepare_soon()

    def set_node_problems(self, problems: tuple[Problem, ...]) -> None:
        """Take over what is said of the nodes of the profile's cluster besides its plan."""
        if problems != self._facts.of_nodes:
            self._facts.of_nodes = problems
            self._prepare_soon()

    def set_folder_problem(self, problem: Problem | None) -> None:
        """Take over why no run can be kept in the folder of runs; ``None``: nothing is known."""
        of_folder = () if problem is None else (problem,)
        if of_folder != self._facts.of_folder:
            self._facts.of_folder = of_folder
            self._prepare_soon()

    def set_machine(self, settings: MachineSettings, problems: tuple[Problem, ...] = ()) -> None:
        """Take over what a person set for this machine, or why that cannot be read."""
        if (settings, problems) != (self._facts.machine, self._facts.of_machine):
            self._facts.machine, self._facts.of_machine = settings, problems
            self._prepare_soon()

    def set_import_problem(self, problem: Problem | None) -> None:
        """Take over what keeps TensorFlow from being imported here; ``None``: nothing is known."""
        of_import = () if problem is None else (problem,)
        if of_import != self._facts.of_import:
            self._facts.of_import = of_import
            self._prepare_soon()

    def lack_devices(self, awaiting: str, problems: tuple[Problem, ...] = ()) -> None:
        """Know of no devices for now: the profile's cluster was not asked yet, or cannot be.

        Args:
            awaiting: What is waited for, in words.
            problems: Why they do not come.
        """
        self._facts.inventory, self._facts.sample = None, None
        self._awaiting, self._facts.no_devices = awaiting, problems
        self.prepare_now()
        self.checkingChanged.emit()

    def set_sample(self, sample: TelemetrySample) -> None:
        """Take over which devices answer, how much memory is free, and who uses the rest.

        While a run goes on its own use would look like a lack of memory to the next one, so the
        sample from before it stays in force.
        """
        if self._run_state.is_busy or is_used_alike(self._facts.sample, sample):
            return
        self._facts.sample = sample
        if not self._timer.isActive():
            self._prepare_soon()

    def await_preview(self) -> None:
        """Know that the data of the profile is being read, or will be in a moment."""
        self._awaits_preview = True
        self.checkingChanged.emit()

    def set_fitting(self, fitting: bool) -> None:
        """Know whether settings are looked for that fit the data that was read."""
        if fitting != self._is_fitting:
            self._is_fitting = fitting
            self.checkingChanged.emit()

    def set_preview(self, request: PreviewRequest, preview: DataPreview) -> None:
        """Take over what a preview found."""
        self._facts.previewed = (request, preview)
        self._awaits_preview = False
        self.checkingChanged.emit()
        self._prepare_soon()
        if self._facts.preview_of(self._profile) is not None:
            self.dataRead.emit(preview)

    def set_built(
        self,
        request: SummaryRequest,
        summary: ModelSummary,
        speeds: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        """Take over what is known of a model that was built, such as what a step of it holds.

        Args:
            request: Which model.
            summary: What is known.
            speeds: Of devices alone with it, as far as they were measured.
        """
        self._facts.built, self._facts.speeds = (request, summary), speeds
        self._prepare_soon()

    def ladder(self) -> Callable[[], Ladder] | None:
        """Finds the ways in which the training fits these devices; ``None``: too little is known.

        It may be called in any thread.
        """
        return self._facts.ladder(self._profile)

    def set_gpu_support(self, support: GpuSupport) -> None:
        """Take over which GPUs TensorFlow can use."""
        if support != self._facts.gpu_support:
            self._facts.gpu_support = support
            self._prepare_soon()

    def set_self_test(self, known: SelfTest | None) -> None:
        """Take over what is remembered of tests of this machine; ``None``: nothing is."""
        if known != self._facts.self_test:
            self._facts.self_test = known
            self._prepare_soon()

    def set_checking_gpus(self, checking: bool) -> None:
        """Take over whether TensorFlow is being asked about the GPUs."""
        if checking != self._is_checking_gpus:
            self._is_checking_gpus = checking
            self.checkingChanged.emit()

    def set_run(
        self, state: RunState, status: RunStatus | None, *, stopped_now: bool = False
    ) -> None:
        """Take over where the run stands.

        Args:
            state: Of the run of this window.
            status: The sum of its events.
            stopped_now: Stop was clicked a moment ago.
        """
        before = (self._run_state, self._run_status, self._stopped_now)
        if (state, status, stopped_now) != before:
            self._run_state, self._run_status, self._stopped_now = state, status, stopped_now
            self.runChanged.emit()

    def prepare_now(self) -> Preparation:
        """What would happen, without waiting for the moment after the last change."""
        self._timer.stop()
        preparation = self._facts.prepare(self._profile)
        if preparation != self._preparation:
            self._preparation = preparation
            self.preparationChanged.emit(preparation)
        return self._preparation

    def prepare_other(self, profile: Profile) -> Preparation:
        """What would happen with another profile on these devices; nothing where they are unknown.

        Of a profile of other machines nothing is known but that.
        """
        return self._facts.prepare_other(profile)

    def close(self) -> None:
        """Prepare nothing any more, whatever is still found."""
        self._is_closed = True
        self._timer.stop()

    def _prepare_soon(self) -> None:
        if not self._is_closed:
            self._timer.start()

    def _go_to(self, profile: Profile | None) -> None:
        if profile is not None:
            self._set_profile(profile)
            self.documentChanged.emit()

    def _set_profile(self, profile: Profile) -> None:
        self._profile = profile
        self.profileChanged.emit(profile)
        if self._facts.inventory is not None:
            self._prepare_soon()
