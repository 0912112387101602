"""What is made of a host's runs for other programs: all of the run, at a place here."""

from pathlib import Path
from threading import Event, Timer

import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.model import PythonModel
from gpupanel.domain.model_export import ModelFormat
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.hosts.here.exports import NotWantedError
from gpupanel.planning.prepare import prepare
from gpupanel.runs.history.curve_table import write_curve_table
from gpupanel.runs.launcher import create_run
from gpupanel.runs.tools.export.export_format import ExportFormat
from gpupanel.runs.tools.export.exported_run import exported
from gpupanel.runs.tools.export.model_export import export_model, model_export_request
from gpupanel.runs.trust.trusted import trust
from gpupanel.runs.trust.user_code import code_of_profile
from tests.hosts.conftest import Lab
from tests.hosts.runs_there import cpu_plan, lines_of, long_run
from tests.patience import PATIENCE_S, wait_until

REPORTS = 60_000
"""So many that what is copied of them is a part."""


@pytest.fixture
def copied(lab: Lab) -> tuple[RunLayout, RunLayout]:
    """A long run of the host, and its copy in a list here."""
    layout = long_run(lab.runs_dir, REPORTS)
    host = lab.connected()
    copy = RunLayout(host.runs_dir / layout.root.name)
    wait_until(lambda: all(each.exists() for each in (copy.profile, copy.plan, copy.events)))
    return layout, copy


def test_that_a_table_has_all_values_of_a_run_of_which_a_part_is_copied(lab, copied):
    layout, copy = copied
    host, output = lab.hosts[0], lab.folder / "curves.csv"
    rows = host.exports.write_curve_table(output, (copy,), Event())
    there = lab.folder / "there.csv"
    assert rows == write_curve_table(there, (layout,))
    assert rows >= REPORTS
    assert output.read_bytes() == there.read_bytes()
    assert len(lines_of(copy.events)) < REPORTS


@pytest.mark.parametrize("wanted", [ExportFormat.REPORT, ExportFormat.SCRIPT])
def test_that_what_is_made_of_a_run_is_what_is_made_of_it_there(lab, copied, wanted):
    layout, copy = copied
    output = lab.folder / f"run{wanted.suffix}"
    lab.hosts[0].exports.write_run(copy, wanted, output, Event())
    assert output.read_text() == exported(layout, wanted)


def test_that_code_that_nobody_trusts_there_goes_into_no_script(lab):
    code = lab.folder / "there" / "network.py"
    code.write_text("def build_model(input_shape, outputs): raise SystemExit\n")
    profile = Profile(data=DigitsData(), model=PythonModel(path=str(code)))
    trust(code_of_profile(profile))  # here, not there
    layout = create_run(profile, cpu_plan(), lab.runs_dir)
    host, output = lab.connected(), lab.folder / "script.py"
    copy = RunLayout(host.runs_dir / layout.root.name)
    wait_until(lambda: copy.profile.exists())
    with pytest.raises(ProblemError):
        host.exports.write_run(copy, ExportFormat.SCRIPT, output, Event())
    assert not output.exists()


def test_that_a_file_that_is_wanted_no_more_leaves_what_stood_there(lab, copied):
    _, copy = copied
    cancelled, output = Event(), lab.folder / "curves.csv"
    output.write_text("of before")
    lab.relay.bytes_per_s = 100_000
    Timer(1.0, cancelled.set).start()
    with pytest.raises(NotWantedError):
        lab.hosts[0].exports.write_curve_table(output, (copy,), cancelled)
    assert output.read_text() == "of before"
    assert not [*lab.folder.glob(".curves.csv*")]


def test_that_a_cut_leaves_what_stood_there(lab, copied):
    _, copy = copied
    output = lab.folder / "curves.csv"
    output.write_text("of before")
    lab.relay.cut()
    with pytest.raises(ProblemError):
        lab.hosts[0].exports.write_curve_table(output, (copy,), Event())
    assert output.read_text() == "of before"


def test_that_the_record_of_a_run_is_not_replaced(lab, copied):
    _, copy = copied
    with pytest.raises(ProblemError) as refused:
        lab.hosts[0].exports.write_run(copy, ExportFormat.REPORT, copy.plan, Event())
    assert refused.value.problems[0].code == "inside_a_run"


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_a_model_of_the_host_is_written_here(lab):
    host = lab.connected()
    plan = prepare(Profile(data=DigitsData()), host.devices.inventory()).plan
    layout = host.launch(Profile(data=DigitsData()), plan, Path("/nowhere"))
    end = host.open_copy(layout)
    wait_until(lambda: b"run_ended" in b"".join(lines_of(layout.events)), PATIENCE_S)
    wait_until(lambda: layout.model.exists())
    for wanted, name in ((ModelFormat.TFLITE, "digits.tflite"), (ModelFormat.SAVEDMODEL, "digits")):
        output = lab.folder / name
        request = model_export_request(layout, output, wanted)
        found = export_model(request, question=host.exports.write_model)
        assert not [each for each in found.problems if each.is_error]
        assert output.exists()
        beside = output.with_name("predict.py") if output.is_file() else output / "predict.py"
        assert beside.exists()
    ours = {"predict.py", "model.json"}
    written = [path for path in output.rglob("*") if path.is_file() and path.name not in ours]
    assert sum(path.stat().st_size for path in written) == found.size_bytes
    assert layout.model.stat().st_size == 0, "the copy has no model of its own"
    end()
