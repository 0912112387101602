"""A window that was asked for nothing begins with an example; whoever was quicker wins."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import QObject

from gpupanel.domain.profile import Profile
from gpupanel.planning.starting_profile import starting_profile
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.bindings.starting_session import StartingSession
from gpupanel.ui.run_state import RunState
from gpupanel.ui.session import Session
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL


@pytest.fixture
def session(qapp: QObject) -> Session:
    return Session()


def test_that_the_session_has_an_example_for_the_devices_that_there_are(session: Session) -> None:
    parent = QObject()
    StartingSession(session, parent)
    session.set_inventory(TWO_UNEQUAL)
    assert session.profile == starting_profile(TWO_UNEQUAL)
    assert not session.is_dirty
    # Once: what a person begins anew stays as it is.
    session.open_profile(Profile(), None)
    session.set_inventory(CPU_ONLY)
    assert session.profile == Profile()
    session.close()


def _edited(session: Session) -> None:
    session.edit(Profile(name="mine"))


def _running(session: Session) -> None:
    session.set_run(RunState.RUNNING, RunStatus())


@pytest.mark.parametrize("act", [_edited, _running])
def test_that_whoever_was_quicker_wins(session: Session, act: Callable[[Session], None]) -> None:
    parent = QObject()
    StartingSession(session, parent)
    act(session)
    before = session.profile
    session.set_inventory(TWO_UNEQUAL)
    assert session.profile == before
    session.close()
