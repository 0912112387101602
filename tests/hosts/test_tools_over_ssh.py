"""Tools that are carried out on a host: batches tried, devices compared, models asked, traces."""

from pathlib import Path
from threading import Event

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.asked_prediction import PredictionAsked
from gpupanel.domain.batch_fit import BatchProgress
from gpupanel.domain.bench import BenchProgress
from gpupanel.domain.data import DigitsData, TableData
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.hosts.here import tools
from gpupanel.planning.prepare import prepare
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.readiness import Machine
from gpupanel.runs.tools.tracing.tracing import TraceStage
from gpupanel.ui.task_choices import predicting_with
from tests.fakes.devices import RTX_4090
from tests.hosts.conftest import Lab
from tests.hosts.runs_there import lines_of
from tests.patience import PATIENCE_S, wait_until

pytestmark = [pytest.mark.tensorflow]


@pytest.fixture
def trained(lab: Lab) -> RunLayout:
    """The copy of a training of the host that has ended."""
    host = lab.connected()
    profile = Profile(data=DigitsData())
    plan = prepare(profile, host.devices.inventory()).plan
    layout = host.launch(profile, plan, Path("/nowhere"))
    wait_until(
        lambda: [run.outcome for run in list_runs(host.runs_dir)] == [Outcome.COMPLETED], PATIENCE_S
    )
    return layout


@pytest.mark.long
def test_that_a_model_of_the_host_names_a_picture_of_this_machine(lab, trained):
    host, picture = lab.hosts[0], lab.folder / "here" / 'an odd "name".PNG'
    picture.parent.mkdir(exist_ok=True)
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(picture)
    profile = predicting_with(Profile(data=DigitsData()), str(trained.model), ())
    predictor = host.tools.predictor()
    answer = predictor.ask(PredictionAsked(profile=profile, file=str(picture)))
    assert not answer.problems
    assert len(answer.predicted) == 5
    assert answer.predicted_count == 10
    again = predictor.ask(PredictionAsked(profile=profile, file=str(picture)))
    assert again.predicted == answer.predicted
    assert not [*Path("/tmp").glob("gpupanel-asked-*")]
    predictor.close()


@pytest.mark.long
def test_that_batches_are_tried_where_they_would_be_trained(lab):
    host, doing = lab.connected(), list[BatchProgress]()
    profile = Profile(data=DigitsData())
    machine = Machine(host.devices.inventory(), host.devices.sample())
    found = host.tools.find_batches(profile, machine, cancelled=Event(), on_progress=doing.append)
    assert not [each for each in found.all_problems if each.is_error]
    assert found.largest_batch
    assert doing
    assert all(isinstance(each, BatchProgress) for each in doing)


@pytest.mark.long
def test_that_devices_are_compared_there_and_that_is_remembered_there(lab):
    host, doing = lab.connected(), list[BenchProgress]()
    machine = Machine(host.devices.inventory(), host.devices.sample())
    asked = {"cancelled": Event(), "on_progress": doing.append}
    profile = Profile(data=DigitsData())
    found = host.tools.compare_devices(profile, machine, Path(), recalls=False, **asked)
    assert found.fastest is not None
    assert doing
    assert [*(lab.folder / "there" / "state").rglob("bench*")]
    told = len(doing)
    assert host.tools.compare_devices(profile, machine, Path(), recalls=True, **asked) == found
    assert len(doing) == told


@pytest.mark.long
def test_that_steps_of_a_run_of_the_host_are_traced(lab):
    host, doing = lab.connected(), list[TraceStage]()
    profile = Profile(data=DigitsData())
    training = profile.training.model_copy(update={"epochs": 100_000})
    profile = profile.model_copy(update={"training": training})
    plan = prepare(profile, host.devices.inventory()).plan
    layout = host.launch(profile, plan, Path("/nowhere"))
    end = host.open_copy(layout)
    wait_until(lambda: b"steps_done" in b"".join(lines_of(layout.events)), PATIENCE_S)
    assert not host.tools.traces(layout).records
    found = host.tools.take_trace(layout, 5, None, cancelled=Event(), on_progress=doing.append)
    assert doing == [TraceStage.TRACING, TraceStage.READING]
    assert found.trace is not None
    assert found.trace.devices
    (number,) = found.records
    again = host.tools.read_trace(layout, number, cancelled=Event())
    assert again.trace is not None
    assert again.trace.devices == found.trace.devices
    host.ask(layout, Request.END)
    wait_until(lambda: b"run_ended" in b"".join(lines_of(layout.events)), PATIENCE_S)
    end()
    with pytest.raises(ProblemError) as refused:
        host.tools.take_trace(layout, 5, None, cancelled=Event(), on_progress=doing.append)
    assert refused.value.problems[0].code == "trace_of_ended_run"


def test_that_a_power_limit_is_set_by_the_driver_of_the_host(lab):
    host = lab.connected()
    with pytest.raises(ProblemError) as refused:
        host.tools.set_power_limit(RTX_4090, 200.0)
    assert RTX_4090.name in refused.value.problems[0].message


def test_that_data_of_a_training_there_is_not_looked_for_on_this_machine(lab, monkeypatch):
    monkeypatch.setattr(tools, "_MOST_SENT", 10)
    host, table = lab.connected(), lab.folder / "table.csv"
    table.write_text("x" * 11)
    asked = PredictionAsked(profile=Profile(data=TableData(path=str(table))))
    assert tools._file_of(asked) is None
    assert [each.code for each in host.tools.predictor().ask(asked).problems] != [
        "file_too_large_to_send"
    ]


def test_that_a_file_that_is_too_large_for_a_question_is_refused_by_name(lab, monkeypatch):
    monkeypatch.setattr(tools, "_MOST_SENT", 10)
    host, picture = lab.connected(), lab.folder / "picture.png"
    picture.write_bytes(bytes(11))
    profile = predicting_with(Profile(data=DigitsData()), "/models/m.keras", (str(picture),))
    with pytest.raises(ProblemError) as refused:
        host.tools.predictor().ask(PredictionAsked(profile=profile))
    assert refused.value.problems[0].code == "file_too_large_to_send"
