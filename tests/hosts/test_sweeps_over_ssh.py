"""Sweeps of a host: started from here, shown as they go, stopped and let go on."""

import os
import shutil
import time

import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.model import PythonModel
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.profile_toml import dump_profile
from gpupanel.domain.sweep import SweepMethod, SweepSettings
from gpupanel.hosts.here.host import OtherMachine
from gpupanel.hosts.here.link_state import LinkCondition
from gpupanel.hosts.operations.exports import FilePiece
from gpupanel.hosts.operations.sweeps import SweepsFound
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.sweeps.sweep_layout import SWEEPS, SweepLayout
from gpupanel.runs.sweeps.sweep_record import (
    SweepBegun,
    SweepEnded,
    TrialChosen,
    TrialQueued,
    append_event,
)
from gpupanel.runs.sweeps.sweep_status import SweepPhase, sweep_status
from gpupanel.runs.trust.trusted import CodeNotTrustedError
from gpupanel.runs.user_sweeps import SweepsRead
from tests.hosts.conftest import Lab
from tests.patience import PATIENCE_S, wait_until

RATES = (0.001, 0.01)


def profile(epochs: int, **more: object) -> Profile:
    plain = Profile(name="rates", data=DigitsData(), **more)
    sweep = SweepSettings(
        method=SweepMethod.GRID,
        metric="loss",
        values={"training.learning_rate": RATES},
    )
    training = plain.training.model_copy(update={"epochs": epochs})
    return plain.model_copy(update={"training": training, "sweep": sweep})


def sweeps(host: OtherMachine):
    return host.sweeps(host.runs_dir)


def written(lab: Lab, name: str, trials: int) -> SweepLayout:
    """A sweep there of which so many trials were chosen."""
    layout = SweepLayout(lab.runs_dir / SWEEPS / name)
    layout.root.mkdir(parents=True)
    layout.profile.write_text(dump_profile(profile(1)))
    append_event(layout, SweepBegun(time_s=1e9, trial_count=trials))
    more(layout, 1, trials)
    return layout


def more(layout: SweepLayout, first: int, count: int) -> None:
    for number in range(first, first + count):
        values = {"training.learning_rate": 0.001 * number}
        entry = f"{number:08x}"
        append_event(layout, TrialChosen(time_s=1e9, number=number, values=values, entry=entry))
        append_event(layout, TrialQueued(time_s=1e9, number=number))


def as_there(read: SweepsRead, lab: Lab):
    assert read.shown is not None
    return read.shown.model_copy(update={"sweep": lab.runs_dir / SWEEPS / read.shown.sweep.name})


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_a_sweep_is_carried_out_there_and_shown_here(lab):
    host = lab.connected()
    name = sweeps(host).start(profile(1))
    there = SweepLayout(lab.runs_dir / SWEEPS / name)
    assert there.record.exists()

    def state() -> SweepPhase | None:
        shown = sweeps(host).read("").shown
        return None if shown is None else shown.state

    assert state() is SweepPhase.IN_PROGRESS
    lab.relay.cut()
    time.sleep(0.5)
    lab.relay.mend()
    host.link.try_again()
    host.link._await_first(None)
    wait_until(lambda: "connected" in str(host.link.state.kind).lower())
    wait_until(lambda: state() is SweepPhase.COMPLETED, PATIENCE_S)
    read = sweeps(host).read(name)
    assert as_there(read, lab) == sweep_status(there)
    assert [trial.is_open for trial in read.shown.trials] == [False, False]
    assert all(trial.value is not None for trial in read.shown.trials)
    assert read.shown.best in (1, 2)
    with pytest.raises(ProblemError) as refused:
        sweeps(host).resume(name)
    assert refused.value.problems[0].code == "sweep_has_ended"


def test_that_what_is_added_to_a_record_is_all_that_comes(lab):
    host, layout = lab.connected(), written(lab, "2026-12-01T10-00-00-many", 500)
    assert as_there(sweeps(host).read(layout.root.name), lab) == sweep_status(layout)
    before = lab.relay.bytes_back
    for first in (501, 511):
        more(layout, first, 10)
        with layout.record.open("a") as file:
            file.write('{"kind":"trial_')  # half a line, which the next one takes the place of
        read = sweeps(host).read(layout.root.name)
        layout.record.write_bytes(layout.record.read_bytes().removesuffix(b'{"kind":"trial_'))
        assert as_there(read, lab) == sweep_status(layout)
    assert lab.relay.bytes_back - before < 4_000


def test_that_a_record_that_was_written_anew_is_told_anew(lab):
    host, layout = lab.connected(), written(lab, "2026-12-01T10-00-00-once", 50)
    sweeps(host).read(layout.root.name)
    layout.record.unlink()
    append_event(layout, SweepBegun(time_s=1e9, trial_count=1))
    more(layout, 1, 1)
    assert as_there(sweeps(host).read(layout.root.name), lab) == sweep_status(layout)


def test_that_a_profile_that_was_written_anew_and_a_record_that_is_gone_are_told(lab):
    host, layout = lab.connected(), written(lab, "2026-12-01T10-00-00-once", 50)
    sweeps(host).read(layout.root.name)
    layout.profile.write_text(dump_profile(profile(1).model_copy(update={"name": "renamed"})))
    layout.record.unlink()
    read = sweeps(host).read(layout.root.name)
    assert read.shown.name == "renamed"
    assert read.shown.trials == ()


@pytest.mark.parametrize("kind", ["link", "fifo"])
def test_that_a_record_that_is_no_file_hides_no_other_sweep(lab, kind):
    host, layout = lab.connected(), written(lab, "2026-12-01T10-00-00-odd", 5)
    good = written(lab, "2026-12-01T09-00-00-good", 3)
    layout.record.unlink()
    if kind == "link":
        layout.record.symlink_to(good.record)
    else:
        os.mkfifo(layout.record)
    assert not sweeps(host).read("").shown.trials
    assert len(sweeps(host).read(good.root.name).shown.trials) == 3


def test_that_a_folder_whose_name_is_no_text_hides_no_other_sweep(lab):
    good = written(lab, "2026-12-01T09-00-00-good", 3)
    odd = os.fsdecode(os.fsencode(good.root.parent) + b"/2026-12-02-\xff")
    shutil.copytree(good.root, odd)
    assert sweeps(lab.connected()).read("").names == (good.root.name,)


def test_that_sweeps_are_shown_as_they_were_copied_while_there_is_no_connection(lab):
    host, layout = lab.connected(), written(lab, "2026-12-01T10-00-00-kept", 5)
    before = sweeps(host).read("")
    lab.relay.cut()
    wait_until(lambda: host.link.state.kind is LinkCondition.CUT)
    assert sweeps(host).read("").shown == before.shown
    assert sweeps(host).read(layout.root.name).names == before.names
    # Nobody knows now whether the queue there looks after it: that it does not is not said.
    assert sweeps(host).read("").is_known


def test_that_sweeps_are_shown_as_they_were_copied_before_there_is_a_connection(lab):
    host, layout = lab.connected(), written(lab, "2026-12-01T10-00-00-kept", 5)
    before = sweeps(host).read("")
    host.end()
    lab.relay.cut()
    later = lab.connecting()
    assert later.link.state.kind is not LinkCondition.CONNECTED
    assert sweeps(later).read("").names == before.names == (layout.root.name,)


def test_that_the_copy_of_a_sweep_that_is_gone_there_goes(lab):
    host, layout = lab.connected(), written(lab, "2026-12-01T10-00-00-gone", 5)
    sweeps(host).read("")
    copy = host.runs_dir / SWEEPS / layout.root.name
    assert copy.exists()
    shutil.rmtree(layout.root)
    assert sweeps(host).read("").names == ()
    assert not copy.exists()


def test_that_the_newest_is_shown_first_and_each_is_named(lab):
    names = [f"2026-12-01T1{number}-00-00-a" for number in range(3)]
    for name in names:
        written(lab, name, 1)
    host = lab.connected()
    read = sweeps(host).read("")
    assert read.names == tuple(reversed(names))
    assert read.shown.sweep.name == names[-1]
    assert not read.is_known
    again = sweeps(host).read(names[0])
    assert again.names == read.names
    assert again.shown.sweep.name == names[0]
    assert sweeps(host).read("gone").shown.sweep.name == names[-1]


def test_that_one_is_stopped_and_let_go_on_in_the_queue_there(lab):
    host, layout = lab.connected(), written(lab, "2026-12-01T10-00-00-left", 1)
    queue = QueueFiles(lab.folder / "there" / "state" / "queue")
    queue.change(lambda line: line.with_paused(paused=True))
    sweeps(host).resume(layout.root.name)
    assert layout.root in queue.read().sweeps
    assert sweeps(host).read(layout.root.name).is_known
    sweeps(host).stop(layout.root.name)
    assert layout.stop.exists()
    append_event(layout, SweepEnded(time_s=1e9, stopped=True))


def test_that_code_of_a_sweep_is_asked_about_before_it_is_started(lab):
    code = lab.folder / "there" / "network.py"
    code.write_text("def build_model(input_shape, outputs): raise SystemExit\n")
    host, asked = lab.connected(), profile(1, model=PythonModel(path=str(code)))
    with pytest.raises(CodeNotTrustedError) as refused:
        sweeps(host).start(asked)
    assert refused.value.code[0].content == code.read_bytes()
    assert not (lab.runs_dir / SWEEPS).exists() or not [*(lab.runs_dir / SWEEPS).iterdir()]


def test_that_a_damaged_one_is_named_beside_the_others(lab):
    host, layout = lab.connected(), written(lab, "2026-12-01T10-00-00-bad", 1)
    written(lab, "2026-12-01T09-00-00-good", 1)
    layout.profile.write_text("[[[")
    read = sweeps(host).read("")
    assert read.damaged == layout.root.name
    assert len(read.names) == 2


@pytest.mark.parametrize("path", ["evil.sh", "../../evil", "/tmp/evil", "stop", "sweep.toml/x"])
def test_that_a_host_writes_no_other_file_of_a_sweep(lab, monkeypatch, path):
    host = lab.connected()

    def lie(_operation, _wanted, *, on_part):
        on_part(FilePiece(path=path, content="x", is_first=True))
        return SweepsFound(names=("a-sweep",), stamp="1", name="a-sweep")

    monkeypatch.setattr(host.link, "call", lie)
    with pytest.raises(ProblemError):
        sweeps(host).read("a-sweep")
    folder = host.runs_dir / SWEEPS
    assert not [each for each in folder.rglob("*") if each.is_file()]
