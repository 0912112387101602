"""What will happen when Start is pressed."""

import time

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.fine_tuning import FineTuning
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Severity
from gpupanel.domain.strategy import StrategyKind
from gpupanel.domain.task import Task
from gpupanel.planning.prepare import Preparation
from gpupanel.planning.tensorflow_calls import tensorflow_calls
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.history.past_speed import PastSpeed
from gpupanel.runs.machine_settings import WorkHours
from gpupanel.ui import measured_shares, theme
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.panels.plan_panel import plan_text
from gpupanel.ui.panels.plan_panel.calls_box import CallsBox
from gpupanel.ui.panels.plan_panel.memory_estimate_view import MemoryEstimateView
from gpupanel.ui.panels.plan_panel.other_processes_list import OtherProcessesList
from gpupanel.ui.panels.plan_panel.plan_tables import MemoryList, ProcessTable
from gpupanel.ui.panels.plan_panel.share_part import SharePart
from gpupanel.ui.panels.plan_panel.stage_part import StagePart
from gpupanel.ui.widgets.device_report_box import DeviceReportBox
from gpupanel.ui.widgets.labels import Caption, Note, breakable
from gpupanel.ui.widgets.layouts import column_in, leave_focus
from gpupanel.ui.widgets.problem_list import ProblemList
from gpupanel.ui.widgets.replica_table import ReplicaTable
from gpupanel.ui.widgets.severity_icon import SeverityIcon
from gpupanel.ui.widgets.tips import wrapped

_STALE = "Below: the last valid plan."
_TEST_TIP = (
    "Before a long run: sums known numbers over the devices in every way, copies between them, "
    "writes patterns to free memory, and compares a training step with the CPU's. It takes a "
    "minute at most, once for this driver, these devices and this TensorFlow."
)


class PlanPanel(SettingsCard):
    """Shows a :class:`Preparation`: shares, memory, problems, replicas, calls.

    While there is no plan the last one stays, greyed and said to be the last one, so that
    nothing jumps while a person types.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("What will happen", parent)
        self.setObjectName("plan_panel")
        self._preparation = Preparation()
        self._device_labels = DeviceLabels()
        self._icon = SeverityIcon(None)
        self._summary = QLabel()
        self._epochs = Note("")
        self._preview: DataPreview | None = None
        self._epoch_count = 0
        self._fine_tuning: FineTuning | None = None
        self._runs_folder = ""
        self._past_speed: PastSpeed | None = None
        self._plan_part = QWidget()
        self._replica_part = QWidget()
        self._task: Task = "train"
        self._is_checking = False
        self._is_reading = False
        self._status: RunStatus | None = None
        self.shares = SharePart()
        """The shares of each batch; a person moves their borders."""
        self.stages = StagePart()
        """The layers on each device; a person moves their borders."""
        self._processes = ProcessTable()
        self._process_caption = Caption("Processes")
        self._stale = Note(_STALE)
        self._memory = MemoryList()
        self.estimate = MemoryEstimateView()
        """What is known of the memory that a training takes."""
        self._others = OtherProcessesList()
        self._problem_part = QWidget()
        self._are_problems_first = False
        self.test_machine = QPushButton("Test this machine…")
        self.test_machine.setObjectName("test_machine")
        self.test_machine.setToolTip(wrapped(_TEST_TIP))
        self._problem_caption = Caption("Problems")
        self.problems = ProblemList()
        """Each leads to its setting, its fixes and the doctor."""
        self.problems.setObjectName("problem_list")
        self._replica_caption = Caption("Replicas")
        self._replicas = ReplicaTable()
        self._calls = CallsBox()
        self._answers = DeviceReportBox(wide=False)
        self._lay_out()
        theme.changes.changed.connect(self._show_plan)
        self._show_answers()
        self.setPreparation(self._preparation)

    def preparation(self) -> Preparation:
        """What is shown."""
        return self._preparation

    def setData(self, preview: DataPreview | None) -> None:
        """What is known of the data; ``None``: nothing yet."""
        self._preview = preview
        self.estimate.setExampleCount(None if preview is None else preview.trained_count)
        self._show_epochs()

    def setEpochs(self, count: int) -> None:
        """For how many epochs it is trained on; 0: not at all."""
        self._epoch_count = count
        self._show_epochs()

    def setFineTuning(self, fine_tuning: FineTuning | None) -> None:
        """Which layers begin to learn in a later epoch; ``None``: none do."""
        self._fine_tuning = fine_tuning
        self._show_epochs()

    def setRunsFolder(self, folder: str) -> None:
        """Where a run gets a folder of its own, with its model in it."""
        self._runs_folder = folder
        self._show_epochs()

    def setPastSpeed(self, speed: PastSpeed | None) -> None:
        """How fast the same training was before; ``None``: nobody knows."""
        if speed != self._past_speed:
            self._past_speed = speed
            self._show_epochs()

    def setTask(self, task: Task) -> None:
        """What the run is to do, which the summary says."""
        self._task = task
        self._show_sentence()
        self.estimate.setVisible(task == "train")
        self._show_test()
        self._show_plan()

    def _show_test(self) -> None:
        plan = self._preparation.plan
        is_here = plan is None or not plan.is_on_nodes
        self.test_machine.setVisible(self._task == "train" and is_here)

    def setInventory(self, inventory: DeviceInventory) -> None:
        """The devices of this machine, for their colours, names and memory."""
        self._device_labels = DeviceLabels(inventory)
        self._show_answers()
        self.setPreparation(self._preparation)

    def setPreparation(self, preparation: Preparation) -> None:
        """Shows what would happen now."""
        self._preparation = preparation
        self._show_severity()
        self._show_epochs()
        self._icon.setVisible(preparation != Preparation())
        self._show_sentence()
        self.problems.setProblems(preparation.problems)
        if not preparation.problems:
            leave_focus(self._problem_part)
        self._problem_part.setVisible(bool(preparation.problems))
        self._place_problems()
        self._others.setOtherProcesses(preparation.other_processes, self._device_labels)
        self.estimate.setPreparation(preparation, self._device_labels)
        self.stages.setPreparation(preparation, self._device_labels)
        self._show_test()
        self._show_plan()

    def _place_problems(self) -> None:
        """What keeps a run from starting comes first; the rest moves no share from the mouse."""
        is_first = bool(self._preparation.problems) and not self._preparation.is_startable
        if is_first == self._are_problems_first:
            return
        self._are_problems_first = is_first
        # Within one column: what has the focus in there keeps it.
        self.body.removeWidget(self._problem_part)
        before = self._plan_part if is_first else self._replica_part
        self.body.insertWidget(self.body.indexOf(before), self._problem_part)

    def setChecking(self, checking: bool) -> None:
        """Whether it is not known yet that TensorFlow can use the GPUs."""
        if checking != self._is_checking:
            self._is_checking = checking
            self._show_severity()
            self._show_sentence()

    def setReading(self, reading: bool) -> None:
        """Whether the data is being read, so that nothing is known of it yet."""
        if reading != self._is_reading:
            self._is_reading = reading
            self._show_severity()
            self._show_sentence()

    def setRunStatus(self, status: RunStatus | None) -> None:
        """The run that goes on or went on last: the shares it measured, what it was answered."""
        self._others.setGoing(is_going=status is not None and not status.has_ended)
        known = None if self._status is None else (self._status.shares, self._status.speeds)
        self._status = status
        self._show_answers()
        if known != (None if status is None else (status.shares, status.speeds)):
            self._show_plan()

    def _show_severity(self) -> None:
        well = Severity.HINT if self._is_checking or self._is_reading else None
        self._icon.setSeverity(well if self._preparation.is_startable else Severity.ERROR)

    def _show_epochs(self) -> None:
        text = plan_text.epochs(
            self._preview,
            self._preparation.plan,
            self._epoch_count,
            self._runs_folder,
            self._past_speed,
        )
        more = "" if self._fine_tuning is None else self._fine_tuning.sentence
        work = WorkHours.of(*self._preparation.hours)
        hours = plan_text.hours(work, self._task, time.time(), self._takes_s())
        text = " ".join(filter(None, (text, more, hours)))
        self._epochs.setText(breakable(text))
        self._epochs.setVisible(bool(text))

    def _takes_s(self) -> float | None:
        """How long the training takes, by what the same one took before."""
        if self._past_speed is None or self._preview is None:
            return None
        return self._past_speed.seconds(self._preview.trained_count * self._epoch_count)

    def _show_sentence(self) -> None:
        sentence = self._sentence()
        self._summary.setText(sentence)
        self.set_summary(sentence)

    def _sentence(self) -> str:
        plan, problems = self._preparation.plan, self._preparation.problems
        if plan is None and not problems:
            return "The plan appears here once the devices are known."
        return plan_text.summary(
            self._preparation,
            self._names_of(plan) if plan else (),
            self._task,
            checking=self._is_checking,
            reading=self._is_reading,
        )

    def _names_of(self, plan: LaunchPlan) -> tuple[str, ...]:
        places = plan.places or plan.replicas
        used = dict.fromkeys(place.device_key for place in places)
        names = {device.key: device.name for device in plan.devices}
        return tuple(self._device_labels.label(key, names.get(key, "")) for key in used)

    def _show_answers(self) -> None:
        status = self._status
        # A program asks TensorFlow itself, if it uses it at all.
        self._answers.setVisible(status is not None and not status.program)
        if status is not None:
            whose = "The last run" if status.has_ended else "The current run"
            self._answers.setStatus(status, self._device_labels, whose)

    def _show_plan(self) -> None:
        plan = self._preparation.plan
        to_show = plan is not None or self._replicas.has_plan()
        for part in (self._plan_part, self._replica_part):
            part.setVisible(to_show)
            part.setEnabled(plan is not None)
        self._stale.setVisible(plan is None and to_show)
        if plan is None:
            return
        is_program = self._task == "script"
        self.shares.setHidden(is_program)
        self.shares.setPlan(plan, self._device_labels, self._status)
        is_gang = len(plan.gang) > 1
        self._process_caption.setVisible(is_gang)
        self._processes.setVisible(is_gang)
        self._processes.setPlan(plan, self._device_labels)
        self._memory.setPlan(plan, self._device_labels)
        # The workers of a parameter-server run stand among its processes already.
        has_replicas = plan.strategy is not StrategyKind.PARAMETER_SERVER
        self._replica_caption.setVisible(has_replicas)
        self._replicas.setVisible(has_replicas)
        caption = "Devices as the program sees them" if is_program else "Replicas"
        self._replica_caption.setText("Devices for layers" if plan.places else caption)
        measured = measured_shares.as_measured(plan, self._status)
        self._replicas.setPlan(measured, self._device_labels, of_program=is_program)
        calls = tensorflow_calls(plan.without_idle_replicas(), of_program=is_program)
        self._calls.setText(calls)

    def _lay_out(self) -> None:
        self._summary.setWordWrap(True)
        self._summary.setProperty("role", "title")
        self._summary.setObjectName("plan_summary")
        self._summary.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        head.addWidget(self._summary, 1)
        above = column_in(self._plan_part)
        above.addWidget(self.shares)
        above.addWidget(self.stages)
        above.addSpacing(8)
        above.addWidget(self._process_caption)
        above.addWidget(self._processes)
        above.addSpacing(8)
        above.addWidget(Caption("Memory"))
        above.addWidget(self._memory)
        above.addWidget(self.estimate)
        test = QHBoxLayout()
        test.addWidget(self.test_machine)
        test.addStretch(1)
        above.addLayout(test)
        below = column_in(self._replica_part)
        below.addWidget(self._replica_caption)
        below.addWidget(self._replicas)
        below.addSpacing(8)
        below.addWidget(self._calls)
        self._epochs.setObjectName("plan_epochs")
        self.body.addLayout(head)
        self.body.addWidget(self._epochs)
        self.body.addWidget(self._stale)
        problems = column_in(self._problem_part)
        problems.addWidget(self._problem_caption)
        problems.addWidget(self.problems)
        for part in (self._plan_part, self._others, self._problem_part, self._replica_part):
            part.setContentsMargins(0, 4, 0, 0)
            self.body.addWidget(part)
        # Not part of the plan, which may be one that cannot be made.
        self.body.addWidget(self._answers)
        self.body.addStretch(1)
