"""Binds the search over all settings and actions to what the window has."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QPushButton

from gpupanel.domain.data import DataSettings
from gpupanel.domain.kind import SOURCE, Kind, kinds_of
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.setting import Setting, settings_of
from gpupanel.domain.value import Value
from gpupanel.ui.forms.settings_card import SettingsCard
from gpupanel.ui.main_tabs import MainTabs
from gpupanel.ui.menus.menu_bar import MenuBar, actions_of, plain_text
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpupanel.ui.dialogs.finder_dialog import FinderEntry

_KINDS: tuple[tuple[str, str, tuple[Kind, ...]], ...] = (
    (f"data.{SOURCE}", "Data set", kinds_of(DataSettings)),
    (f"model.{SOURCE}", "Kind of model", kinds_of(ModelSettings)),
)


class FinderBinding(QObject):
    """Opens the search, with the settings of the session and the actions of the menus.

    Args:
        action: Opens it.
        session: Has the profile.
        page: Edits it.
        tabs: The pages; settings are on the first one.
        menus: All actions.
    """

    def __init__(
        self,
        action: QAction,
        session: Session,
        page: SessionPage,
        tabs: MainTabs,
        menus: MenuBar,
    ) -> None:
        super().__init__(tabs)
        self._action, self._session, self._page = action, session, page
        self._tabs, self._menus = tabs, menus
        action.triggered.connect(self.open)

    @Slot()
    def open(self) -> None:
        """Ask what is looked for."""
        # Imported when it is asked for: many windows never need it.
        from gpupanel.ui.dialogs.finder_dialog import FinderDialog

        dialog = FinderDialog(
            (*self._settings(), *self._tools(), *self._actions()), self._tabs.window()
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _settings(self) -> "Iterator[FinderEntry]":
        for key, title, kinds in _KINDS:
            names = " ".join(f"{kind.source} {kind.name}" for kind in kinds)
            yield from self._setting(key, title, "What the session trains, and on what.", names)
        for table in type(self._session.profile).model_fields:
            value = getattr(self._session.profile, table)
            if isinstance(value, Value):
                for setting in settings_of(type(value)):
                    tip, more = setting.description, _choices(setting)
                    yield from self._setting(f"{table}.{setting.name}", setting.title, tip, more)

    def _setting(self, key: str, title: str, tip: str, more: str) -> "Iterator[FinderEntry]":
        from gpupanel.ui.dialogs.finder_dialog import FinderEntry

        section = self._page.section_of(key)
        if section is not None:
            go = partial(self._go_to, key)
            yield FinderEntry(title, section, "", tip, f"{key} {more}", is_possible=True, go=go)

    def _tools(self) -> "Iterator[FinderEntry]":
        """The buttons of the sections that open something."""
        from gpupanel.ui.dialogs.finder_dialog import FinderEntry

        for section in self._page.findChildren(SettingsCard):
            for button in section.findChildren(QPushButton):
                text = plain_text(button.text())
                if text.endswith("…") and button.isVisibleTo(self._page):
                    yield FinderEntry(
                        text,
                        section.section_title,
                        "",
                        button.accessibleDescription(),
                        "",
                        is_possible=button.isEnabled(),
                        go=partial(self._press, button),
                    )

    def _press(self, button: QPushButton) -> None:
        self._tabs.show_session()
        button.click()

    def _actions(self) -> "Iterator[FinderEntry]":
        from gpupanel.ui.dialogs.finder_dialog import FinderEntry

        for menu, action in actions_of(self._menus):
            if action is self._action or not action.text() or not action.isVisible():
                continue
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            name = plain_text(action.text())
            yield FinderEntry(
                name,
                menu,
                keys,
                action.whatsThis(),
                "",
                is_possible=action.isEnabled(),
                go=action.trigger,
            )

    def _go_to(self, key: str) -> None:
        self._tabs.show_session()
        self._page.go_to_field(key)


def _choices(setting: Setting) -> str:
    return " ".join(f"{choice.value} {choice.label}" for choice in setting.choices)
