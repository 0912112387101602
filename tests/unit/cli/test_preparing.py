"""What the terminal asks before it says what would happen."""

from pathlib import Path

import pytest

from gpupanel.cli import preparing
from gpupanel.cli.preparing import prepared
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from tests.nvml.standin import Standin

ON_GPUS = 'schema_version = 1\n[data]\nsource = "digits"\n'
ON_THE_CPU = f'{ON_GPUS}[devices]\nvisible = ["cpu"]\n'


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[TensorFlowBuild]:
    """Answers that TensorFlow was built without CUDA, and remembers each question."""
    questions: list[TensorFlowBuild] = []

    def ask() -> TensorFlowBuild:
        questions.append(TensorFlowBuild(version="2.21.0"))
        return questions[-1]

    monkeypatch.setattr(preparing, "tensorflow_build", ask)
    return questions


def _codes(folder: Path, text: str, *, mend: bool = False) -> set[str]:
    path = folder / "profile.toml"
    path.write_text(text)
    _, preparation = prepared(path, mend=mend)
    return {problem.code for problem in preparation.problems}


def test_that_tensorflow_is_asked_what_it_was_built_for_where_gpus_are_chosen(
    nvml_in_process: Standin, tmp_path: Path, asked: list[TensorFlowBuild]
) -> None:
    assert "tensorflow_without_cuda" in _codes(tmp_path, ON_GPUS)
    assert len(asked) == 1


def test_that_tensorflow_is_not_asked_for_the_cpu(
    nvml_in_process: Standin, tmp_path: Path, asked: list[TensorFlowBuild]
) -> None:
    assert "tensorflow_without_cuda" not in _codes(tmp_path, ON_THE_CPU)
    assert asked == []


def test_that_a_profile_is_mended_with_the_build_in_mind(
    nvml_in_process: Standin, tmp_path: Path, asked: list[TensorFlowBuild]
) -> None:
    assert "tensorflow_without_cuda" not in _codes(tmp_path, ON_GPUS, mend=True)
