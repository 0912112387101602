"""What is trained on and what validates."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpupanel.domain.best_epoch import BestMetric
from gpupanel.domain.data import (
    DigitsData,
    Holdout,
    ImagesData,
    KerasData,
    NpzData,
    WineData,
)
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.datasets.split import Split, check_best_metric, split
from gpupanel.trainer.inference.examples import read_inference_examples
from tests.unit.trainer.test_images import make_folder

NUMBERED = Examples(np.arange(100, dtype=np.float32)[:, None], np.arange(100, dtype=np.int32) % 2)
TEST = Examples(np.zeros((7, 1), np.float32), np.zeros(7, np.int32))

TESTED = KerasData(source="mnist")


def of(fraction: float | None) -> dict[str, float | None]:
    return {"validation_fraction": fraction}


def numbers(examples: Examples | None) -> list[int]:
    assert examples is not None
    return [int(number) for number in examples.read_all()[:, 0]]


def test_that_every_example_is_trained_on_or_validates() -> None:
    parts = split(DataSet(NUMBERED, TEST), DigitsData(validation_fraction=0.2), seed=7)

    assert len(numbers(parts.validation)) == 20
    assert sorted(numbers(parts.training) + numbers(parts.validation)) == list(range(100))


def test_that_the_split_depends_on_the_seed_alone() -> None:
    drawn = DigitsData(validation_fraction=0.2)

    def held_back(seed: int) -> list[int]:
        return numbers(split(DataSet(NUMBERED), drawn, seed).validation)

    assert held_back(7) == held_back(7)
    assert held_back(7) != held_back(8)


@pytest.mark.parametrize(
    ("fraction", "sizes"), [(None, (100, 7, 0)), (0.0, (100, 0, 7)), (0.2, (80, 20, 7))]
)
def test_that_a_test_set_validates_when_no_fraction_is_given_and_else_is_left_for_the_end(
    fraction: float | None, sizes: tuple[int, int, int]
) -> None:
    parts = split(DataSet(NUMBERED, TEST), TESTED.model_copy(update=of(fraction)), seed=7)

    found = (parts.training, parts.validation, parts.test)
    assert tuple(len(part or ()) for part in found) == sizes
    none = split(DataSet(NUMBERED), TESTED.model_copy(update=of(fraction)), seed=7)
    assert none.test is None


@pytest.mark.parametrize(("fraction", "words"), [(0.001, "validate on"), (0.999, "train on")])
def test_that_a_fraction_that_leaves_nothing_is_reported(fraction: float, words: str) -> None:
    with pytest.raises(ProblemError) as caught:
        split(DataSet(NUMBERED), DigitsData(validation_fraction=fraction), seed=7)

    (problem,) = caught.value.problems
    assert (problem.code, problem.field) == (
        "data_validation_fraction",
        "data.validation_fraction",
    )
    assert words in problem.message


VALIDATION = Examples(np.ones((5, 1), np.float32), np.zeros(5, np.int32))


@pytest.mark.parametrize("fraction", [None, 0.0, 0.2])
def test_that_a_validation_set_validates_and_the_test_set_is_left_for_the_end(
    fraction: float | None,
) -> None:
    for chosen in ({"validation_path": "/v"}, {"validation_path": "/v", "test_path": "/t"}):
        images = ImagesData(path="/i", validation_fraction=fraction, **chosen)
        test = TEST if "test_path" in chosen else None
        parts = split(DataSet(NUMBERED, test, validation=VALIDATION), images, seed=7)

        assert (len(parts.training), parts.validation, parts.test) == (100, VALIDATION, test)


@pytest.mark.parametrize(("fraction", "held_back"), [(None, 0), (0.0, 0), (0.2, 20)])
def test_that_a_test_set_that_was_chosen_never_validates(
    fraction: float | None, held_back: int
) -> None:
    images = ImagesData(path="/i", validation_fraction=fraction, test_path="/t")
    parts = split(DataSet(NUMBERED, TEST), images, seed=7)

    assert (len(parts.training), len(parts.validation or ())) == (100 - held_back, held_back)
    assert parts.test is TEST


def of_classes(*sizes: int, seed: int = 3) -> DataSet:
    """Numbered examples of so many in each class, in no order."""
    labels = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    labels = np.random.default_rng(seed).permutation(labels)
    features = np.arange(len(labels), dtype=np.float32)[:, None]
    names = tuple(f"class {number}" for number in range(len(sizes)))
    return DataSet(Examples(features, labels), class_names=names)


def held_back_of_classes(*sizes: int, fraction: float) -> list[int]:
    """How many of each are held back where they are in proportion."""
    in_proportion = DigitsData(validation_fraction=fraction, stratify=True)
    parts = split(of_classes(*sizes), in_proportion, seed=7)
    every = sorted(numbers(parts.training) + numbers(parts.validation))
    assert every == list(range(sum(sizes)))
    assert parts.validation is not None
    return np.bincount(parts.validation.labels, minlength=len(sizes)).tolist()


@pytest.mark.parametrize(
    ("sizes", "fraction", "held_back"),
    [
        ((100, 50, 10), 0.2, [20, 10, 2]),
        # 3 of 16: 1.875, 0.75 and 0.375 of the classes.
        ((10, 4, 2), 0.2, [2, 1, 0]),
        # 2 of 8, half an example of each: of the first two.
        ((2, 2, 2, 2), 0.25, [1, 1, 0, 0]),
        # One of each class is trained on, whatever part is held out.
        ((97, 2, 1), 0.99, [96, 1, 0]),
        ((5, 0, 5), 0.4, [2, 0, 2]),
        # 6 of 12: what classes of one cannot give does not come from others beyond their part.
        ((6, 1, 1, 1, 1, 1, 1), 0.5, [3, 0, 0, 0, 0, 0, 0]),
        ((90_000, 9, 1), 0.1, [9_000, 1, 0]),
    ],
)
def test_that_each_class_is_held_out_in_proportion(
    sizes: tuple[int, ...], fraction: float, held_back: list[int]
) -> None:
    assert held_back_of_classes(*sizes, fraction=fraction) == held_back


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(0, 30), min_size=1, max_size=12).filter(lambda sizes: sum(sizes) > 3),
    st.floats(0.01, 0.99),
)
def test_that_no_class_is_off_its_part_by_a_whole_example(
    sizes: list[int], fraction: float
) -> None:
    count = round(sum(sizes) * fraction)
    try:
        held_back = held_back_of_classes(*sizes, fraction=fraction)
    except ProblemError:
        assert count in (0, sum(sizes)) or max(sizes) == 1 or count < 2
        return
    assert sum(held_back) <= count
    for size, part in zip(sizes, held_back, strict=True):
        assert abs(part - size * count / sum(sizes)) < 1
        assert part < size or size == 0


def test_that_classes_of_one_example_each_leave_nothing_to_validate_on() -> None:
    with pytest.raises(ProblemError) as caught:
        held_back_of_classes(1, 1, 1, fraction=0.4)

    assert caught.value.problems[0].code == "data_validation_fraction"


def test_that_the_draw_by_class_depends_on_the_seed_alone() -> None:
    stratified = DigitsData(validation_fraction=0.2, stratify=True)
    data = of_classes(40, 30, 30)

    def held_back(seed: int) -> list[int]:
        return numbers(split(data, stratified, seed).validation)

    assert held_back(7) == held_back(7) != held_back(8)
    assert held_back(7)[:5] == [1, 4, 10, 19, 24]


@pytest.mark.parametrize("stratify", [False, True])
def test_that_values_are_drawn_as_if_nothing_was_said_of_classes(stratify: bool) -> None:
    drawn = DigitsData(validation_fraction=0.2, stratify=stratify)
    values = DataSet(Examples(np.arange(100, dtype=np.float32)[:, None], np.ones(100, np.float32)))
    kept = np.random.default_rng([7, 0]).permutation(100)[20:]

    assert numbers(split(values, drawn, seed=7).training) == sorted(kept.tolist())


def test_that_the_last_examples_are_held_out_whatever_the_seed() -> None:
    last = DigitsData(validation_fraction=0.2, holdout=Holdout.LAST, stratify=True)
    for seed in (7, 8):
        parts = split(of_classes(50, 50), last, seed)
        assert numbers(parts.training) == list(range(80))
        assert numbers(parts.validation) == list(range(80, 100))


@pytest.mark.parametrize("chosen", [{"stratify": True}, {"holdout": "last"}, {}])
@pytest.mark.parametrize("which", ["training", "validation"])
def test_that_a_trained_model_is_evaluated_on_the_same_part(
    tmp_path: Path, chosen: dict[str, object], which: str
) -> None:
    profile = Profile(
        task="evaluate",
        data=WineData(validation_fraction=0.3, **chosen),
        inference=InferenceSettings(examples=which),
    )
    parts = split(read_data(profile.data, Reading(print)), profile.data, profile.training.seed)
    found = read_inference_examples(profile, Reading(print))

    trained: Examples | None = getattr(parts, which)
    assert trained is not None
    assert found.labels is not None
    assert found.labels.tolist() == trained.labels.tolist()
    assert np.array_equal(found.read(0, len(found)), trained.read_all())


@pytest.mark.parametrize(
    "sets", [("validation_path",), ("test_path",), ("test_path", "validation_path")]
)
@pytest.mark.parametrize("which", ["all", "training", "validation"])
def test_that_a_trained_model_is_evaluated_on_the_same_images(
    tmp_path: Path, sets: tuple[str, ...], which: str
) -> None:
    paths = {}
    for number, key in enumerate(("path", *sets)):
        paths[key] = str(make_folder(tmp_path / key, {"cat": 2 + number, "dog": 5 - number}))
    profile = Profile(
        task="evaluate",
        data=ImagesData(cache="none", validation_fraction=0.3, image_size=(4, 4), **paths),
        inference=InferenceSettings(examples=which),
    )
    parts = split(read_data(profile.data, Reading(print)), profile.data, profile.training.seed)
    found = read_inference_examples(profile, Reading(print))

    assert found.labels is not None
    if which == "all":
        assert len(found) == 7 * (1 + len(sets))
        return
    chosen: Examples | None = getattr(parts, which)
    assert chosen is not None
    assert found.labels.tolist() == chosen.labels.tolist()
    everything = np.arange(len(chosen), dtype=np.int32)
    assert np.array_equal(found.read(0, len(found)), chosen.read(everything))


def test_that_examples_without_labels_cannot_be_drawn_by_class(tmp_path: Path) -> None:
    np.savez(tmp_path / "unlabelled.npz", x=np.zeros((20, 4), np.float32))
    path = str(tmp_path / "unlabelled.npz")
    profile = Profile(
        task="predict",
        data=NpzData(path=path, validation_fraction=0.3, stratify=True),
        inference=InferenceSettings(examples="validation"),
    )
    with pytest.raises(ProblemError) as caught:
        read_inference_examples(profile, Reading(print))

    assert caught.value.problems[0].code == "stratify_without_labels"


def refused(metric: BestMetric, labels: list[Any], names: str = "ab") -> str:
    labelled = Examples(np.zeros((len(labels), 1), np.float32), np.asarray(labels))
    data = DataSet(labelled, class_names=tuple(names))
    check_best_metric(metric, Split(data, labelled, None))
    try:
        check_best_metric(metric, Split(data, labelled, labelled))
    except ProblemError as error:
        return error.problems[0].message
    return ""


def test_that_a_best_epoch_by_what_validation_cannot_measure_is_refused() -> None:
    alike = "all validation examples have the same labels"
    assert refused(BestMetric.AUC, [0, 1, 1]) == ""
    assert alike in refused(BestMetric.AUC, [1, 1, 1])
    assert "there are 3 classes" in refused(BestMetric.AUC, [0, 1, 2], "abc")
    assert refused(BestMetric.F1, [1, 1, 1]) == ""
    assert refused(BestMetric.AUC, [[0, 1], [0, 0]]) == ""
    assert alike in refused(BestMetric.AUC, [[0, 1], [0, 1]])
    assert refused(BestMetric.R2, [1.5, 2.0], "") == ""
    assert alike in refused(BestMetric.R2, [1.5, 1.5], "")
    assert "values are predicted" in refused(BestMetric.F1, [1.5, 2.0], "")
