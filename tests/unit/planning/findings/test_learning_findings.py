"""What is said of a training that learns by heart, that does not learn, and of one that learns."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from gpupanel.domain.application_model import ApplicationModel
from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.data import DigitsData, ImagesData, PythonData, WineData
from gpupanel.domain.events import DataReady, EpochDone
from gpupanel.domain.layered_models import CnnModel
from gpupanel.domain.model import PythonModel
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.findings.context import FindingContext
from gpupanel.planning.findings.learning_findings import (
    best_epoch_long_ago,
    does_not_learn,
    overfitting,
)
from gpupanel.planning.fixes import apply_fix
from tests.fakes.devices import CPU_ONLY
from tests.unit.planning.findings.recorded import START_S, WINDOWS, context_of, profile_of

RULES = (overfitting, does_not_learn, best_epoch_long_ago)


def course(
    losses: Sequence[float],
    val_losses: Sequence[float | None] = (),
    profile: Profile | None = None,
    *,
    shape: tuple[int, ...] = (64, 64, 3),
    **metrics: Sequence[float],
) -> FindingContext:
    """A training with these losses, an epoch of 20 steps each."""
    validated = val_losses or [None] * len(losses)
    epochs = tuple(
        EpochDone(
            time_s=START_S + place,
            epoch=place + 1,
            step=20 * (place + 1),
            seconds=1.0,
            metrics=Metrics(
                loss=loss,
                val_loss=validated[place],
                **{name: values[place] for name, values in metrics.items()},
            ),
        )
        for place, loss in enumerate(losses)
    )
    data = DataReady(
        time_s=START_S,
        training_examples=200,
        validation_examples=50,
        feature_shape=shape,
        class_count=10,
        steps_per_epoch=20,
    )
    return context_of(profile or profile_of(), CPU_ONLY, epochs=epochs, data=data)


def found(context: FindingContext) -> dict[str, Problem]:
    return {each.problem.code: each.problem for rule in RULES for each in rule(context)}


def training(**settings: object) -> Profile:
    return Profile.model_validate(
        {"devices": {"visible": ["cpu"]}, "training": {"epochs": 200, **settings}}
    )


def falling(count: int, to: float = 0.01) -> list[float]:
    begin = 2.3 if to < 2.3 else 10.0 * to
    return [begin * (to / begin) ** (place / (count - 1)) for place in range(count)]


IMAGES = Profile(
    data=ImagesData(path="/pictures"),
    model=CnnModel(filters=(32, 64), hidden=(128,)),
    devices=profile_of().devices,
)


def test_that_a_validation_loss_that_rises_while_the_training_loss_falls_is_overfitting() -> None:
    rising = [1.0 + 0.08 * abs(place - 6) for place in range(20)]
    right = {"accuracy": [0.97] * 20, "val_accuracy": [0.675] * 20}
    problem = found(course(falling(20), rising, IMAGES, **right))["overfitting"]
    assert "since epoch 7 the training loss fell" in problem.message
    assert "97.0 % in training and 67.5 % in validation" in problem.message
    labels = [each.label for each in (problem.fix, *problem.alternatives) if each is not None]
    assert labels == [
        "Change images at random",
        "Use pretrained MobileNetV3Small",
        "Halve the layers",
        "Stop early",
    ]
    assert list(found(course(falling(20), rising, IMAGES, **right))) == ["overfitting"]


def test_that_a_validation_loss_that_stands_while_training_goes_on_is_overfitting() -> None:
    standing = [max(0.709, 2.0 - 0.3 * place) for place in range(20)]
    right = {"accuracy": [0.96] * 20, "val_accuracy": [0.7] * 20}
    assert list(found(course(falling(20), standing, **right))) == ["overfitting"]


def test_that_single_worse_epochs_of_a_small_validation_set_are_no_overfitting() -> None:
    """As 24 validation images came out, where the twelfth epoch is right on each of them."""
    losses = [0.7, 0.6, 0.45, 0.37, 0.21, 0.2, 0.12, 0.11, 0.055, 0.045, 0.081, 0.076]
    val_losses = [0.7, 0.5, 0.4, 0.24, 0.44, 4.3, 0.028, 0.015, 0.016, 0.25, 7.4, 0.0101]
    accuracy = [0.6] * 6 + [0.969, 0.958, 1.0, 0.99, 0.979, 0.979]
    right = {"accuracy": accuracy, "val_accuracy": [0.6] * 6 + [1.0, 1.0, 1.0, 0.83, 0.375, 1.0]}
    assert not found(course(losses, val_losses, **right))
    worse = [*val_losses[:-1], 0.02]
    assert not found(course(losses, worse, **right))  # better than in training all the same
    right["val_accuracy"][-1] = 0.9
    assert list(found(course(losses, worse, **right))) == ["overfitting"]
    assert not found(course([*losses[:-1], 0.13], worse, **right))  # nothing has fallen


def test_that_an_accuracy_that_differs_by_chance_is_no_overfitting() -> None:
    """60.4 % of 96 and 58.3 % of 24 pictures, two classes; nothing was learned yet."""
    losses = [0.847, 0.799, 0.716, 0.692, 0.632, 0.694]
    val_losses = [0.668, 0.677, 0.914, 0.758, 0.721, 0.881]
    accuracy = [0.5, 0.55, 0.58, 0.64, 0.67, 0.604]
    val_accuracy = [0.583, 0.583, 0.417, 0.625, 0.458, 0.583]
    course_of = course(losses, val_losses, accuracy=accuracy, val_accuracy=val_accuracy)
    assert course_of.data is not None

    def validated_on(count: int) -> dict[str, Problem]:
        data = course_of.data.model_copy(update={"validation_examples": count})
        return found(replace(course_of, data=data))

    assert not validated_on(24)
    assert list(validated_on(2_400)) == ["overfitting"]


def test_that_accuracies_that_are_no_fractions_are_survived() -> None:
    rising = [1.0 + 0.08 * abs(place - 6) for place in range(20)]
    for value in (1.0 + 1e-7, -1.0, 1e200):
        found(course(falling(20), rising, accuracy=[value] * 20, val_accuracy=[value] * 20))


def test_that_each_fix_changes_what_it_names() -> None:
    rising = [1.0 + 0.1 * abs(place - 6) for place in range(20)]
    problem = found(course(falling(20), rising, IMAGES))["overfitting"]
    assert problem.fix is not None
    augmented, pretrained, narrower, earlier = (
        apply_fix(IMAGES, fix) for fix in (problem.fix, *problem.alternatives)
    )
    assert isinstance(augmented.data, ImagesData)
    assert augmented.data.augmentation == Augmentation(rotate_degrees=10.0, zoom=0.1, shift=0.1)
    assert isinstance(pretrained.model, ApplicationModel)
    assert (pretrained.model.weights, pretrained.model.frozen_layers) == ("imagenet", "base")
    assert isinstance(narrower.model, CnnModel)
    assert (narrower.model.filters, narrower.model.hidden) == ((16, 32), (64,))
    assert earlier.training.early_stopping_patience == 10


def test_that_nothing_is_offered_that_is_there_or_does_not_fit() -> None:
    rising = [1.0 + 0.1 * abs(place - 6) for place in range(20)]
    profile = Profile(
        data=DigitsData(augmentation=Augmentation(shift=0.1)),
        model=CnnModel(filters=(4,), hidden=()),
        training=TrainingSettings(early_stopping_patience=30),
        devices=profile_of().devices,
    )
    problem = found(course(falling(20), rising, profile, shape=(8, 8)))["overfitting"]
    assert problem.fix is None


def test_that_tables_and_small_images_are_offered_what_fits_them() -> None:
    rising = [1.0 + 0.1 * abs(place - 6) for place in range(20)]
    table = Profile(data=WineData(), devices=profile_of().devices)
    for profile, shape in ((table, (13,)), (profile_of(), (13,)), (IMAGES, (16, 16, 3))):
        problem = found(course(falling(20), rising, profile, shape=shape))["overfitting"]
        labels = [each.label for each in (problem.fix, *problem.alternatives) if each is not None]
        assert "Use pretrained MobileNetV3Small" not in labels
        assert labels[-1] == "Stop early"


def test_that_images_that_may_have_masks_are_offered_nothing_that_leaves_these_out() -> None:
    rising = [1.0 + 0.1 * abs(place - 6) for place in range(20)]
    own = Profile(
        data=PythonData(path="/data.py"),
        model=PythonModel(path="/model.py"),
        devices=profile_of().devices,
    )
    built_in = own.model_copy(update={"model": CnnModel()})
    for profile, offered in ((own, False), (built_in, True)):
        problem = found(course(falling(20), rising, profile))["overfitting"]
        labels = [each.label for each in (problem.fix, *problem.alternatives) if each is not None]
        assert ("Change images at random" in labels) is offered
        assert ("Use pretrained MobileNetV3Small" in labels) is offered


def test_that_a_loss_alone_says_nothing_of_what_is_no_class() -> None:
    flat = [math.log(10)] * 8
    context = course(flat, flat)
    assert context.data is not None
    data = context.data.model_copy(update={"class_count": 0})
    assert found(replace(context, data=data)) == {}
    assert found(replace(context, data=None)) == {}


def test_that_a_loss_of_ones_own_is_compared_with_no_guess_and_no_part_of_itself() -> None:
    high = [5.0] * 8
    assert found(course(high, high)) == {}
    assert "does_not_learn" in found(course(high, high, accuracy=[0.1] * 8))
    # Minus the overlap of masks: both fall.
    losses = [-0.9 + 0.8 * 0.7**place for place in range(20)]
    assert found(course(losses, [each + 0.01 for each in losses])) == {}


@pytest.mark.parametrize(
    ("losses", "val_losses", "accuracies"),
    [
        pytest.param(falling(20), falling(20, 0.05), (), id="both fall"),
        pytest.param(falling(20), [0.05] * 20, (0.999, 0.986), id="a model that is nearly perfect"),
        pytest.param([0.3] * 20, [0.9] * 20, (0.9, 0.7), id="both stand, and always were apart"),
        pytest.param(
            falling(20), [0.5 + 0.02 * (place % 2) for place in range(20)], (0.9, 0.88), id="noise"
        ),
        pytest.param(falling(5), [1.0, 0.8, 1.2, 1.4, 1.6], (0.9, 0.5), id="too few epochs"),
        pytest.param(
            [2.0 - 0.01 * place for place in range(20)],
            [1.0 + 0.1 * place for place in range(20)],
            (0.6, 0.5),
            id="training hardly falls",
        ),
    ],
)
def test_that_nothing_is_said_of_a_training_that_does_not_learn_by_heart(
    losses: list[float], val_losses: list[float], accuracies: tuple[float, ...]
) -> None:
    names = ("accuracy", "val_accuracy")
    right = {name: [each] * len(losses) for name, each in zip(names, accuracies, strict=False)}
    assert "overfitting" not in found(course(losses, val_losses, **right))


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        ({"val_accuracy": 0.112, "val_f1": 2 * 0.112 / 1.112 / 10}, "11.2 % right"),
        ({"val_accuracy": 0.1, "val_f1": 0.095}, "guessing among 10 classes"),
        ({"val_accuracy": 0.95, "val_f1": 0.0}, "no example any label"),
        ({"val_r2": -0.01}, "no better than the mean"),
    ],
)
def test_that_a_loss_that_stands_where_it_began_is_no_learning(
    metrics: dict[str, float], words: str
) -> None:
    flat = [math.log(10)] * 8
    context = course(flat, flat, **{name: [value] * 8 for name, value in metrics.items()})
    problem = found(context)["does_not_learn"]
    assert words in problem.message
    assert problem.fix is not None


def test_that_a_rate_that_is_far_too_high_is_found_although_the_loss_fell_from_a_peak() -> None:
    for losses in ([350.0, 12.0, 2.6, 2.5, 2.7, 2.5, 2.8, 2.6, 2.7], falling(9, 40.0)):
        right = [0.1] * len(losses)
        context = course(losses, losses, training(learning_rate=10.0), accuracy=right)
        assert list(found(context)) == ["does_not_learn"]


def test_that_what_is_learned_by_heart_and_validates_as_a_guess_is_a_matter_of_labels() -> None:
    chance = {"accuracy": [0.9] * 20, "val_accuracy": [0.09] * 20, "val_f1": [0.08] * 20}
    rising = [2.3 + 0.05 * place for place in range(20)]
    problem = found(course(falling(20), rising, **chance))["overfitting"]
    assert "whether the labels belong to their examples" in problem.hint


@pytest.mark.parametrize(
    ("losses", "metrics"),
    [
        pytest.param([0.001] * 8, {"val_accuracy": 1.0, "val_f1": 1.0}, id="learned in one epoch"),
        pytest.param([400.0] * 8, {"val_r2": 0.6}, id="values that are predicted"),
        pytest.param(
            falling(8, 1.5), {"val_accuracy": 0.1, "val_f1": 0.02}, id="it begins to fall"
        ),
        pytest.param(
            [0.005] * 8,
            {"accuracy": 1.0, "val_accuracy": 0.1, "val_f1": 2 * 0.1 / 1.1 / 10},
            id="it has learned its own examples",
        ),
        pytest.param([2.3] * 4, {"val_accuracy": 0.1, "val_f1": 0.018}, id="too few epochs"),
    ],
)
def test_that_what_has_learned_or_begins_to_is_left_alone(
    losses: list[float], metrics: dict[str, float]
) -> None:
    several = {name: [value] * len(losses) for name, value in metrics.items()}
    assert "does_not_learn" not in found(course(losses, losses, **several))


@pytest.mark.parametrize(
    ("rate", "offered"), [(1.0, 0.001), (1e-6, 0.001), (1e-3, 1e-4), (2e-4, 2e-5)]
)
def test_that_the_usual_rate_is_offered_and_near_it_a_tenth(rate: float, offered: float) -> None:
    flat = [math.log(10)] * 8
    context = course(flat, flat, training(learning_rate=rate), accuracy=[0.1] * 8)
    problem = found(context)["does_not_learn"]
    assert problem.fix is not None
    [change] = problem.fix.changes
    assert change.value == pytest.approx(offered)


def test_that_a_best_epoch_that_is_long_past_is_named_with_what_it_cost() -> None:
    standing = [max(0.2, 1.0 - 0.1 * place) + 0.001 * place for place in range(30)]
    context = course(standing, standing)
    [finding] = best_epoch_long_ago(context)
    assert "since epoch 9: its validation loss was" in finding.problem.message
    assert finding.cost_fraction == pytest.approx(21 / 30)
    assert finding.since_s == START_S + 8
    stops = training(early_stopping_patience=40)
    assert not list(best_epoch_long_ago(course(standing, standing, stops)))
    assert not list(best_epoch_long_ago(course(standing[:18], standing[:18])))
    assert not list(best_epoch_long_ago(course(falling(30), falling(30))))


def seldom(values: Sequence[float], every: int) -> list[float | None]:
    """As validated after every so many epochs."""
    return [None if (place + 1) % every else value for place, value in enumerate(values)]


def test_that_epochs_without_a_validation_hide_no_overfitting() -> None:
    rising = [1.0 + 0.04 * abs(place - 12) for place in range(40)]
    right = {"accuracy": [0.97] * 40, "val_accuracy": seldom([0.675] * 40, 3)}
    problem = found(course(falling(40), seldom(rising, 3), **right))["overfitting"]
    # The last epoch that was validated is the 39th.
    assert "the validation loss went from" in problem.message
    assert "to 2.040, and" in problem.message
    assert "67.5 % in validation" in problem.message


def test_that_a_constant_guess_is_known_by_the_last_validation() -> None:
    flat = [math.log(10)] * 20
    accuracy = {"val_accuracy": seldom([0.1] * 20, 3), "val_f1": seldom([0.018] * 20, 3)}
    problem = found(course(flat, seldom(flat, 3), **accuracy))["does_not_learn"]
    assert "it takes nearly every example for the same class (10.0 % right)" in problem.message


def test_that_epochs_without_a_validation_count_since_the_best_one() -> None:
    standing = [max(0.2, 1.0 - 0.05 * place) + 0.001 * place for place in range(60)]
    [finding] = best_epoch_long_ago(course(standing, seldom(standing, 4)))
    assert "since epoch 20: its validation loss was" in finding.problem.message
    assert "that of epoch 60 is" in finding.problem.message
    assert finding.cost_fraction == pytest.approx(40 / 60)


RECORDED = json.loads((WINDOWS / "clean_courses.json").read_text())
"""Twenty real trainings on two processors, each epoch's training and validation metrics."""
KEYS = ("loss", "val_loss", "accuracy", "val_accuracy", "val_f1", "val_r2")


@pytest.mark.parametrize("name", RECORDED)
def test_that_nothing_is_said_of_a_clean_training_at_any_moment(name: str) -> None:
    of_run = RECORDED[name]
    whole = course([row[0] for row in of_run["epochs"]], [row[1] for row in of_run["epochs"]])
    assert whole.data is not None
    data = whole.data.model_copy(
        update={"class_count": of_run["classes"], "feature_shape": tuple(of_run["shape"])}
    )
    epochs = tuple(
        each.model_copy(update={"metrics": Metrics(**dict(zip(KEYS, row, strict=True)))})
        for each, row in zip(whole.epochs, of_run["epochs"], strict=True)
    )
    for count in range(1, len(epochs) + 1):
        assert found(replace(whole, data=data, epochs=epochs[:count])) == {}, count
    unmeasured = {key: None for key in KEYS if key.startswith("val_")}
    seldom_validated = tuple(
        each
        if each.epoch % 3 == 0
        else each.model_copy(update={"metrics": each.metrics.model_copy(update=unmeasured)})
        for each in epochs
    )
    for count in range(1, len(epochs) + 1):
        assert found(replace(whole, data=data, epochs=seldom_validated[:count])) == {}, count
