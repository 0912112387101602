"""Texts become numbers of words, with the vocabulary of those that are trained on."""

import json
import os
import random
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from gpupanel.domain.data import Scaling, Target, TextData
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.scan import ScanRequest
from gpupanel.trainer.datasets import cache_file
from gpupanel.trainer.datasets.examples import AllExamples, DataSet, Examples, read_features
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.datasets.split import split
from gpupanel.trainer.datasets.texts.recipe import TextRecipe
from gpupanel.trainer.datasets.texts.words import most_frequent, words_of
from gpupanel.trainer.tools.preview.preview import preview
from gpupanel.trainer.tools.scan import scan
from tests.forked.processes import run_forked
from tests.unit.trainer.text_folders import BAD, GOOD, make_texts, reviews, write_table

CLASSES = {"bad": BAD, "good": GOOD}


def read(path: Path, seed: int = 0, **chosen: object) -> DataSet:
    data = TextData(path=str(path), **chosen)
    return source_of(data).read(data, Reading(print, seed=seed))


def read_all(
    path: Path, recipe: str, *, needs_labels: bool = False, **chosen: object
) -> AllExamples:
    data = TextData(path=str(path), **chosen)
    reading = Reading(print, recipe=recipe)
    return source_of(data).read_all(data, reading, needs_labels=needs_labels)


def problem_of(path: Path, **chosen: object) -> Problem:
    with pytest.raises(ProblemError) as raised:
        read(path, **chosen)
    (problem,) = raised.value.problems
    assert problem.hint
    return problem


def sentences(data: DataSet, examples: Examples | None = None) -> list[str]:
    found = examples or data.training
    rows = found.read(np.arange(len(found), dtype=np.int32)).astype(int)
    return [" ".join(data.words[number] for number in row if number) for row in rows]


def test_that_what_a_new_last_layer_predicts_is_found_in_the_data(tmp_path: Path) -> None:
    recipe = read(write_table(tmp_path / "known.csv", reviews(30))).recipe
    moods = write_table(tmp_path / "moods.csv", reviews(20), "review,mood")
    data, reading = TextData(path=str(moods)), Reading(print, recipe=recipe)
    assert source_of(data).find(data, reading).found["target"] == ()  # "stars" are not there
    own = replace(reading, own_targets=True)
    assert source_of(data).find(data, own).found["target"] == ("mood",)


@pytest.mark.parametrize("cache", ["memory", "none"])
def test_that_folders_of_texts_are_classes_and_words_are_numbers(
    tmp_path: Path, cache: str
) -> None:
    make_texts(tmp_path, CLASSES)
    (tmp_path / "good" / "notes.md").write_text("no text")
    (tmp_path / ".hidden").mkdir()
    data = read(tmp_path, cache=cache, vocabulary=12, length=3)
    assert (data.class_names, data.training.labels.tolist()) == (
        ("bad", "good"),
        [0, 0, 0, 0, 1, 1, 1, 1],
    )
    assert data.training.feature_shape == (3,)
    assert data.words[:2] == ("", "[UNK]")
    # Three times each: the later in the alphabet comes first.
    assert data.words[2:6] == ("poor", "great", "fine", "dull")
    assert (len(data.words), data.token_count, data.scaling) == (12, 12, Scaling.NONE)
    assert sentences(data)[0].split()[1:] == ["dull", "film"]
    assert data.training.features.dtype == np.float32
    assert (data.training.in_memory is None) == (cache == "none")


def test_that_what_is_held_out_has_no_part_in_the_vocabulary(tmp_path: Path) -> None:
    texts = [f"common word{number}" for number in range(40)]
    make_texts(tmp_path, {"a": texts[:20], "b": texts[20:]})
    for chosen in ({}, {"stratify": True}, {"holdout": "last"}):
        settings = {"validation_fraction": 0.4, "vocabulary": 1000, "length": 5, **chosen}
        data = TextData(path=str(tmp_path), **settings)
        found = source_of(data).read(data, Reading(print, seed=5))
        parts = split(found, data, 5)
        assert parts.validation is not None
        trained = {word for text in sentences(found, parts.training) for word in text.split()}
        assert trained == set(found.words[2:])
        assert len(trained) == 25
        assert {*sentences(found, parts.validation)} == {"common [UNK]"}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("cache", ["memory", "none"])
def test_that_texts_and_targets_are_found_in_a_table(
    tmp_path: Path, suffix: str, cache: str
) -> None:
    rows = reviews(60)
    path = tmp_path / f"t{suffix}"
    if suffix == ".csv":
        write_table(path, rows)
    else:
        texts, stars = zip(*rows, strict=True)
        pa.parquet.write_table(pa.table({"review": texts, "stars": stars}), path)
    data = read(path, cache=cache, length=30)
    assert data.training.labels.tolist() == [stars for _, stars in rows]
    assert data.class_names == ("0", "1", "2", "3")
    expected = [" ".join(each.decode() for each in words_of(text.encode())) for text, _ in rows]
    assert sentences(data) == expected
    values = read(path, cache=cache, predicts="values", text="review", target="stars")
    assert (values.target, values.training.labels.dtype) == (Target.VALUES, np.float32)


def test_that_the_only_column_with_texts_is_found_whatever_it_is_called(tmp_path: Path) -> None:
    few = write_table(tmp_path / "few.csv", [("one two", 0), ("two three", 1)], "odd,y")
    assert sentences(read(few)) == ["one two", "two three"]
    rows = [(f"word{number} more", f"{number % 2},k{number % 3}") for number in range(400)]
    many = write_table(tmp_path / "many.csv", rows, "odd,y,kind")
    assert sentences(read(many, target="kind"))[7] == "word7 more"
    assert problem_of(many).code == "text_column_ambiguous"


def test_that_targets_may_be_names_or_several_columns(tmp_path: Path) -> None:
    rows = [
        (text, f"{'good' if n % 2 else 'bad'},{n % 2},{n // 2 % 2}")
        for n, (text, _) in enumerate(reviews(20))
    ]
    path = write_table(tmp_path / "t.csv", rows, "comment,kind,a,b")
    names = read(path, target="kind")
    assert names.class_names == ("bad", "good")
    assert names.training.labels.tolist() == [0, 1] * 10
    several = read(path, target=["a", "b"])
    assert (several.target, several.class_names) == (Target.LABELS, ("a", "b"))


def test_that_rows_without_a_target_are_left_out_and_missing_texts_are_empty(
    tmp_path: Path,
) -> None:
    (tmp_path / "t.csv").write_text('text,y\ngood one,1\nbad one,\n,0\n"...",1\n')
    data = read(tmp_path / "t.csv", length=2)
    assert data.training.labels.tolist() == [1, 0, 1]
    assert sentences(data) == ["good one", "[UNK]", "[UNK]"]


def test_that_sets_of_their_own_use_the_words_of_the_training_set(tmp_path: Path) -> None:
    make_texts(tmp_path / "train", CLASSES)
    make_texts(tmp_path / "more", {"good": ["fine strange"], "bad": ["dull strange"]})
    make_texts(tmp_path / "one", {"good": ["fine"]})
    make_texts(tmp_path / "odd", {"other": ["fine"]})
    more, one = str(tmp_path / "more"), str(tmp_path / "one")
    data = read(tmp_path / "train", validation_path=more, test_path=one, length=4)
    assert sentences(data, data.validation) == ["dull [UNK]", "fine [UNK]"]
    assert data.test is not None
    assert data.test.labels.tolist() == [1]
    problem = problem_of(tmp_path / "train", test_path=str(tmp_path / "odd"))
    assert (problem.code, problem.field) == ("data_classes_differ", "data.test_path")
    table = write_table(tmp_path / "t.csv", reviews(9))
    problem = problem_of(tmp_path / "train", test_path=str(table))
    assert problem.code == "texts_of_two_kinds"


def test_that_sets_of_their_own_have_the_columns_of_the_training_set(tmp_path: Path) -> None:
    rows = [(text, f"{stars},x{number}") for number, (text, stars) in enumerate(reviews(20))]
    path = write_table(tmp_path / "t.csv", rows, "words,label,note")
    other = write_table(
        tmp_path / "o.csv", [("odd", f'0,"{text}"') for text, _ in reviews(9)], "text,label,words"
    )
    data = read(path, text="words", test_path=str(other), length=30)
    found = [" ".join(each.decode() for each in words_of(text.encode())) for text, _ in reviews(9)]
    assert sentences(data, data.test) == found
    recipe = TextRecipe.model_validate_json(data.recipe)
    assert (recipe.text, recipe.targets) == ("words", ("label",))
    again = read_all(other, data.recipe)
    assert read_features(again.features, np.arange(9, dtype=np.int32)).tolist() == [
        *data.test.read(np.arange(9, dtype=np.int32)).tolist()  # type: ignore[union-attr]
    ]


def test_that_classes_that_look_like_numbers_are_texts_in_every_set_as_in_training(
    tmp_path: Path,
) -> None:
    path = write_table(tmp_path / "t.csv", [("one", "x1"), ("two", "007"), ("three", "x1")])
    other = write_table(tmp_path / "o.csv", [("one", "007"), ("four", "007")])
    data = read(path, validation_path=str(other))
    assert data.validation is not None
    assert (data.class_names, data.validation.labels.tolist()) == (("007", "x1"), [0, 0])
    evaluated = read_all(other, data.recipe, needs_labels=True)
    assert evaluated.labels is not None
    assert evaluated.labels.tolist() == [0, 0]
    unlabelled = write_table(tmp_path / "n.csv", [("one", ""), ("four", "")])
    assert read_all(unlabelled, data.recipe).labels is None
    # Numbers are written in many ways, and stay numbers.
    numbers = read(write_table(path, [("one", 1), ("two", 2)]), predicts="classes")
    again = read_all(write_table(other, [("one", "2.0")]), numbers.recipe, needs_labels=True)
    assert again.labels is not None
    assert (numbers.class_names, again.labels.tolist()) == (("1", "2"), [1])


def test_that_a_prediction_uses_the_words_of_the_model(tmp_path: Path) -> None:
    make_texts(tmp_path / "train", CLASSES)
    recipe = read(tmp_path / "train", length=4, vocabulary=50).recipe
    kept = TextRecipe.model_validate_json(recipe)
    assert (kept.length, kept.class_names) == (4, ("bad", "good"))
    numbers = {word: place for place, word in enumerate(kept.words, 2)}
    make_texts(tmp_path / "new", {".": ["fine unheard film with more words", ""]})
    found = read_all(tmp_path / "new", recipe, length=99)
    assert (found.labels, found.class_names) == (None, ("bad", "good"))
    rows = read_features(found.features, np.arange(2, dtype=np.int32))
    assert rows.tolist() == [[numbers["fine"], 1, numbers["film"], 1], [1, 0, 0, 0]]
    assert [found.words[int(number)] for number in rows[0]] == ["fine", "[UNK]", "film", "[UNK]"]
    make_texts(tmp_path / "test", {"good": ["fine"]})
    tested = read_all(tmp_path / "test", recipe, needs_labels=True)
    assert tested.labels is not None
    assert tested.labels.tolist() == [1]
    with pytest.raises(ProblemError, match="no record of its vocabulary"):
        read_all(tmp_path / "new", "")


def test_that_a_table_is_predicted_on_with_or_without_its_target(tmp_path: Path) -> None:
    recipe = read(write_table(tmp_path / "t.csv", reviews(40)), predicts="classes").recipe
    rows = [(text, "") for text, _ in reviews(5, seed=3)]
    without = write_table(tmp_path / "n.csv", rows, "review,stars")
    assert read_all(without, recipe).labels is None
    (tmp_path / "m.csv").write_text("review\ngood one\nbad one\n")
    assert len(read_all(tmp_path / "m.csv", recipe, text="review")) == 2
    labelled = read_all(write_table(tmp_path / "o.csv", reviews(6, seed=4)), recipe)
    assert labelled.labels is not None
    assert labelled.labels.tolist() == [stars for _, stars in reviews(6, seed=4)]
    with pytest.raises(ProblemError, match="none of the 4 classes"):
        read_all(write_table(tmp_path / "p.csv", [("x", 9), ("y", 1)]), recipe, needs_labels=True)
    # Predicting needs no labels, whatever they are.
    found = read_all(tmp_path / "p.csv", recipe)
    assert (len(found), found.labels) == (2, None)


def test_that_the_only_column_is_predicted_on_whatever_it_is_called(tmp_path: Path) -> None:
    recipe = read(write_table(tmp_path / "t.csv", reviews(40)), predicts="classes").recipe
    (tmp_path / "n.csv").write_text("satz\ngood one\nbad one\n")
    assert len(read_all(tmp_path / "n.csv", recipe, text="review")) == 2
    (tmp_path / "m.csv").write_text("satz,id\ngood one,1\nbad one,2\n")
    with pytest.raises(ProblemError, match='no column "review"'):
        read_all(tmp_path / "m.csv", recipe, text="review")


def test_that_a_preview_shows_words_lengths_and_how_much_the_vocabulary_knows(
    tmp_path: Path,
) -> None:
    path = write_table(tmp_path / "t.csv", [("one two three " * n, n % 2) for n in range(1, 31)])
    data = TextData(path=str(path), length=30, vocabulary=10, validation_fraction=0.2)
    shown = preview(PreviewRequest(data=data))
    assert (shown.problems, shown.example_count, shown.feature_shape) == ((), 30, (30,))
    assert shown.texts is not None
    assert shown.texts.cut_share == pytest.approx(20 / 30)
    assert (shown.texts.known_share, shown.texts.word_count) == (1.0, 3)
    assert sum(count for _, count in shown.texts.lengths) == 30
    assert shown.examples[0].text.split()[:3] in (["one", "two", "three"],)
    filled = with_detected(Profile(data=data), shown).data
    assert isinstance(filled, TextData)
    assert (filled.text, filled.targets, filled.delimiter) == ("review", ("stars",), ",")


def test_that_words_are_counted_once_for_all_vocabularies_and_lengths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_file, "_RECENT_NS", 0)  # as if the files had been there for long
    path = write_table(tmp_path / "t.csv", reviews(30))
    folder = make_texts(tmp_path / "f", CLASSES)
    doing: list[str] = []
    for place in (path, folder):
        for vocabulary in (10, 20):
            data = TextData(path=str(place), vocabulary=vocabulary, length=vocabulary)
            reading = Reading(print, on_progress=lambda what, *_: doing.append(what))
            source_of(data).read(data, reading)
            assert bool(doing) == (vocabulary == 10)
            doing.clear()
        if place is path:
            write_table(path, reviews(31))
        else:
            (folder / "good" / "0000.txt").write_text("changed")
        source_of(data).read(data, reading)
        assert doing
        doing.clear()


def test_that_a_scan_finds_texts_that_are_in_two_sets(tmp_path: Path) -> None:
    make_texts(tmp_path / "train", CLASSES)
    make_texts(tmp_path / "test", {"good": [GOOD[1].upper(), "another one"]})
    data = TextData(path=str(tmp_path / "train"), test_path=str(tmp_path / "test"))
    found = scan(ScanRequest(data=data))
    assert (found.leaked, found.columns) == (1, ())
    assert [(each.name, each.examples) for each in found.sets] == [("training", 8), ("test", 2)]


def test_that_a_scan_takes_no_different_texts_for_copies(tmp_path: Path) -> None:
    rare = [f"name{number} is here" for number in range(60)]
    long = [letter * 150 for letter in "abc"]
    ends = [f"{'the same beginning ' * 40} {end}" for end in ("here", "there")]
    only_marks = ["!!!", "?"]
    texts = [*rare, *long, *ends, *only_marks]
    table = write_table(tmp_path / "texts.csv", [(text, n % 2) for n, text in enumerate(texts)])
    data = TextData(path=str(table), vocabulary=10, length=20, validation_fraction=0.3)
    for seed in (0, 7):
        found = scan(ScanRequest(data=data, seed=seed))
        assert (found.leaked, found.copies, found.same) == (0, 0, ())
    same = [*texts, "Name7, is HERE", long[0], ends[1]]
    write_table(table, [(text, n % 2) for n, text in enumerate(same)])
    assert scan(ScanRequest(data=data)).copies == 3


def test_that_a_scan_reads_with_the_seed_of_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_table(tmp_path / "texts.csv", reviews(80))
    data = TextData(path=str(path), validation_fraction=0.3, vocabulary=12)
    source, asked = source_of(data), []

    def read_and_note(data: TextData, reading: Reading) -> DataSet:
        asked.append(read_there(data, reading))
        return asked[-1]

    read_there = source.read
    monkeypatch.setattr(source, "read", read_and_note)
    for seed in (0, 7):
        scan(ScanRequest(data=data, seed=seed))
    first, second = (each.words for each in asked)
    assert (first, second) == tuple(read_there(data, Reading(print, seed=s)).words for s in (0, 7))
    assert first != second


_BY_KERAS = """
import json, sys
import keras

given = json.loads(sys.stdin.read())
found = []
for texts, vocabulary, length in given:
    layer = keras.layers.TextVectorization(vocabulary, output_sequence_length=length)
    layer.adapt(texts)
    found.append([layer.get_vocabulary(), layer(texts).numpy().tolist()])
print(json.dumps(found))
"""


@pytest.mark.tensorflow
def test_that_words_and_vocabulary_are_those_of_keras() -> None:
    draw = random.Random(3)
    letters = (
        "abcXYZ äÖßéÉ 日本語 ñ \t\n\r\x0b\x0c\u00a0\u2003 ,.!?'\"-_()[]{}&%$#@*+/\\|~^`<>=:; 01🔥"
    )
    given = [
        (
            [
                "".join(draw.choice(letters) for _ in range(draw.randrange(1, 60)))
                for _ in range(40)
            ],
            draw.choice([10, 30, 500]),
            draw.choice([3, 20]),
        )
        for _ in range(25)
    ]
    given.append(([text for text, _ in reviews(50)], 12, 8))
    done = run_forked(
        [sys.executable, "-c", _BY_KERAS],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    for expected, (texts, vocabulary, length) in zip(json.loads(done.stdout), given, strict=True):
        check_as_keras(texts, vocabulary, length, expected)


def check_as_keras(
    texts: list[str], vocabulary: int, length: int, expected: list[list[object]]
) -> None:
    words = [words_of(text.encode()) for text in texts]
    different = sorted({word for each in words for word in each})
    counts = np.array([sum(each.count(word) for each in words) for word in different])
    places = most_frequent(np.array(different, "S"), counts, vocabulary - 2)
    known = ["", "[UNK]", *(different[place].decode() for place in places)]
    assert known == expected[0]
    numbers = {word: place for place, word in enumerate(known)}
    rows = [[numbers.get(word.decode(), 1) for word in each][:length] for each in words]
    assert [row + [0] * (length - len(row)) for row in rows] == expected[1]


def test_that_folders_of_sets_have_the_same_class_in_both_forms_of_unicode(tmp_path: Path) -> None:
    names = {"train": ("bar", "caf\u00e9"), "later": ("bar", "cafe\u0301")}
    for folder, classes in names.items():
        for name in classes:
            (tmp_path / folder / name).mkdir(parents=True)
            (tmp_path / folder / name / "a.txt").write_text(f"word {name[:3]}")
    found = read(tmp_path / "train", validation_path=str(tmp_path / "later"))
    assert found.validation is not None
    assert found.validation.labels.tolist() == [0, 1]
