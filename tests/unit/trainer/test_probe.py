"""What the process that asks TensorFlow finds: libraries, and what the CUDA driver shows."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpupanel.domain.tensorflow_facts import CudaDevice, SharedLibrary
from gpupanel.trainer.probe.cuda_driver import cuda_facts
from gpupanel.trainer.probe.libraries import find_libraries
from tests.nvml.standin import compiler

# What cuda.h declares of it; the answers are those of two GPUs, the second a small one.
DRIVER = """
#include <stdio.h>
#include <string.h>
int cuInit(unsigned flags) { (void)flags; return INIT; }
int cuDeviceGetCount(int *count) { *count = 2; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = 70 + ordinal; return 0; }
int cuDeviceGetName(char *name, int size, int device) {
    snprintf(name, size, "GPU %d", device - 70);
    return 0;
}
int cuDeviceGetPCIBusId(char *text, int size, int device) {
    snprintf(text, size, "0000:%02d:00.0", device - 69);
    return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    switch (attribute) {
        case 16: *value = device == 70 ? 128 : 3; return 0;
        case 75: *value = 8; return 0;
        case 76: *value = device == 70 ? 9 : 6; return 0;
        default: return 1;
    }
}
int UUID_QUESTION(unsigned char *uuid, int device) {
    for (int place = 0; place < 16; ++place) uuid[place] = place + (device == 70 ? 0 : 16);
    return 0;
}
int cuGetErrorString(int error, const char **text) {
    if (error != 803) return 1;
    *text = "system has unsupported display driver / cuda driver combination";
    return 0;
}
"""


def _compile(folder: Path, name: str, source: str, *flags: str) -> Path:
    found = compiler()
    if found is None:
        pytest.skip("no C compiler")
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / name
    subprocess.run(
        [found, "-shared", "-fPIC", "-x", "c", "-", *flags, "-o", str(library)],
        input=source.encode(),
        check=True,
        timeout=60,
    )
    return library


@pytest.mark.parametrize("question", ["cuDeviceGetUuid_v2", "cuDeviceGetUuid"])
def test_that_cudas_devices_are_reported_with_all_that_identifies_them(
    tmp_path: Path, question: str
) -> None:
    driver = _compile(tmp_path, "libcuda.so.1", DRIVER, "-DINIT=0", f"-DUUID_QUESTION={question}")

    facts = cuda_facts(str(driver))

    assert facts is not None
    assert facts.error_code == 0
    assert facts.devices == (
        CudaDevice(
            name="GPU 0",
            uuid="GPU-00010203-0405-0607-0809-0a0b0c0d0e0f",
            pci_bus_id="0000:01:00.0",
            compute_capability=(8, 9),
            multiprocessor_count=128,
        ),
        CudaDevice(
            name="GPU 1",
            uuid="GPU-10111213-1415-1617-1819-1a1b1c1d1e1f",
            pci_bus_id="0000:02:00.0",
            compute_capability=(8, 6),
            multiprocessor_count=3,
        ),
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (803, "system has unsupported display driver / cuda driver combination (803)"),
        (999, "CUDA error 999"),
    ],
)
def test_that_cudas_refusal_to_start_is_reported_in_its_words(
    tmp_path: Path, code: int, words: str
) -> None:
    driver = _compile(
        tmp_path, "libcuda.so.1", DRIVER, f"-DINIT={code}", "-DUUID_QUESTION=cuDeviceGetUuid"
    )

    facts = cuda_facts(str(driver))

    assert facts is not None
    assert (facts.error_code, facts.error) == (code, words)
    assert facts.devices == ()


def test_that_without_a_driver_nothing_is_reported_of_cuda(tmp_path: Path) -> None:
    assert cuda_facts(str(tmp_path / "libcuda.so.1")) is None


def _wheels(folder: Path, *files: str) -> Path:
    for file in files:
        _compile((folder / file).parent, Path(file).name, "int here;")
    return folder


def test_that_libraries_of_cuda_12_are_found_in_a_folder_each(tmp_path: Path) -> None:
    wheels = _wheels(tmp_path / "nvidia", "cufft/lib/libcufft.so.11", "cudnn/lib/libcudnn.so.9")

    found = {each.soname: each for each in find_libraries("12.5.1", "9", wheels)}

    assert found["libcufft.so.11"].path == str(wheels / "cufft/lib/libcufft.so.11")
    assert found["libcudnn.so.9"].path == str(wheels / "cudnn/lib/libcudnn.so.9")
    assert found["libcudnn.so.9"].package == "nvidia-cudnn-cu12"
    assert found["libcufft.so.11"].package == "nvidia-cufft-cu12"
    assert not found["libnccl.so.2"].is_required
    if not found["libcusolver.so.11"].was_found:
        assert "libcusolver.so.11" in found["libcusolver.so.11"].error


def test_that_a_package_that_cannot_be_loaded_hides_no_library_that_the_loader_finds(
    tmp_path: Path,
) -> None:
    broken = tmp_path / "nvidia" / "nccl" / "lib" / "libnccl.so.2"
    broken.parent.mkdir(parents=True)
    broken.touch()
    ask = "from pathlib import Path; from gpupanel.trainer.probe.libraries import find_libraries; "
    ask += "print(*(each.model_dump_json() for each in find_libraries('12.5.1', '', "
    ask += f"Path({str(tmp_path / 'nvidia')!r})) if each.soname == 'libnccl.so.2'))"

    def found(folder: str) -> SharedLibrary:
        environment = {**os.environ, "LD_LIBRARY_PATH": folder}
        command = [sys.executable, "-c", ask]
        done = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=60)
        return SharedLibrary.model_validate_json(done.stdout)

    missing = found("")
    assert not missing.was_found
    assert str(broken) in missing.error
    library = _compile(tmp_path / "elsewhere", "libnccl.so.2", "int here;")
    assert found(str(library.parent)).path == str(library)


def test_that_libraries_of_cuda_13_are_found_in_the_folder_that_they_share(tmp_path: Path) -> None:
    wheels = _wheels(
        tmp_path / "nvidia",
        "cu13/lib/libcublas.so.13",
        "cu13/lib/libcusolver.so.12",
        "cudnn/lib/libcudnn.so.9",
    )

    libraries = find_libraries("13.0", "9.12", wheels)

    found = {each.soname: each for each in libraries}
    assert found["libcublas.so.13"].path == str(wheels / "cu13/lib/libcublas.so.13")
    assert found["libcusolver.so.12"].path == str(wheels / "cu13/lib/libcusolver.so.12")
    assert found["libcublas.so.13"].package == "nvidia-cublas"
    assert found["libcudnn.so.9"].package == "nvidia-cudnn-cu13"
    assert not {soname for soname in found if soname.endswith(("cublas.so.12", "cudart.so.12"))}
    assert libraries[0].soname == "libcuda.so.1"


def test_that_of_two_cudas_that_of_the_build_is_taken(tmp_path: Path) -> None:
    wheels = _wheels(
        tmp_path / "nvidia", "cusparse/lib/libcusparse.so.12", "cu13/lib/libcusparse.so.12"
    )

    # In a process of its own each: what is loaded once is found loaded.
    for cuda, folder in (("13.0", "cu13"), ("12.5.1", "cusparse")):
        assert _path_in_a_process(cuda, wheels, "libcusparse.so.12") == str(
            wheels / folder / "lib" / "libcusparse.so.12"
        )


def _path_in_a_process(cuda: str, wheels: Path, soname: str) -> str:
    code = (
        "from pathlib import Path\n"
        "from gpupanel.trainer.probe.libraries import find_libraries\n"
        f"found = find_libraries({cuda!r}, '', Path({str(wheels)!r}))\n"
        f"print(next(each.path for each in found if each.soname == {soname!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.strip()


def test_that_a_cuda_that_is_not_known_asks_for_the_drivers_library_alone(tmp_path: Path) -> None:
    libraries = find_libraries("47.1", "9", tmp_path)

    assert [each.soname for each in libraries] == ["libcuda.so.1"]


def test_that_a_damaged_library_is_not_found_and_says_why(tmp_path: Path) -> None:
    file = tmp_path / "cublas" / "lib" / "libcublasLt.so.13"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"not a library")

    found = {each.soname: each for each in find_libraries("13.0", "", tmp_path)}

    library = found["libcublasLt.so.13"]
    assert not library.was_found
    assert str(file) in library.error
    with pytest.raises(OSError, match="libcublasLt"):
        ctypes.CDLL(str(file))
