"""The list of models names each kind once, with what decides between them."""

from gpupanel.domain.kind import kinds_of
from gpupanel.domain.model import ModelSettings
from gpupanel.planning.model_gallery import model_entries


def test_that_every_kind_is_in_it_once() -> None:
    named = sorted(each.kind.source for each in model_entries())
    assert named == sorted(each.source for each in kinds_of(ModelSettings))


def test_that_groups_stand_together_and_what_suits_few_images_comes_first() -> None:
    entries = model_entries()
    groups = [each.group for each in entries]
    assert list(dict.fromkeys(groups)) == [
        "Pretrained, small",
        "Pretrained, large",
        "From scratch",
        "Your own model",
    ]
    assert groups == sorted(groups, key=list(dict.fromkeys(groups)).index)
    assert all(each.suits_few == (each.group == "Pretrained, small") for each in entries)


def test_that_an_entry_says_input_and_download() -> None:
    first = model_entries()[0]
    assert (first.kind.source, first.takes, first.side) == ("MobileNetV3Small", "images", 224)
    assert first.is_pretrained
    assert 3e6 < first.download_bytes < 5e6
    scratch = next(each for each in model_entries() if each.kind.source == "transformer")
    assert (scratch.takes, scratch.is_pretrained, scratch.side) == ("texts", False, 0)
