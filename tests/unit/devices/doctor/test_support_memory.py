"""What TensorFlow answered about GPUs, remembered between starts."""

import json
import os
import sys
from pathlib import Path

import pytest

from gpupanel.devices import packages
from gpupanel.devices.doctor import support_memory as module
from gpupanel.devices.doctor.support_memory import (
    forget_support,
    recall_support,
    remember_support,
    support_basis,
)
from gpupanel.domain.gpu_support import GpuFault, GpuSupport
from gpupanel.domain.problem import Problem
from gpupanel.domain.tensorflow_facts import TensorFlowBuild
from gpupanel.files.cache_folder import CACHE_DIR_VARIABLE
from tests.fakes.devices import RTX_3060, RTX_4090
from tests.fakes.small_disks import fill, small_disk  # noqa: F401 - a fixture

GPUS = (RTX_4090, RTX_3060)
DRIVER = "580.65"
SUPPORT = GpuSupport(
    build=TensorFlowBuild(version="2.21.0", is_cuda_build=True),
    faults=(GpuFault(keys=("GPU-3060",), problem=Problem(code="too_old", message="It is.")),),
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages with a TensorFlow as pip would have noted it, before every other one."""
    info = tmp_path / "site" / "tensorflow-9.9.9.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tensorflow\nVersion: 9.9.9\n")
    monkeypatch.setattr(sys, "path", [str(info.parent), *sys.path])
    return info.parent


def test_that_an_answer_is_remembered_with_its_faults() -> None:
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)

    assert recall_support(support_basis(GPUS, DRIVER)) == SUPPORT


def test_that_the_order_of_the_gpus_does_not_matter() -> None:
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)

    assert recall_support(support_basis((RTX_3060, RTX_4090), DRIVER)) == SUPPORT


def test_that_another_driver_is_another_question() -> None:
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)

    assert recall_support(support_basis(GPUS, "590.10")) is None


def test_that_other_gpus_are_another_question() -> None:
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)

    assert recall_support(support_basis((RTX_4090,), DRIVER)) is None


@pytest.mark.parametrize("variable", ["LD_LIBRARY_PATH", "CUDA_HOME", "LD_PRELOAD", "PYTHONPATH"])
def test_that_other_variables_of_the_loader_are_another_question(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)

    monkeypatch.setenv(variable, "/elsewhere")

    assert recall_support(support_basis(GPUS, DRIVER)) is None


def test_that_a_variable_that_every_run_sets_itself_is_no_other_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)

    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")

    assert recall_support(support_basis(GPUS, DRIVER)) == SUPPORT


def test_that_a_tensorflow_of_another_version_is_another_question(site: Path) -> None:
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)

    newer = (site / "tensorflow-9.9.9.dist-info").rename(site / "tensorflow-9.9.10.dist-info")
    (newer / "METADATA").write_text("Metadata-Version: 2.1\nName: tensorflow\nVersion: 9.9.10\n")

    assert recall_support(support_basis(GPUS, DRIVER)) is None


def test_that_a_package_that_was_installed_beside_it_is_another_question(site: Path) -> None:
    os.utime(site, (1.0, 1.0))
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)

    (site / "nvidia_cudnn_cu12-9.1.dist-info").mkdir()

    assert recall_support(support_basis(GPUS, DRIVER)) is None


def test_that_a_library_made_known_to_the_loader_is_another_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = tmp_path / "ld.so.cache"
    monkeypatch.setattr(module, "_LOADER_CACHE", known)
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)

    known.write_text("libcuda.so.1")

    assert recall_support(support_basis(GPUS, DRIVER)) is None


def test_that_a_library_put_where_the_loader_is_told_to_look_is_another_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lib"
    folder.mkdir()
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere:{folder}")
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)
    assert recall_support(support_basis(GPUS, DRIVER)) == SUPPORT

    (folder / "libnccl.so.2").touch()

    assert recall_support(support_basis(GPUS, DRIVER)) is None


def test_that_another_python_has_a_memory_of_its_own(
    monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)
    monkeypatch.setattr(sys, "prefix", "/elsewhere")
    remember_support(support_basis(GPUS, DRIVER), GpuSupport())

    assert len(list(cache.iterdir())) == 2
    monkeypatch.undo()
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(cache))
    assert recall_support(support_basis(GPUS, DRIVER)) == SUPPORT


def test_that_a_gpu_that_comes_and_goes_is_remembered_both_ways_in_one_file(cache: Path) -> None:
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)
    remember_support(support_basis((RTX_4090,), DRIVER), GpuSupport())

    assert recall_support(support_basis(GPUS, DRIVER)) == SUPPORT
    assert recall_support(support_basis((RTX_4090,), DRIVER)) == GpuSupport()
    assert len(list(cache.iterdir())) == 1


def test_that_the_file_does_not_grow_for_ever(cache: Path) -> None:
    for number in range(30):
        remember_support(support_basis(GPUS, f"driver {number}"), GpuSupport())

    (file,) = cache.iterdir()
    answers = json.loads(file.read_text())["answers"]
    assert [each["basis"]["driver"] for each in answers] == [
        f"driver {number}" for number in range(29, 21, -1)
    ]


def test_that_what_was_forgotten_is_not_recalled() -> None:
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)

    forget_support()
    forget_support()

    assert recall_support(support_basis(GPUS, DRIVER)) is None


@pytest.mark.parametrize("damage", [b"", b"{", b'{"answers": 3}', b"\xff\xfe", b"[" * 100_000])
def test_that_a_damaged_memory_is_no_memory(cache: Path, damage: bytes) -> None:
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)
    (file,) = cache.iterdir()
    file.write_bytes(damage)

    assert recall_support(support_basis(GPUS, DRIVER)) is None
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)
    assert recall_support(support_basis(GPUS, DRIVER)) == SUPPORT


def test_that_an_answer_that_says_less_is_not_recalled(cache: Path) -> None:
    """As one that was noted before it was asked for NCCL: it would say that nothing is missing."""
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)
    (file,) = cache.iterdir()
    noted = json.loads(file.read_text())
    (answer,) = noted["answers"]
    del answer["support"]["without_nccl"]
    answer["basis"]["answered"].remove("without_nccl")
    file.write_text(json.dumps(noted))

    assert recall_support(support_basis(GPUS, DRIVER)) is None


def test_that_an_answer_without_word_of_what_it_says_is_not_recalled(cache: Path) -> None:
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)
    (file,) = cache.iterdir()
    noted = json.loads(file.read_text())
    del noted["answers"][0]["basis"]["answered"]
    file.write_text(json.dumps(noted))

    assert recall_support(support_basis(GPUS, DRIVER)) is None
    remember_support(support_basis(GPUS, DRIVER), SUPPORT)
    assert recall_support(support_basis(GPUS, DRIVER)) == SUPPORT


def test_that_a_folder_that_cannot_be_written_is_no_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(tmp_path / "file" / "cache"))

    remember_support(support_basis(GPUS, DRIVER), SUPPORT)
    forget_support()

    assert recall_support(support_basis(GPUS, DRIVER)) is None


def test_that_a_full_disk_is_no_trouble(
    small_disk: Path,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(CACHE_DIR_VARIABLE, str(small_disk / "cache"))
    remember_support(support_basis((), None), SUPPORT)
    fill(small_disk)
    basis = support_basis(GPUS, DRIVER)
    remember_support(basis, SUPPORT)
    # Not half of it, and what was there before is still there.
    assert recall_support(basis) is None
    assert recall_support(support_basis((), None)) == SUPPORT


def test_that_a_folder_whose_name_is_no_text_is_no_trouble() -> None:
    folder = {"LD_LIBRARY_PATH": "/lib/\udce9"}
    basis = support_basis(GPUS, DRIVER, folder)
    remember_support(basis, SUPPORT)
    assert recall_support(support_basis(GPUS, DRIVER, folder)) == SUPPORT
    assert recall_support(support_basis(GPUS, DRIVER, {"LD_LIBRARY_PATH": "/lib/e9"})) is None


def test_that_a_python_without_tensorflow_is_a_basis_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = support_basis(GPUS, DRIVER)
    monkeypatch.setattr(packages, "TENSORFLOW_PACKAGES", ("no-such-tensorflow",))

    assert support_basis(GPUS, DRIVER).version == ""
    assert support_basis(GPUS, DRIVER) != with_it
