"""Hours in which nothing could run are a problem, and what cannot be suspended is said before."""

from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.script import ScriptSettings
from gpupanel.planning.context import Known
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU_ONLY

ON_THE_CPU = DeviceSettings(visible=("cpu",))
AT_NIGHT = MachineSettings(hours="22:00-07:00")


def found(profile: Profile, machine: MachineSettings) -> list[Problem]:
    problems = prepare(profile, CPU_ONLY, Known(machine=machine)).problems
    return [each for each in problems if each.field == "hours"]


def test_that_hours_without_a_minute_in_common_keep_a_run_from_starting() -> None:
    day = Profile(devices=ON_THE_CPU, hours="08:00-20:00")
    (problem,) = found(day, AT_NIGHT)

    assert (problem.code, problem.severity) == ("hours_do_not_meet", Severity.ERROR)
    assert "08:00-20:00 and 22:00-07:00" in problem.message
    assert not prepare(day, CPU_ONLY, Known(machine=AT_NIGHT)).is_startable


def test_that_hours_that_meet_are_no_problem_nor_is_either_alone() -> None:
    week = Profile(devices=ON_THE_CPU, hours="Mon-Fri")

    assert not found(week, AT_NIGHT)
    assert not found(week, MachineSettings())
    assert not found(Profile(devices=ON_THE_CPU), AT_NIGHT)
    assert not found(Profile(devices=ON_THE_CPU), MachineSettings())


def test_that_a_program_is_said_to_be_suspended_only_where_it_listens() -> None:
    script = ScriptSettings(path="train.py")
    program = Profile(task="script", script=script, devices=ON_THE_CPU, hours="22:00-07:00")
    (hint,) = found(program, MachineSettings())

    assert (hint.code, hint.severity) == ("hours_of_program", Severity.HINT)
    assert hint.message.startswith("When its hours end, train.py is asked to suspend.")
    unnamed = program.model_copy(update={"script": ScriptSettings(path="")})
    assert "The program is asked" in found(unnamed, MachineSettings())[0].message


def test_that_an_evaluation_is_said_to_work_to_its_end() -> None:
    evaluation = Profile(task="evaluate", devices=ON_THE_CPU)
    (hint,) = found(evaluation, AT_NIGHT)

    assert (hint.code, hint.severity) == ("hours_not_for_inference", Severity.HINT)
