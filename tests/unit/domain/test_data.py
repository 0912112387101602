"""What others ask about a source of data."""

from typing import get_args

import pytest

from gpupanel.domain.data import (
    Axes,
    DataSettings,
    DigitsData,
    ImagesData,
    KerasData,
    NpzData,
    PythonData,
    Scaling,
    TableData,
    Target,
    TextData,
    TfdsData,
    TfrecordData,
    WineData,
)
from gpupanel.domain.keras_data import KERAS_FILES, KerasDataName
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile, parse_profile

DIGITS, NPZ, IMAGES = DigitsData(), NpzData(path="/x.npz"), ImagesData(path="/images")
PYTHON = PythonData(path="/data.py")


@pytest.mark.parametrize(
    ("data", "axes", "has_images", "scaling"),
    [
        (DIGITS, 2, True, Scaling.DIVIDE),
        (WineData(), 1, False, Scaling.STANDARDISE),
        (KerasData(source="mnist"), 2, True, Scaling.DIVIDE),
        (KerasData(source="cifar100"), 3, True, Scaling.DIVIDE),
        (KerasData(source="reuters"), 1, False, Scaling.NONE),
        (KerasData(source="california_housing"), 1, False, Scaling.STANDARDISE),
        (NPZ, None, None, None),
        (IMAGES, 3, True, Scaling.DIVIDE),
        (PYTHON, None, None, None),
        (TfrecordData(path="/t"), None, None, None),
        (TfdsData(name="mnist"), None, None, None),
        (TextData(path="/t"), 1, False, Scaling.NONE),
    ],
)
def test_that_it_is_known_what_the_examples_are_like(
    data: DataSettings, axes: int | None, has_images: bool | None, scaling: Scaling | None
) -> None:
    assert (data.example_axes, data.has_images, data.scaling) == (axes, has_images, scaling)


@pytest.mark.parametrize(
    ("data", "has_test_set", "may_validate", "may_test"),
    [
        (DIGITS, False, False, False),
        (KerasData(source="imdb"), True, True, False),
        (KerasData(source="imdb", validation_fraction=0.0), True, False, True),
        (NPZ, None, True, False),
        (IMAGES, False, False, False),
        (PYTHON, None, True, False),
        (PythonData(path="", validation_fraction=0.5), None, False, True),
        (ImagesData(path="/i", test_path="/t"), False, False, True),
        (TfrecordData(path="/r"), False, False, False),
        (TfrecordData(path="/r", test_path="/t"), False, False, True),
        (TfdsData(name="a"), False, False, False),
        (TfdsData(name="a", validation_split="b", test_split="c"), False, False, True),
        (TfdsData(name="a", validation_split="none", test_split="none"), False, False, False),
        (ImagesData(path="/i", validation_path="/v"), False, False, False),
    ],
)
def test_that_a_test_set_validates_where_no_fraction_is_given_and_else_is_left_for_the_end(
    data: DataSettings, has_test_set: bool | None, may_validate: bool, may_test: bool
) -> None:
    assert data.has_test_set is has_test_set
    assert data.may_validate_on_test_set is may_validate
    assert data.may_test is may_test


@pytest.mark.parametrize(
    ("data", "path", "described"),
    [
        (DIGITS, None, "the bundled digits"),
        (WineData(), None, "the bundled wines"),
        (KerasData(source="imdb"), None, 'the data set "imdb"'),
        (NPZ, "/x.npz", "/x.npz"),
        (IMAGES, "/images", "/images"),
        (PYTHON, "/data.py", "what load() of /data.py gives"),
        (TfdsData(name="mnist"), "mnist", 'the data set "mnist"'),
    ],
)
def test_that_it_is_known_where_the_data_is(
    data: DataSettings, path: str | None, described: str
) -> None:
    assert data.chosen_path == (path or "")
    assert (data.path_setting is None) == (path is None)
    assert data.described == described
    assert not data.lacks_path


def test_that_a_validation_set_validates_instead_of_a_part_that_is_held_out() -> None:
    beside = ImagesData(path="/i", validation_path="/v", validation_fraction=0.2)
    assert (beside.chosen_validation_path, beside.chosen_test_path) == ("/v", "")
    assert (beside.held_out_fraction, beside.may_validate) == (0.0, True)
    tested = ImagesData(path="/i", test_path="/t", validation_fraction=0.2)
    assert (tested.chosen_validation_path, tested.chosen_test_path) == ("", "/t")
    assert (tested.held_out_fraction, tested.may_validate) == (0.2, True)
    assert tested.chosen_paths == {"path": "/i", "test_path": "/t"}
    assert (IMAGES.held_out_fraction, IMAGES.may_validate) == (0.0, False)
    assert KerasData(source="imdb").may_validate


def test_that_a_csv_of_labels_decides_what_images_are() -> None:
    csv = ImagesData(path="/i", labels_csv="labels.csv", find_sets=False)
    assert (IMAGES.target_kind, csv.target_kind) == (Target.CLASSES, None)
    assert csv.model_copy(update={"predicts": Target.VALUES}).target_kind is Target.VALUES
    assert (IMAGES.is_in_class_order, csv.is_in_class_order) == (True, False)
    assert not DIGITS.is_in_class_order
    assert (csv.path_before("labels_csv"), csv.path_before("path")) == ("/i", "")
    assert csv.path_before("find_sets") == ""


def test_that_sets_and_what_a_csv_holds_are_to_be_found() -> None:
    fixed = {"path": "/i", "find_sets": False}
    assert IMAGES.needs_detection
    assert not ImagesData(**fixed).needs_detection
    assert ImagesData(labels_csv="l.csv", **fixed).needs_detection
    said = {"labels_csv": "l.csv", "predicts": "labels", "label_columns": ["a", "b"], **fixed}
    assert ImagesData(**said).needs_detection
    chosen = ImagesData(file_column="file", **said)
    assert (chosen.chosen_labels, chosen.needs_detection) == (("a", "b"), False)
    alone = ImagesData(files=("a.png",), labels_csv="l.csv", predicts="labels", path="/i")
    assert not alone.needs_detection
    assert not ImagesData(path="").needs_detection


def test_that_a_path_that_was_not_chosen_is_lacking() -> None:
    assert NpzData(path="").lacks_path


def test_that_only_what_a_setting_says_is_known_before_the_data_is_read() -> None:
    assert ImagesData(path="", image_size=(3, 4)).chosen_shape == (3, 4, 3)
    assert ImagesData(path="", color="grayscale").chosen_shape == (64, 64, 1)
    assert (DIGITS.chosen_shape, DIGITS.chosen_class_count) == ((), None)
    assert not DIGITS.counts_classes_by_labels
    assert NPZ.counts_classes_by_labels
    counted = NpzData(path="", class_count=3)
    assert (counted.chosen_class_count, counted.counts_classes_by_labels) == (3, False)


def test_that_each_data_set_of_keras_is_downloaded_and_nothing_else_is() -> None:
    names: tuple[KerasDataName, ...] = get_args(KerasDataName)
    assert {name: KerasData(source=name).downloads for name in names} == KERAS_FILES
    assert not any(data.downloads for data in (DIGITS, NPZ, IMAGES, PYTHON))


def test_that_values_are_predicted_where_the_source_or_a_setting_says_so() -> None:
    values = [KerasData(source="boston_housing"), PythonData(path="", predicts=Target.VALUES)]
    assert [data.target_kind for data in values] == [Target.VALUES] * 2
    assert {data.target_kind for data in (DIGITS, IMAGES, PYTHON)} == {Target.CLASSES}
    assert NPZ.target_kind is None
    assert NpzData(path="", predicts=Target.LABELS).target_kind is Target.LABELS


def test_that_arrays_leave_something_to_be_found_until_all_is_chosen() -> None:
    sets = ("features", "labels")
    names = (*sets, *(f"{part}_{name}" for part in ("validation", "test") for name in sets))
    chosen = NpzData(path="/x.npz", predicts=Target.VALUES, **dict.fromkeys(names, "a"))
    assert NPZ.needs_detection
    assert not chosen.needs_detection
    assert chosen.model_copy(update={"labels": None}).needs_detection
    assert not NpzData(path="").needs_detection
    assert not DIGITS.needs_detection


def test_that_features_of_records_are_to_be_found_until_all_is_chosen() -> None:
    chosen = {"features": "x", "labels": "y", "shape_features": "s", "predicts": "values"}
    data = TfrecordData(path="/r", **chosen, find_sets=False)
    assert not data.needs_detection
    assert data.model_copy(update={"find_sets": True}).needs_detection
    assert data.model_copy(update={"labels": None}).needs_detection
    assert not TfrecordData(path="").needs_detection
    assert (data.target_kind, data.counts_classes_by_labels) == (Target.VALUES, True)
    counted = TfrecordData(path="/r", class_count=4)
    assert (counted.chosen_class_count, counted.counts_classes_by_labels) == (4, False)
    shapes = [TfrecordData(path="", shape_features=given) for given in (None, "s", ["h", "w"])]
    assert [each.chosen_shape_features for each in shapes] == [(), ("s",), ("h", "w")]


def test_that_it_is_known_of_texts_how_many_words_there_are_and_count() -> None:
    folder, table = TextData(path="/f", length=9, vocabulary=50), TextData(path="/t.TSV")
    assert (folder.chosen_shape, folder.token_count) == ((9,), 50)
    assert (folder.is_table, folder.is_in_class_order) == (False, True)
    assert (table.is_table, table.is_in_class_order) == (True, False)
    assert (DIGITS.token_count, table.predicts, table.target_kind) == (0, None, None)
    several = [TextData(path="", target=given) for given in (None, ["a"], ["a", "b"])]
    assert [data.targets for data in several] == [(), ("a",), ("a", "b")]


def test_that_a_list_of_one_target_is_that_target_and_one_of_none_is_nothing() -> None:
    several = [TableData(path="", target=given) for given in (None, (), ["a"], "a", ["a", "b"])]
    assert [data.target for data in several] == [None, None, "a", "a", ("a", "b")]
    assert [data.targets for data in several] == [(), (), ("a",), ("a",), ("a", "b")]
    table = TableData(path="", predicts=Target.LABELS)
    assert (table.target_kind, table.scaling) == (Target.LABELS, Scaling.STANDARDISE)
    assert table.has_images is False


def test_that_only_arrays_say_the_order_of_their_axes() -> None:
    said = NpzData(path="/x.npz", axes=Axes.CHANNELS_FIRST)
    assert (said.chosen_axes, said.may_move_axes) == (Axes.CHANNELS_FIRST, True)
    assert (IMAGES.chosen_axes, IMAGES.may_move_axes) == (None, False)


def test_that_classes_can_be_left_out_where_folders_have_their_names() -> None:
    changes = ({"labels_csv": "labels.csv"}, {"files": ("a.png",)})
    others = [IMAGES.model_copy(update=each) for each in changes]
    left_out = IMAGES.model_copy(update={"leave_out": ("unknown",)})
    assert left_out.left_out_classes == ("unknown",)
    assert [each.left_out_classes for each in (*others, NPZ)] == [None] * 3


def test_that_an_autoencoder_is_one_of_one_input_without_outputs() -> None:
    for more, learns in (
        ({}, True),
        ({"inputs": ["a"]}, False),
        ({"outputs": {"a": "values"}}, False),
        ({"autoencoder": False}, False),
    ):
        assert NPZ.model_copy(update={"autoencoder": True, **more}).learns_inputs is learns


def test_that_arrays_by_name_are_written_into_a_profile_and_read_back() -> None:
    data = NpzData(path="/x.npz", inputs=["a", "b"], outputs={"mask": "classes", "size": "values"})
    profile = Profile(data=data)

    assert parse_profile(dump_profile(profile)) == profile
    assert data.outputs == {"mask": Target.CLASSES, "size": Target.VALUES}
    for wrong, words in (
        ("inputs = [" + "'a', " * 33 + "]", "32"),
        ("outputs = { mask = 'numbers' }", "'classes'"),
        ("outputs = ['mask']", 'a table of names, each with one of "classes"'),
    ):
        with pytest.raises(ProblemError) as caught:
            parse_profile(f'[data]\nsource = "npz"\npath = "x.npz"\n{wrong}')
        assert words in str(caught.value)
