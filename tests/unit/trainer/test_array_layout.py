"""Which arrays are examples and labels, found by what people call them."""

import pytest

from gpupanel.trainer.datasets.arrays.layout import (
    AmbiguousArraysError,
    ArrayLayout,
    Part,
    find_layout,
)

ROWS, LABELS = (60, 4), (60,)


@pytest.mark.parametrize(
    ("names", "layout"),
    [
        ("x y", "x y"),
        ("X Y", "X Y"),
        ("y x", "x y"),
        ("x_train y_train x_test y_test", "x_train y_train x_test y_test"),
        ("xtrain ytrain xtest ytest", "xtrain ytrain xtest ytest"),
        ("trainX trainY testX testY", "trainX trainY testX testY"),
        (
            "X_train Y_train X_test Y_test X_val Y_val",
            "X_train Y_train X_test Y_test X_val Y_val",
        ),
        ("images labels", "images labels"),
        (
            "train_images train_labels test_images test_labels",
            "train_images train_labels test_images test_labels",
        ),
        (
            "training-data training-targets testing-data testing-targets",
            "training-data training-targets testing-data testing-targets",
        ),
        ("features target", "features target"),
        ("arr_0 arr_1", "arr_0 arr_1"),
        ("cats_x cats_y", "cats_x cats_y"),
        ("inputs outputs notes", "inputs outputs"),
        ("x_train y_train x_test", "x_train y_train"),
        ("x y x_test y_test", "x y x_test y_test"),
        ("data class_labels", "data class_labels"),
    ],
)
def test_that_usual_names_are_found(names: str, layout: str) -> None:
    each = dict.fromkeys(names.split(), ROWS)

    assert find_layout(each, ArrayLayout()) == ArrayLayout(*layout.split())


def test_that_of_two_without_usual_names_the_one_with_more_axes_are_examples() -> None:
    assert find_layout({"a": LABELS, "b": ROWS}, ArrayLayout()) == ArrayLayout("b", "a")


@pytest.mark.parametrize(
    ("there", "wanted"),
    [
        ({"a": ROWS, "b": ROWS}, "features"),
        ({"a": ROWS, "b": (59,)}, "features"),
        ({"a": ROWS, "b": ROWS, "c": LABELS}, "features"),
        ({"x": ROWS, "images": ROWS, "y": LABELS}, "features"),
        ({"x": ROWS, "x_train": ROWS, "y": LABELS}, "features"),
        ({"arr_0": ROWS, "arr_1": ROWS, "arr_2": LABELS}, "features"),
        ({}, "features"),
        ({"x": ROWS}, "labels"),
        ({"x": ROWS, "y": LABELS, "labels": LABELS}, "labels"),
        ({"x": ROWS, "y_test": LABELS}, "labels"),
    ],
)
def test_that_names_that_do_not_show_it_are_ambiguous(
    there: dict[str, tuple[int, ...]], wanted: str
) -> None:
    with pytest.raises(AmbiguousArraysError) as caught:
        find_layout(there, ArrayLayout())
    assert caught.value.wanted == wanted


def test_that_what_was_chosen_is_taken_and_the_rest_found_beside_it() -> None:
    there = dict.fromkeys(("x", "x_train", "y", "y_train", "x_test", "y_test", "other"), ROWS)

    assert find_layout(there, ArrayLayout("x_train")) == ArrayLayout(
        "x_train", "y_train", "x_test", "y_test"
    )
    assert find_layout(there, ArrayLayout("x_test")) == ArrayLayout("x_test", "y_test")
    assert find_layout(there, ArrayLayout("x_train", "other")).labels == "other"
    chosen = find_layout(there, ArrayLayout("x", "y", "other", "y_train"))
    assert chosen == ArrayLayout("x", "y", "other", "y_train")


def test_that_labels_need_not_be_there_where_nobody_needs_them() -> None:
    assert find_layout({"x": ROWS}, ArrayLayout(), needs_labels=False) == ArrayLayout("x")
    assert find_layout({"a": ROWS}, ArrayLayout(), needs_labels=False) == ArrayLayout("a")


@pytest.mark.parametrize(
    "names", ["x y", "x_val y_val", "valX valY", "x_train x_val y_train y_val"]
)
def test_that_a_file_of_a_set_may_call_its_arrays_by_the_set(names: str) -> None:
    each = dict.fromkeys(names.split(), ROWS)

    layout = find_layout(each, ArrayLayout(), Part.VALIDATION)

    features, labels = (name for name in names.split() if "train" not in name)
    assert (layout.features, layout.labels) == (features, labels)
