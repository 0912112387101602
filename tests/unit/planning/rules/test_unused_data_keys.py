"""Settings of the data that do nothing beside others, and files that are too many."""

from gpupanel.domain.data import ImagesData, NpzData, TableData
from gpupanel.domain.files_below import MOST_FILES
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU_ONLY


def problems(data: ImagesData | TableData | NpzData) -> dict[str, Problem]:
    profile = Profile(data=data, devices=DeviceSettings(visible=("cpu",)))
    return {each.code: each for each in prepare(profile, CPU_ONLY).problems}


def test_that_classes_are_not_left_out_where_a_csv_says_what_images_are() -> None:
    data = ImagesData(path="/i", labels_csv="l.csv", leave_out=("cat",))

    problem = problems(data)["data_key_unused"]

    assert (problem.field, problem.severity) == ("data.leave_out", Severity.WARNING)
    assert "data.labels_csv" in problem.message
    assert problem.fix is not None
    assert apply_fix(Profile(data=data), problem.fix).data == data.model_copy(
        update={"leave_out": ()}
    )
    for used in (data.model_copy(update={"labels_csv": ""}), ImagesData(path="/i")):
        assert "data_key_unused" not in problems(used)


def test_that_sets_beside_chosen_files_and_groups_that_are_not_drawn_are_named() -> None:
    files = ImagesData(path="/i", files=("1.png",), test_path="/t")
    assert problems(files)["data_key_unused"].field == "data.test_path"
    last = TableData(path="/t.csv", group="patient", holdout="last", stratify=True)
    assert problems(last)["data_key_unused"].field == "data.group"


def test_that_a_group_needs_the_csv_whose_column_it_is() -> None:
    data = ImagesData(path="/i", group="patient")
    problem = problems(data)["data_key_unused"]
    assert problem.field == "data.group"
    assert "data.labels_csv" in problem.message
    assert data.chosen_group == ""
    used = data.model_copy(update={"labels_csv": "labels.csv"})
    assert "data_key_unused" not in problems(used)
    assert used.chosen_group == "patient"
    assert used.model_copy(update={"group": None}).chosen_group == ""


def test_that_what_is_of_one_array_is_unused_beside_several() -> None:
    several = {"inputs": ["a", "b"], "outputs": {"c": "values"}}
    for data, field, beside in (
        (NpzData(path="/x.npz", features="x", **several), "data.features", "data.inputs"),
        (NpzData(path="/x.npz", labels="y", **several), "data.labels", "data.outputs"),
        (NpzData(path="/x.npz", predicts="values", **several), "data.predicts", "data.outputs"),
        (NpzData(path="/x.npz", test_features="x", **several), "data.test_features", "data.inputs"),
        (NpzData(path="/x.npz", autoencoder=True, **several), "data.autoencoder", "data.inputs"),
        (NpzData(path="/x.npz", autoencoder=True, labels="y"), "data.labels", "data.autoencoder"),
    ):
        problem = problems(data)["data_key_unused"]
        assert problem.field == field
        assert beside in problem.message
        assert problem.fix is not None
        mended = apply_fix(Profile(data=data), problem.fix).data
        assert isinstance(mended, NpzData)
        assert "data_key_unused" not in problems(mended)


def test_that_more_files_than_a_profile_holds_are_refused() -> None:
    files = tuple(f"{number}.png" for number in range(MOST_FILES + 1))
    problem = problems(ImagesData(path="/i", files=files))["data_files_too_many"]
    assert problem.is_error
    assert "5,001 files" in problem.message
    assert "data_files_too_many" not in problems(ImagesData(path="/i", files=files[1:]))
