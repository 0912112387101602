"""Files of weights that cannot be used: each is refused in a sentence, without TensorFlow."""

import os
from pathlib import Path

import h5py
import numpy as np
import pytest

from gpupanel.domain.model import ApplicationModel
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import preview_request
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.trainer import size_limits
from gpupanel.trainer.models.weights_file import check_weights_file
from gpupanel.trainer.tools.preview.preview import preview

MIB = 2**20


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "wéights.h5"
    with h5py.File(path, "w") as file:
        file.create_group("layer").create_dataset("kernel", data=np.ones((3, 4), np.float32))
    return path


def refusal(path: Path) -> Problem:
    with pytest.raises(ProblemError) as caught:
        check_weights_file(str(path))
    (problem,) = caught.value.problems
    assert problem.field == "model.weights"
    assert problem.hint
    return problem


def test_that_a_file_of_weights_is_taken(path: Path) -> None:
    check_weights_file(str(path))


def test_that_what_is_not_there_or_no_file_is_named(tmp_path: Path, path: Path) -> None:
    assert refusal(tmp_path / "none.h5").code == "weights_missing"
    assert refusal(path.rename(path.with_suffix(".txt"))).code == "weights_not_h5"
    folder = tmp_path / "folder.h5"
    folder.mkdir()
    assert refusal(folder).code == "weights_unreadable"


def test_that_nobody_waits_for_a_fifo(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo.h5"
    os.mkfifo(fifo)
    assert refusal(fifo).code == "weights_unreadable"


@pytest.mark.parametrize("keep", [0, 10, 500])
def test_that_a_file_that_is_cut_short_is_damaged(path: Path, keep: int) -> None:
    path.write_bytes(path.read_bytes()[:keep])
    assert refusal(path).code == "weights_damaged"


def test_that_zeros_that_fill_any_memory_are_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with h5py.File(path, "a") as file:
        file.create_dataset("bomb", (2**40,), np.float32, chunks=(2**20,), compression="gzip")
    monkeypatch.setattr(size_limits, "memory_bytes", lambda: 64 * MIB)
    assert path.stat().st_size < MIB
    assert refusal(path).code == "file_too_large"


@pytest.mark.parametrize("how", ["link", "external", "virtual"])
def test_that_weights_in_other_files_are_not_followed(tmp_path: Path, path: Path, how: str) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(range(64)))
    with h5py.File(path, "a") as file:
        if how == "link":
            file["layer/linked"] = h5py.ExternalLink(str(path), "/layer/kernel")
        elif how == "external":
            file.create_dataset(
                "raw", (16,), np.float32, external=[(str(secret), 0, h5py.h5f.UNLIMITED)]
            )
        else:
            layout = h5py.VirtualLayout((3, 4), np.float32)
            layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "kernel", (3, 4))
            file.create_virtual_dataset("drawn", layout)
    problem = refusal(path)
    assert problem.code == "weights_elsewhere"
    assert "another file" in problem.message


def test_that_links_within_the_file_may_go_round(path: Path) -> None:
    with h5py.File(path, "a") as file:
        file["layer/again"] = file["layer"]
        file["soft"] = h5py.SoftLink("/soft")
    check_weights_file(str(path))


def test_that_a_check_before_the_start_reports_weights_that_cannot_be_used(tmp_path: Path) -> None:
    model = ApplicationModel(source="MobileNetV3Small", weights=str(tmp_path / "none.h5"))
    request = preview_request(Profile(model=model))
    assert [each.code for each in preview(request).model_problems] == ["weights_missing"]
    drawn = model.model_copy(update={"weights": "imagenet"})
    assert preview_request(Profile(model=drawn)).model is None
    assert preview(PreviewRequest(data=request.data, model=drawn)).model_problems == ()
