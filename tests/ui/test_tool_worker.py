from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from gpupanel.domain.data import DigitsData, NpzData
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.ui.workers.tool_worker import QuestionWorker
from tests.fakes.questions import asked_of
from tests.forked.processes import child_processes

# Stands where the real child stands: it reads the question and answers about its seed.
_ECHO = """
import json, sys
question = json.load(sys.stdin)
print(json.dumps({"example_count": question["seed"], "feature_shape": [question["example_limit"]]}))
"""
_SLEEP = "import time; time.sleep(60)"


@pytest.fixture
def loader_of(qtbot: QtBot):
    loaders: list[QuestionWorker] = []

    def make(code: str, limit_s: float = 20.0) -> QuestionWorker:
        loader = QuestionWorker(replace(asked_of(preview_data, code), limit_s=limit_s))
        loaders.append(loader)
        return loader

    yield make
    for loader in loaders:
        loader.stop()


def _load(qtbot: QtBot, loader: QuestionWorker, seed: int = 7) -> DataPreview:
    with qtbot.waitSignal(loader.answered, timeout=20_000) as answered:
        loader.ask(PreviewRequest(data=DigitsData(), seed=seed, example_limit=24))
    return answered.args[0]


@pytest.mark.slow
def test_that_the_embedded_digits_are_previewed_for_real(qtbot):
    loader = QuestionWorker(preview_data)
    with qtbot.waitSignal(loader.answered, timeout=60_000) as answered:
        loader.ask(PreviewRequest(data=DigitsData(validation_fraction=0.2), seed=7))
    loader.stop()
    preview = answered.args[0]
    assert preview.problems == ()
    assert preview.example_count == 1797
    assert len(preview.class_counts) == 10
    assert preview.examples[0].width == 8


@pytest.mark.slow
def test_that_a_file_that_is_not_there_is_a_problem_in_the_answer(qtbot, tmp_path):
    loader = QuestionWorker(preview_data)
    with qtbot.waitSignal(loader.answered, timeout=60_000) as answered:
        loader.ask(PreviewRequest(data=NpzData(path=str(tmp_path / "none.npz"))))
    loader.stop()
    assert [problem.is_error for problem in answered.args[0].problems] == [True]


def test_that_it_says_when_it_is_busy_and_when_it_is_done(qtbot, loader_of):
    loader = loader_of(_ECHO)
    heard = []
    loader.busyChanged.connect(heard.append)
    preview = _load(qtbot, loader, seed=42)
    assert heard == [True, False]
    assert preview.example_count == 42
    assert preview.feature_shape[0] > 0
    assert not loader.is_busy()


def test_that_a_new_question_ends_the_one_before(qtbot, loader_of):
    slow_unless_two = f"{_ECHO}\nif question['seed'] != 2: {_SLEEP}"
    loader = loader_of(slow_unless_two)
    answers, busy = [], []
    loader.answered.connect(answers.append)
    loader.busyChanged.connect(busy.append)
    loader.ask(PreviewRequest(data=DigitsData(), seed=1))
    preview = _load(qtbot, loader, seed=2)
    assert [answer.example_count for answer in answers] == [2]
    assert preview.example_count == 2
    assert busy == [True, False]


def test_that_a_child_that_dies_is_shown_with_its_last_words(qtbot, loader_of):
    loader = loader_of("import sys; sys.exit('out of order')")
    (problem,) = _load(qtbot, loader).problems
    assert problem.code == "preview_died"
    assert "exit status 1" in problem.message
    assert problem.detail == "out of order"


def test_that_a_child_that_is_killed_is_shown(qtbot, loader_of):
    loader = loader_of("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    (problem,) = _load(qtbot, loader).problems
    assert problem.code == "preview_died"
    assert "was killed" in problem.message


def test_that_a_child_that_takes_too_long_is_ended(qtbot, loader_of):
    loader = loader_of(_SLEEP, limit_s=0.2)
    (problem,) = _load(qtbot, loader).problems
    assert problem.code == "preview_too_slow"
    assert "0.2 s" in problem.message


def test_that_an_answer_that_cannot_be_read_is_shown(qtbot, loader_of):
    loader = loader_of("print('{\"example_count\": ')")
    (problem,) = _load(qtbot, loader).problems
    assert problem.code == "preview_unreadable"


def test_that_a_command_that_is_not_there_is_shown(qtbot, tmp_path):
    loader = QuestionWorker(replace(preview_data, command=(str(tmp_path / "no_such_program"),)))
    (problem,) = _load(qtbot, loader).problems
    loader.stop()
    assert problem.code == "preview_not_started"


def test_that_stopping_ends_the_child_and_answers_nothing(qtbot, loader_of):
    loader = loader_of(_SLEEP)
    answers, busy = [], []
    loader.answered.connect(answers.append)
    loader.busyChanged.connect(busy.append)
    loader.ask(PreviewRequest(data=DigitsData(), seed=1))
    qtbot.waitUntil(lambda: bool(child_processes()))
    loader.stop()
    loader.stop()
    assert child_processes() == []
    assert answers == []
    assert busy == [True, False]
