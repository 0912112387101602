"""CSV files of labels as people have them: which column is what, and how its cells are written."""

from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import ImagesData, Target
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.script.data_section import data_section, script_of
from gpupanel.trainer.datasets.examples import DataSet
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.datasets.sources.images import SOURCE, read_images
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.image_folders import make_classes, make_images


@pytest.fixture(name="root", scope="module")
def _root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty images, called by their numbers."""
    return make_images(tmp_path_factory.mktemp("images"), {f"{n}.png": n for n in range(40)})


def labelled(root: Path, header: str, *cells: str, **settings: object) -> ImagesData:
    """The data with a CSV whose lines hold the cells in turn; ``#`` is the number of the image."""
    lines = [cells[n % len(cells)].replace("#", str(n)) for n in range(40)]
    (root / "labels.csv").write_text("\n".join([header, *lines]), encoding="utf-8")
    return ImagesData(path=str(root), labels_csv="labels.csv", image_size=(4, 4), **settings)


def problem_of(data: ImagesData) -> Problem:
    with pytest.raises(ProblemError) as caught:
        read_images(data)
    return caught.value.problems[0]


def fixed(data: ImagesData, fix: Fix | None) -> ImagesData:
    assert fix is not None
    mended = apply_fix(Profile(data=data), fix).data
    assert isinstance(mended, ImagesData)
    return mended


def read_by_both(data: ImagesData) -> DataSet:
    """What a run reads; the exported script reads the same."""
    read = read_images(data)
    filled = with_detected(Profile(data=data), preview(PreviewRequest(data=data))).data
    assert isinstance(filled, ImagesData)
    assert not filled.needs_detection or filled.find_sets
    script: dict[str, object] = {"np": np, "SEED": 3}
    text = f"import os\n{data_section(filled)}\n{script_of(filled).class_names(filled)}"
    exec(text, script)
    for part, examples in (("", read.training), ("_val", read.validation), ("_test", read.test)):
        if examples is not None:
            y = np.asarray(script[f"y{part}"])
            assert np.array_equal(y, examples.labels)
            assert y.dtype == examples.labels.dtype
            every = np.arange(len(examples), dtype=np.int32)
            assert np.array_equal(np.asarray(script[f"x{part}"]), examples.read(every))
    assert tuple(script["class_names"] or ()) == read.class_names  # type: ignore[arg-type]
    return read


@pytest.mark.parametrize(
    ("header", "cell", "first"),
    [
        ("file;wert", "#.png;#,5", [0.5, 1.5, 2.5]),
        ("wert\tid", "1.23#,5\t#", [1230.5, 1231.5, 1232.5]),
        ("file,price", '#,"$1,00#.25"', [1000.25, 1001.25, 1002.25]),
        ("file;share", "#;#,5 %", [0.5, 1.5, 2.5]),
    ],
)
def test_that_values_are_read_as_people_write_them(
    root: Path, header: str, cell: str, first: list[float]
) -> None:
    lines = 10 if "1.23" in cell or "1,00" in cell else 40
    data = labelled(root, header, cell)
    text = (root / "labels.csv").read_text().splitlines()[: lines + 1]
    (root / "labels.csv").write_text("\n".join(text))
    read = read_by_both(data)
    assert (read.target, read.training.labels[:3].tolist()) == (Target.VALUES, first)
    assert "data_numbers_read" in [note.code for note in read.notes]


def test_that_a_number_that_may_be_two_is_asked_for(root: Path) -> None:
    data = labelled(root, "file,price", '#.png,"#,000"')
    (root / "labels.csv").write_text('file,price\n1.png,"1,000"\n2.png,"12,000"\n')
    problem = problem_of(data)
    assert (problem.code, problem.field) == ("data_numbers_unclear", "data.decimal")
    assert '"1,000", which may be 1000 or 1.000' in problem.message
    read = read_by_both(fixed(data, problem.fix))
    assert read.training.labels.tolist() == [1000, 12000]
    read = read_by_both(fixed(data, problem.alternatives[0]))
    assert read.training.labels.tolist() == [1, 12]
    assert read_images(fixed(data, problem.alternatives[1])).class_names == ("1,000", "12,000")


def test_that_classes_that_look_like_amounts_are_warned_of(root: Path) -> None:
    for cells in (["#.png,1#"], ["#.png,#.5"] * 9 + ["#.png,old"]):
        data = labelled(root, "file,age", *cells)
        (note,) = read_by_both(data).notes
        assert (note.code, note.severity) == ("data_labels_seem_values", Severity.WARNING)
        assert not read_images(fixed(data, note.alternatives[0])).notes
    assert problem_of(fixed(data, note.fix)).code == "data_csv_unreadable"
    few = labelled(root, "file,age", *(f"#.png,{age}" for age in range(9)))
    assert not read_images(few).notes


def test_that_one_of_several_columns_is_asked_for(root: Path) -> None:
    header = "lesion_id,image_id,dx,dx_type,age,sex"
    data = labelled(root, header, "L#,#,nv,histo,40,m", "L#,#,mel,histo,35,f")
    problem = problem_of(data)
    assert (problem.code, problem.field) == ("data_label_columns_unclear", "data.label_columns")
    assert 'beside "image_id"' in problem.message
    fixes = [problem.fix, *problem.alternatives]
    by_name = {each.changes[0].value: each for each in fixes if each is not None}
    # What is another one for each image is no likely label.
    assert list(by_name) == ["dx", "dx_type", "age", "sex", "lesion_id"]
    seen = preview(PreviewRequest(data=data))
    assert seen.found["file_column"] == "image_id"
    assert {each.value for each in seen.offers["label_columns"]} == set(by_name)
    mended = fixed(data, by_name["dx"])
    read = read_by_both(mended.model_copy(update={"group": "lesion_id"}))
    assert read.class_names == ("mel", "nv")
    assert read.training.labels[:3].tolist() == [1, 0, 1]
    # To predict no label is needed.
    assert len(SOURCE.read_all(data, Reading(print), needs_labels=False)) == 40


def test_that_a_column_of_a_usual_name_is_taken_and_said(root: Path) -> None:
    data = labelled(root, "image,fold,label", "#,1,cup", "#,2,tea")
    read = read_by_both(data)
    (note,) = read.notes
    assert (read.class_names, note.code) == (("cup", "tea"), "data_label_column_taken")
    assert '"fold" is not used' in note.message
    assert read_by_both(fixed(data, note.alternatives[0])).class_names == ("1", "2")
    assert not read_images(fixed(data, note.fix)).notes


@pytest.mark.parametrize(
    ("name", "cells", "is_said"),
    [
        ("data set", ("train", "test", "valid"), True),
        ("x", ("Training", "Validierung"), True),
        ("is_train", ("0", "1"), True),
        ("partition", ("0", "1", "2"), True),
        ("fold", ("1", "2", "3"), False),
        ("x", ("train", "bus"), False),  # vehicles
        ("split", ("train", "train"), False),
    ],
)
def test_that_sets_in_a_column_are_pointed_out(
    root: Path, name: str, cells: tuple[str, ...], is_said: bool
) -> None:
    lines = [f"#,{'cup' if n % 2 else 'tea'},{cells[n % len(cells)]}" for n in range(6)]
    notes = {
        each.code: each for each in read_by_both(labelled(root, f"f,label,{name}", *lines)).notes
    }
    assert ("data_sets_in_column" in notes) == is_said
    if is_said:
        note = notes["data_sets_in_column"]
        assert note.severity is Severity.WARNING
        assert note.message.startswith(f'Column "{name}" of ')


def test_that_names_that_are_no_utf_8_are_pointed_out(root: Path) -> None:
    data = labelled(root, "f,label", "#,th\xe9", "#,cup")
    text = (root / "labels.csv").read_text(encoding="utf-8")
    (root / "labels.csv").write_bytes(text.encode("latin-1"))
    (note,) = read_by_both(data).notes
    assert (note.code, note.severity) == ("data_csv_not_utf8", Severity.WARNING)
    assert note.message.endswith('in column "label" a name is "th\\xe9".')


def test_that_numbers_that_come_back_are_asked_for_and_measures_are_not(root: Path) -> None:
    problem = problem_of(labelled(root, "f,k,fold", "#.png,1,1", "#.png,0,2"))
    assert problem.code == "data_label_columns_unclear"
    last = problem.alternatives[-1]
    assert (last.label, last.changes[0].value) == ("Predict all of them", ["k", "fold"])
    measured = read_by_both(labelled(root, "f;x;y", "#.png;0,#;1#"))
    assert (measured.target, measured.training.labels[12].tolist()) == (
        Target.VALUES,
        [pytest.approx(0.12), 112],
    )
    assert problem_of(labelled(root, "f,dog,split", "#,1,0", "#,0,1")).code == (
        "data_label_columns_unclear"
    )


def test_that_columns_can_be_chosen_and_unknown_ones_are_named(root: Path) -> None:
    data = labelled(root, "n,m,k", "#,3#,cup", "#,3#,tea")
    (root / "labels.csv").write_text("n,m,k\n0,30,cup\n1,31,tea\n2,32,cup\n")
    problem = problem_of(data)
    assert (problem.code, problem.field) == ("data_file_column_unclear", "data.file_column")
    chosen = fixed(data, problem.alternatives[0]).model_copy(update={"label_columns": "k"})
    assert int(read_by_both(chosen).training.read(np.array([0], np.int32)).mean()) == 30
    for key, name in (("file_column", "x\x1b"), ("label_columns", "x\x1b")):
        problem = problem_of(chosen.model_copy(update={key: name}))
        assert (problem.code, problem.field) == ("data_column_unknown", f"data.{key}")
        assert '"k"' in problem.message
        assert "\x1b" not in problem.message


@pytest.mark.parametrize("cells", [("#,a;b", "#,b", "#,c"), ("#,a b", "#,b", "#,b c a"), None])
def test_that_labels_in_one_cell_are_pointed_out_and_read(
    root: Path, cells: tuple[str, ...] | None
) -> None:
    cells = cells or ("#,\"['b', 'a']\"", "#,\"['b']\"", "#,['c']")
    data = labelled(root, "file,tags", *cells)
    note = read_by_both(data).notes[-1]
    assert (note.code, note.severity) == ("data_labels_seem_several", Severity.WARNING)
    read = read_by_both(fixed(data, note.fix))
    assert (read.target, read.class_names) == (Target.LABELS, ("a", "b", "c"))
    assert read.training.labels[:2].tolist() == [[1, 1, 0], [0, 1, 0]]
    assert not read_images(fixed(data, note.alternatives[0])).notes


def test_that_several_columns_of_text_are_no_labels(root: Path) -> None:
    data = labelled(root, "f,colour,shape", "#,red,round", "#,blue,square")
    data = data.model_copy(update={"label_columns": ("colour", "shape")})
    problem = problem_of(data)
    assert problem.code == "data_csv_unreadable"
    assert '"red" in column "colour"' in problem.message
    assert read_images(fixed(data, problem.alternatives[0])).class_names == ("round", "square")


def test_that_words_for_nothing_are_pointed_out_and_can_be_chosen(root: Path) -> None:
    data = labelled(root, "f,defect", "#,None", "#,scratch")
    (note,) = read_by_both(data).notes
    assert (note.code, note.severity) == ("data_words_kept", Severity.WARNING)
    kept = read_by_both(fixed(data, note.fix))
    assert (kept.class_names, kept.notes) == (("None", "scratch"), ())
    data = labelled(root, "f,defect", "#,None", "#,scratch", "#,dent")
    read = read_by_both(fixed(data, note.alternatives[0]))
    assert (read.class_names, len(read.training)) == (("dent", "scratch"), 26)
    assert [each.code for each in read.notes] == ["data_labels_left_out"]


@pytest.mark.parametrize("nothing", ["", "  ", "NaN"])
def test_that_an_image_without_a_label_is_refused_or_left_out_by_choice(
    root: Path, nothing: str
) -> None:
    for cells, names in ((("#,tea", "#,cup"), ("cup", "tea")), (("#,0.5", "#,1.5"), ())):
        data = labelled(root, "f,k", *cells, f"#,{nothing}")
        problem = problem_of(data)
        assert problem.code == "data_csv_unreadable"
        assert "Line 4" in problem.message
        read = read_by_both(fixed(data, problem.fix))
        assert (read.class_names, len(read.training)) == (names, 27)


def test_that_words_for_nothing_are_empty_among_numbers(root: Path) -> None:
    data = labelled(root, "f,price", "#,$1.50", "#,NA", "#,$2.25")
    assert '"NA", which means nothing' in problem_of(data).message
    assert fixed(data, problem_of(data).fix).empty_words == ("NA",)
    # Among numbers it means nothing, whatever words do so among names.
    read = read_by_both(data.model_copy(update={"empty_words": ()}))
    assert read.training.labels[:3].tolist() == [1.5, 2.25, 1.5]


def test_that_missing_images_are_said_before_labels_are_judged(root: Path) -> None:
    data = labelled(root, "f,a,b", "gone#.png,x,y", "#.png,x,y")
    problem = problem_of(data)
    assert problem.code == "data_images_missing"
    assert "20 of the 40 images" in problem.message
    assert '"gone0.png"' in problem.message
    assert 'The folder holds "0.png"' in problem.hint
    problem = problem_of(labelled(root, "f,a", "scan#.dcm,x", "scan#.dcm,y"))
    assert problem.code == "data_csv_no_pictures"
    assert '"scan0.dcm"' in problem.message
    assert 'the folder holds "0.png"' in problem.message
    lenient = labelled(root, "f,a,b", "gone#.png,x,y", "#.png,x,y", unreadable_share=0.9)
    with pytest.raises(ProblemError) as caught:
        read_images(lenient)
    codes = [each.code for each in caught.value.problems]
    assert codes == ["data_label_columns_unclear", "data_images_missing"]


def test_that_lines_that_differ_in_unused_columns_alone_say_the_same(root: Path) -> None:
    data = labelled(root, "f,x,label", "3.png,#,cup", "4.png,#,tea")
    assert len(read_by_both(data).training) == 2
    data = labelled(root, "f,x,label", "3.png,#,cup", "3.png,#,tea")
    assert "says otherwise than line 2" in problem_of(data).message


def test_that_the_files_of_a_camera_are_found(tmp_path: Path) -> None:
    first = {"IMG 0001.JPG": 1, "IMG 0002.JPG": 2}
    make_images(tmp_path / "DCIM" / "100CANON", first)
    make_images(tmp_path / "DCIM" / "101CANON", {"IMG 0002.JPG": 3, "IMG 0003.JPG": 4})
    text = "file,kind\nIMG 0001.jpg,x\n100canon/IMG 0002.jpg,y\n101CANON\\IMG 0002,x\nIMG 0003,y\n"
    (tmp_path / "l.csv").write_text(text)
    data = ImagesData(path=str(tmp_path), labels_csv="l.csv", image_size=(4, 4))
    assert read_by_both(data).training.labels.tolist() == [0, 1, 0, 1]
    (tmp_path / "l.csv").write_text("file,kind\nIMG 0001.jpg,x\nIMG 0002.jpg,y\n")
    problem = problem_of(data)
    assert problem.code == "data_csv_names_several"
    assert '"IMG 0002.jpg"' in problem.message


def competition(root: Path) -> ImagesData:
    make_images(root / "train_images", {f"{n}.png": n for n in range(6)})
    make_images(root / "test_images", {f"{n}.png": n for n in range(90, 93)})
    (root / "train.csv").write_text("id,label\n" + "".join(f"{n},{n % 2}\n" for n in range(6)))
    (root / "sample_submission.csv").write_text("id,label\n90,0\n91,0\n92,0\n")
    (root / "test.csv").write_text("id\n90\n91\n92\n")
    return ImagesData(path=str(root), image_size=(4, 4))


def test_that_the_labels_of_a_competition_are_found(tmp_path: Path) -> None:
    data = competition(tmp_path)
    read = read_by_both(data)
    assert read.training.labels.tolist() == [0, 1] * 3
    assert read.test is None
    (note,) = read.notes
    assert (note.code, '"test_images"' in note.message) == ("data_sets_left_out", True)
    for name, code in (
        ("sample_submission.csv", "data_csv_no_pictures"),
        ("test.csv", "data_csv_one_column"),
    ):
        assert problem_of(data.model_copy(update={"labels_csv": name})).code == code
    # Which of two says it is asked for.
    (tmp_path / "folds.csv").write_text("id,fold\n0,1\n1,2\n")
    problem = problem_of(data)
    assert problem.code == "data_labels_missing"
    values = [fix.changes[0].value for fix in (problem.fix, *problem.alternatives) if fix]
    assert values == ["../folds.csv", "../train.csv"]


def test_that_one_csv_may_be_of_several_sets(tmp_path: Path) -> None:
    sets = ("train", "val", "test")
    for name in sets:
        make_images(tmp_path / name, {f"{n}.png": n for n in range(4)})
    lines = [f"{name}/{n}.png,{'ab'[n % 2]}\n" for name in sets for n in range(4)]
    (tmp_path / "labels.csv").write_text("path,kind\n" + "".join(lines))
    data = ImagesData(path=str(tmp_path), image_size=(4, 4))
    for chosen in (data, data.model_copy(update={"labels_csv": "labels.csv"})):
        read = read_by_both(chosen)
        assert read.notes == ()
        assert read.validation is not None
        assert read.test is not None
        assert read.test.labels.tolist() == [0, 1, 0, 1]
    # The same names without folders are those of the training images alone.
    (tmp_path / "labels.csv").write_text("path,kind\n0.png,a\n1.png,b\n2.png,a\n3.png,b\n")
    read = read_by_both(data)
    assert (read.validation, read.test) == (None, None)
    assert [note.code for note in read.notes] == ["data_sets_left_out"]


def test_that_a_csv_beside_folders_that_are_parts_is_pointed_out(tmp_path: Path) -> None:
    make_classes(tmp_path, {"part_1": 3, "part_2": 3})
    csv = tmp_path / "metadata.csv"
    csv.write_text("image,dx\npart_1/0,nv\npart_2/0,mel\n")
    data = ImagesData(path=str(tmp_path))
    (note,) = read_images(data).notes
    assert (note.code, note.severity) == ("data_labels_beside", Severity.WARNING)
    assert read_images(fixed(data, note.fix)).class_names == ("mel", "nv")
    csv.write_text("image,dx\npart_1/0,part_1\n")
    assert read_images(data).notes[0].severity is Severity.HINT
    (tmp_path / "part_2").rename(tmp_path / ".part_2")
    problem = problem_of(data)
    assert (problem.code, problem.fix) == ("data_one_class", note.fix)
