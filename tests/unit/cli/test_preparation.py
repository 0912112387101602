"""What the terminal asks before it says what would happen."""

from pathlib import Path

import pytest

from gpupanel.cli import preparation
from gpupanel.cli.preparation import prepared
from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from tests.nvml.standin import Standin

ON_GPUS = 'schema_version = 1\n[data]\nsource = "digits"\n'
ON_THE_CPU = f'{ON_GPUS}[devices]\nvisible = ["cpu"]\n'


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Answers that TensorFlow was built without CUDA, and remembers each question."""
    questions: list[str] = []

    def ask(gpus: tuple[PhysicalDevice, ...], driver: str | None) -> GpuSupport:
        questions.append(f"{len(gpus)} GPUs under {driver}")
        return GpuSupport(build=TensorFlowBuild(version="2.21.0"))

    monkeypatch.setattr(preparation, "ask_doctor", ask)
    return questions


def _codes(folder: Path, text: str, *, mend: bool = False) -> set[str]:
    path = folder / "profile.toml"
    path.write_text(text)
    _, preparation = prepared(path, mend=mend)
    return {problem.code for problem in preparation.problems}


def test_that_tensorflow_is_asked_once_where_gpus_are_chosen(
    nvml_in_process: Standin, tmp_path: Path, asked: list[str]
) -> None:
    assert "tensorflow_without_cuda" in _codes(tmp_path, ON_GPUS)
    assert asked == ["2 GPUs under 570.86.15"]


def test_that_tensorflow_is_not_asked_for_the_cpu(
    nvml_in_process: Standin, tmp_path: Path, asked: list[str]
) -> None:
    assert "tensorflow_without_cuda" not in _codes(tmp_path, ON_THE_CPU)
    assert asked == []


def test_that_a_profile_is_mended_with_the_build_in_mind(
    nvml_in_process: Standin, tmp_path: Path, asked: list[str]
) -> None:
    assert "tensorflow_without_cuda" not in _codes(tmp_path, ON_GPUS, mend=True)
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("task", "source", "code"),
    [("evaluate", "saved", "model_file_missing"), ("train", "python", "code_missing")],
)
def test_that_a_model_file_that_is_not_there_is_found_before_a_run(
    tmp_path: Path, task: str, source: str, code: str
) -> None:
    path = tmp_path / "profile.toml"
    path.write_text(f'task = "{task}"\n{ON_THE_CPU}[model]\nsource = "{source}"\npath = "none"\n')

    _, preparation = prepared(path, with_preview=True)

    assert [problem.code for problem in preparation.problems] == [code]
    assert not preparation.is_startable
