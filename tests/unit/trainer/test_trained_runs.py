"""What is reported and saved of whole runs: metrics, values, images, early stopping."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.data import DataCache, DigitsData, ImagesData, KerasData, NpzData
from gpupanel.domain.events import (
    CheckpointSaved,
    EpochDone,
    Phase,
    PhaseChanged,
    ProblemReported,
    StepsDone,
)
from gpupanel.domain.model import CnnModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.datasets.learned_from import KnownContent, learned_from
from gpupanel.trainer.models.model_file import trained_on_in
from tests.grouped import Grouped, others_long
from tests.sessions.both import weights
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import (
    Plans,
    all_events,
    changed,
    evaluation,
    furthest,
    last_metrics,
    profile,
    reached,
    train_all,
    variables,
)

pytestmark = pytest.mark.tensorflow

FROZEN = changed(learning_rate=1e-30, epochs=1)
PATIENT = FROZEN.model_copy(
    update={"epochs": 9, "early_stopping_patience": 2, "checkpoint_every_epochs": 5}
)
EVALUATED = ("48 + 16", "accumulated, 60 + 4", "frozen")


RARE = ("rare class", "rare class, 40 + 24")
TESTED = ("tested", "tested, 40 + 24", "tested, not validated")
QUICK = ("48 + 16", "accumulated, 60 + 4", "values", "images, cache none")
"""The others are for ``make test-long``, beside those that are further ones."""
FURTHER = ("rare class", "tested", "several values", "images, cache disk")
"""What another run has, too: for ``make test-slow``."""
FURTHER_EVALUATED = ("rare class", "tested", "several values")


def with_test_set(fraction: float) -> Profile:
    """Of 506 values a fifth is a test set, of the rest a fraction is held out."""
    data = KerasData(source="boston_housing", validation_fraction=fraction)
    return profile(changed(learning_rate=0.01), data=data)


def plans(images: Path) -> Plans:
    """Every run of this module by name, with its shares."""
    cached = {
        f"images, cache {cache}": (
            profile(
                changed(epochs=1, learning_rate=0.01),
                data=ImagesData(
                    path=str(images),
                    image_size=(8, 8),
                    cache=cache,
                    validation_fraction=0.3,
                    unreadable_share=0.05,
                ),
                model=CnnModel(filters=(4,)),
            ),
            [5, 3],
        )
        for cache in DataCache
    }
    housing = profile(changed(learning_rate=0.01), data=KerasData(source="boston_housing"))
    return {
        "48 + 16": (profile(), [48, 16]),
        "accumulated, 60 + 4": (
            # Its validation loss is not weighted: plain Keras measures the same.
            profile(
                changed(accumulation_steps=3, ema=0.9),
                data=DigitsData(validation_fraction=0.2, class_weights="balanced"),
            ),
            [60, 4],
        ),
        "frozen": (profile(FROZEN), [48, 16]),
        "patient": (profile(PATIENT), [64]),
        "values": (housing, [40, 24]),
        **{
            name: (
                profile(data=NpzData(path=str(images.parent / file), validation_fraction=0.25)),
                [40, 24],
            )
            for name, file in (("labels", "tags.npz"), ("several values", "values.npz"))
        },
        **{
            f"arrays, cache {cache}": (
                profile(
                    changed(epochs=1),
                    data=NpzData(path=str(images.parent / "x.npy"), cache=cache),
                ),
                [40, 24],
            )
            for cache in (DataCache.MEMORY, DataCache.NONE)
        },
        **{
            name: (
                profile(
                    changed(epochs=1, learning_rate=1e-4),
                    data=NpzData(path=str(images.parent / "rare.npz"), validation_fraction=0.5),
                ),
                shares,
            )
            for name, shares in zip(RARE, ([64], [40, 24]), strict=True)
        },
        "tested": (with_test_set(0.2), [64]),
        "tested, 40 + 24": (with_test_set(0.2), [40, 24]),
        "tested, not validated": (with_test_set(0.0), [40, 24]),
        **cached,
    }


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With all data."""
    root = tmp_path_factory.mktemp("trained")
    random = np.random.default_rng(3)
    for name in ("dark", "light"):
        (root / "images" / name).mkdir(parents=True)
        for number in range(20):
            pixels = random.integers(0, 128, (9, 9, 3)) + (100 if name == "light" else 0)
            Image.fromarray(pixels.astype(np.uint8)).save(root / "images" / name / f"{number}.png")
    (root / "images" / "dark" / "3.png").write_text("no image")
    (root / "keras" / "datasets").mkdir(parents=True)
    x = random.normal(50.0, 20.0, (506, 13))
    np.savez(root / "keras" / "datasets" / "boston_housing.npz", x=x, y=x[:, 0] * 300.0 + 2e4)
    weights = random.normal(0.0, 1.0, (13, 3))
    np.savez(root / "tags.npz", x=x / 20.0 - 2.5, y=(x - 50.0) @ weights > 10.0)
    np.savez(root / "values.npz", x=x / 50.0, y=(x @ weights) * [1.0, 50.0, 0.01] + 7.0)
    near = random.normal(0.0, 0.05, (3000, 4))
    np.savez(root / "rare.npz", x=near, y=near[:, 0] + random.normal(0.0, 0.1, 3000) > 0.25)
    np.save(root / "x.npy", x / 50.0)
    np.save(root / "y.npy", np.arange(506) % 5)
    return root


@pytest.fixture(scope="module")
def runs(root: Path, make_run: MakeRun) -> dict[str, RunLayout]:
    every, home = plans(root / "images"), str(root / "keras")

    def train(names: Sequence[str]) -> dict[str, RunLayout]:
        folder = root / ("quick" if names is QUICK else "few")
        chosen = {name: every[name] for name in names}
        evaluated = {*EVALUATED, *RARE, *TESTED, "values", "labels"} & {*names}
        return train_all(folder, make_run, chosen, evaluated=evaluated, KERAS_HOME=home)

    return Grouped(train, QUICK, [name for name in every if name not in (*QUICK, *FURTHER)])


@pytest.fixture(scope="module")
def further_runs(root: Path, make_run: MakeRun) -> dict[str, RunLayout]:
    further = {name: plan for name, plan in plans(root / "images").items() if name in FURTHER}
    home = str(root / "keras")
    return train_all(
        root / "further", make_run, further, evaluated=FURTHER_EVALUATED, KERAS_HOME=home
    )


@pytest.mark.parametrize("name", ["48 + 16", "images, cache none"])
def test_that_steps_say_for_which_share_of_the_time_they_waited_for_their_examples(
    runs: dict[str, RunLayout], name: str
) -> None:
    steps = [each for each in all_events(runs[name]) if isinstance(each, StepsDone)]

    assert steps
    assert all(0.0 < each.waiting_for_data < 1.0 for each in steps)


def test_that_an_image_that_cannot_be_read_while_training_is_reported(
    runs: dict[str, RunLayout],
) -> None:
    reported = all_events(runs["images, cache none"])
    (note,) = [each.problem for each in reported if isinstance(each, ProblemReported)]
    assert (note.code, note.detail.count("dark/3.png")) == ("data_images_skipped", 1)


@pytest.mark.parametrize("name", others_long(EVALUATED, *QUICK))
def test_that_plain_keras_measures_the_same_on_the_validation_set(
    runs: dict[str, RunLayout], name: str
) -> None:
    loss, accuracy = evaluation(runs[name])["validation"]
    metrics = last_metrics(runs[name])

    assert metrics.val_loss == pytest.approx(loss, rel=1e-5)
    assert metrics.val_accuracy == pytest.approx(accuracy, rel=1e-6)


def test_that_the_model_says_which_data_it_learned_from(runs: dict[str, RunLayout]) -> None:
    record = trained_on_in(str(runs["48 + 16"].model))
    learned = learned_from(profile().data, profile().training.seed, KnownContent())

    assert record is not None
    assert (record.data, record.held_out) == (learned.data, learned.held_out)


@pytest.mark.long
def test_that_the_area_of_scores_that_lie_close_together_is_right(
    runs: dict[str, RunLayout],
) -> None:
    assert_area_is_right(runs["rare class, 40 + 24"])


@pytest.mark.slow
def test_that_it_is_right_on_one_device(further_runs: dict[str, RunLayout]) -> None:
    assert_area_is_right(further_runs["rare class"])


def assert_area_is_right(run: RunLayout) -> None:
    (area,) = evaluation(run)["areas"]
    assert last_metrics(run).val_auc == pytest.approx(area, abs=0.002)


def test_that_averages_of_the_weights_are_saved_as_the_model_and_beside_the_weights(
    runs: dict[str, RunLayout],
) -> None:
    kept = variables(runs["accumulated, 60 + 4"])
    saved = [each for each in weights(runs["accumulated, 60 + 4"].model).values() if each.ndim == 2]
    averages = [value for name, value in kept.items() if "kernel_average" in name]
    learned = [
        value for name, value in kept.items() if name.startswith("model/") and value.ndim == 2
    ]

    for one, average, now in zip(saved, averages, learned, strict=True):
        assert (one == average).all()
        assert abs(average - now).max() > 1e-3


@pytest.mark.long
def test_that_training_metrics_are_those_of_the_whole_set(runs: dict[str, RunLayout]) -> None:
    # Its learning rate leaves the weights as they are: each step measures the same model.
    loss, accuracy = evaluation(runs["frozen"])["train"]
    metrics = last_metrics(runs["frozen"])

    assert metrics.loss == pytest.approx(loss, rel=1e-5)
    assert metrics.accuracy == pytest.approx(accuracy, rel=1e-6)


def test_that_values_are_predicted_in_their_own_unit(runs: dict[str, RunLayout]) -> None:
    squared, absolute = evaluation(runs["values"])["validation"]
    metrics = last_metrics(runs["values"])

    assert metrics.val_accuracy is None
    assert metrics.val_loss == pytest.approx(squared, rel=1e-4)
    assert metrics.val_mean_absolute_error == pytest.approx(absolute, rel=1e-4)
    assert absolute < 3_000  # of labels around 35,000, a standard deviation of 6,000


@pytest.mark.long
def test_that_plain_keras_measures_several_labels_alike(runs: dict[str, RunLayout]) -> None:
    loss, accuracy = evaluation(runs["labels"])["validation"]
    metrics = last_metrics(runs["labels"])
    assert metrics.val_loss == pytest.approx(loss, rel=1e-4)
    assert metrics.val_accuracy == pytest.approx(accuracy, rel=1e-5)
    assert accuracy > 0.6


@pytest.mark.slow
def test_that_plain_keras_measures_several_values_alike(
    further_runs: dict[str, RunLayout],
) -> None:
    squared, absolute = evaluation(further_runs["several values"])["validation"]
    metrics = last_metrics(further_runs["several values"])
    assert metrics.val_loss == pytest.approx(squared, rel=1e-4)
    assert metrics.val_mean_absolute_error == pytest.approx(absolute, rel=1e-4)


@pytest.mark.long
def test_that_arrays_that_stay_on_disk_train_the_same(runs: dict[str, RunLayout]) -> None:
    assert furthest(runs["arrays, cache memory"], runs["arrays, cache none"]) < 1e-6


@pytest.mark.long
@pytest.mark.parametrize("name", TESTED[1:])
def test_that_a_test_set_that_does_not_validate_is_measured_at_the_end(
    runs: dict[str, RunLayout], name: str
) -> None:
    assert_tested(runs[name], validated=name != "tested, not validated")


@pytest.mark.slow
def test_that_one_device_does_so_too(further_runs: dict[str, RunLayout]) -> None:
    assert_tested(further_runs["tested"], validated=True)


def assert_tested(run: RunLayout, *, validated: bool) -> None:
    squared, absolute = evaluation(run)["test"]
    epochs = [event.metrics for event in all_events(run) if isinstance(event, EpochDone)]
    ended = reached(run)

    assert ended.test_loss == pytest.approx(squared, rel=1e-4)
    assert ended.test_mean_absolute_error == pytest.approx(absolute, rel=1e-4)
    assert ended.test_accuracy is None
    # Once: what epochs report has none of it, and is otherwise what the end reports.
    assert ended.test_root_mean_squared_error == pytest.approx(squared**0.5, rel=1e-4)
    names = type(ended).model_fields
    not_tested = dict.fromkeys(name for name in names if name.startswith("test_"))
    assert epochs[-1] == ended.model_copy(update=not_tested)
    assert (ended.val_loss is not None) == validated
    phases = [event.phase for event in all_events(run) if isinstance(event, PhaseChanged)]
    assert phases.count(Phase.TESTING) == 1
    assert phases[-1] is Phase.TESTING


def test_that_a_test_set_that_validates_is_not_measured_once_more(
    runs: dict[str, RunLayout],
) -> None:
    ended = reached(runs["values"])

    assert ended.val_loss is not None
    assert (ended.test_loss, ended.test_mean_absolute_error) == (None, None)


@pytest.mark.long
def test_that_where_images_are_kept_changes_nothing(runs: dict[str, RunLayout]) -> None:
    memory = runs["images, cache memory"]

    assert furthest(memory, runs["images, cache none"]) < 1e-6


@pytest.mark.slow
def test_that_images_that_are_kept_on_disk_change_nothing(
    runs: dict[str, RunLayout], further_runs: dict[str, RunLayout]
) -> None:
    on_disk = further_runs["images, cache disk"]
    assert furthest(runs["images, cache memory"], on_disk) < 1e-6
    steps = [each for each in all_events(on_disk) if isinstance(each, StepsDone)]
    assert all(0.0 < each.waiting_for_data < 1.0 for each in steps)


@pytest.mark.long
def test_that_early_stopping_ends_the_training_with_a_checkpoint(
    runs: dict[str, RunLayout],
) -> None:
    reported = all_events(runs["patient"])

    assert [event.epoch for event in reported if isinstance(event, EpochDone)] == [1, 2, 3]
    (hint,) = [event.problem for event in reported if isinstance(event, ProblemReported)]
    assert hint.code == "stopped_early"
    assert [event.epoch for event in reported if isinstance(event, CheckpointSaved)] == [3]
    assert runs["patient"].model.is_file()
