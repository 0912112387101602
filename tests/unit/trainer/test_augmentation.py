"""Training images that are changed at random: what is done to them, and to whom it happens."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.augmentation import Augmentation, Fill, Flip
from gpupanel.domain.data import ClassWeights, DigitsData
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.script.parts import part
from gpupanel.trainer.augmentation.image_checks import check_images
from tests.forked.processes import run_forked
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.test_multi_worker import images
from tests.unit.trainer.trained_runs import (
    CHILD_ENVIRONMENT,
    changed,
    evaluation,
    furthest,
    last_metrics,
    profile,
    train_all,
)

GREY = Augmentation(
    flip=Flip.HORIZONTAL,
    rotate_degrees=20,
    zoom=0.1,
    shift=0.1,
    brightness=0.2,
    contrast=0.2,
    cutout=0.3,
    mixup=0.4,
)
COLOURED = GREY.model_copy(update={"hue": 0.1, "fill": Fill.NEAREST, "flip": Flip.BOTH})
MIRRORED = StrategySettings(kind=StrategyKind.MIRRORED)
CENTRAL = StrategySettings(kind=StrategyKind.CENTRAL_STORAGE)


# As scripts have them: the file itself imports TensorFlow, too.
NUMBERS: dict[str, Any] = {"np": np}
exec(part("augmentation", "draw_epoch"), NUMBERS)
Changes, Drawn, draw_epoch = (NUMBERS[name] for name in ("Changes", "Drawn", "draw_epoch"))


def draws(augmentation: Augmentation, examples: int = 1000, seed: int = 7, epoch: int = 1) -> Any:
    changes = Changes(**augmentation.model_dump(mode="json"))
    return draw_epoch(changes, (8, 10), examples, seed, epoch)


def test_that_what_is_drawn_depends_on_seed_epoch_and_place_alone() -> None:
    first = draws(COLOURED)
    assert np.array_equal(draws(COLOURED), first)
    for other in (draws(COLOURED, seed=8), draws(COLOURED, epoch=2)):
        assert (other != first).any(axis=0).all()


def test_that_what_is_drawn_spans_its_range_and_nothing_else() -> None:
    drawn = draws(COLOURED)
    for column, middle, most in (
        (Drawn.BRIGHTNESS, 1.0, 0.2),
        (Drawn.CONTRAST, 1.0, 0.2),
        (Drawn.HUE, 0.0, 0.1),
        (Drawn.OWN_PART, 0.75, 0.25),
    ):
        away = drawn[:, column] - middle
        assert np.abs(away).max() <= most + 1e-6
        assert away.max() > 0.9 * most
        assert away.min() < -0.9 * most
    # Every pixel is the middle of some square, and none outside of the image.
    assert set(drawn[:, Drawn.CUT_ROW] + 1) == set(range(8))
    assert set(drawn[:, Drawn.CUT_COLUMN] + 1) == set(range(10))
    determinant = drawn[:, 0] * drawn[:, 4] - drawn[:, 1] * drawn[:, 3]
    assert 0.2 < (determinant < 0).mean() < 0.8
    scales = np.sqrt(np.abs(determinant))
    assert 1 / 1.1 - 1e-6 <= scales.min() < 1 / 1.09
    assert 1 / 0.91 < scales.max() <= 1 / 0.9 + 1e-6


def test_that_nothing_drawn_leaves_every_pixel_in_its_place() -> None:
    assert np.array_equal(draws(Augmentation())[0, :6], [1, 0, 0, 0, 1, 0])
    assert draws(Augmentation(mixup=0.2))[:, Drawn.OWN_PART].min() >= 0.5


_CHANGE = """
import json, sys
import numpy as np, tensorflow as tf
from gpupanel.trainer.parts.augmentation import Changes, Drawn, changed_images

random = np.random.default_rng(0)
images = random.integers(0, 256, (3, 7, 7, 3), np.uint8)
nothing = np.zeros((3, Drawn.COUNT), np.float32)
nothing[:, :6] = [1, 0, 0, 0, 1, 0]
nothing[:, Drawn.BRIGHTNESS] = nothing[:, Drawn.CONTRAST] = nothing[:, Drawn.OWN_PART] = 1

def change(drawn, greatest=255.0, of=images, **settings):
    draws = nothing.copy()
    for column, numbers in drawn.items():
        draws[:, column : column + np.size(numbers)] = numbers
    return changed_images(Changes(**settings), tf.constant(of), draws, greatest).numpy()

def same(one, other):
    return bool(np.allclose(one, other, atol=1e-2))

whole = images.astype(np.float32)
mean = whole.mean(axis=(1, 2), keepdims=True)
moved = change({0: [1, 0, -2, 0, 1, 1]}, shift=0.5, fill="zero")
expected = np.zeros_like(whole)
expected[:, :6, 2:] = whole[:, 1:, :5]
cut = change({Drawn.CUT_ROW: [-1.0, 5.0]}, cutout=3 / 7)
covered = whole.copy()
covered[:, :2, 5:] = mean
grey = change({0: [-1, 0, 6, 0, 1, 0]}, of=images[..., 0], flip="horizontal")
floats = (whole / 255).astype(np.float32)
bright = change({Drawn.BRIGHTNESS: 1.5}, None, floats, brightness=0.5)
print(json.dumps({
    "flip": same(change({0: [-1, 0, 6, 0, 1, 0]}, flip="horizontal"), whole[:, :, ::-1]),
    "rotation": same(change({0: [0, -1, 6, 1, 0, 0]}, rotate_degrees=90),
                     np.rot90(whole, axes=(1, 2), k=1)),
    "shift": same(moved, expected),
    "grey": same(grey, whole[:, :, ::-1, 0]),
    "brightness": same(change({Drawn.BRIGHTNESS: 1.5}, brightness=0.5),
                       np.minimum(whole * 1.5, 255)),
    "brightness of floats": same(bright, floats * 1.5),
    "contrast": same(change({Drawn.CONTRAST: 0.5}, contrast=0.5), (whole + mean) / 2),
    "hue": same(change({Drawn.HUE: 0.2}, hue=0.2), tf.image.adjust_hue(whole / 255, 0.2) * 255),
    "cutout": same(cut, covered),
}))
"""


_BATCH = """
import json
import numpy as np, tensorflow as tf
from gpupanel.domain.augmentation import Augmentation
from gpupanel.trainer.augmentation.augmenter import Augmenter
from gpupanel.trainer.datasets.examples import Examples
from gpupanel.trainer.steps.augmented_feeds import AugmentedFeed, AugmentedWorkerFeed
from gpupanel.trainer.steps.streamed_feed import MostSteps, StreamedFeed
from gpupanel.trainer.steps.worker_feeds import ShippedFeed

random = np.random.default_rng(0)
images = random.integers(0, 256, (20, 7, 7, 3), np.uint8)
examples = Examples(images, random.integers(0, 3, 20).astype(np.int32))
everything = Augmentation(shift=0.5, hue=0.5, cutout=0.3, mixup=1.0)
augmenter = Augmenter(everything, examples, class_count=3, greatest=255.0, seed=7)
augmenter.begin_epoch(2, 20)
batch = random.permutation(20).astype(np.int32)[np.newaxis, :12]
workers = AugmentedWorkerFeed(ShippedFeed(examples), augmenter)
one = workers.reader(*map(tf.constant, workers.arguments(batch, 8)))(0)
found = {}
for name, borders in (("whole", (0, 12)), ("parts", (0, 1, 8, 12)), ("uneven", (0, 11, 12))):
    bounds = np.stack([borders[:-1], borders[1:]], axis=1).astype(np.int32)
    read, parts = [], []
    for replica, (first, end) in enumerate(bounds):
        bound = MostSteps(examples.example_bytes, with_neighbour=True)
        streamed = StreamedFeed(examples, {replica: "/device:CPU:0"}, bound)
        feed = AugmentedFeed(streamed, augmenter)
        tensors = feed.tensors(batch, bounds, 8)
        parts.append(feed.part(replica, tensors, 0, tf.constant(first), tf.constant(end)))
    pairs = [(np.concatenate(each), whole.numpy()) for each, whole in zip(zip(*parts), one)]
    found[name] = all(np.array_equal(*pair) for pair in pairs)
found["shares"] = bool(np.allclose(one[1].numpy().sum(axis=1), 1.0))
found["blended"] = bool((one[1].numpy() < 1.0).any())
print(json.dumps(found))
"""


@pytest.mark.tensorflow
def test_that_every_division_of_a_batch_sees_the_same_examples() -> None:
    assert all(answer(_BATCH).values())


def answer(code: str) -> dict[str, bool]:
    """What code that needs TensorFlow finds out."""
    done = run_forked(
        [sys.executable, "-c", code],
        env={**os.environ, **CHILD_ENVIRONMENT},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, bool] = json.loads(done.stdout.splitlines()[-1])
    assert found
    return found


@pytest.mark.tensorflow
def test_that_each_change_does_to_pixels_what_it_says() -> None:
    assert [name for name, holds in answer(_CHANGE).items() if not holds] == []


def plans(root: Path) -> dict[str, tuple[Profile, Sequence[int]]]:
    """Digits that stay in memory, and coloured images that are read for each call."""
    plain = DigitsData(validation_fraction=0.2)
    digits = plain.model_copy(update={"augmentation": GREY})
    weighted = digits.model_copy(update={"class_weights": ClassWeights.BALANCED})
    coloured = images(root / "pictures").model_copy(update={"augmentation": COLOURED})
    one, accumulated = changed(epochs=2), changed(epochs=2, accumulation_steps=3)
    return {
        "digits": (profile(one, data=digits), [64]),
        "digits as they are": (profile(one, data=plain), [64]),
        "digits, mirrored": (profile(one, MIRRORED, data=digits), [60, 4]),
        "digits, mirrored, idle": (profile(accumulated, MIRRORED, data=digits), [64, 0]),
        "digits, central": (profile(accumulated, CENTRAL, data=digits), [40, 20, 4]),
        "weighted": (profile(one, data=weighted), [64]),
        "weighted, mirrored": (profile(one, MIRRORED, data=weighted), [48, 16]),
        "coloured": (profile(one, data=coloured), [64]),
        "coloured, mirrored": (profile(one, MIRRORED, data=coloured), [40, 24]),
    }


DIVIDED = ("digits, central", "coloured, mirrored")
FURTHER = ("digits, mirrored", "digits, mirrored, idle", "weighted, mirrored")
"""For ``make test-slow``."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun) -> dict[str, RunLayout]:
    root = tmp_path_factory.mktemp("augmented")
    names = ("digits", "digits as they are", "coloured", *DIVIDED)
    few = {name: plan for name, plan in plans(root).items() if name in names}
    return train_all(root / "runs", make_run, few, evaluated=["digits"])


@pytest.fixture(scope="module")
def further_runs(
    tmp_path_factory: pytest.TempPathFactory, make_run: MakeRun
) -> dict[str, RunLayout]:
    root = tmp_path_factory.mktemp("augmented")
    names = ("digits", "weighted", *FURTHER)
    further = {name: plan for name, plan in plans(root).items() if name in names}
    return train_all(root / "runs", make_run, further)


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize("name", DIVIDED)
def test_that_any_split_trains_on_the_same_changed_examples(
    runs: dict[str, RunLayout], name: str
) -> None:
    assert_alike(runs, name)


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize("name", FURTHER)
def test_that_further_splits_train_on_the_same_changed_examples(
    further_runs: dict[str, RunLayout], name: str
) -> None:
    assert_alike(further_runs, name)


def assert_alike(runs: dict[str, RunLayout], name: str) -> None:
    one_device = runs[name.split(",")[0]]
    assert furthest(one_device, runs[name]) < 1e-5
    expected = last_metrics(one_device).model_dump(exclude_none=True)
    assert last_metrics(runs[name]).model_dump(exclude_none=True) == pytest.approx(
        expected, rel=1e-5
    )


@pytest.mark.slow
@pytest.mark.tensorflow
def test_that_only_training_examples_are_changed(runs: dict[str, RunLayout]) -> None:
    assert furthest(runs["digits"], runs["digits as they are"]) > 1e-2
    # Keras measures them as they are.
    metrics = last_metrics(runs["digits"])
    assert [metrics.val_loss, metrics.val_accuracy] == pytest.approx(
        evaluation(runs["digits"])["validation"], rel=1e-4
    )
    assert metrics.loss > evaluation(runs["digits"])["train"][0]


@pytest.mark.parametrize(
    ("augmentation", "shape", "code"),
    [
        (Augmentation(flip=Flip.HORIZONTAL), (13,), "augmentation_needs_pictures"),
        (Augmentation(hue=0.1), (8, 8), "augmentation_needs_colours"),
        (Augmentation(hue=0.1), (8, 8, 1), "augmentation_needs_colours"),
    ],
)
def test_that_what_is_no_image_or_has_no_colours_is_refused(
    augmentation: Augmentation, shape: tuple[int, ...], code: str
) -> None:
    with pytest.raises(ProblemError) as refused:
        check_images(augmentation, shape)
    assert refused.value.problems[0].code == code


def test_that_numbers_may_be_blended_and_colours_changed() -> None:
    check_images(Augmentation(mixup=0.2), (13,))
    check_images(Augmentation(hue=0.1), (8, 8, 3))
