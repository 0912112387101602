"""What TensorFlow was built for, remembered between starts."""

import json
import os
import sys
from pathlib import Path
from threading import Event

import pytest

from gpupanel.devices.probes import tensorflow_build as module
from gpupanel.devices.probes.tensorflow_build import (
    CACHE_DIR_VARIABLE,
    remember_build,
    tensorflow_build,
)
from gpupanel.devices.probes.tensorflow_probe import ProbeAnswer, ask_tensorflow
from gpupanel.domain.problem import Problem
from gpupanel.domain.tensorflow_facts import TensorFlowBuild, TensorFlowFacts

FACTS = TensorFlowFacts(
    version="2.21.0",
    is_cuda_build=True,
    cuda_version="12.5.1",
    compute_capabilities=("sm_80", "compute_90"),
)


class _Asked:
    """Answers as TensorFlow would, and counts."""

    def __init__(self, answer: ProbeAnswer = ProbeAnswer(facts=FACTS)) -> None:  # noqa: B008
        self.answer = answer
        self.times = 0

    def __call__(self, cancelled: Event | None) -> ProbeAnswer:
        self.times += 1
        return self.answer


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A TensorFlow as pip would have noted it, before every other one."""
    info = tmp_path / "site" / "tensorflow-9.9.9.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tensorflow\nVersion: 9.9.9\n")
    monkeypatch.setattr(sys, "path", [str(info.parent), *sys.path])
    return info


def test_that_tensorflow_is_asked_once() -> None:
    asked = _Asked()

    first, second = tensorflow_build(asked), tensorflow_build(asked)

    assert first == second == FACTS.build
    assert asked.times == 1


def test_that_one_file_is_left_in_the_cache(cache: Path) -> None:
    tensorflow_build(_Asked())

    (file,) = cache.iterdir()
    assert json.loads(file.read_text())["build"]["cuda_version"] == "12.5.1"


def test_that_a_tensorflow_of_another_version_is_asked_anew(installed: Path) -> None:
    asked = _Asked()
    tensorflow_build(asked)

    newer = installed.rename(installed.with_name("tensorflow-9.9.10.dist-info"))
    (newer / "METADATA").write_text("Metadata-Version: 2.1\nName: tensorflow\nVersion: 9.9.10\n")
    tensorflow_build(asked)

    assert asked.times == 2


def test_that_the_same_version_installed_anew_is_asked_anew(installed: Path) -> None:
    asked = _Asked()
    tensorflow_build(asked)

    os.utime(installed, (1.0, 1.0))
    tensorflow_build(asked)

    assert asked.times == 2


def test_that_another_python_has_a_memory_of_its_own(
    monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    asked = _Asked()
    tensorflow_build(asked)

    monkeypatch.setattr(sys, "prefix", "/elsewhere")
    tensorflow_build(asked)
    monkeypatch.undo()
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(cache))
    tensorflow_build(asked)

    assert asked.times == 2


@pytest.mark.parametrize("damage", [b"", b"{", b'{"build": 3}', b"\xff\xfe"])
def test_that_a_damaged_memory_is_no_memory(cache: Path, damage: bytes) -> None:
    asked = _Asked()
    tensorflow_build(asked)
    (file,) = cache.iterdir()
    file.write_bytes(damage)

    assert tensorflow_build(asked) == FACTS.build
    assert asked.times == 2
    assert tensorflow_build(asked) == FACTS.build
    assert asked.times == 2


def test_that_a_folder_that_cannot_be_written_only_costs_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(tmp_path / "file" / "cache"))
    asked = _Asked()

    assert tensorflow_build(asked) == tensorflow_build(asked) == FACTS.build
    assert asked.times == 2


@pytest.mark.parametrize(
    "answer",
    [
        ProbeAnswer(problem=Problem(code="tensorflow_crashed", message="It crashes.")),
        ProbeAnswer(facts=TensorFlowFacts(import_error="ImportError: no")),
    ],
)
def test_that_no_answer_is_not_remembered(answer: ProbeAnswer) -> None:
    asked = _Asked(answer)

    assert tensorflow_build(asked) is None
    assert tensorflow_build(asked) is None
    assert asked.times == 2


def test_that_without_tensorflow_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TENSORFLOW_PACKAGES", ("no-such-tensorflow",))
    asked = _Asked()

    assert tensorflow_build(asked) is None
    assert asked.times == 0


def test_that_what_was_learnt_otherwise_is_remembered() -> None:
    build = TensorFlowBuild(version="2.21.0", is_cuda_build=True, cuda_version="13.0")

    remember_build(build)

    assert tensorflow_build(_Asked()) == build


def test_that_an_answer_that_nobody_wants_any_more_is_not_waited_for() -> None:
    cancelled = Event()
    cancelled.set()

    def ask(event: Event | None) -> ProbeAnswer:
        return ask_tensorflow((sys.executable, "-c", "import time; time.sleep(60)"), 50.0, event)

    assert tensorflow_build(ask, cancelled) is None
