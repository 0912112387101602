"""The doctor at work: children that are asked, and the report that comes of it."""

import json
import os
import subprocess
import sys
import time
from threading import Event

import pytest

from gpupanel.devices.doctor.environment import HostEnvironment
from gpupanel.devices.doctor.examination import examine, examine_machine, report_of
from gpupanel.devices.doctor.findings import mending_command
from gpupanel.devices.doctor.report import DoctorReport
from gpupanel.devices.probes.driver_probe import DriverFacts, ask_driver
from gpupanel.devices.probes.tensorflow_probe import ProbeAnswer
from gpupanel.domain.problem import Problem, Severity
from gpupanel.files.cache_folder import CACHE_DIR_VARIABLE
from tests.fakes.examined import NO_GPU, RTX_4090, TENSORFLOW, WELL
from tests.nvml.standin import DRIVER_NOT_LOADED, Standin, StandinState


@pytest.fixture
def use_in_children(monkeypatch: pytest.MonkeyPatch):
    def use(environment: dict[str, str]) -> None:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)

    return use


def _examine(answer: ProbeAnswer, driver: DriverFacts, host: HostEnvironment) -> DoctorReport:
    return report_of(
        examine_machine(
            probe=lambda _: answer, driver=lambda _: driver, host=lambda: host, environment={}
        )
    )


def _facts(report: DoctorReport) -> dict[str, dict[str, str]]:
    return {
        group.title: {fact.name: fact.value for fact in group.facts} for group in report.groups()
    }


def test_that_the_report_of_a_machine_that_is_well_says_so() -> None:
    report = _examine(ProbeAnswer(facts=TENSORFLOW), WELL.driver, WELL.host)

    assert report.is_well
    assert report.command == ""
    facts = _facts(report)
    assert facts["Driver and system"]["NVIDIA driver"] == "570.86.15"
    assert facts["Driver and system"]["Newest CUDA it runs"] == "12.8"
    assert facts["TensorFlow"]["Built for"] == "CUDA 12.5.1, cuDNN 9"
    assert facts[RTX_4090.name] == {
        "Seen by TensorFlow": "yes",
        "Compute capability": "8.9",
        "TensorFlow's kernels for it": "in the build",
        "Multiprocessors": "128",
        "PCI bus id": "00000000:01:00.0",
        "UUID": RTX_4090.key,
    }
    libraries = facts["Libraries that TensorFlow loads"]
    assert libraries["libcudnn.so.9"] == "/site/nvidia/cudnn/lib/libcudnn.so.9"
    assert facts["Python and packages"]["tensorflow"] != "not installed"
    assert DoctorReport.model_validate_json(report.model_dump_json()) == report


def test_that_without_a_gpu_missing_libraries_are_not_marked_as_ill() -> None:
    lost = TENSORFLOW.libraries[1].model_copy(update={"path": None, "error": "not found"})
    facts = TENSORFLOW.model_copy(update={"gpus": (), "libraries": (lost,)})

    report = _examine(ProbeAnswer(facts=facts), NO_GPU.driver, NO_GPU.host)

    assert report.is_well
    assert all(fact.is_well is None for group in report.groups() for fact in group.facts)


def test_that_the_driver_is_asked_in_a_child(
    nvml_standin: Standin, use_in_children, nvml_environment: dict[str, str]
) -> None:
    use_in_children(nvml_environment)

    facts = ask_driver()

    assert facts.version == "570.86.15"
    assert facts.cuda_version == (12, 8)
    assert [gpu.name for gpu in facts.gpus] == [
        "NVIDIA GeForce RTX 4090",
        "NVIDIA GeForce RTX 3060",
    ]


def test_that_a_driver_that_is_not_loaded_is_reported_with_its_command(
    nvml_standin: Standin, use_in_children, nvml_environment: dict[str, str]
) -> None:
    nvml_standin.tell(StandinState(gpus=(), init=DRIVER_NOT_LOADED))
    use_in_children(nvml_environment)

    report = report_of(
        examine_machine(
            probe=lambda _: ProbeAnswer(facts=NO_GPU.tensorflow),
            host=HostEnvironment,
            environment={},
        )
    )

    assert not report.is_well
    assert report.problems[0].code == "nvidia_driver_not_answering"
    assert report.command == "sudo modprobe nvidia"


def test_that_a_driver_that_never_answers_is_given_up() -> None:
    started = time.monotonic()

    facts = ask_driver((sys.executable, "-c", "import time; time.sleep(60)"), time_limit_s=0.5)

    assert time.monotonic() - started < 10.0
    assert facts.problem is not None
    assert facts.problem.code == "nvidia_driver_hangs"
    assert facts.problem.command == "sudo reboot"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "import os, resource as r; r.setrlimit(r.RLIMIT_CORE, (0, 0)); os.abort()",
            "nvidia_driver_crashes",
        ),
        ("raise SystemExit(3)", "nvidia_driver_not_asked"),
    ],
)
def test_that_a_child_that_gives_no_answer_is_a_problem(code: str, expected: str) -> None:
    facts = ask_driver((sys.executable, "-c", code))

    assert facts.problem is not None
    assert facts.problem.code == expected


def test_that_a_report_that_nobody_wants_any_more_comes_at_once() -> None:
    cancelled = Event()
    cancelled.set()
    started = time.monotonic()

    examine(cancelled)

    assert time.monotonic() - started < 5.0


def test_that_the_one_command_does_all_that_commands_can_and_restarts_last() -> None:
    problems = tuple(
        Problem(code=f"code_{number}", severity=severity, message="It is.", command=command)
        for number, (severity, command) in enumerate(
            (
                (Severity.ERROR, "sudo reboot"),
                (Severity.ERROR, "pip install it"),
                (Severity.WARNING, "pip install it"),
                (Severity.WARNING, ""),
                (Severity.HINT, "not needed"),
            )
        )
    )

    assert mending_command(problems) == "pip install it && sudo reboot"


@pytest.mark.tensorflow
def test_that_the_terminal_prints_one_json_document_with_everything(
    nvml_environment: dict[str, str], tmp_path
) -> None:
    environment = {**os.environ, **nvml_environment, CACHE_DIR_VARIABLE: str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-m", "gpupanel", "doctor", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    document = json.loads(done.stdout)
    # The driver is a stand-in, so CUDA's own library is missing.
    assert done.returncode == 1
    assert document["ok"] is False
    assert document["driver"] == "570.86.15"
    assert len(document["gpus"]) == 2
    assert document["problems"][0]["code"] == "driver_libraries_missing"
    assert "tensorflow[and-cuda]" in document["command"]
