"""A question about one example can be asked about another file."""

from gpupanel.domain.asked_prediction import PredictionAsked
from gpupanel.domain.images_data import ImagesData
from gpupanel.domain.profile import Profile


def test_that_the_same_is_asked_about_another_file_of_numbers() -> None:
    asked = PredictionAsked(profile=Profile(), file="/here/a.npy", place=3)
    assert asked.about_file("/there/b.npy") == asked.model_copy(update={"file": "/there/b.npy"})


def test_that_the_same_is_asked_about_another_picture() -> None:
    data = ImagesData(path="/here", files=("a.png",), image_size=(8, 8))
    asked = PredictionAsked(profile=Profile(data=data), with_heat_map=True)
    again = asked.about_file("/there/b.png")
    assert (again.profile.data.chosen_path, again.profile.data.chosen_files) == (
        "/there",
        ("b.png",),
    )
    assert again.profile.data.model_dump()["image_size"] == (8, 8)
    assert again.with_heat_map
    assert again.file == ""
