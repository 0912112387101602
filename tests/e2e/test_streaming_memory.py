"""Sets that are larger than memory are trained on in memory that stays the same."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

import numpy as np
import psutil
import pytest
from PIL import Image

from gpupanel.domain.data import DataCache, DataSettings, ImagesData, NpzData, TfrecordData
from gpupanel.domain.model import MlpModel
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.training import TrainingSettings
from tests.unit.trainer.record_files import example, framed

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]

_LIMIT_BYTES = 2**30
"""Of anonymous memory, for everything: TensorFlow itself takes a third of it."""
_SET_BYTES = 10 * _LIMIT_BYTES
_SIDE = 512
_ROW_BYTES = _SIDE * _SIDE * 3
_PATIENCE_S = 900.0


class MostMemory:
    """Watches the greatest ``RssAnon`` of a process and of those that it starts."""

    def __init__(self, process: psutil.Process) -> None:
        self.bytes = 0
        self._process = process
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        while not self._ended.wait(0.05):
            with suppress(psutil.Error, OSError):
                for each in (self._process, *self._process.children(recursive=True)):
                    self.bytes = max(self.bytes, _anonymous_bytes(each.pid))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()


def _anonymous_bytes(pid: int) -> int:
    """Of a process that has ended and was not looked at yet: none."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


def _arrays(folder: Path) -> NpzData:
    """Ten times the limit of bytes, in a file that takes no space: it is one hole."""
    count = _SET_BYTES // _ROW_BYTES
    rows = np.lib.format.open_memmap(
        folder / "x.npy", mode="w+", dtype=np.uint8, shape=(count, _SIDE, _SIDE, 3)
    )
    del rows
    np.save(folder / "y.npy", np.arange(count, dtype=np.int32) % 2)
    return NpzData(path=str(folder / "x.npy"), cache=DataCache.NONE)


def _images(folder: Path) -> ImagesData:
    """So many images that they take ten times the limit decoded: one file under many names."""
    Image.new("RGB", (64, 64), (9, 9, 9)).save(folder / "one.png")
    for name in ("cat", "dog"):
        (folder / "pictures" / name).mkdir(parents=True)
        for number in range(_SET_BYTES // _ROW_BYTES // 2):
            os.link(folder / "one.png", folder / "pictures" / name / f"{number}.png")
    return ImagesData(
        path=str(folder / "pictures"), image_size=(_SIDE, _SIDE), cache=DataCache.NONE
    )


def _records(folder: Path) -> TfrecordData:
    """Records of raw bytes, in two files that take little space: their pixels are holes."""
    for shard in range(2):
        with (folder / f"r-{shard:05}-of-00002").open("wb") as file:
            for label in range(2):
                one = framed(
                    example(image_raw=bytes(_ROW_BYTES), shape=[_SIDE, _SIDE, 3], label=label)
                )
                before = one.index(bytes(1000))
                after = before + _ROW_BYTES
                for number in range(_SET_BYTES // _ROW_BYTES // 4):
                    start = (2 * number + label) * len(one)
                    file.seek(start)
                    file.write(one[:before])
                    file.seek(start + after)
                    file.write(one[after:])
    return TfrecordData(path=str(folder), cache=DataCache.NONE)


@pytest.fixture(params=[_arrays, _images, _records], ids=["arrays", "images", "records"])
def data(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DataSettings]:
    folder = tmp_path / "data"
    folder.mkdir()
    return request.param(folder)


def test_that_a_set_of_ten_times_the_memory_is_trained_on_in_constant_memory(
    tmp_path: Path, data: DataSettings
) -> None:
    profile = Profile(
        name="more than memory",
        devices=DeviceSettings(visible=("cpu",)),
        data=data,
        model=MlpModel(hidden=(2,)),
        training=TrainingSettings(epochs=1, global_batch_size=16, tensorboard=False),
    )
    path = tmp_path / "profile.toml"
    path.write_text(dump_profile(profile))
    command = [sys.executable, "-P", "-m", "gpupanel", "run", "--json", str(path)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as process,
        MostMemory(psutil.Process(process.pid)) as most,
    ):
        answer, _ = process.communicate(timeout=_PATIENCE_S)

    assert json.loads(answer)["outcome"] == "completed"
    assert most.bytes < _LIMIT_BYTES
