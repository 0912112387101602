"""The window knows who could reach the ports of a run before Start is clicked."""

from gpupanel.devices.network_access import network_access
from gpupanel.domain.network_access import NetworkAccess
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.ui.session import Session
from gpupanel.ui.workers.device_worker import DeviceWatch

OPEN = NetworkAccess(other_users=("ann",), refusal="Operation not permitted")


def test_that_open_ports_are_a_problem_of_the_session(qtbot, monkeypatch):
    monkeypatch.setattr("gpupanel.devices.network_access.ask_network_access", lambda: OPEN)
    network_access.cache_clear()
    session, watch = Session(), DeviceWatch()
    watch.inventoryChanged.connect(session.set_inventory)
    try:
        watch.start()
        qtbot.waitUntil(
            lambda: session.inventory is not None and session.inventory.network is not None,
            timeout=20_000,
        )
        session.edit(
            Profile(
                devices=DeviceSettings(visible=("cpu",)),
                strategy=StrategySettings(kind=StrategyKind.PARAMETER_SERVER),
            )
        )
        preparation = session.prepare_now()
        (problem,) = (each for each in preparation.problems if each.field == "strategy.kind")
        assert problem.code == "port_open_to_other_users"
        session.apply_fix(problem.fix)
        assert session.prepare_now().problems == ()
    finally:
        watch.stop()
        session.close()
        network_access.cache_clear()
