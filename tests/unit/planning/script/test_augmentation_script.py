"""How a script draws what is done to training examples; what it does is tested with runs."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpupanel.domain.augmentation import Augmentation, Fill, Flip
from gpupanel.domain.data import DigitsData, NpzData, Target, WineData
from gpupanel.planning.script.augmentation_section import augmentation_section
from gpupanel.trainer.augmentation.draws import Drawn, draw_epoch

EVERYTHING = Augmentation(
    flip=Flip.BOTH,
    rotate_degrees=30,
    zoom=0.2,
    shift=0.1,
    brightness=0.3,
    contrast=0.4,
    hue=0.1,
    cutout=0.5,
    mixup=0.2,
)


def drawn_by_script(augmentation: Augmentation) -> Any:
    data = NpzData(path="/x.npz", augmentation=augmentation)
    names: dict[str, Any] = {"np": np, "SEED": 3, "x": SimpleNamespace(shape=(9, 8, 10, 3))}
    exec(augmentation_section(data), names)
    return names["drawn_in"](2, 9)


@pytest.mark.parametrize(
    "augmentation",
    [
        EVERYTHING,
        Augmentation(flip=Flip.VERTICAL),
        Augmentation(flip=Flip.HORIZONTAL, zoom=0.5),
        Augmentation(mixup=1.0),
        Augmentation(cutout=0.2, hue=0.5),
    ],
)
def test_that_a_script_draws_what_a_run_draws(augmentation: Augmentation) -> None:
    expected = draw_epoch(augmentation, (8, 10), 9, 3, 2)
    found = drawn_by_script(augmentation)
    used = {
        Drawn.BRIGHTNESS: augmentation.brightness,
        Drawn.CONTRAST: augmentation.contrast,
        Drawn.HUE: augmentation.hue,
        Drawn.CUT_ROW: augmentation.cutout,
        Drawn.CUT_COLUMN: augmentation.cutout,
        Drawn.OWN_PART: augmentation.mixup,
    }
    columns = [column for column, amount in used.items() if amount]
    columns += range(6) if augmentation.moves else []
    assert found[:, columns].tobytes() == expected[:, columns].tobytes()


def test_that_a_script_holds_only_what_is_changed() -> None:
    flipped = Augmentation(flip=Flip.HORIZONTAL, fill=Fill.NEAREST)
    text = augmentation_section(DigitsData(augmentation=flipped))
    assert 'fill_mode="NEAREST"' in text
    assert not [name for name in ("hue", "beta", "clip", "SIDE", "one_hot") if name in text]
    moved = Augmentation(shift=0.1, fill=Fill.ZERO, brightness=0.1)
    text = augmentation_section(DigitsData(augmentation=moved))
    assert 'fill_mode="CONSTANT"' in text
    assert "clip_by_value(images, 0.0, 16.0)" in text
    blended = NpzData(path="/x", predicts=Target.VALUES, augmentation=Augmentation(mixup=0.1))
    text = augmentation_section(blended)
    assert "one_hot" not in text
    assert "HEIGHT" not in text


def test_that_nothing_is_written_where_nothing_is_changed() -> None:
    assert augmentation_section(DigitsData()) == ""
    assert augmentation_section(WineData()) == ""
