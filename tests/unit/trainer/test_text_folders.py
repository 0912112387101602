"""Folders of texts as people have them: sets, hidden folders, files of other kinds."""

from pathlib import Path

import pytest

from gpupanel.domain.data import TextData
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.trainer.datasets.texts.folder import list_texts
from tests.unit.trainer.text_folders import BAD, GOOD, make_texts


def notes_on(root: Path) -> tuple[Problem, ...]:
    return list_texts(root, "data.path").notes


def test_that_what_systems_put_beside_texts_is_not_read_at_any_depth(tmp_path: Path) -> None:
    make_texts(tmp_path, {"bad": BAD, "good": GOOD, "good/more": GOOD[:1]})
    hidden = ("__MACOSX", "@eaDir", ".git", "good/.ipynb_checkpoints", "bad/@eaDir", "bad/x/.x")
    make_texts(tmp_path, dict.fromkeys(hidden, GOOD))
    (tmp_path / "bad" / "._0000.txt").write_bytes(b"\0\5\x16\7")
    found = list_texts(tmp_path, "data.path")
    assert (found.class_names, found.counts) == (("bad", "good"), (4, 5))
    assert not found.notes


def test_that_sets_that_are_taken_for_classes_are_warned_of(tmp_path: Path) -> None:
    sets = {f"{name}/{each}": GOOD for name in ("train", "test") for each in ("neg", "pos")}
    make_texts(tmp_path, sets)
    (note,) = notes_on(tmp_path)
    assert (note.code, note.severity) == ("data_sets_as_classes", Severity.WARNING)
    assert note.fix is not None
    mended = apply_fix(Profile(data=TextData(path=str(tmp_path))), note.fix).data
    assert isinstance(mended, TextData)
    assert (mended.path, mended.test_path) == (str(tmp_path / "train"), str(tmp_path / "test"))
    assert not notes_on(tmp_path / "train")


@pytest.mark.parametrize(
    ("folders", "code", "named"),
    [
        (("neg", "pos", "unsup"), "data_sets_as_classes", 'The folder "unsup" is a class here'),
        (("a/neg", "a/pos", "b/neg", "b/pos"), "data_folders_in_classes", '"neg" and "pos"'),
        (("neg/train", "neg/test", "pos/train", "pos/test"), "data_folders_in_classes", "of sets"),
        (("neg/train", "neg/test", "pos/train"), "data_folders_in_classes", "of sets"),
        (("neg", "pos", "reviews/neg", "reviews/pos"), "data_classes_in_class", '"reviews"'),
    ],
)
def test_that_folders_that_are_probably_no_classes_are_warned_of(
    tmp_path: Path, folders: tuple[str, ...], code: str, named: str
) -> None:
    make_texts(tmp_path, dict.fromkeys(folders, GOOD))
    (note,) = notes_on(tmp_path)
    assert (note.code, note.severity) == (code, Severity.WARNING)
    assert named in note.message


def test_that_files_that_are_not_read_are_counted(tmp_path: Path) -> None:
    make_texts(tmp_path, {"bad": BAD, "good": GOOD, ".": ["of no class"]})
    for name in ("bad/1.md", "good/2.md", "good/3", "vocabulary.json"):
        (tmp_path / name).write_text("words")
    unread, beside = sorted(notes_on(tmp_path), key=lambda note: note.severity)
    assert (unread.code, unread.severity) == ("data_files_not_read", Severity.HINT)
    assert "4 files are not named .txt, and not read: 2 .md, 1 without a suffix" in unread.message
    assert (beside.code, beside.severity) == ("data_files_beside_classes", Severity.WARNING)
    assert beside.message.startswith("1 text stands beside the folders of the classes")


def test_that_a_folder_of_other_files_is_refused_with_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "rec.autos").mkdir()
    (tmp_path / "rec.autos" / "101551").write_text("a post")
    with pytest.raises(ProblemError) as raised:
        list_texts(tmp_path, "data.path")
    empty, unread = raised.value.problems
    assert empty.code == "data_empty"
    assert "1 without a suffix" in unread.message
