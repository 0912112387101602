"""What the doctor concludes about TensorFlow and its libraries."""

from dataclasses import replace

import pytest

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.tensorflow_facts import SharedLibrary, TensorFlowFacts
from tests.fakes.examined import (
    CUDNN,
    DRIVER_LIBRARY,
    NCCL,
    NO_GPU,
    RTX_4090,
    WELL,
    concluded,
    only,
    told,
    with_driver,
    with_host,
    with_tensorflow,
)


def _not_found(library: SharedLibrary) -> SharedLibrary:
    return library.model_copy(update={"path": None, "error": f"{library.soname}: not found"})


def _without(*libraries: SharedLibrary) -> tuple[SharedLibrary, ...]:
    return tuple(
        _not_found(library) if library in libraries else library
        for library in (DRIVER_LIBRARY, CUDNN, NCCL)
    )


@pytest.mark.parametrize(
    ("error", "message", "command"),
    [
        (
            "ModuleNotFoundError: No module named 'tensorflow'",
            "TensorFlow is not installed.",
            "install tensorflow",
        ),
        (
            "ModuleNotFoundError: No module named 'google.protobuf'",
            "the module google.protobuf is not installed",
            "install --upgrade tensorflow",
        ),
        (
            "ImportError: wrong ELF class",
            "wrong ELF class",
            "install --force-reinstall tensorflow",
        ),
    ],
)
def test_that_a_tensorflow_that_cannot_be_imported_is_an_error_with_its_command(
    error: str, message: str, command: str
) -> None:
    facts = TensorFlowFacts(import_error=f"Traceback (most recent call last):\n  ...\n{error}\n")

    worst = concluded(replace(NO_GPU, tensorflow=facts))[0]

    assert (worst.code, worst.severity) == ("tensorflow_not_importable", Severity.ERROR)
    assert message in worst.message
    assert worst.command.endswith(command)
    assert worst.detail == facts.import_error


def test_that_a_missing_tensorflow_is_installed_with_cuda_where_there_is_a_gpu() -> None:
    facts = TensorFlowFacts(import_error="ModuleNotFoundError: No module named 'tensorflow'")

    problem = only(replace(WELL, tensorflow=facts))

    assert problem.command.endswith("install 'tensorflow[and-cuda]'")


def test_that_the_worst_comes_first() -> None:
    crash = Problem(code="tensorflow_crashed", message="It crashes.")

    assert told(replace(NO_GPU, tensorflow=None, tensorflow_problem=crash)) == [
        ("tensorflow_crashed", Severity.ERROR),
        ("no_nvidia_gpu", Severity.HINT),
    ]


@pytest.mark.parametrize(
    ("package", "command"),
    [
        ("tensorflow", "install --force-reinstall 'tensorflow[and-cuda]'"),
        ("tf-nightly", "install --force-reinstall 'tf-nightly[and-cuda]'"),
        ("tensorflow-cpu", "install --force-reinstall 'tensorflow[and-cuda]'"),
    ],
)
def test_that_a_build_without_cuda_is_reported_where_there_is_a_gpu(
    package: str, command: str
) -> None:
    examined = replace(
        WELL, tensorflow=TensorFlowFacts(version="2.21.0"), tensorflow_package=package
    )

    problem = only(examined)

    assert (problem.code, problem.severity) == ("tensorflow_without_cuda", Severity.ERROR)
    assert RTX_4090.name in problem.message
    assert problem.command.endswith(command)
    assert ("uninstall" in problem.command) == (package == "tensorflow-cpu")


@pytest.mark.parametrize(
    ("elsewhere", "word"),
    [({"processor": "aarch64"}, "aarch64"), ({"system": "Windows"}, "WSL 2")],
)
def test_that_no_command_is_given_where_no_package_has_cuda(
    elsewhere: dict[str, object], word: str
) -> None:
    examined = replace(WELL, tensorflow=TensorFlowFacts(version="2.21.0"))

    problem = only(with_host(examined, **elsewhere))

    assert problem.command == ""
    assert word in problem.hint


def test_that_without_a_gpu_neither_libraries_nor_cuda_are_missed() -> None:
    bare = with_tensorflow(NO_GPU, is_cuda_build=False, libraries=_without(CUDNN))

    assert told(bare) == [("no_nvidia_gpu", Severity.HINT)]


def test_that_missing_cuda_libraries_are_named_with_the_command_that_brings_them() -> None:
    problem = only(with_tensorflow(WELL, gpus=(), libraries=_without(CUDNN)))

    assert (problem.code, problem.severity) == ("cuda_libraries_missing", Severity.ERROR)
    assert "libcudnn.so.9" in problem.message
    assert problem.command.endswith("install 'tensorflow[and-cuda]==2.21.0'")
    assert problem.detail == "libcudnn.so.9: not found"


def test_that_a_library_that_tensorflow_does_without_is_a_hint() -> None:
    assert told(with_tensorflow(WELL, libraries=_without(CUDNN))) == [
        ("cuda_libraries_missing", Severity.HINT)
    ]


def test_that_a_missing_nccl_is_a_warning_for_several_gpus_and_a_hint_for_one() -> None:
    code = "optional_cuda_libraries_missing"
    lacking = with_tensorflow(WELL, libraries=_without(NCCL))
    one = only(lacking)
    assert (one.code, one.severity) == (code, Severity.HINT)
    assert "libnccl.so.2" in one.message
    (gpu,) = lacking.driver.gpus
    pair = (gpu, gpu.model_copy(update={"key": "GPU-another"}))
    driver = lacking.driver.model_copy(update={"gpus": pair})
    of_two = replace(lacking, driver=driver)
    assert (code, Severity.WARNING) in told(of_two)


def test_that_the_drivers_own_library_is_not_asked_of_pip() -> None:
    examined = with_tensorflow(WELL, gpus=(), cuda=None, libraries=_without(DRIVER_LIBRARY))

    problem = only(examined)

    assert problem.code == "driver_libraries_missing"
    assert "driver" in problem.hint
    assert "pip" not in problem.command


@pytest.mark.parametrize(
    ("elsewhere", "word"),
    [
        ({"container": "Docker"}, "NVIDIA_DRIVER_CAPABILITIES"),
        ({"is_wsl": True}, "/usr/lib/wsl/lib"),
    ],
)
def test_that_the_drivers_library_is_missed_otherwise_in_containers_and_wsl(
    elsewhere: dict[str, object], word: str
) -> None:
    examined = with_tensorflow(WELL, gpus=(), cuda=None, libraries=_without(DRIVER_LIBRARY))

    assert word in only(with_host(examined, **elsewhere)).hint


def test_that_libraries_of_the_driver_and_of_cuda_are_distinguished() -> None:
    examined = with_tensorflow(WELL, gpus=(), cuda=None, libraries=_without(DRIVER_LIBRARY, CUDNN))

    assert told(examined) == [
        ("driver_libraries_missing", Severity.ERROR),
        ("cuda_libraries_missing", Severity.ERROR),
    ]


def test_that_a_driver_older_than_tensorflows_cuda_is_reported() -> None:
    problem = only(with_driver(with_tensorflow(WELL, gpus=()), cuda_version=(11, 8)))

    assert problem.code == "nvidia_driver_too_old"
    assert "11.8" in problem.message
    assert "12.5.1" in problem.message


def test_that_within_a_major_version_of_cuda_an_older_driver_is_fine() -> None:
    assert concluded(with_driver(WELL, cuda_version=(12, 2))) == ()


def test_that_a_driver_too_old_to_compile_kernels_is_reported_where_they_must_be_compiled() -> None:
    new = RTX_4090.model_copy(update={"name": "NVIDIA B200", "compute_capability": (10, 0)})

    old_driver = with_driver(WELL, gpus=(new,), cuda_version=(12, 2))
    new_driver = with_driver(WELL, gpus=(new,), cuda_version=(12, 5))

    assert told(old_driver) == [
        ("nvidia_driver_too_old_to_compile", Severity.ERROR),
        ("kernels_compiled_at_start", Severity.HINT),
    ]
    assert told(new_driver) == [("kernels_compiled_at_start", Severity.HINT)]
