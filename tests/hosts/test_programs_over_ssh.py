"""Programs of a person's own on a host, and examples of what a run there evaluated."""

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from gpupanel.devices.child_process import ask_child
from gpupanel.domain.data import DigitsData
from gpupanel.domain.events import decode_event
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.profile import Profile
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.shown_examples import ExampleChoice, ShownRequest
from gpupanel.planning.prepare import prepare
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.questions.question import ask_children_by
from gpupanel.runs.questions.shown_examples import shown_examples
from gpupanel.runs.trust.trusted import CodeNotTrustedError
from tests.hosts.conftest import Lab
from tests.hosts.runs_there import lines_of
from tests.patience import PATIENCE_S, wait_until


def test_that_a_program_of_the_host_is_trusted_here_carried_out_there_and_stopped_from_here(lab):
    host = lab.connected()
    program = lab.folder / "there" / "train.py"
    program.write_text(
        dedent("""
        import pathlib, time
        from gpupanel.api import report
        pathlib.Path("weights.txt").write_text("learned")
        step = 0
        while not report.should_stop():
            step += 1
            report(step=step, loss=1 / step)
            time.sleep(0.05)
        print("it was stopped at", step > 3)
        """)
    )
    profile = Profile.model_validate(
        {"task": "script", "script": {"path": str(program), "python": sys.executable}}
    )
    plan = prepare(profile, host.devices.inventory()).plan
    with pytest.raises(CodeNotTrustedError) as refused:
        host.launch(profile, plan, Path("/nowhere"))
    assert program.read_bytes() in [each.content for each in refused.value.code]
    host.trust(refused.value.code)
    layout = host.launch(profile, plan, Path("/nowhere"))
    end = host.open_copy(layout)
    wait_until(lambda: b"".join(lines_of(layout.events)).count(b"steps_done") > 3, PATIENCE_S)
    host.ask(layout, Request.STOP)
    wait_until(lambda: b"run_ended" in b"".join(lines_of(layout.events)), PATIENCE_S)
    wait_until(lambda: b"it was stopped at True" in layout.trainer_log.read_bytes())
    assert decode_event(lines_of(layout.events)[-1]).outcome is Outcome.STOPPED
    assert (program.parent / "weights.txt").read_text() == "learned"
    end()


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_mistakes_of_an_evaluation_there_are_shown_here(lab):
    host = lab.connected()
    trained = ended(lab, Profile(data=DigitsData()))
    model = {"source": "saved", "path": str(lab.runs_dir / trained.root.name / "model.keras")}
    profile = Profile.model_validate({"task": "evaluate", "data": DigitsData(), "model": model})
    evaluated = ended(lab, profile)
    ask_children_by(host.ask_child)
    try:
        choice = ExampleChoice(which="mistakes")
        found = shown_examples(
            ShownRequest(profile=profile, file=str(evaluated.confusion), choice=choice)
        )
    finally:
        ask_children_by(ask_child)
    assert not found.problems
    assert found.total
    assert all(each.image is not None for each in found.examples)


def ended(lab: Lab, profile: Profile) -> RunLayout:
    """The copy of a run that is started on the host and ends by itself."""
    host = lab.hosts[0]
    layout = host.launch(profile, prepare(profile, host.devices.inventory()).plan, Path())

    def is_over() -> bool:
        outcomes = {run.name: run.outcome for run in list_runs(host.runs_dir)}
        return outcomes.get(layout.root.name) is Outcome.COMPLETED

    wait_until(is_over, PATIENCE_S)
    return layout
