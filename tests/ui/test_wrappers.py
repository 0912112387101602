"""Whose part of the window each Python object is by PySide's own account.

When a widget is destroyed, PySide declares the objects below it invalid. It takes what a getter
returns for a part of what it was asked of (``QWidget.nextInFocusChain``): one widget of a form that
was replaced then took the actions of menus elsewhere with it.
"""

import gc
import re

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QLabel, QMenu, QWidget
from shiboken6 import dump

from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.profile import Profile
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.person import Person
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process")

_PARENT = re.compile(r"^parent\.+ .* at (0x[0-9a-f]+)>$", re.MULTILINE)


@pytest.fixture
def window(qtbot, tmp_path, runs_dir):
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, Person())
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.session.set_inventory(TWO_UNEQUAL)
    for model in (CnnModel(), MlpModel()):
        window.session.open_profile(Profile(model=model), None)
        window.session.prepare_now()
    yield window
    window.close()


def strangers() -> list[str]:
    """Widgets that PySide takes for parts of a widget that does not hold them.

    Those of a label (its buddy) and of a menu (what opens from it) go when these go.
    """
    # Before anything is asked of them: most questions put right whose part they are.
    widgets = {id(each): each for each in gc.get_objects() if isinstance(each, QWidget)}
    parents = {each: _PARENT.search(dump(widget)) for each, widget in widgets.items()}
    found = []
    for each, named in parents.items():
        parent = widgets.get(int(named[1], 16)) if named else None
        if parent is None or isinstance(parent, QLabel | QMenu):
            continue
        above = widgets[each].parentWidget()
        while above not in (None, parent):
            above = above.parentWidget()
        if above is None:
            found.append(f"{widgets[each]!r} of {parent!r}")
    return found


@pytest.mark.usefixtures("window")
def test_that_no_widget_hangs_on_one_that_does_not_hold_it():
    assert "\n".join(strangers()) == ""
