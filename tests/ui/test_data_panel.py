import base64
import os
import urllib.parse
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gpupanel.domain.choice import Choice
from gpupanel.domain.data import (
    DigitsData,
    ImagesData,
    KerasData,
    NpzData,
    TableData,
    Target,
    TextData,
    TfrecordData,
)
from gpupanel.domain.preview import ColumnPreview, DataPreview, ExamplePreview, TextsPreview
from gpupanel.domain.problem import Problem
from gpupanel.ui import theme
from gpupanel.ui.dropped_files import local_paths
from gpupanel.ui.inputs.counter import Counter
from gpupanel.ui.inputs.files_edit import FilesEdit
from gpupanel.ui.inputs.name_choices import NameChoices
from gpupanel.ui.inputs.named_choices_edit import NamedChoicesEdit
from gpupanel.ui.inputs.optional_choice import OptionalChoiceBox
from gpupanel.ui.inputs.real_spin_box import RealSpinBox
from gpupanel.ui.inputs.text_input import PathEdit
from gpupanel.ui.panels.data_panel import DataPanel
from gpupanel.ui.panels.data_panel.examples_view import ExamplesView
from gpupanel.ui.panels.data_panel.preview_view import PreviewView
from gpupanel.ui.panels.data_panel.text_lengths_view import TextLengthsView
from gpupanel.ui.widgets.buttons import FoldButton
from gpupanel.ui.widgets.class_counts_view import ClassCountsView
from gpupanel.ui.widgets.problem_row import ProblemRow
from gpupanel.ui.widgets.table_view import TableView
from tests.ui.values import DATA
from tests.unit.trainer.image_folders import make_images

pytestmark = pytest.mark.usefixtures("undressed")


@pytest.fixture
def panel(qtbot: QtBot) -> DataPanel:
    panel = DataPanel()
    qtbot.addWidget(panel)
    panel.resize(430, 600)
    return panel


def _choose(panel: DataPanel, source: str) -> None:
    box = panel.findChild(QComboBox, "dataset_selector")
    box.setCurrentIndex(box.findData(source))


def _named(panel: QWidget, kind: type[QWidget], name: str) -> QWidget:
    return next(
        each
        for each in panel.findChildren(kind)
        if each.accessibleName() == name and each.isVisibleTo(panel)
    )


def _state(panel: DataPanel) -> str:
    return panel.findChild(QLabel, "preview_state").text()


def _image(label: str, value: int, size: int = 4) -> ExamplePreview:
    pixels = base64.b64encode(bytes([value]) * size * size).decode()
    return ExamplePreview(label=label, pixels_base64=pixels, width=size, height=size, channels=1)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=DATA)
def test_that_every_value_comes_back_unchanged_and_unannounced(panel, value):
    heard = []
    panel.valueChanged.connect(heard.append)
    panel.setValue(value)
    assert panel.value() == value
    assert heard == []


def test_that_data_sets_have_human_names(panel):
    box = panel.findChild(QComboBox, "dataset_selector")
    names = [box.itemText(index) for index in range(box.count())]
    assert "MNIST: handwritten digits, 28x28" in names
    assert names[:7] == [
        "Folder of images…",
        "Table (.csv, .parquet)…",
        "Texts (folders, .csv)…",
        "NumPy arrays (.npz, .npy)…",
        "TFRecord files…",
        "TensorFlow Datasets…",
        "Python code…",
    ]
    assert len(names) == 17


def test_that_choosing_a_data_set_reports_once_and_validates_on_its_own_test_set(panel):
    heard = []
    panel.valueChanged.connect(heard.append)
    _choose(panel, "mnist")
    assert heard == [KerasData(source="mnist")]
    assert _named(panel, QComboBox, "Validation").currentText() == "Own test set"


def test_that_a_source_without_a_test_set_starts_with_a_part_held_out(panel):
    _choose(panel, "images")
    assert panel.value() == ImagesData(path="", validation_fraction=0.2)


def test_that_each_source_keeps_what_was_typed_for_it(panel, qtbot):
    _choose(panel, "npz")
    arrays = (Choice("pictures", "images: 6 x 2, float32"), Choice("y", "y: 6, int64"))
    panel.setPreview(DataPreview(offers={"features": arrays}))
    features = _named(panel, OptionalChoiceBox, "Examples array").findChild(QComboBox)
    features.setCurrentIndex(features.findData("pictures"))
    _choose(panel, "digits")
    assert panel.value() == DigitsData(validation_fraction=0.2)
    _choose(panel, "npz")
    assert panel.value().features == "pictures"


def test_that_order_and_cache_carry_over_to_a_new_source(panel):
    _named(panel, FoldButton, "Advanced").click()
    _named(panel, QCheckBox, "Shuffle each epoch").click()
    _choose(panel, "npz")
    assert panel.value().shuffle is False


@pytest.mark.parametrize(
    ("choice", "fraction"), [("Own test set", None), ("Hold out", 0.2), ("None", 0.0)]
)
def test_that_validation_is_chosen_in_words(panel, choice, fraction):
    panel.setValue(KerasData(source="mnist", validation_fraction=0.2))
    box = _named(panel, QComboBox, "Validation")
    box.setCurrentIndex(box.findText(choice))
    assert panel.value().validation_fraction == fraction


def test_that_the_percentage_held_out_can_be_typed(panel, qtbot):
    part = _named(panel, RealSpinBox, "Percent held out for validation")
    part.selectAll()
    qtbot.keyClicks(part, "10")
    assert panel.value().validation_fraction == 0.1
    part.selectAll()
    qtbot.keyClicks(part, "150")
    assert panel.value().validation_fraction == 0.15


def test_that_the_image_size_is_height_and_width(panel):
    panel.setValue(ImagesData(path="/pictures"))
    _named(panel, Counter, "Image size: width").stepUp()
    assert panel.value().image_size == (64, 65)


def test_that_the_number_of_classes_is_left_to_the_labels_at_zero(panel):
    panel.setValue(NpzData(path="a.npz", class_count=1))
    classes = _named(panel, Counter, "Classes")
    classes.stepDown()
    assert panel.value().class_count is None
    assert classes.text() == "automatic"


def test_that_the_number_of_classes_is_typed_digit_by_digit(panel, qtbot):
    panel.setValue(NpzData(path="a.npz", class_count=10))
    line = _named(panel, Counter, "Classes").lineEdit()
    line.setCursorPosition(1)
    qtbot.keyClick(line, Qt.Key.Key_Backspace)
    qtbot.keyClicks(line, "2")
    assert panel.value().class_count == 20


def test_that_a_typed_path_is_reported_at_each_keystroke(panel, qtbot):
    _choose(panel, "npz")
    path = next(each for each in panel.findChildren(PathEdit) if each.isVisibleTo(panel))
    qtbot.keyClicks(path.findChild(QLineEdit), "a.npz")
    assert panel.value().path == "a.npz"


def _drop(panel: DataPanel, *paths: Path) -> bool:
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    buttons = (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    enter = QDragEnterEvent(panel.rect().center(), Qt.DropAction.CopyAction, dropped, *buttons)
    QApplication.sendEvent(panel, enter)
    if enter.isAccepted():
        drop = QDropEvent(
            QPointF(panel.rect().center()), Qt.DropAction.CopyAction, dropped, *buttons
        )
        QApplication.sendEvent(panel, drop)
    return enter.isAccepted()


def test_that_a_dropped_npz_file_becomes_the_source(panel, tmp_path):
    heard = []
    panel.valueChanged.connect(heard.append)
    assert _drop(panel, tmp_path / "mine.npz")
    assert heard == [NpzData(path=str(tmp_path / "mine.npz"), validation_fraction=0.2)]


def test_that_a_dropped_file_of_records_becomes_the_source(panel, tmp_path):
    (tmp_path / "mine.TFRecord").touch()
    assert _drop(panel, tmp_path / "mine.TFRecord")
    assert panel.value().source == "tfrecord"
    assert panel.value().path == str(tmp_path / "mine.TFRecord")


def test_that_features_of_records_are_mapped_by_mouse(panel):
    panel.setValue(TfrecordData(path="/r.tfrecord"))
    choices = tuple(Choice(name, f"{name}: float, 4") for name in ("a", "b"))
    offers = dict.fromkeys(("features", "labels", "shape_features"), choices)
    panel.setPreview(DataPreview(offers=offers, found={"features": "a", "labels": "b"}))
    for key, title in (("features", "Examples feature"), ("labels", "Labels feature")):
        box = _named(panel, OptionalChoiceBox, title)
        combo = box if isinstance(box, QComboBox) else box.findChild(QComboBox)
        shown = [combo.itemText(place) for place in range(combo.count())]
        assert "b: float, 4" in shown
        combo.setCurrentIndex(shown.index("b: float, 4"))
        assert getattr(panel.value(), key) == "b"


def test_that_a_dropped_folder_becomes_a_folder_of_images(panel, tmp_path):
    assert _drop(panel, tmp_path)
    assert panel.value() == ImagesData(path=str(tmp_path), validation_fraction=0.2)


def test_that_a_drop_keeps_what_was_typed_for_its_source(panel, tmp_path):
    panel.setValue(NpzData(path="", features="pictures"))
    _choose(panel, "digits")
    assert _drop(panel, tmp_path / "mine.npz")
    assert panel.value() == NpzData(path=str(tmp_path / "mine.npz"), features="pictures")


def test_that_dropped_images_become_files_to_predict_on(panel, tmp_path):
    panel.setValue(
        ImagesData(path="/before", labels_csv="l.csv", validation_path="/v", image_size=(8, 9))
    )
    for folder in ("a", "b"):
        make_images(tmp_path / folder, {"1.png": 7})
    (tmp_path / "notes.txt").write_text("")
    assert _drop(panel, tmp_path / "a/1.png", tmp_path / "notes.txt", tmp_path / "b/1.png")
    dropped = panel.value()
    assert dropped == ImagesData(
        path=str(tmp_path), files=("a/1.png", "notes.txt", "b/1.png"), image_size=(8, 9)
    )
    files = _named(panel, FilesEdit, "Only these images")
    assert files.text() == "3: a/1.png, notes.txt, b/1.png"
    assert not _named(panel, PathEdit, "Labels in a CSV").isEnabled()
    assert _drop(panel, tmp_path / "a/1.png")
    assert panel.value().files == ("1.png",)
    assert panel.value().path == str(tmp_path / "a")
    assert _drop(panel, tmp_path)
    assert panel.value() == ImagesData(path=str(tmp_path), image_size=(8, 9))


def test_that_a_dropped_image_whose_name_is_no_utf8_is_found(panel, tmp_path):
    make_images(tmp_path, {"caf\udce9.png": 7})
    dropped = QMimeData()
    place = urllib.parse.quote(os.fsencode(tmp_path / "caf\udce9.png"))
    dropped.setUrls([QUrl.fromEncoded(f"file://{place}".encode())])
    assert local_paths(dropped) == (str(tmp_path / "caf\udce9.png"),)
    panel.setValue(ImagesData(path="").with_files(local_paths(dropped)))
    assert panel.value().files == (r"caf\xe9.png",)


def test_that_files_are_chosen_by_mouse_and_all_of_the_folder_again(panel):
    panel.setValue(ImagesData(path="/before"))
    files = panel.findChild(FilesEdit)
    browse, all_of_it = files.findChildren(QPushButton)
    assert all_of_it.isHidden()
    browse.click()
    dialog = files.findChild(QFileDialog)
    assert "*.png" in dialog.nameFilters()[0]
    assert dialog.fileMode() is QFileDialog.FileMode.ExistingFiles
    dialog.filesSelected.emit(["/p/1.png", "/p/2.png"])
    dialog.reject()
    assert panel.value() == ImagesData(path="/p", files=("1.png", "2.png"))
    all_of_it.click()
    assert panel.value() == ImagesData(path="/p")


def test_that_other_drops_are_left_to_the_window(panel, tmp_path):
    assert not _drop(panel, tmp_path / "profile.toml")
    assert not _drop(panel, tmp_path / "a.npz", tmp_path / "b.npz")
    assert panel.value() == DigitsData(validation_fraction=0.2)


def test_that_a_preview_is_shown_in_words(panel):
    panel.setPreview(
        DataPreview(
            example_count=60_000,
            validation_example_count=5_000,
            test_example_count=10_000,
            feature_shape=(28, 28, 1),
            class_counts=(("0", 30_000), ("1", 30_000)),
        )
    )
    assert _state(panel) == (
        "60,000 examples of 28 x 28 x 1, 2 classes, 5,000 validation examples, "
        "10,000 test examples."
    )


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (
            {"inputs": {"picture": (8, 8, 3), "ro\u202ew": (4,)}},
            "3 examples of picture 8 x 8 x 3, ro\\u202ew 4, 2 classes.",
        ),
        (
            {"arrays_of": "classes", "label_shape": (8, 8)},
            "3 examples of 8 x 8, arrays of 8 x 8 are predicted.",
        ),
        (
            {"arrays_of": "values", "label_shape": (65,), "outputs": ("mask", "size")},
            "3 examples of 8 x 8, the outputs mask, size are predicted.",
        ),
        (
            {"arrays_of": "values", "label_shape": (65,), "outputs": ("mask",)},
            "3 examples of 8 x 8, the output mask is predicted.",
        ),
        (
            {"arrays_of": "values", "label_shape": (8, 8), "learns_inputs": True},
            "3 examples of 8 x 8, each of which is predicted itself.",
        ),
    ],
)
def test_that_what_examples_are_made_of_is_said(panel, form, words):
    counts = (("0", 2), ("1", 1))
    seen = {"example_count": 3, "feature_shape": (8, 8), "class_counts": counts, "form": form}
    panel.setPreview(DataPreview.model_validate(seen))
    assert _state(panel) == words


def test_that_arrays_are_named_as_inputs_and_outputs(panel):
    panel.setValue(NpzData(path="a.npz", inputs=("picture",), outputs={"mask": "classes"}))
    arrays = (Choice("picture", "picture: 6 x 2, float32"), Choice("row", "row: 6, int64"))
    panel.setPreview(DataPreview(offers={"inputs": arrays}))
    heard = []
    panel.valueChanged.connect(heard.append)

    outputs = _named(panel, NamedChoicesEdit, "Output arrays")
    assert outputs.text() == "mask: classes"
    outputs.setText("mask: classes, size: values")
    outputs.textEdited.emit(outputs.text())
    assert heard[-1].outputs == {"mask": Target.CLASSES, "size": Target.VALUES}
    menu = _named(panel, NameChoices, "Input arrays").findChild(QPushButton).menu()
    menu.aboutToShow.emit()
    next(each for each in menu.actions() if "row" in each.text()).trigger()
    assert heard[-1].inputs == ("picture", "row")
    # What is of one array means nothing now.
    for name in ("Examples array", "Labels array", "Predicted"):
        assert not _named(panel, OptionalChoiceBox, name).isEnabled()


def test_that_sets_that_were_found_are_named(panel):
    found = {"path": "/i/train", "validation_path": "/i/va\u202el", "predicts": "classes"}
    panel.setPreview(DataPreview(example_count=3, feature_shape=(8, 8, 3), found=found))
    assert _state(panel).endswith(r" Sets found in the folder: train, va\u202el.")


def test_that_examples_are_painted_with_crisp_pixels(panel, qtbot):
    panel.setPreview(
        DataPreview(example_count=2, examples=(_image("zero", 37), _image("one", 203)))
    )
    panel.show()
    qtbot.waitExposed(panel)
    view = panel.findChild(ExamplesView)
    image = view.grab().toImage()
    assert image.pixelColor(32, 32) == QColor(37, 37, 37)
    assert image.pixelColor(64 + 8 + 32, 32) == QColor(203, 203, 203)
    assert view.shown_count() == 2


def test_that_augmented_images_stand_in_as_many_rows_as_they_need(panel, qtbot):
    examples = tuple(
        ExamplePreview(label=str(n), pixels_base64="AAAA", width=1, height=1, channels=3)
        for n in range(8)
    )
    panel.setPreview(DataPreview(example_count=8, examples=examples, augmented=examples))
    panel.resize(900, 1200)
    with qtbot.waitExposed(panel):
        panel.show()
    view = next(
        each
        for each in panel.findChildren(ExamplesView)
        if each.accessibleName() == "Augmented examples of the data"
    )
    assert view.shown_count() == 8
    qtbot.waitUntil(lambda: view.height() == view.heightForWidth(view.width()))
    wide = view.height()
    panel.resize(400, 1200)
    qtbot.waitUntil(lambda: view.height() == view.heightForWidth(view.width()) > wide)
    assert view.shown_count() == 8
    panel.setPreview(DataPreview(example_count=8, examples=examples))
    assert view.isHidden()


def test_that_a_image_that_is_cut_short_is_not_painted_from_foreign_memory(panel, qtbot):
    short = _image("zero", 37).model_copy(update={"height": 5})
    panel.setPreview(DataPreview(example_count=2, examples=(short, _image("one", 203))))
    panel.show()
    qtbot.waitExposed(panel)
    image = panel.findChild(ExamplesView).grab().toImage()
    assert image.pixelColor(32, 20) == theme.current().color("raised")
    assert image.pixelColor(64 + 8 + 32, 32) == QColor(203, 203, 203)


def test_that_examples_without_images_are_shown_as_values(panel, qtbot):
    example = ExamplePreview(label="15.2", text="1.0, 2.0")
    panel.setPreview(
        DataPreview(
            example_count=9, feature_shape=(2,), target=Target.VALUES, examples=(example,) * 9
        )
    )
    panel.show()
    qtbot.waitExposed(panel)
    assert panel.findChild(ExamplesView).shown_count() == 6
    assert _state(panel) == "9 examples of 2, a value is predicted."


@pytest.mark.parametrize("class_count", [3, 10, 100])
def test_that_classes_are_counted_for_any_number_of_them(panel, qtbot, class_count):
    counts = tuple((f"class {index}", index + 1) for index in range(class_count))
    panel.setPreview(DataPreview(example_count=9, class_counts=counts))
    panel.show()
    qtbot.waitExposed(panel)
    view = panel.findChild(ClassCountsView)
    assert view.isVisible()
    assert view.height() == view.heightForWidth(view.width()) > 0
    assert "class 2: 3" in view.accessibleDescription()


def test_that_all_classes_are_seen_where_two_columns_of_them_have_no_room(qtbot):
    view = PreviewView()
    qtbot.addWidget(view)
    counts = tuple((f"class {index}", index + 1) for index in range(10))
    view.setPreview(DataPreview(example_count=9, class_counts=counts))
    view.resize(400, 900)
    with qtbot.waitExposed(view):
        view.show()
    bars = view.findChild(ClassCountsView)
    qtbot.waitUntil(lambda: bars.height() == bars.heightForWidth(400))
    view.resize(356, 900)
    qtbot.waitUntil(lambda: bars.height() == bars.heightForWidth(356) > bars.heightForWidth(400))


def test_that_the_states_are_shown_in_words(panel):
    assert "appear here" in _state(panel)
    panel.setPreviewBusy(True)
    assert _state(panel) == "Reading the data…"
    panel.setPreviewBusy(False)
    panel.setPreview(DataPreview(needs_download=True))
    assert "not on this machine yet" in _state(panel)
    panel.setPreview(DataPreview(needs_start=True))
    assert "executed only by a run" in _state(panel)
    panel.setPreview(DataPreview())
    assert _state(panel) == "The data has no examples."
    panel.setPreview(None)
    assert "appear here" in _state(panel)


def test_that_problems_of_the_data_are_shown_once_and_go_when_they_are_corrected(panel):
    problem = Problem(code="npz_missing", message="The file is not there.", hint="Choose another.")
    panel.setValue(NpzData(path="/there.npz"))
    panel.setPreview(DataPreview(problems=(problem,)))
    assert "cannot be shown" in _state(panel)
    # The session has it: it stands beside its setting, and with its fix in the plan.
    panel.setProblems((problem,))
    assert _rows(panel) == []
    # What does not matter to the session is said here only.
    panel.setProblems(())
    assert _rows(panel) == [problem]
    panel.setPreview(DataPreview(example_count=1))
    assert _rows(panel) == []


def test_that_nothing_is_said_to_be_wrong_while_no_data_is_chosen(panel):
    panel.setValue(NpzData(path=""))
    panel.setPreview(DataPreview(problems=(Problem(code="npz_missing", message="No file."),)))
    panel.setProblems(())
    assert _rows(panel) == []
    assert "once the data is chosen" in _state(panel)


def _rows(panel):
    return [row.problem() for row in panel.findChildren(ProblemRow) if row.isVisibleTo(panel)]


def test_that_it_fits_a_narrow_column(panel):
    for value in (KerasData(source="mnist"), ImagesData(path="x"), NpzData(path="x")):
        panel.setValue(value)
        assert panel.minimumSizeHint().width() <= 388


def test_that_a_path_chosen_with_the_button_is_reported_once(panel, qtbot, tmp_path):
    _choose(panel, "npz")
    heard = []
    panel.valueChanged.connect(heard.append)
    path = next(each for each in panel.findChildren(PathEdit) if each.isVisibleTo(panel))
    qtbot.mouseClick(path.findChild(QPushButton), Qt.MouseButton.LeftButton)
    dialog = path.findChild(QFileDialog)
    assert dialog.fileMode() is QFileDialog.FileMode.ExistingFile
    dialog.fileSelected.emit(str(tmp_path / "a.npz"))
    dialog.reject()
    assert [value.path for value in heard] == [str(tmp_path / "a.npz")]


@pytest.mark.parametrize(
    ("place", "mode"),
    [(0, QFileDialog.FileMode.ExistingFile), (1, QFileDialog.FileMode.Directory)],
)
def test_that_texts_may_be_a_file_or_a_folder(panel, tmp_path, place, mode):
    _choose(panel, "text")
    heard = []
    panel.valueChanged.connect(heard.append)
    path = next(each for each in panel.findChildren(PathEdit) if each.isVisibleTo(panel))
    path.findChild(QPushButton).menu().actions()[place].trigger()
    dialog = path.findChild(QFileDialog)
    assert dialog.fileMode() is mode
    dialog.fileSelected.emit(str(tmp_path / "texts"))
    dialog.reject()
    assert [value.path for value in heard] == [str(tmp_path / "texts")]


def test_that_a_dropped_table_is_a_table_though_texts_may_be_one(panel, tmp_path):
    (tmp_path / "mine.csv").touch()
    assert _drop(panel, tmp_path / "mine.csv")
    assert panel.value().source == "table"


def test_that_lengths_of_texts_and_what_the_vocabulary_knows_are_drawn(panel, qtbot):
    texts = TextsPreview(
        lengths=((10, 5), (20, 9), (30, 2)),
        cut_share=0.125,
        known_share=0.983,
        word_count=4000,
        known_count=1998,
    )
    panel.setValue(TextData(path="/texts", length=20))
    view = panel.findChild(TextLengthsView)
    assert not view.isVisibleTo(panel)
    shown = DataPreview(example_count=16, feature_shape=(20,), texts=texts)
    panel.setPreview(shown)
    assert view.isVisibleTo(panel)
    assert "16 texts of 20 words" in _state(panel)
    said = view.findChild(QLabel, "text_lengths_note").text()
    assert "12.5% of the texts have more than 20 words" in said
    assert "1,998 of 4,000 different words: 98.3%" in said
    bars = next(each for each in view.findChildren(QWidget) if each.accessibleName())
    image = bars.grab().toImage()
    accent, muted = (theme.current().color(name).rgb() for name in ("accent", "muted"))
    middles = [int(image.width() * part / 6) for part in (1, 3, 5)]
    tops = [next(y for y in range(56) if image.pixel(x, y) in (accent, muted)) for x in middles]
    assert tops[1] == 0
    assert tops[1] < tops[0] < tops[2]
    # Those of the last bar are cut.
    assert [image.pixel(x, 55) for x in middles] == [accent, accent, muted]
    panel.setPreview(shown.model_copy(update={"texts": None}))
    assert not view.isVisibleTo(panel)


def test_that_a_problem_leads_to_the_path_of_the_source_that_is_chosen(panel):
    for source in ("npz", "images"):
        _choose(panel, source)
        target = panel.focus_editor("data.path")
        assert isinstance(target, PathEdit)
        assert target.isVisibleTo(panel)
    _choose(panel, "digits")
    assert panel.focus_editor("data.path").objectName() == "dataset_selector"


def test_that_the_fraction_held_out_is_shown_as_percent(panel):
    panel.setValue(DigitsData(validation_fraction=0.15))
    percent = _named(panel, RealSpinBox, "Percent held out for validation")
    assert percent.text() == "15 %"
    percent.stepBy(1)
    assert percent.text() == "20 %"
    assert panel.value().validation_fraction == 0.2


def test_that_arrays_that_were_found_are_offered_with_their_shapes(panel, qtbot):
    panel.setValue(NpzData(path="a.npz"))
    arrays = (Choice("x_train", "x_train: 6 x 2, float32"), Choice("y_train", "y_train: 6, int64"))
    offers = {"features": arrays, "labels": arrays}
    found = {"features": "x_train", "labels": "y_train", "predicts": "values"}
    heard = []
    panel.valueChanged.connect(heard.append)
    panel.setPreview(DataPreview(offers=offers, found=found, target=Target.VALUES))

    features, labels, predicted = (
        _named(panel, OptionalChoiceBox, name).findChild(QComboBox)
        for name in ("Examples array", "Labels array", "Predicted")
    )
    assert features.currentText() == "Automatic: x_train: 6 x 2, float32"
    assert labels.currentText() == "Automatic: y_train: 6, int64"
    assert predicted.currentText() == "Automatic: A value"
    assert [features.itemData(row) for row in range(3)] == ["", "x_train", "y_train"]
    assert heard == []

    features.setCurrentIndex(2)
    assert heard == [NpzData(path="a.npz", features="y_train")]
    panel.setPreview(None)
    assert panel.value().features == "y_train"
    assert features.currentText() == "y_train"
    panel.setPreview(DataPreview(offers={"features": arrays[:1]}))
    assert features.currentText() == "y_train (not found)"
    features.setCurrentIndex(0)
    assert panel.value().features is None


def test_that_a_tables_target_is_chosen_from_what_was_found_and_its_columns_are_shown(panel):
    heard = []
    panel.valueChanged.connect(heard.append)
    panel.setValue(TableData(path="t.csv"))
    columns = (Choice("x", "x: number"), Choice("y", "y: category"))
    previews = (
        ColumnPreview(name="x", holds="number", use="feature", detail="standardised", missing=3),
        ColumnPreview(name="y", holds="category", use="target", detail="predicted"),
    )
    found = {"target": ("y",), "delimiter": ";", "decimal": ",", "encoding": "cp1252"}
    panel.setPreview(
        DataPreview(example_count=2, offers={"target": columns}, found=found, columns=previews)
    )
    state = panel.findChild(QLabel, "preview_state").text()
    assert state.endswith(" The file is cp1252 with “;” between cells and “,” before decimals.")
    chooser = next(each for each in panel.findChildren(NameChoices) if "y" in each.text())
    assert chooser.text() == "Automatic: y"
    menu = chooser.findChild(QPushButton).menu()
    menu.aboutToShow.emit()
    next(action for action in menu.actions() if action.text() == "x: number").trigger()
    assert heard == [TableData(path="t.csv", target="x")]
    table = panel.findChild(TableView, "table_columns")
    cells = [[table.model().index(row, column).data() for column in range(4)] for row in range(2)]
    assert cells == [
        ["x", "number", "3", "standardised"],
        ["y", "category", "", "predicted"],
    ]


def test_that_the_columns_of_a_csv_of_images_are_said_and_can_be_chosen(panel):
    heard = []
    panel.valueChanged.connect(heard.append)
    panel.setValue(ImagesData(path="/i", labels_csv="l.csv"))
    columns = tuple(Choice(name, name) for name in ("image_id", "dx", "age"))
    found = {"file_column": "image_id", "label_columns": "dx"}
    offers = {"file_column": columns, "label_columns": columns[1:]}
    panel.setPreview(DataPreview(example_count=2, offers=offers, found=found))
    state = panel.findChild(QLabel, "preview_state").text()
    assert state.endswith(" Column “image_id” names the images; “dx” is predicted.")
    chooser = next(each for each in panel.findChildren(NameChoices) if "dx" in each.text())
    menu = chooser.findChild(QPushButton).menu()
    menu.aboutToShow.emit()
    next(action for action in menu.actions() if action.text() == "age").trigger()
    assert heard == [ImagesData(path="/i", labels_csv="l.csv", label_columns="age")]
