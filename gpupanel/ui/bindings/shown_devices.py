"""Whose devices the window shows: those of this machine, or those of the profile's cluster."""

from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from gpupanel.domain.cluster import ClusterReading, NodeState, devices_of, sample_of
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.problem import Change, Fix, Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.cluster_check import cluster_problems
from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.session import Session
from gpupanel.ui.session_facts import cluster_address
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.cluster_worker import ClusterWatch
from gpupanel.ui.workers.device_worker import DeviceWatch

_ASK_DELAY_MS: Final = 600
"""After the last change of the address: while it is typed, its beginnings are addresses, too."""
_HERE: Final = Fix(label="Train on this machine", changes=(Change(path=("cluster",)),))


def _is_being_asked(reading: ClusterReading) -> bool:
    """Whether a node has not answered for the first time, and is not late yet."""
    return any(node.state is NodeState.OK and node.report is None for node in reading.nodes)


def _errors(reading: ClusterReading) -> tuple[Problem, ...]:
    """Why no node of the cluster answers."""
    return tuple(
        problem.model_copy(update={"severity": Severity.ERROR, "field": "cluster"})
        for problem in cluster_problems(reading)
        if problem.code == "node_not_answering"
    )


def _warnings(reading: ClusterReading) -> tuple[Problem, ...]:
    """What is wrong with nodes that answer; of one that takes no part it is said where it is."""
    return tuple(
        problem.model_copy(update={"severity": Severity.WARNING})
        for problem in cluster_problems(reading)
        if problem.code != "node_not_answering"
    )


class ShownDevices(QObject):
    """Hands the session and the device list what one of the two watches reads.

    Args:
        session: Its profile says which.
        machine: Reads this machine, also while a cluster is shown.
        cluster: Reads the profile's cluster.
        panel: Shows them.
        page: Has the form of the cluster.
        parent: Owns it.
    """

    refused = Signal(object)
    """Problems that are about no cluster of the session: a tuple of :class:`Problem`."""
    sampled = Signal(object)
    """A :class:`TelemetrySample` of the devices that are shown."""

    def __init__(
        self,
        session: Session,
        machine: DeviceWatch,
        cluster: ClusterWatch,
        panel: DevicePanel,
        page: SessionPage,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session, self._cluster, self._panel, self._page = session, cluster, panel, page
        self._machine_inventory: DeviceInventory | None = None
        self._reading: ClusterReading | None = None
        self._inventory: DeviceInventory | None = None
        self._address = ""
        self._asking = QTimer(self, singleShot=True, interval=_ASK_DELAY_MS)
        self._asking.timeout.connect(self._ask)
        machine.inventoryChanged.connect(self._see_machine)
        machine.sampled.connect(self._see_machine_sample)
        cluster.read.connect(self._see_cluster)
        cluster.refused.connect(self._see_refusal)
        session.profileChanged.connect(self._see_profile)
        panel.more_machines.clicked.connect(self._show_form)
        panel.cluster_note.askedAgain.connect(self._ask_again)

    def stop(self) -> None:
        """Ask no cluster any more; the process that did is ended."""
        self._asking.stop()
        self._cluster.stop()

    @Slot(object)
    def _see_profile(self, profile: Profile) -> None:
        address = cluster_address(profile)
        if address == self._address:
            return
        self._address = address
        self._reading = self._inventory = None
        # What is being read meanwhile is of the machines before.
        self._cluster.watch("")
        if address:
            self._asking.start()
            self._await()
            return
        self._asking.stop()
        self._panel.setCluster(None)
        if self._machine_inventory is None:
            self._session.lack_devices("Looking for devices…")
        else:
            self._session.set_inventory(self._machine_inventory)

    @Slot()
    def _ask(self) -> None:
        self._cluster.watch(self._address)

    @Slot()
    def _ask_again(self) -> None:
        if self._address:
            self._await()
            self._ask()

    def _await(self) -> None:
        where = "of this machine" if self._address == "auto" else f"at {self._address}"
        self._session.lack_devices("Asking the nodes of the cluster…")
        self._panel.awaitCluster(f"Asking the nodes of the cluster {where}…")

    @Slot(object)
    def _see_machine(self, inventory: DeviceInventory) -> None:
        self._machine_inventory = inventory
        if not self._address:
            self._session.set_inventory(inventory)

    @Slot(object)
    def _see_machine_sample(self, sample: TelemetrySample) -> None:
        if not self._address:
            self._show_sample(sample)

    @Slot(object)
    def _see_cluster(self, reading: ClusterReading) -> None:
        if not self._address:
            return
        self._reading = reading
        self._panel.setCluster(reading)
        if self._inventory is None and _is_being_asked(reading):
            return  # a run would start without the nodes that answer a second later
        inventory = devices_of(reading)
        if not inventory.devices:
            self._inventory = None
            self._session.lack_devices("", _errors(reading))
            self._panel.setInventory(inventory)
            return
        self._session.set_node_problems(_warnings(reading))
        if inventory != self._inventory:
            self._inventory = inventory
            self._session.set_inventory(inventory, self._address)
        self._show_sample(sample_of(reading))

    @Slot(object)
    def _see_refusal(self, problems: tuple[Problem, ...]) -> None:
        if not self._address:
            self.refused.emit(problems)  # of a cluster that nobody wanted to be asked
            return
        self._reading = self._inventory = None
        with_fix = tuple(problem.model_copy(update={"fix": _HERE}) for problem in problems)
        self._session.lack_devices("", with_fix)
        self._panel.setClusterProblem(with_fix[0])

    def _show_sample(self, sample: TelemetrySample) -> None:
        self._session.set_sample(sample)
        self._panel.setSample(sample)
        self.sampled.emit(sample)

    @Slot()
    def _show_form(self) -> None:
        self._page.go_to_field("cluster.address")
