"""The network of a gang: its own, or, where the machine refuses one, told and done without."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpupanel.devices.login_users import other_login_users
from gpupanel.devices.network_access import ask_network_access, network_access
from gpupanel.devices.private_network import MAKER, new_private_network
from gpupanel.domain.events import ProblemReported
from gpupanel.domain.network_access import NetworkAccess
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.process_environment import NETWORK_VARIABLE
from gpupanel.runs.readiness import MachineWatch, prepared_on, read_machine
from tests.fakes.run_networks import namespace, skip_without_networks, without_networks
from tests.unit.runs.supervision.test_deaths import GANG, SUPERVISE, SupervisedRun, until

OPEN = "port_open_to_other_users"


@pytest.fixture
def gang(runs_dir: Path) -> Iterator[SupervisedRun]:
    run = SupervisedRun(runs_dir, GANG)
    yield run
    run.close()


def variable_of(pid: int) -> str | None:
    """What a process was told of its network."""
    environ = Path(f"/proc/{pid}/environ")
    until(environ.read_bytes)  # it is empty while its program takes the place of this one
    entries = environ.read_bytes().decode().split("\0")
    return dict(entry.partition("=")[::2] for entry in entries).get(NETWORK_VARIABLE)


def test_that_every_process_of_a_gang_is_handed_the_same_network(gang: SupervisedRun) -> None:
    skip_without_networks()
    gang.start("wait,wait")
    until(lambda: len(gang.started()) == 2)
    handed = []
    for started in gang.started():
        user, network = (variable_of(started.pid) or "").split(",")
        handed.append(Path(f"/proc/{started.pid}/fd/{network}").stat().st_ino)
        assert Path(f"/proc/{started.pid}/fd/{user}").exists()
    assert handed[0] == handed[1] != namespace("self", "net")


def test_that_a_run_of_one_process_stays_in_the_network_of_the_machine(runs_dir: Path) -> None:
    run = SupervisedRun(runs_dir)
    try:
        run.start("hang_in_a_step")
        until(run.started)
        assert variable_of(run.started()[0].pid) is None
    finally:
        run.close()


def test_that_a_run_goes_on_where_the_machine_refuses_a_network_and_it_is_reported(
    gang: SupervisedRun,
) -> None:
    supervise = [*without_networks(), sys.executable, SUPERVISE, "complete,leave"]
    said = subprocess.run([*supervise, gang.layout.root], check=True, stderr=subprocess.PIPE)
    end = gang.end()
    assert end is not None
    assert (end.outcome, end.problem) == (Outcome.COMPLETED, None)
    assert b"no network of its own: no more namespaces are permitted" in said.stderr
    told = [event.problem for event in gang.events() if isinstance(event, ProblemReported)]
    # It runs as root of a user namespace, to whom everybody else is another user.
    assert [problem.code for problem in told] == [OPEN] * bool(other_login_users(0))


@pytest.fixture
def refusing_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This machine with another user, and a kernel that permits no network namespace."""

    def ask() -> NetworkAccess:
        refused = (*without_networks(), *MAKER)
        return ask_network_access(lambda: ("ann",), lambda: new_private_network(refused))

    monkeypatch.setattr("gpupanel.devices.network_access.ask_network_access", ask)
    network_access.cache_clear()
    yield
    network_access.cache_clear()


@pytest.mark.usefixtures("refusing_machine")
def test_that_it_is_said_before_the_start_in_the_terminal_and_by_the_queue() -> None:
    machine = read_machine()
    assert machine.inventory.network == NetworkAccess(
        other_users=("ann",), refusal="no more namespaces are permitted"
    )
    assert OPEN in [problem.code for problem in prepared_on(machine, GANG).problems]
    with MachineWatch() as watch:
        assert watch.read().inventory.network == machine.inventory.network
