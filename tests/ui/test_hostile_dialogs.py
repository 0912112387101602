"""Each dialog full of a stranger's names: none of them becomes rich text there either."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QLabel,
    QMainWindow,
    QMenuBar,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gpupanel import ui
from gpupanel.devices.device_history import DeviceHistory
from gpupanel.devices.doctor.report import DoctorReport
from gpupanel.domain.batch_fit import BatchFit
from gpupanel.domain.bench import Bench
from gpupanel.domain.choice import Choice
from gpupanel.domain.device import DeviceInventory, DeviceKind, PhysicalDevice
from gpupanel.domain.kind import Kind
from gpupanel.domain.layered_models import MlpModel
from gpupanel.domain.model_export import ModelExport
from gpupanel.domain.model_summary import ModelSummary
from gpupanel.domain.power import LimitedGpu
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.rate_range import RateRange
from gpupanel.domain.read_speed import ReadSpeed
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.scan import DataScan
from gpupanel.domain.self_test import SelfTest
from gpupanel.domain.shown_examples import ExampleChoice, ShownExample, ShownExamples
from gpupanel.domain.sweep import SweepSettings
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.domain.trace import TraceRecord
from gpupanel.hosts.here.file_copy import CopySize
from gpupanel.hosts.operations.machine import FolderEntry, FolderListing, PlaceFound
from gpupanel.planning.model_gallery import ModelEntry
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.sweeps.proposing import SweepProposal
from gpupanel.runs.sweeps.sweep_status import SweepStatus
from gpupanel.runs.tools.export.export_format import ModelExportFormat
from gpupanel.runs.tools.tracing.tracing import RunTraces, Trace
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.runs.user_sweeps import SweepsRead
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.dialogs.about_dialog import AboutDialog
from gpupanel.ui.dialogs.device_history_dialog import DeviceHistoryDialog
from gpupanel.ui.dialogs.doctor_dialog import DoctorDialog
from gpupanel.ui.dialogs.finder_dialog import FinderDialog, FinderEntry
from gpupanel.ui.dialogs.guide_dialog import GuideDialog
from gpupanel.ui.dialogs.label_dialog import LabelDialog
from gpupanel.ui.dialogs.model_gallery_dialog import ModelGalleryDialog
from gpupanel.ui.dialogs.new_sweep_dialog import NewSweepDialog
from gpupanel.ui.dialogs.power_dialog import PowerDialog
from gpupanel.ui.dialogs.problem_dialog import ProblemDialog
from gpupanel.ui.dialogs.settings_dialog import SettingsDialog
from gpupanel.ui.dialogs.shortcuts_dialog import ShortcutsDialog
from gpupanel.ui.dialogs.sweeps_dialog import SweepsDialog
from gpupanel.ui.dialogs.trust_dialog import TrustDialog
from gpupanel.ui.host import copy_dialog
from gpupanel.ui.host.connect_dialog import ConnectDialog
from gpupanel.ui.host.copy_dialog import CopyDialog
from gpupanel.ui.host.files_dialog import HostFilesDialog
from gpupanel.ui.panels.runs_panel.column_chooser import ColumnChooser
from gpupanel.ui.panels.runs_panel.columns import COLUMNS
from gpupanel.ui.panels.runs_panel.scatter_dialog import ScatterDialog
from gpupanel.ui.panels.runs_panel.setting_columns import ColumnOffer
from gpupanel.ui.tools.batch_search.dialog import BatchFitDialog
from gpupanel.ui.tools.bench.dialog import BenchDialog
from gpupanel.ui.tools.examples.dialog import ExamplesDialog
from gpupanel.ui.tools.export.model_dialog import ModelExportDialog
from gpupanel.ui.tools.self_test.dialog import SelfTestDialog
from gpupanel.ui.tools.session_tools.layers.dialog import LayersDialog
from gpupanel.ui.tools.session_tools.rate_range.dialog import RateRangeDialog
from gpupanel.ui.tools.session_tools.read_speed import ReadSpeedDialog
from gpupanel.ui.tools.session_tools.scan.dialog import ScanDialog
from gpupanel.ui.tools.trace.dialog import TraceDialog
from gpupanel.ui.widgets.table_model import Column
from gpupanel.ui.window_settings import WindowSettings
from gpupanel.ui.workers import host_folders
from tests.fakes.devices import TWO_UNEQUAL
from tests.ui.filled_values import filled
from tests.ui.said_texts import TAG, unsafe_texts

NAME = f"{TAG}\x1b[31m\u202e"
PROBLEM = filled(Problem, NAME, field="", fixes=())
GPU = TWO_UNEQUAL.gpus[0].model_copy(update={"name": NAME})
INVENTORY = DeviceInventory(driver=NAME, devices=(GPU, TWO_UNEQUAL.devices[-1]))
RUN = filled(RunSummary, NAME, is_running=False, tags=(NAME,))
SWEEP = SweepSettings(values={f"training.{NAME}": (NAME,), "model.hidden": ((64,),)})
EXAMPLES = ExampleChoice(which="mistakes")


def labelled(dialog: QDialog) -> QDialog:
    dialog.setLabels(DeviceLabels(INVENTORY))
    return dialog


def shown(dialog: QDialog, setter: str, *values: object) -> QDialog:
    getattr(dialog, setter)(*values)
    return dialog


def examples() -> ExamplesDialog:
    dialog = ExamplesDialog()
    dialog.setReading(NAME, EXAMPLES)
    example = filled(ShownExample, NAME, image=None)
    dialog.setExamples(EXAMPLES, filled(ShownExamples, NAME, examples=(example,)))
    return dialog


def exported() -> ModelExportDialog:
    dialog = ModelExportDialog()
    dialog.begin(NAME, next(iter(ModelExportFormat)), Path("/", NAME))
    dialog.setAnswer(filled(ModelExport, NAME, problems=(PROBLEM,)))
    return dialog


def device_history() -> DeviceHistoryDialog:
    history = DeviceHistory()
    for time_s in (100.0, 200.0):
        reading = DeviceReading(key=GPU.key, gpu_utilization_percent=9.0)
        history.add(TelemetrySample(time_s=time_s, readings=(reading,)))
    dialog = DeviceHistoryDialog(history)
    dialog.show_devices(INVENTORY)
    return dialog


def _host() -> SimpleNamespace:
    """A host of that name, of which nothing is heard."""

    def refuse(*_: object) -> None:
        raise ProblemError(PROBLEM)

    return SimpleNamespace(host=NAME, files=SimpleNamespace(folder=refuse, place=refuse))


def host_files() -> HostFilesDialog:
    with patch.object(host_folders, "other_machine", _host):
        dialog = HostFilesDialog(None, NAME, "/", QFileDialog.FileMode.ExistingFile)
    dialog._folders.stop()
    entries = (FolderEntry(name=NAME, is_folder=True), FolderEntry(name=NAME, is_folder=False))
    dialog._show(FolderListing(path=f"/{NAME}", entries=entries))
    dialog._show_refusal((PROBLEM,))
    return dialog


def copying() -> CopyDialog:
    with patch.object(copy_dialog, "other_machine", _host):
        dialog = CopyDialog((f"/{NAME.replace('/', '-')}",), None)
    for each in (dialog._measuring, dialog._placing, dialog._copying):
        each.stop()
    dialog._look_soon.stop()
    dialog._on_measured(CopySize(1, 1))
    dialog._on_placed(PlaceFound(path=f"/{NAME}", taken=(NAME, NAME)))
    dialog._show_problems((PROBLEM,))
    return dialog


def guide() -> GuideDialog:
    dialog = GuideDialog(None)
    dialog._search.setText(NAME)
    dialog._begin_search()
    return dialog


def new_sweep() -> NewSweepDialog:
    dialog = NewSweepDialog()
    dialog.setProfile(Profile(name=NAME))
    dialog.setSweep(SWEEP)
    dialog.setProposal(filled(SweepProposal, NAME), NAME, (PROBLEM,))
    return dialog


def sweeps() -> SweepsDialog:
    dialog = SweepsDialog()
    dialog.setSweeps(SweepsRead((NAME,), filled(SweepStatus, NAME)))
    return dialog


def traced() -> TraceDialog:
    dialog, layout = TraceDialog(has_page=True), RunLayout(Path("/", NAME))
    dialog.setRun(layout, NAME)
    record = filled(TraceRecord, NAME)
    trace = filled(Trace, NAME, layout=layout, plan=None, problems=(PROBLEM,))
    dialog.setAnswer(RunTraces(layout, {1: record}, {1: NAME, 2: NAME}, trace))
    return dialog


def scatter() -> ScatterDialog:
    dialog = ScatterDialog()
    other = RUN.model_copy(update={"name": "other"})
    strange = Column(NAME, NAME, lambda run: NAME + run.name, lambda run: NAME + run.name)
    dialog.setRuns((RUN, other), {RUN.name: QColor("red")}, (strange, *COLUMNS), COLUMNS)
    return dialog


def finder() -> FinderDialog:
    found = FinderEntry(NAME, NAME, NAME, NAME, NAME, is_possible=True, go=list)
    window = QMainWindow()
    dialog = FinderDialog([found], window)
    dialog.setParent(None, dialog.windowFlags())  # the window is gone with this call
    return dialog


def model_gallery() -> ModelGalleryDialog:
    kind = Kind(Choice(NAME, NAME, NAME), MlpModel)
    window = QMainWindow()
    dialog = ModelGalleryDialog([ModelEntry(kind, NAME, NAME)], NAME, window)
    dialog.setParent(None, dialog.windowFlags())  # the window is gone with this call
    return dialog


def shortcuts() -> ShortcutsDialog:
    menus, window = QMenuBar(), QMainWindow()
    menus.addMenu("File").addAction(NAME).setShortcut("Ctrl+K")
    dialog = ShortcutsDialog(menus, window)
    dialog.setParent(None, dialog.windowFlags())  # the window is gone with this call
    return dialog


MADE: dict[str, Callable[[], QDialog]] = {
    "ConnectDialog": lambda: ConnectDialog((NAME,), None),
    "HostFilesDialog": host_files,
    "CopyDialog": copying,
    "AboutDialog": lambda: AboutDialog(INVENTORY, None),
    "BatchFitDialog": lambda: shown(
        labelled(BatchFitDialog()), "setAnswer", filled(BatchFit, NAME, problems=(PROBLEM,))
    ),
    "BenchDialog": lambda: shown(
        labelled(BenchDialog()), "setAnswer", filled(Bench, NAME, problems=(PROBLEM,))
    ),
    "ColumnChooser": lambda: shown(
        ColumnChooser(), "setOffers", *([ColumnOffer(NAME, NAME, NAME, NAME)],) * 2
    ),
    "DeviceHistoryDialog": device_history,
    "DoctorDialog": lambda: shown(
        DoctorDialog(), "setReport", filled(DoctorReport, NAME, problems=(PROBLEM,))
    ),
    "ExamplesDialog": examples,
    "FinderDialog": finder,
    "GuideDialog": guide,
    "LabelDialog": lambda: LabelDialog(RUN, None, at_notes=True),
    "LayersDialog": lambda: shown(
        LayersDialog(), "setAnswer", filled(ModelSummary, NAME, problems=(PROBLEM,))
    ),
    "ModelExportDialog": exported,
    "ModelGalleryDialog": model_gallery,
    "NewSweepDialog": new_sweep,
    "PowerDialog": lambda: shown(
        PowerDialog(
            PhysicalDevice(key="GPU-a", kind=DeviceKind.GPU, name=NAME),
            LimitedGpu("GPU-a", NAME, 450.0),
        ),
        "setRefused",
        (PROBLEM,),
    ),
    "ProblemDialog": lambda: ProblemDialog(NAME, (PROBLEM,), None),
    "RateRangeDialog": lambda: shown(
        RateRangeDialog(), "setAnswer", RateRange(problems=(PROBLEM,))
    ),
    "ReadSpeedDialog": lambda: shown(
        ReadSpeedDialog(), "setAnswer", ReadSpeed(problems=(PROBLEM,))
    ),
    "ScanDialog": lambda: shown(
        ScanDialog(), "setAnswer", filled(DataScan, NAME, problems=(PROBLEM,))
    ),
    "ScatterDialog": scatter,
    "SelfTestDialog": lambda: shown(
        labelled(SelfTestDialog()), "setAnswer", filled(SelfTest, NAME, problems=(PROBLEM,))
    ),
    "SettingsDialog": lambda: SettingsDialog(
        WindowSettings(runs_dir=f"/{NAME}"), Path("/", NAME), None
    ),
    "ShortcutsDialog": shortcuts,
    "SweepsDialog": sweeps,
    "TraceDialog": traced,
    "TrustDialog": lambda: TrustDialog([UserCode(NAME, Path("/", NAME), NAME.encode())]),
}
WITHOUT_NAMES = frozenset({"GuideDialog"})
"""What they say is gpupanel's own, whatever is looked for."""


_MOST_COLUMNS = 8


def all_dialogs() -> set[type[QDialog]]:
    """Every kind of dialog of the window that is a whole one."""
    for module in pkgutil.walk_packages(ui.__path__, f"{ui.__name__}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found = {kind for kind in below(QDialog) if kind.__module__.startswith(ui.__name__)}
    return {kind for kind in found if not found & {*below(kind)}}


def below(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from below(each)


def test_that_every_dialog_is_walked_here() -> None:
    assert {kind.__name__ for kind in all_dialogs()} == set(MADE)


@pytest.mark.parametrize("name", MADE)
def test_that_no_name_of_a_stranger_is_rich_text_in_a_dialog(qtbot: QtBot, name: str) -> None:
    dialog = MADE[name]()
    qtbot.addWidget(dialog)
    with qtbot.waitExposed(dialog):
        dialog.show()
    assert type(dialog).__name__ == name
    assert unsafe_texts(dialog) == []
    if name not in WITHOUT_NAMES:
        assert shows_the_name(dialog), "the names are not shown at all"
    dialog.close()


def shows_the_name(dialog: QDialog) -> bool:
    return any(TAG in text for text in plain_texts(dialog))


def plain_texts(window: QWidget) -> Iterator[str]:
    for widget in (window, *window.findChildren(QWidget)):
        for part in ("text", "toPlainText", "title", "currentText", "windowTitle"):
            if callable(say := getattr(widget, part, None)):
                yield str(say()).replace("\u200b", "")
        if callable(model := getattr(widget, "model", None)) and (held := model()) is not None:
            for row in range(held.rowCount()):
                for column in range(_MOST_COLUMNS):
                    yield str(held.index(row, column).data() or "")
        yield widget.toolTip().replace("&lt;", "<").replace("&gt;", ">")


def test_that_a_dialog_that_takes_a_name_for_rich_text_would_be_found(qtbot: QtBot) -> None:
    dialog = QDialog()
    qtbot.addWidget(dialog)
    label = QLabel(dialog)
    label.setToolTip(NAME)
    QVBoxLayout(dialog).addWidget(label)
    assert len(unsafe_texts(dialog)) == 1
