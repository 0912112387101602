"""What a window asks before a start is asked where the data and the devices are."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from gpupanel.devices.child_process import ask_child
from gpupanel.domain.data import DigitsData
from gpupanel.domain.images_data import ImagesData
from gpupanel.domain.model_summary import summary_request
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.profile import Profile
from gpupanel.domain.rate_range import rate_range_request
from gpupanel.domain.read_speed import read_speed_request
from gpupanel.domain.scan import ScanProgress, scan_request
from gpupanel.hosts.here.host import OtherMachine
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.runs.questions.data_scan import scan_data
from gpupanel.runs.questions.model_summary import summarize_model
from gpupanel.runs.questions.question import ask_children_by
from gpupanel.runs.questions.rate_range import try_learning_rates
from gpupanel.runs.questions.read_speed import measure_reading
from gpupanel.runs.readiness import Machine
from gpupanel.runs.tools.self_test.testing import run_self_test
from tests.hosts.conftest import Lab

DIGITS = Profile(data=DigitsData())


@pytest.fixture
def host(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[OtherMachine]:
    """A host by which everything is asked, while nothing can be asked here."""
    connected = lab.connected()
    for name, value in connected.variables().items():
        monkeypatch.setenv(name, value)

    def asked_here(*_: object, **__: object) -> None:
        pytest.fail("this machine was asked")

    monkeypatch.setattr("gpupanel.devices.child_process.subprocess.Popen", asked_here)
    ask_children_by(connected.ask_child)
    yield connected
    ask_children_by(ask_child)


def pictures(folder: Path) -> Path:
    from PIL import Image

    for name in ("cat", "dog"):
        (folder / name).mkdir(parents=True)
        for number in range(4):
            colour = (60 * number, 200 if name == "cat" else 20, 0)
            Image.new("RGB", (16, 12), colour).save(folder / name / f"{number}.png")
    return folder


@pytest.mark.tensorflow
def test_that_images_of_the_host_are_previewed_and_scanned_there(host, lab):
    folder = pictures(lab.folder / "there" / "pictures")
    data = ImagesData(path=str(folder))
    preview = preview_data(PreviewRequest(data=data))
    assert preview.class_counts == (("cat", 4), ("dog", 4))
    (folder / "dog" / "broken.png").write_bytes(b"no picture")
    doing = list[ScanProgress]()
    found = scan_data(scan_request(Profile(data=data)), cancelled=Event(), on_progress=doing.append)
    assert str(folder) in found.model_dump_json()
    assert "broken.png" in found.model_dump_json()
    nothing = preview_data(PreviewRequest(data=ImagesData(path="/nowhere/at/all")))
    assert nothing.problems


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_layers_rates_and_reading_are_found_out_there(host):
    summary = summarize_model(summary_request(DIGITS))
    assert summary.step is not None
    assert not summary.problems
    rates = try_learning_rates(rate_range_request(DIGITS))
    assert len(rates.points) > 10
    speed = measure_reading(read_speed_request(DIGITS, 0.5))
    assert not speed.problems


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_the_devices_of_the_host_are_tested_there_and_that_is_remembered_for_it(host, lab):
    machine = Machine(host.devices.inventory(), host.devices.sample())
    found = run_self_test(DIGITS, machine, cancelled=Event())
    assert found.outcomes
    assert not [each for each in found.problems if each.is_error]
    again = run_self_test(DIGITS, machine, cancelled=Event())
    assert again.is_remembered
    assert not list((lab.folder / "here" / "state").rglob("*self*"))
