"""The settings that only one source has."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QWidget

from gpupanel.domain.data import GREATEST_SIDE, MOST_CLASSES, ImagesData, NpzData
from gpupanel.ui.widgets.choice_box import Choice, ChoiceBox
from gpupanel.ui.widgets.counter import Counter
from gpupanel.ui.widgets.path_edit import PathEdit
from gpupanel.ui.widgets.settings_form import SettingsForm, teach

_COLORS = (
    Choice("rgb", "Colour (RGB)", "Three channels: red, green, blue."),
    Choice("grayscale", "Greyscale", "One channel; less to compute where colour tells nothing."),
)

_FILE_TIP = (
    "A file with two arrays: the examples, and one class number for each. It is read without "
    "pickle, so that it cannot run code."
)
_FEATURES_TIP = "The name of the array of examples in the file; its first axis counts them."
_LABELS_TIP = "The name of the array of class numbers in the file, from 0 on, one an example."
_CLASSES_TIP = (
    "How many classes there are. Left to the labels, it is the greatest of them plus one."
)
_FOLDER_TIP = (
    "A folder with one sub-folder for each class; the sub-folders' names are the classes'."
)
_SIZE_TIP = (
    "Every picture is scaled to this height and width, in pixels. Larger ones show more and cost "
    "more memory and time."
)
_COLOR_TIP = "Whether pictures are read in colour or in greyscale."


class NpzFields(SettingsForm):
    """File, names of the arrays, number of classes."""

    keyChanged = Signal(str, object)
    """A person changed a setting: its profile key and its new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._path = PathEdit(file_filter="NumPy files (*.npz)", placeholder="drop a .npz file")
        self._features = QLineEdit()
        self._labels = QLineEdit()
        self._classes = Counter(zero="as the labels say")
        self._classes.setMaximum(MOST_CLASSES)
        self.add_row("&File", self._path, _FILE_TIP, widest=None)
        self.add_row("E&xamples array", self._features, _FEATURES_TIP)
        self.add_row("La&bels array", self._labels, _LABELS_TIP)
        self.add_row("Cl&asses", self._classes, _CLASSES_TIP)
        self._path.pathChanged.connect(partial(self.keyChanged.emit, "path"))
        self._features.textEdited.connect(partial(self.keyChanged.emit, "features"))
        self._labels.textEdited.connect(partial(self.keyChanged.emit, "labels"))
        self._classes.countChanged.connect(self._change_classes)

    def path_field(self) -> QWidget:
        """The editor of ``path``, which the other source has too."""
        return self._path

    def setSettings(self, settings: NpzData) -> None:
        """Shows other settings without telling anyone."""
        self._path.setPath(settings.path)
        for field, text in ((self._features, settings.features), (self._labels, settings.labels)):
            if field.text() != text:
                field.setText(text)
        self._classes.setCount(settings.class_count or 0)

    def editors(self) -> tuple[tuple[str, QWidget], ...]:
        """The editor of each profile key that it alone has."""
        return (
            ("features", self._features),
            ("labels", self._labels),
            ("class_count", self._classes),
        )

    def _change_classes(self, count: int) -> None:
        self.keyChanged.emit("class_count", count or None)


class ImagesFields(SettingsForm):
    """Folder, size and colour."""

    keyChanged = Signal(str, object)
    """A person changed a setting: its profile key and its new value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._path = PathEdit(placeholder="drop a folder")
        self._height = Counter(1)
        self._width = Counter(1, unit="pixel")
        for side in (self._height, self._width):
            side.setMaximum(GREATEST_SIDE)
        self._color = ChoiceBox(_COLORS)
        self.add_row("&Folder", self._path, _FOLDER_TIP, widest=None)
        self.add_row("Image si&ze", self._size_row(), _SIZE_TIP)
        self.add_row("C&olour", self._color, _COLOR_TIP)
        self._path.pathChanged.connect(partial(self.keyChanged.emit, "path"))
        self._height.countChanged.connect(self._change_size)
        self._width.countChanged.connect(self._change_size)
        self._color.choiceMade.connect(partial(self.keyChanged.emit, "color"))

    def path_field(self) -> QWidget:
        """The editor of ``path``, which the other source has too."""
        return self._path

    def setSettings(self, settings: ImagesData) -> None:
        """Shows other settings without telling anyone."""
        self._path.setPath(settings.path)
        self._height.setCount(settings.image_size[0])
        self._width.setCount(settings.image_size[1])
        self._color.setChoice(settings.color)

    def editors(self) -> tuple[tuple[str, QWidget], ...]:
        """The editor of each profile key that it alone has."""
        return (("image_size", self._height), ("color", self._color))

    def _size_row(self) -> QWidget:
        teach(self._height, "Height of the images in pixels", _SIZE_TIP)
        teach(self._width, "Width of the images in pixels", _SIZE_TIP)
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self._height, 1)
        layout.addWidget(QLabel("x"))
        layout.addWidget(self._width, 1)
        row.setFocusProxy(self._height)
        return row

    def _change_size(self) -> None:
        self.keyChanged.emit("image_size", (self._height.value(), self._width.value()))
