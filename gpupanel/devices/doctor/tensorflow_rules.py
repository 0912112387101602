"""What can be wrong with TensorFlow and its libraries."""

import re
from collections.abc import Iterator
from typing import Final

from gpupanel.devices.doctor.examined import Examined
from gpupanel.devices.packages import install, replace
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.tensorflow_facts import SharedLibrary, TensorFlowFacts
from gpupanel.planning.tensorflow_build import compiles_kernels, has_kernels

NCCL: Final = "libnccl.so.2"
_NEWEST: Final = "tensorflow[and-cuda]"


def import_failure(examined: Examined) -> Iterator[Problem]:
    """TensorFlow did not answer, or cannot be imported."""
    if examined.spoiled is not None:
        yield examined.spoiled
        return
    if examined.tensorflow_problem is not None:
        yield examined.tensorflow_problem
    facts = examined.tensorflow
    if facts is None or not facts.import_error:
        return
    last_line = facts.import_error.strip().splitlines()[-1]
    missing = re.match(r"ModuleNotFoundError: No module named '([^']+)'", last_line)
    package = examined.tensorflow_package
    if missing is not None and missing[1] == "tensorflow":
        message, hint = "TensorFlow is not installed.", "Install it."
        command = install(_NEWEST if examined.gpus else "tensorflow")
    elif missing is not None:
        # A module's name need not be its package's; pip knows what TensorFlow needs.
        message = f"TensorFlow cannot be imported: the module {missing[1]} is not installed."
        hint, command = "Install what it needs.", install(package, upgrade=True)
    else:
        message = f"TensorFlow cannot be imported: {last_line}"
        hint, command = "Reinstall it.", install(package, anew=True)
    yield Problem(
        code="tensorflow_not_importable",
        message=message,
        hint=hint,
        command=command,
        detail=facts.import_error,
    )


def build_without_cuda(examined: Examined) -> Iterator[Problem]:
    """TensorFlow was built without CUDA, and there are GPUs."""
    facts = examined.working_tensorflow
    if facts is None or not examined.gpus or facts.is_cuda_build:
        return
    host = examined.host
    command = ""
    if host.system != "Linux":
        hint = f"TensorFlow's packages for {host.system} have no CUDA: use Linux, or WSL 2."
    elif host.processor != "x86_64":
        hint = (
            f"TensorFlow's packages for {host.processor} processors have no CUDA: use NVIDIA's "
            "container of TensorFlow, or a build of your own."
        )
    elif examined.tensorflow_package in ("tensorflow", "tf-nightly"):
        hint = "Install the package with CUDA in its place."
        command = install(f"{examined.tensorflow_package}[and-cuda]", anew=True)
    else:
        hint = f"Install the package with CUDA in place of {examined.tensorflow_package}."
        command = replace(examined.tensorflow_package, _NEWEST)
    yield Problem(
        code="tensorflow_without_cuda",
        message=f"This TensorFlow {facts.version} was built without CUDA, so it cannot use "
        f"{examined.gpu_names}.",
        hint=hint,
        command=command,
    )


def libraries(examined: Examined) -> Iterator[Problem]:
    """Libraries that TensorFlow loads for GPUs and does not find."""
    facts = examined.working_tensorflow
    if facts is None or not examined.gpus:
        return
    missing = [library for library in facts.libraries if not library.was_found]
    of_driver = [library for library in missing if not library.package]
    of_cuda = [library for library in missing if library.package]
    if of_driver:
        yield _driver_library_missing(examined, of_driver)
    required = [library for library in of_cuda if library.is_required]
    if required:
        # What TensorFlow has found by ways unknown here, it has found.
        blind = examined.sees_fewer_gpus
        yield _cuda_libraries_missing(
            examined, facts, required, Severity.ERROR if blind else Severity.HINT
        )
    elif of_cuda:
        # Of several whole GPUs a run sums in a slower way without.
        several = sum(not (gpu.is_mig_instance or gpu.is_partitioned) for gpu in examined.gpus) > 1
        lacks_nccl = any(library.soname == NCCL for library in of_cuda)
        severity = Severity.WARNING if several and lacks_nccl else Severity.HINT
        yield _cuda_libraries_missing(examined, facts, of_cuda, severity)


def nccl_missing(examined: Examined) -> Problem | None:
    """NCCL, which sums over several GPUs, where TensorFlow does not find it."""
    facts = examined.working_tensorflow
    libraries = () if facts is None else facts.libraries
    missing = [each for each in libraries if each.soname == NCCL and not each.was_found]
    if facts is None or not missing:
        return None
    return _cuda_libraries_missing(examined, facts, missing, Severity.HINT)


def driver_too_old(examined: Examined) -> Iterator[Problem]:
    """The driver cannot run the CUDA that TensorFlow was built for, or not compile its kernels."""
    facts, build, driver = examined.working_tensorflow, examined.cuda_build, examined.driver
    if facts is None or build is None or build.cuda_version is None or driver.cuda_version is None:
        return
    runs = ".".join(str(part) for part in driver.cuda_version)
    wanted = tuple(int(part) for part in build.cuda_version.split(".")[:2] if part.isdigit())
    if not wanted:
        return
    # Within one major version of CUDA newer programs run on older drivers.
    if driver.cuda_version[0] < wanted[0]:
        yield Problem(
            code="nvidia_driver_too_old",
            message=f"TensorFlow {build.version} needs CUDA {build.cuda_version}, but the driver "
            f"{driver.version} runs CUDA {runs} at most.",
            hint="Install a newer NVIDIA driver and restart the machine.",
        )
    elif driver.cuda_version < wanted:
        capabilities = [gpu.compute_capability for gpu in examined.gpus if gpu.compute_capability]
        to_compile = [
            each
            for each in capabilities
            if not has_kernels(build, each) and compiles_kernels(build, each)
        ]
        if to_compile:
            yield Problem(
                code="nvidia_driver_too_old_to_compile",
                message=f"TensorFlow {build.version} has no machine code for compute capability "
                f"{to_compile[0][0]}.{to_compile[0][1]}, and the driver {driver.version} (CUDA "
                f"{runs}) is too old to compile its kernels of CUDA {build.cuda_version}.",
                hint="Install a newer NVIDIA driver and restart the machine.",
            )


def _driver_library_missing(examined: Examined, of_driver: list[SharedLibrary]) -> Problem:
    host = examined.host
    command = ""
    if host.is_wsl:
        hint = "Let the loader find Windows' driver in /usr/lib/wsl/lib."
        command = "sudo ldconfig /usr/lib/wsl/lib"
    elif host.container is not None:
        hint = (
            "Start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility, so that the "
            "CUDA part of the driver comes into it."
        )
    else:
        hint = "Install the CUDA part of the NVIDIA driver, of the same version as the rest."
        command = "sudo apt install libcuda1" if "debian" in host.distribution[:1] else ""
    severity = Severity.ERROR if examined.sees_fewer_gpus else Severity.HINT
    return _missing("driver_libraries_missing", severity, of_driver, hint, command)


def _cuda_libraries_missing(
    examined: Examined, facts: TensorFlowFacts, missing: list[SharedLibrary], severity: Severity
) -> Problem:
    code = "cuda_libraries_missing"
    hint = "Install NVIDIA's packages that go with this TensorFlow."
    if not any(library.is_required for library in missing):
        code = "optional_cuda_libraries_missing"
        hint = (
            "GPUs work without. NCCL sums gradients over several GPUs: without it they are summed "
            "in a slower way. Traces of what GPUs do need CUPTI."
        )
    wanted = f"{examined.tensorflow_package}[and-cuda]=={facts.version}"
    return _missing(code, severity, missing, hint, install(wanted))


def _missing(
    code: str, severity: Severity, libraries: list[SharedLibrary], hint: str, command: str
) -> Problem:
    names = ", ".join(library.soname for library in libraries)
    return Problem(
        code=code,
        severity=severity,
        message=f"TensorFlow does not find {names}.",
        hint=hint,
        command=command,
        detail="\n".join(library.error for library in libraries),
    )
