"""What can be done with the runs that are chosen in the table, and why not what cannot."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.widgets.export_menu import EXPORT_TIP, ExportMenu
from gpupanel.ui.widgets.tips import wrapped

_FEWEST_COMPARED, _MOST_COMPARED = 2, 8


class RunListActions:
    """One for each button below the table; its menu has them, too.

    Args:
        parent: Owns the actions.
    """

    def __init__(self, parent: QWidget) -> None:
        self.open = action(parent, "&Open run", "runs_open")
        self.open.setToolTip("Shows the curves, devices and log of the run in Live (Enter)")
        self.use = action(parent, "Use these settin&gs", "runs_use_settings")
        self.use.setToolTip(
            "Copies the settings of the run into the Session tab; the run stays as it is"
        )
        self.use.setVisible(False)
        self.compare = action(parent, "&Compare", "runs_compare")
        self.compare.setVisible(False)
        self.exports = ExportMenu(parent)
        self.export = action(parent, "E&xport", "runs_export")
        self.export.setMenu(self.exports)
        self.export.setToolTip(wrapped(EXPORT_TIP))
        self.export.setVisible(False)
        self.rename = action(parent, "Re&name…", "runs_rename", "F2")
        self.rename.setToolTip("Gives the run a name of its own (F2)")
        self.notes = action(parent, "Tags, no&tes…", "runs_notes")
        self.notes.setToolTip("Adds tags to the run, and notes about it")
        self.baseline = action(parent, "Pin as &baseline", "runs_baseline")
        self.delete = action(parent, "Move to &bin", "runs_delete", "Del")
        for each in (self.rename, self.delete):
            # Not in the search field, where Del means a letter.
            each.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        what = (self.open, self.use, self.compare, self.export)
        self.all = (*what, self.rename, self.notes, self.delete)
        """The actions in the order of the buttons."""

    def show_for(self, chosen: Sequence[RunSummary], baseline: RunSummary | None = None) -> None:
        """Enable what can be done with these runs.

        Args:
            chosen: The runs.
            baseline: The one that is pinned.
        """
        for each in (self.open, self.use, self.export, self.rename, self.notes, self.baseline):
            each.setEnabled(len(chosen) == 1)
        self.exports.setProgram(is_program=any(run.task == "script" for run in chosen))
        is_pinned = len(chosen) == 1 and chosen[0] == baseline
        self.baseline.setText("Unpin &baseline" if is_pinned else "Pin as &baseline")
        self.baseline.setToolTip("Keeps the run above all others, and compares others with it")
        compared = with_baseline(chosen, baseline)
        can_compare = _FEWEST_COMPARED <= len(compared) <= _MOST_COMPARED
        self.compare.setEnabled(can_compare)
        self.compare.setToolTip(
            "Compares the curves of the chosen runs"
            if can_compare and len(compared) == len(chosen)
            else "Compares the curves with those of the baseline"
            if can_compare
            else f"Choose {_FEWEST_COMPARED} to {_MOST_COMPARED} runs (Ctrl+click) to compare them."
        )
        running = [run for run in chosen if run.is_running]
        self.delete.setEnabled(bool(chosen) and not running)
        what = "the chosen run" if len(chosen) <= 1 else f"the {len(chosen)} chosen runs"
        self.delete.setToolTip(
            wrapped(
                f"{running[0].title} is running: stop it before it can be moved to the bin."
                if running
                else f"Moves {what} to the bin, with checkpoints and model (Del)"
            )
        )

    def menu(self, parent: QWidget) -> QMenu:
        """A menu of them, which goes when it is closed."""
        menu = QMenu(parent)
        menu.setObjectName("runs_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addActions([self.open, self.use, self.compare, self.export])
        menu.addSeparator()
        menu.addActions([self.rename, self.notes, self.baseline])
        menu.addSeparator()
        menu.addAction(self.delete)
        return menu


def with_baseline(
    chosen: Sequence[RunSummary], baseline: RunSummary | None
) -> tuple[RunSummary, ...]:
    """The runs that are compared: the baseline first, also where one other is chosen alone."""
    if baseline is None:
        return tuple(chosen)
    others = tuple(run for run in chosen if run != baseline)
    is_compared = len(others) < len(chosen) or len(others) == 1
    return (baseline, *others) if is_compared else others


def action(parent: QObject, text: str, name: str, key: str = "") -> QAction:
    """An action with its object name and shortcut."""
    made = QAction(text, parent)
    made.setObjectName(name)
    if key:
        made.setShortcut(QKeySequence(key))
    return made
