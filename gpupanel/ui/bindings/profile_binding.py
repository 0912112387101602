"""Ties the profile bar and the device list to the session and its files."""

from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QMainWindow

from gpupanel.domain.problem import Fix
from gpupanel.domain.visible_text import visible_line
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.directory.templates import templates
from gpupanel.ui.device_choices import DeviceChoices
from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.panels.profile_bar import ProfileBar
from gpupanel.ui.panels.run_bar import RunBar
from gpupanel.ui.profile_actions import ProfileActions, example_profiles
from gpupanel.ui.session import Session
from gpupanel.ui.workers.workplace import workplace


class ProfileBinding(QObject):
    """Shows the profile in what stands around the tabs, and takes its changes back.

    Args:
        session: Has the profile.
        profiles: Its files.
        bar: Shows its name, and has the menus of recent profiles, templates and examples.
        run_bar: Says for a moment that it was saved.
        devices: Shows and chooses the devices.
        window: Has name and file in its title.
    """

    def __init__(
        self,
        session: Session,
        profiles: ProfileActions,
        bar: ProfileBar,
        run_bar: RunBar,
        devices: DevicePanel,
        window: QMainWindow,
    ) -> None:
        super().__init__(window)
        self._session = session
        self._bar, self._run_bar = bar, run_bar
        self._devices = devices
        self._window = window
        bar.nameEdited.connect(self._rename)
        bar.newRequested.connect(profiles.new)
        bar.openRequested.connect(profiles.open)
        bar.openScriptRequested.connect(profiles.open_program)
        bar.saveRequested.connect(profiles.save)
        bar.saveAsRequested.connect(profiles.save_as)
        bar.fileChosen.connect(profiles.open_file)
        bar.exampleChosen.connect(profiles.open_example)
        bar.templateChosen.connect(profiles.begin_with_template)
        profiles.copied.connect(self._say_copied)
        profiles.saved.connect(self._say_saved)
        profiles.recentChanged.connect(bar.setRecent)
        session.documentChanged.connect(self._show_document)
        session.opened.connect(run_bar.end_notice)
        session.profileChanged.connect(self._show_choices)
        session.inventoryChanged.connect(devices.setInventory)
        session.preparationChanged.connect(self._show_problems)
        devices.valueChanged.connect(self._choose)
        for fixed in (devices, devices.general, devices.cluster_note.problems):
            fixed.fixRequested.connect(self._apply_fix)
        bar.setRecent(profiles.recent())
        # Reading all of them would keep the first window waiting.
        bar.examples_menu.aboutToShow.connect(self._list_examples)
        bar.templates_menu.aboutToShow.connect(self._list_templates)
        self._show_document()
        self._show_choices()

    @Slot()
    def _list_examples(self) -> None:
        if self._bar.examples_menu.isEmpty():
            self._bar.setExamples(example_profiles())

    @Slot()
    def _list_templates(self) -> None:
        if self._bar.templates_menu.isEmpty():
            self._bar.setTemplates(templates())

    @Slot()
    def _show_document(self) -> None:
        session = self._session
        name = session.profile.name
        self._bar.setDocument(name, is_dirty=session.is_dirty, path=session.path)
        file = () if session.path is None else (session.path.name,)
        host = workplace().host
        program = f"gpupanel on {host}" if host else "gpupanel"
        parts = [f"{visible_line(name)}[*]", *map(visible_line, file), visible_line(program)]
        self._window.setWindowTitle(" \N{EM DASH} ".join(parts))
        self._window.setWindowModified(session.is_dirty)

    @Slot(object)
    def _say_saved(self, path: Path) -> None:
        self._run_bar.setNotice(f"Saved to {visible_line(path.name)}")

    @Slot(object)
    def _say_copied(self, profile: Path) -> None:
        self._run_bar.setNotice(f"Copied to {visible_line(profile.parent.name)}")

    @Slot()
    def _show_choices(self) -> None:
        profile = self._session.profile
        choices = DeviceChoices(devices=profile.devices, memory=profile.memory)
        if choices != self._devices.value():
            self._devices.setValue(choices)

    @Slot()
    def _choose(self) -> None:
        choices = self._devices.value()
        update = {"devices": choices.devices, "memory": choices.memory}
        self._session.edit(self._session.profile.model_copy(update=update))

    @Slot(object)
    def _show_problems(self, preparation: Preparation) -> None:
        self._devices.setProblems(preparation.problems)

    @Slot(object)
    def _apply_fix(self, fix: Fix) -> None:
        self._session.apply_fix(fix)

    @Slot(str)
    def _rename(self, name: str) -> None:
        profile = self._session.profile
        self._session.edit(profile.model_copy(update={"name": name.strip() or profile.name}))
        self._show_document()
