"""Every action that has a place in the menus, declared once: its text, its keys, what it does."""

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QWidget

from gpupanel.ui.widgets.tips import wrapped
from gpupanel.ui.window_settings import ThemeChoice

_Key = QKeySequence.StandardKey
_Keys = str | QKeySequence.StandardKey


class WindowActions(QObject):
    """What a person can have done from the menus and by keys, wherever the focus is.

    Buttons that do the same follow their action; whoever carries an action out connects to it and
    says when it can be done.

    Args:
        window: Its keys work in there.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._make_file()
        self._make_edit()
        self._make_run()
        self._make_view()
        self._make_help()

    def _make_file(self) -> None:
        make = self._make
        self.new = make("file_new", "&New", "Begins with the defaults", _Key.New)
        self.open = make("file_open", "&Open…", "Opens a profile", _Key.Open)
        self.open_script = make(
            "file_open_script",
            "Open s&cript…",
            "Runs a program of your own, such as train.py, on the chosen devices",
            "Ctrl+Shift+O",
        )
        self.save = make("file_save", "&Save", "Saves the profile", _Key.Save)
        self.save_as = make(
            "file_save_as", "Save &as…", "Saves the profile to another file", "Ctrl+Shift+S"
        )
        self.connect_to = make(
            "file_connect", "Connect &to…", "Opens a window for another machine's GPUs, by ssh"
        )
        self.settings = make(
            "file_settings", "Sett&ings…", "Theme, notifications, runs folder", "Ctrl+,"
        )
        self.quit = make(
            "file_quit", "&Quit", "Closes the window; a run continues without it", "Ctrl+Q"
        )

    def _make_edit(self) -> None:
        self.undo = self._make(
            "edit_undo", "&Undo", "Takes the last change of a setting back", "Ctrl+Z"
        )
        self.redo = self._make("edit_redo", "&Redo", "Makes it again", "Ctrl+Shift+Z")
        for each in (self.undo, self.redo):
            each.setAutoRepeat(True)
        self.find = self._make(
            "edit_find",
            "&Find setting or action…",
            "Goes to a setting, or does what a menu has, by a part of its name",
            "Ctrl+K",
        )

    def _make_run(self) -> None:
        make = self._make
        self.start = make("run_start", "&Start", "Starts a run of this profile", "Ctrl+Return")
        self.queue = make("run_queue", "&Queue", "Adds a run to the queue", "Ctrl+Shift+Return")
        self.resume = make(
            "run_resume", "&Resume", "Continues the shown run from its last checkpoint", "Ctrl+R"
        )
        self.checkpoint = make(
            "run_checkpoint",
            "Save &checkpoint",
            "Saves a checkpoint after the next step; the run continues",
            "Ctrl+B",
        )
        self.suspend = make(
            "run_suspend", "S&uspend", "Saves a checkpoint and frees the devices", "Ctrl+Shift+."
        )
        self.stop = make("run_stop", "S&top", "Saves, then ends the run", "Ctrl+.")
        self.end = make("run_end", "E&nd now…", "Ends the run at once, without saving; asks before")
        self.new_sweep = make(
            "run_new_sweep",
            "N&ew sweep…",
            "Trains the session several times with other values of its settings",
        )
        self.sweeps = make(
            "run_sweeps", "S&weeps…", "Shows the trials of sweeps, and which is the best"
        )
        self.trace = make(
            "run_trace",
            "Tr&ace steps…",
            "Shows the operations of the shown run that take the longest on each device",
        )
        self.tensorboard = make(
            "run_tensorboard", "Tensor&Board", "Shows the curves of the run in the browser"
        )

    def _make_view(self) -> None:
        make = self._make
        self.show_session = make("view_session", "&Session", "What is trained, on what", "Ctrl+1")
        self.show_live = make("view_live", "&Live", "Curves, devices and log of a run", "Ctrl+2")
        self.show_runs = make("view_runs", "&Runs", "Queue and past runs", "Ctrl+3")
        self.pages = QActionGroup(self)
        """The pages of the window, the shown one checked."""
        for page in (self.show_session, self.show_live, self.show_runs):
            page.setCheckable(True)
            self.pages.addAction(page)
        self.next_page = make("view_next", "&Next page", "Goes to the next page", "Ctrl+Tab")
        self.previous_page = make(
            "view_previous", "&Previous page", "Goes to the page before", "Ctrl+Shift+Tab"
        )
        self.themes = QActionGroup(self)
        """One for each choice, which it has as its data."""
        for theme in ThemeChoice:
            made = make(f"view_theme_{theme.value}", _THEMES[theme], theme.description)
            made.setCheckable(True)
            made.setData(theme.value)
            self.themes.addAction(made)
        self.reset_zoom = make(
            "view_reset_zoom", "Reset &zoom", "Shows the whole run in the plots of Live", "Ctrl+0"
        )

    def _make_help(self) -> None:
        make = self._make
        self.guide = make("help_guide", "&Guide", "How to work with this window", "F1")
        self.shortcuts = make(
            "help_shortcuts", "&Keyboard shortcuts", "Lists all keys of the window", "Ctrl+?"
        )
        self.doctor = make(
            "help_doctor", "&Doctor…", "Examines driver, TensorFlow and GPUs of this machine"
        )
        self.about = make("help_about", "&About gpupanel", "Versions, to copy into a report")

    def set_tip(self, action: QAction, tip: str) -> None:
        """Say what an action does now, or why it cannot be done.

        Args:
            action: One of these.
            tip: As it stands in a tooltip.
        """
        action.setToolTip(wrapped(tip))
        action.setWhatsThis(tip)

    def _make(self, name: str, text: str, tip: str, keys: _Keys = "") -> QAction:
        """An action whose keys work while its menu is closed.

        Args:
            name: Its object name.
            text: With ``&`` before the letter that chooses it in its menu.
            tip: What it does, in half a sentence.
            keys: Keys that are held carry it out once, not thirty times a second.
        """
        action = QAction(text, self)
        action.setObjectName(name)
        if keys:
            action.setShortcut(QKeySequence(keys))
        action.setAutoRepeat(False)
        shown = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        self.set_tip(action, f"{tip} ({shown})" if shown else tip)
        self._window.addAction(action)
        return action


_THEMES = {
    ThemeChoice.SYSTEM: "The&me as the system",
    ThemeChoice.LIGHT: "Light &theme",
    ThemeChoice.DARK: "&Dark theme",
}
MENU_LETTERS = "efrvh"
"""Alt and one of these opens a menu, on every page: nothing else in the window may have them."""

Entry = QAction | str | None
"""An action, the object name of a menu within this one, or a line."""


def menus_of(actions: WindowActions) -> Sequence[tuple[str, Sequence[Entry]]]:
    """The menus of the window, each with its title and what stands in it."""
    a = actions
    file = (
        a.new,
        "templates",
        a.open,
        a.open_script,
        "recent",
        "examples",
        None,
        a.save,
        a.save_as,
        None,
        a.connect_to,
        a.settings,
        None,
        a.quit,
    )
    run = (a.start, a.queue, a.resume, None, a.checkpoint, a.suspend, a.stop, a.end)
    rest = (None, a.new_sweep, a.sweeps, None, a.trace, a.tensorboard)
    pages = (a.show_session, a.show_live, a.show_runs, None, a.next_page, a.previous_page)
    helps = (a.guide, a.shortcuts, a.doctor, None, a.about)
    return (
        ("&File", file),
        ("&Edit", (a.undo, a.redo, None, a.find)),
        ("&Run", (*run, *rest)),
        ("&View", (*pages, None, a.reset_zoom, None, *a.themes.actions())),
        ("&Help", helps),
    )
