"""A real sshd on loopback: what is there is seen and done from here."""

import base64
import errno
import json
import os
import random
import signal
import time
from pathlib import Path
from threading import Event

import psutil
import pytest

from gpupanel.devices.child_process import ask_child
from gpupanel.domain.data import DigitsData
from gpupanel.domain.events import RunEnded, decode_event, encode_event
from gpupanel.domain.model import PythonModel
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.files.line_log import LineLog
from gpupanel.hosts.here import calls
from gpupanel.hosts.here.link_state import LinkCondition
from gpupanel.planning.prepare import prepare
from gpupanel.runs.directory.run_lock import is_supervised
from gpupanel.runs.history.curves import CurveReader
from gpupanel.runs.history.label import RunLabel
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.launcher import create_run
from gpupanel.runs.machine_settings import OutsideHoursError
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.runs.questions.question import ask_children_by
from gpupanel.runs.queue.queue_files import QueueFiles
from gpupanel.runs.trust.trusted import CodeNotTrustedError
from tests.hosts.conftest import Lab
from tests.hosts.runs_there import cpu_plan, followed_run, lines_of, long_run
from tests.patience import PATIENCE_S, wait_until


def serving(lab: Lab) -> list[psutil.Process]:
    """The processes of gpupanel on this lab's host, and those of ssh here."""
    command, folder = str(lab.sshd.command), str(lab.folder)
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        words = process.info["cmdline"] or []
        there = words[-1:] == ["serve"] and any(
            folder in value for value in (process.info["environ"] or {}).values()
        )
        if there or any(command in each and " serve" in each for each in words):
            found.append(process)
    return found


def test_that_the_devices_of_the_host_are_those_that_are_read_there(lab):
    host = lab.connected()
    assert [device.key for device in host.devices.inventory().devices][-1] == "cpu"
    assert abs(host.devices.sample().time_s - time.time()) < 5.0
    assert host.devices.sample().disk is not None


def test_that_a_run_is_trained_on_the_host_and_ended_from_here(lab):
    host = lab.connected()
    profile = Profile(data=DigitsData())
    profile = profile.model_copy(
        update={"training": profile.training.model_copy(update={"epochs": 100_000})}
    )
    plan = prepare(profile, host.devices.inventory()).plan
    layout = host.launch(profile, plan, Path("/nowhere"))
    end = host.open_copy(layout)
    wait_until(lambda: b"steps_done" in b"".join(lines_of(layout.events)), PATIENCE_S)
    assert is_supervised(layout)
    assert [run.is_running for run in list_runs(host.runs_dir)] == [True]
    host.ask(layout, Request.STOP)
    there = RunLayout(lab.runs_dir / layout.root.name)
    wait_until(lambda: b"run_ended" in b"".join(lines_of(layout.events)), PATIENCE_S)
    wait_until(lambda: not is_supervised(layout))
    assert lines_of(layout.events) == lines_of(there.events)
    assert decode_event(lines_of(layout.events)[-1]).outcome is Outcome.STOPPED
    assert layout.profile.read_bytes() == there.profile.read_bytes()
    end()


def test_that_code_is_asked_about_before_the_host_carries_it_out(lab):
    host = lab.connected()
    code = lab.folder / "there" / "network.py"
    code.write_text("def build_model(input_shape, outputs): raise SystemExit\n")
    profile = Profile(data=DigitsData(), model=PythonModel(path=str(code)))
    plan = prepare(profile, host.devices.inventory()).plan
    with pytest.raises(CodeNotTrustedError) as refused:
        host.launch(profile, plan, Path("/nowhere"))
    assert refused.value.code[0].content == code.read_bytes()
    assert not list(lab.runs_dir.iterdir())
    host.trust(refused.value.code)
    layout = host.launch(profile, plan, Path("/nowhere"))
    there = RunLayout(lab.runs_dir / layout.root.name)
    wait_until(lambda: b"run_ended" in b"".join(lines_of(there.events)), PATIENCE_S)


@pytest.mark.long
def test_that_a_run_of_the_host_is_suspended_and_resumed_from_here(lab):
    host = lab.connected()
    profile = Profile(data=DigitsData())
    training = profile.training.model_copy(update={"epochs": 400})
    profile = profile.model_copy(update={"training": training})
    plan = prepare(profile, host.devices.inventory()).plan
    layout = host.launch(profile, plan, Path("/nowhere"))
    end = host.open_copy(layout)
    wait_until(lambda: b"steps_done" in b"".join(lines_of(layout.events)), PATIENCE_S)
    host.ask(layout, Request.CHECKPOINT)
    wait_until(lambda: b"checkpoint_saved" in b"".join(lines_of(layout.events)), PATIENCE_S)
    host.ask(layout, Request.SUSPEND)
    wait_until(lambda: b"run_ended" in b"".join(lines_of(layout.events)), PATIENCE_S)
    wait_until(lambda: not is_supervised(layout))
    assert decode_event(lines_of(layout.events)[-1]).outcome is Outcome.SUSPENDED
    wait_until(lambda: list_runs(host.runs_dir)[0].outcome is Outcome.SUSPENDED)
    host.resume(layout)
    wait_until(lambda: b"".join(lines_of(layout.events)).count(b'"run_ended"') == 2, PATIENCE_S)
    there = RunLayout(lab.runs_dir / layout.root.name)
    wait_until(lambda: lines_of(layout.events) == lines_of(there.events))
    assert decode_event(lines_of(there.events)[-1]).outcome is Outcome.COMPLETED
    end()


def test_that_the_doctor_examines_the_host(lab):
    host = lab.connected()
    report = host.examine(Event())
    folders = {folder.path for folder in report.folders}
    assert str(lab.runs_dir) in folders


def test_that_a_process_that_is_none_of_a_gpu_is_not_ended_there(lab):
    host = lab.connected()
    mine = DeviceProcess(pid=os.getpid(), started_s=1.0, is_mine=True)
    with pytest.raises(ProblemError):
        host.end_process(mine, frozenset(), by_force=False)


def test_that_the_hours_of_the_host_hold_for_what_is_started_from_here(lab):
    later = [time.strftime("%H:00", time.localtime(time.time() + 3600 * each)) for each in (2, 3)]
    config = lab.folder / "there" / "config"
    config.mkdir()
    (config / "machine.toml").write_text(f'hours = "{"-".join(later)}"\n')
    host = lab.connected()
    profile = Profile(data=DigitsData())
    plan = prepare(profile, host.devices.inventory()).plan
    with pytest.raises(OutsideHoursError) as refused:
        host.launch(profile, plan, Path("/nowhere"))
    assert refused.value.begin_s > time.time()
    assert not list(lab.runs_dir.iterdir())
    layout = host.launch(profile, plan, Path("/nowhere"), outside_hours=True)
    host.ask(layout, Request.END)
    there = RunLayout(lab.runs_dir / layout.root.name)
    wait_until(lambda: b"run_ended" in b"".join(lines_of(there.events)), PATIENCE_S)


def test_that_a_question_is_asked_where_the_data_is(lab):
    host = lab.connected()
    ask_children_by(host.ask_child)
    try:
        found = preview_data(PreviewRequest(data=DigitsData()))
    finally:
        ask_children_by(ask_child)
    assert not found.problems
    assert found.example_count == 1797


def test_that_a_run_is_named_and_deleted_there(lab):
    layout = create_run(Profile(name="old"), cpu_plan(), lab.runs_dir)
    layout.events.write_text(
        encode_event(RunEnded(time_s=time.time(), outcome=Outcome.COMPLETED)) + "\n"
    )
    host = lab.connected()
    copy = RunLayout(host.runs_dir / layout.root.name)
    wait_until(lambda: copy.profile.exists())
    host.change_label(copy, RunLabel(), RunLabel(name="The first", tags=("baseline",)))
    wait_until(lambda: copy.label.exists())
    assert list_runs(host.runs_dir)[0].label == "The first"
    assert list_runs(lab.runs_dir)[0].label == "The first"
    assert host.delete(copy, lambda _: True) is False
    assert layout.root.exists()
    assert host.delete(copy, None)
    assert not layout.root.exists()
    assert not copy.root.exists()


@pytest.mark.alone
def test_that_a_million_events_are_here_within_three_seconds_at_ten_megabits(lab):
    layout = long_run(lab.runs_dir, 1_000_000)
    lab.relay.bytes_per_s, lab.relay.delay_s = 10e6 / 8.0, 0.02
    host = lab.connected()
    copy = RunLayout(host.runs_dir / layout.root.name)
    wait_until(lambda: copy.profile.exists())
    begun_s = time.monotonic()
    end = host.open_copy(copy)
    took_s = time.monotonic() - begun_s
    end()
    kept = lines_of(copy.events)
    assert 7_000 < len(kept) < 16_000
    assert kept[-1] == lines_of(layout.events)[-1]
    assert took_s < 3.0


def test_that_following_a_run_takes_less_than_twenty_kilobytes_a_second(lab):
    with followed_run(lab) as (run, _, copy):
        # As of sixteen pictures that are predicted after each epoch.
        predicted = LineLog(run.layout.validation_examples)
        predicted.append(json.dumps({"kind": "examples", "examples": random_text(300_000)}))
        wait_until(lambda: lines_of(copy.validation_examples))
        before, begun_s = lab.relay.bytes_back, time.monotonic()
        for epoch in range(16):
            run.grow(10)
            predicted.append(
                json.dumps({"kind": "epoch", "epoch": epoch, "of": random_text(1_000)})
            )
            time.sleep(0.5)
        rate = (lab.relay.bytes_back - before) / (time.monotonic() - begun_s)
        wait_until(lambda: lines_of(copy.events) == lines_of(run.layout.events))
        wait_until(lambda: len(lines_of(copy.validation_examples)) == 17)
        predicted.close()
        assert copy.validation_examples.read_bytes() == run.layout.validation_examples.read_bytes()
        assert rate < 20_000


def random_text(length: int) -> str:
    return base64.b64encode(random.randbytes(length)).decode()


def test_that_what_a_full_disk_here_did_not_take_comes_once_there_is_room(lab, monkeypatch):
    monkeypatch.setattr(calls, "_AGAIN_S", 0.2)
    with followed_run(lab) as (run, host, copy):
        write, is_full = os.write, [True]

        def written(descriptor, content):
            if is_full[0] and os.path.samestat(os.fstat(descriptor), copy.events.stat()):
                write(descriptor, content[: len(content) // 2])
                raise OSError(errno.ENOSPC, "No space left on device", str(copy.events))
            return write(descriptor, content)

        monkeypatch.setattr(os, "write", written)
        run.grow(50)
        wait_until(lambda: host.copies.copy_problem is not None)
        run.grow(50)
        is_full[0] = False
        wait_until(lambda: len(lines_of(copy.events)) >= len(lines_of(run.layout.events)))
        assert lines_of(copy.events) == lines_of(run.layout.events)
        wait_until(lambda: host.copies.copy_problem is None)


@pytest.mark.long
def test_that_a_cable_that_is_pulled_is_noticed_and_survived(lab):
    with followed_run(lab) as (run, host, copy):
        lab.relay.cut(silently=True)
        run.grow(50)
        wait_until(lambda: host.link.state.kind is LinkCondition.CUT, 40.0)
        lab.relay.mend()
        wait_until(lambda: host.link.state.kind is LinkCondition.CONNECTED, 40.0)
        wait_until(lambda: lines_of(copy.events) == lines_of(run.layout.events))


OFTEN = pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.long)])


@OFTEN
def test_that_cuts_of_the_connection_lose_nothing_and_double_nothing(lab, times):
    with followed_run(lab) as (run, host, copy):
        for _ in range(times):
            run.grow(30)
            time.sleep(random.uniform(0.0, 0.6))
            lab.relay.cut()
            wait_until(lambda: host.link.state.kind is LinkCondition.CUT)
            assert is_supervised(copy), "a run goes on while nobody knows better"
            run.grow(30)
            lab.relay.mend()
            host.link.try_again()
            wait_until(lambda: host.link.state.kind is LinkCondition.CONNECTED)
        run.grow(5)
        wait_until(lambda: len(lines_of(copy.events)) >= len(lines_of(run.layout.events)))
        assert lines_of(copy.events) == lines_of(run.layout.events)
        wait_until(lambda: lines_of(copy.telemetry) == lines_of(run.layout.telemetry))


@OFTEN
def test_that_a_death_of_either_process_loses_nothing_and_doubles_nothing(lab, times):
    with followed_run(lab) as (run, host, copy):
        for _ in range(times):
            run.grow(30)
            victims = serving(lab)
            assert victims
            victim = random.choice(victims)
            os.kill(victim.pid, signal.SIGKILL)
            wait_until(lambda: host.link.state.kind is LinkCondition.CUT)
            run.grow(30)
            host.link.try_again()
            wait_until(lambda: host.link.state.kind is LinkCondition.CONNECTED)
        wait_until(lambda: len(lines_of(copy.events)) >= len(lines_of(run.layout.events)))
        assert lines_of(copy.events) == lines_of(run.layout.events)


def test_that_what_is_asked_without_a_connection_is_refused_by_name(lab):
    host = lab.connected()
    lab.relay.cut()
    wait_until(lambda: host.link.state.kind is LinkCondition.CUT)
    with pytest.raises(ProblemError) as refused:
        host.ask(RunLayout(host.runs_dir / "any"), Request.STOP)
    assert refused.value.problems[0].code == "host_connection_lost"


def test_that_a_cancelled_question_ends_the_process_there(lab):
    host = lab.connected()
    cancelled = Event()
    cancelled.set()
    module = ("python", "-P", "-m", "gpupanel.trainer.tools.preview")
    answer = host.ask_child(module, 60.0, cancelled, {}, b"{}\n")
    assert answer.end.name in ("CANCELLED", "BY_ITSELF")


def test_that_a_host_without_gpupanel_is_said_to_have_none(lab):
    host = lab.connecting(program="/nowhere/gpupanel")
    wait_until(lambda: host.link.state.kind is LinkCondition.REFUSED)
    assert host.link.state.problem.code == "host_without_gpupanel"
    with pytest.raises(ProblemError):
        host.files.folder("")


def test_that_a_host_that_is_not_reached_is_named_with_what_ssh_says(lab):
    lab.relay.cut()
    host = lab.connecting()
    wait_until(lambda: host.link.state.kind is LinkCondition.REFUSED)
    assert host.link.state.problem.code == "host_not_reached"
    lab.relay.mend()
    host.link.try_again()
    wait_until(lambda: host.link.state.kind is LinkCondition.CONNECTED)


def test_that_the_process_there_ends_with_its_connection(lab):
    host = lab.connected()
    assert serving(lab)
    host.end()
    wait_until(lambda: not serving(lab), 20.0)


def test_that_folders_there_are_listed(lab):
    (lab.folder / "there" / "pictures").mkdir()
    (lab.folder / "there" / "a.csv").write_text("a,b\n")
    (lab.folder / "there" / ".hidden").write_text("")
    host = lab.connected()
    listing = host.files.folder(str(lab.folder / "there"))
    names = [entry.name for entry in listing.entries]
    assert names.index("pictures") < names.index("a.csv")
    assert ".hidden" not in names
    with pytest.raises(ProblemError):
        host.files.folder("/nowhere/at/all")


def test_that_the_queue_there_is_edited_and_put_in_another_order(lab):
    queue = QueueFiles(lab.folder / "there" / "state" / "queue")
    there = lab.connected().queue(Path())
    there.set_paused(paused=True)
    assert queue.read().paused
    for name in ("first", "second"):
        there.add(Profile(name=name, data=DigitsData()), Path())
    first, second = queue.read().entries
    there.move(second.id, 1)
    assert [entry.name for entry in queue.read().entries] == ["second", "first"]
    revision, profile = there.profile(first.id)
    assert profile.name == "first"
    there.edit(first.id, profile.model_copy(update={"name": "changed"}), revision)
    assert [entry.name for entry in queue.read().entries] == ["second", "changed"]
    with pytest.raises(ProblemError):
        there.edit(first.id, profile, revision)
    removed = there.take_out(first.id)
    assert [entry.name for entry in queue.read().entries] == ["second"]
    there.put_back(removed)
    assert [entry.name for entry in queue.read().entries] == ["second", "changed"]
    there.clear()
    assert len(queue.read().entries) == 2, "none of them has ended"


def test_that_runs_of_the_host_are_compared_here(lab):
    runs = [long_run(lab.runs_dir, count) for count in (2_000, 3_000)]
    host = lab.connected()
    wait_until(lambda: len(list_runs(host.runs_dir)) == 2)
    copies = [RunLayout(host.runs_dir / run.root.name) for run in runs]
    ends = [host.open_copy(copy) for copy in copies]
    for run, copy in zip(runs, copies, strict=True):
        here, there = CurveReader(copy), CurveReader(run)
        for reader in (here, there):
            reader.read()
        for metric, points in there.points().items():
            assert points.values.tolist() == here.points()[metric].values.tolist()
    for end in ends:
        end()
