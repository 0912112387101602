"""Files that were chosen one by one, as a profile names them."""

from gpupanel.domain.data import DigitsData, ImagesData
from gpupanel.domain.files_below import MOST_FILES, are_too_many, files_below
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile, parse_profile


def test_that_files_are_named_from_the_folder_that_holds_all_of_them() -> None:
    assert files_below(["/a/b/1.png", "/a/b/2.png"]) == ("/a/b", ("1.png", "2.png"))
    apart = ["/a/b/1.png", "/a/c/d/1.png", "/a/b/../b/1.png"]
    assert files_below(apart) == ("/a", ("b/1.png", "c/d/1.png"))
    assert files_below(["/x.png", "/mnt/x.png"]) == ("/", ("x.png", "mnt/x.png"))


def test_that_what_is_no_utf8_is_written_out_and_the_folder_has_none_of_it() -> None:
    found = files_below(["/a/caf\udce9/ж.png", "/a/caf\udce9/\udcff.png"])
    assert found == ("/a", (r"caf\xe9/ж.png", r"caf\xe9/\xff.png"))
    data = ImagesData(path="").with_files(["/a/\udcff.png"])
    assert parse_profile(dump_profile(Profile(data=data))).data == data


def test_that_what_means_nothing_beside_files_is_as_it_was_at_first() -> None:
    before = ImagesData(
        path="/i",
        labels_csv="l.csv",
        validation_path="/v",
        test_path="/t",
        leave_out=("cat",),
        find_sets=False,
        image_size=(8, 9),
    )
    assert before.with_files(["/p/1.png"]) == ImagesData(
        path="/p", files=("1.png",), image_size=(8, 9)
    )
    alone = before.model_copy(update={"files": ("1.png",)})
    assert (alone.has_validation_set, alone.chosen_test_path) == (False, "")
    assert not alone.model_copy(update={"predicts": "classes"}).needs_detection
    assert DigitsData().with_files(["/p/1.png"]) == DigitsData()
    assert DigitsData().chosen_files == ()


def test_that_a_profile_names_so_many_files_and_no_more() -> None:
    assert not are_too_many(["1.png"] * MOST_FILES)
    assert are_too_many(["1.png"] * (MOST_FILES + 1))
    assert are_too_many(["ж" * 255] * 2000)
