"""What of a profile's augmentation a script says; what it does is tested with runs."""

from gpupanel.domain.augmentation import Augmentation, Fill, Flip
from gpupanel.domain.data import DigitsData, NpzData, Target, WineData
from gpupanel.planning.script.augmentation_section import augmentation_section


def test_that_a_script_says_what_is_changed_and_nothing_else() -> None:
    moved = Augmentation(flip=Flip.HORIZONTAL, shift=0.1, fill=Fill.ZERO, brightness=0.1)
    text = augmentation_section(DigitsData(augmentation=moved))
    changes = "flip='horizontal', shift=0.1, fill='zero', brightness=0.1"
    assert f"CHANGES = Changes({changes})" in text
    assert "changed_images(CHANGES, features, drawn, 16.0)" in text
    assert "tf.roll" not in text
    blended = NpzData(path="/x", predicts=Target.VALUES, augmentation=Augmentation(mixup=0.1))
    text = augmentation_section(blended)
    assert "CHANGES = Changes(mixup=0.1)" in text
    assert "one_hot" not in text
    assert "tf.roll" in text


def test_that_bytes_alone_have_a_greatest_pixel() -> None:
    brighter = NpzData(path="/x", augmentation=Augmentation(brightness=0.1))
    text = augmentation_section(brighter)
    assert "drawn, 255.0 if x.dtype == np.uint8 else None)" in text


def test_that_nothing_is_written_where_nothing_is_changed() -> None:
    assert augmentation_section(DigitsData()) == ""
    assert augmentation_section(WineData()) == ""
