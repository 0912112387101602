"""What can be done with a run that is shown, in a row that wraps."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal, SignalInstance, Slot
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from gpupanel.domain.best_epoch import Keep
from gpupanel.ui.run_actions import RunActions
from gpupanel.ui.run_links import RunLinks, link_text
from gpupanel.ui.widgets.export_menu import ExportMenu
from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.menu_names import add_name
from gpupanel.ui.widgets.tips import wrapped

_ACCEPT_TIP = (
    "Continues from the last checkpoint with the data as it is now. What the model learned from "
    "the previous data is kept; the run's events record the change."
)

_LONGER_TIP = (
    "Continues from the last checkpoint with more epochs, in the same folder. A learning rate that "
    "follows a schedule has the curve of the longer training from there on."
)
_PREDICT_TIP = (
    "Fills in the Session tab to predict with this run's model; choose the data there. Images, or "
    "a folder of them, can be dropped here instead."
)
_OTHER_TIP = (
    "The run's model has the weights of one epoch; those of the other, the best or the last one, "
    "stand beside it."
)
_BOARD_TIP = (
    "Starts TensorBoard for this run and opens it in the browser. It answers on this machine only, "
    "to whoever is logged in there, and ends with this window."
)


class NextSteps(QWidget):
    """Offers to continue the run, to use its model, and the runs that belong to it."""

    resumeRequested = Signal()
    """The shown run is to go on from its last checkpoint."""
    resumeOnSelectedRequested = Signal()
    """The same, with the devices that are chosen in the session."""
    changedDataAccepted = Signal()
    """It is to go on with its data as it is now, though that is other than before."""
    evaluateRequested = Signal()
    """What the shown run has learned is to be measured."""
    predictRequested = Signal()
    """What the shown run has learned is to be used."""
    evaluateOtherRequested = Signal()
    """The weights that the model of the shown run does not have are to be measured."""
    predictOtherRequested = Signal()
    """They are to be used."""
    longerRequested = Signal()
    """The shown run is to be trained for more epochs."""
    runRequested = Signal(object)
    """Another run is to be shown: its directory, a :class:`Path`."""
    tensorboardRequested = Signal()
    """TensorBoard is to show the run."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("ways_on")
        self._links, self._offers_something = RunLinks(), False
        self._make_actions()
        self._make_links()
        row = FlowLayout(self)
        for button in (
            self._resume,
            self._on_selected,
            self._accept,
            self._evaluate,
            self._predict,
            self._other,
            self._longer,
            self._board,
            self._origin,
            self._others,
        ):
            row.addWidget(button)
        self.setActions(RunActions())
        self.setLinks(RunLinks())

    def setActions(self, actions: RunActions) -> None:
        """Offer what can be done with the run that is shown."""
        self._resume.setVisible(actions.offers_resume)
        self._resume.setEnabled(actions.can_resume)
        self._resume.setToolTip(wrapped(actions.resume_tip))
        self._on_selected.setVisible(actions.offers_resume)
        self._on_selected.setEnabled(actions.can_resume_on_selected)
        self._on_selected.setToolTip(wrapped(actions.on_selected_tip))
        self._accept.setVisible(actions.offers_changed_data)
        self._evaluate.setVisible(actions.offers_evaluate)
        self._predict.setVisible(actions.offers_evaluate)
        self._other.setVisible(bool(actions.other_weights))
        is_last = actions.other_weights == Keep.LAST.value
        self._other.setText("The last weights" if is_last else "The best epoch's weights")
        self._longer.setVisible(actions.offers_longer)
        self._longer.setEnabled(actions.can_train_longer)
        self._board.setVisible(actions.offers_tensorboard)
        self._offers_something = any(
            (
                actions.offers_resume,
                actions.offers_evaluate,
                actions.offers_longer,
                actions.offers_tensorboard,
            )
        )
        self._show()

    def setLinks(self, links: RunLinks) -> None:
        """Offer the runs that belong to the shown one by their model."""
        self._links = links
        self._origin.setVisible(links.origin is not None)
        if links.origin is not None:
            self._origin.setToolTip(wrapped(f"Shows {links.origin.title}, which saved this model"))
        count = len(links.others)
        self._others.setVisible(count > 0)
        self._others.setText(f"Runs of this model ({count:,})")
        self._show()

    def _show(self) -> None:
        has_links = self._links.origin is not None or bool(self._links.others)
        self.setVisible(self._offers_something or has_links)

    def _make_actions(self) -> None:
        make = self._button
        self._resume = make("Res&ume", self.resumeRequested, "resume_button")
        on_selected = self.resumeOnSelectedRequested
        self._on_selected = make(
            "Resume on selected devices", on_selected, "resume_elsewhere_button"
        )
        accepted = self.changedDataAccepted
        self._accept = make("Resume with the changed data", accepted, "accept_data_button")
        self._accept.setToolTip(wrapped(_ACCEPT_TIP))
        self._evaluate = make("Evalu&ate this model", self.evaluateRequested, "evaluate_button")
        self._evaluate.setToolTip(
            "Fills in the Session tab to evaluate this run's model on all devices"
        )
        self._predict = make("Predict with it", self.predictRequested, "predict_button")
        self._predict.setToolTip(wrapped(_PREDICT_TIP))
        self._other = QPushButton(self)
        self._other.setObjectName("other_weights_button")
        self._other.setToolTip(wrapped(_OTHER_TIP))
        menu = QMenu(self)
        for text, wanted in (
            ("Evaluate them", self.evaluateOtherRequested),
            ("Predict with them", self.predictOtherRequested),
        ):
            menu.addAction(text).triggered.connect(wanted)
        self.other_exports = ExportMenu(menu, title="Export them as", only_models=True)
        """As what the weights that the model of the run does not have can be written."""
        menu.addMenu(self.other_exports)
        self._other.setMenu(menu)
        self._longer = make("Train &longer…", self.longerRequested, "train_longer_button")
        self._longer.setToolTip(wrapped(_LONGER_TIP))
        board = self.tensorboardRequested
        self._board = make("Open TensorBoard", board, "tensorboard_button")
        self._board.setToolTip(wrapped(_BOARD_TIP))

    def _make_links(self) -> None:
        self._origin = QPushButton("Show training run", self)
        self._origin.setObjectName("origin_button")
        self._origin.setToolTip("Shows the run that saved this model")
        self._origin.clicked.connect(self._show_origin)
        self._others = QPushButton(self)
        self._others.setObjectName("model_runs_button")
        self._others.setToolTip("Evaluations and predictions that took this run's model")
        menu = QMenu(self)
        menu.aboutToShow.connect(self._list_others)
        self._others.setMenu(menu)

    def _button(self, text: str, pressed: SignalInstance, name: str = "") -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.clicked.connect(pressed)
        return button

    @Slot()
    def _show_origin(self) -> None:
        if self._links.origin is not None:
            self.runRequested.emit(self._links.origin.path)

    @Slot()
    def _list_others(self) -> None:
        menu = self._others.menu()
        menu.clear()
        for run in self._links.others:
            entry = add_name(menu, link_text(run))
            entry.triggered.connect(partial(self._show_other, run.path))

    def _show_other(self, path: Path, _is_checked: object = None) -> None:
        self.runRequested.emit(path)
