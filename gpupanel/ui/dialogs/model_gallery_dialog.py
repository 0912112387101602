"""All kinds of model, with what decides between them."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from gpupanel.planning.model_gallery import ModelEntry
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.searched_list import Search, SearchedList
from gpupanel.ui.widgets.table_model import Column

_FEW = "few images"


def _side(entry: ModelEntry) -> str:
    return f"{entry.side} px" if entry.side else ""


def _download(entry: ModelEntry) -> str:
    return f"{entry.download_bytes / 1e6:,.0f} MB" if entry.is_pretrained else ""


_COLUMNS: tuple[tuple[Column[ModelEntry], int], ...] = (
    (Column("Model", "", lambda each: each.kind.name), 22 * GRID),
    (Column("Group", "", lambda each: each.group), 19 * GRID),
    (Column("Takes", "", lambda each: each.takes), 11 * GRID),
    (
        Column("Image side", "Of the images its weights were trained on.", _side, is_number=True),
        11 * GRID,
    ),
    (Column("Download", "Of its weights, once.", _download, is_number=True), 12 * GRID),
    (Column("Good for", "", lambda each: _FEW if each.suits_few else ""), 0),
)


class ModelGalleryDialog(QDialog):
    """Finds a kind of model by its name, its group, what it takes or what it is good for.

    Args:
        entries: All kinds that can be chosen.
        chosen: The ``source`` of the one that is chosen now.
        window: Stands before it.
    """

    modelChosen = Signal(object)
    """A person wants that :class:`ModelEntry`."""

    def __init__(self, entries: Sequence[ModelEntry], chosen: str, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("model_gallery")
        self.setWindowTitle("Choose a model")
        self._entries = tuple(entries)
        self._list: SearchedList[ModelEntry] = SearchedList(
            Search(
                "model_gallery",
                _COLUMNS,
                self._find,
                _tip,
                placeholder="MobileNet, pretrained, tables, few images…",
                line_tip="Parts of a name or of a column; Return takes the model that is chosen.",
                nothing="No model is called so.",
            )
        )
        self._list.taken.connect(self._take)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 2 * GRID)
        layout.addWidget(self._list)
        resize_within_screen(self, 96 * GRID, 64 * GRID)
        sources = [each.kind.source for each in self._entries]
        if chosen in sources:
            self._list.choose(sources.index(chosen))
        self._list.setFocus()

    def found(self) -> tuple[ModelEntry, ...]:
        """What the line finds."""
        return self._list.found()

    def _find(self, words: Sequence[str]) -> Sequence[ModelEntry]:
        return [each for each in self._entries if all(word in _said(each) for word in words)]

    @Slot(object)
    def _take(self, entry: ModelEntry) -> None:
        # First: the window has the focus again when it is done.
        self.accept()
        self.modelChosen.emit(entry)


def _said(entry: ModelEntry) -> str:
    cells = (column.text(entry) for column, _ in _COLUMNS)
    return " ".join((*cells, entry.kind.choice.label)).casefold()


def _tip(entry: ModelEntry) -> str:
    weights = " It begins with weights learned from ImageNet." if entry.is_pretrained else ""
    return f"{entry.kind.choice.label}. {entry.kind.choice.description}{weights}"
