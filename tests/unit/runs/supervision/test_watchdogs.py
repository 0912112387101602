"""How long a run may be silent: before its first step, with a lost GPU, while kernels compile."""

import pytest

from gpupanel.domain.events import Phase, PhaseChanged, StepsDone
from gpupanel.domain.problem import Severity
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.processes.liveness import ProcessorUse
from gpupanel.runs.supervision.watchdogs import Action, Observation, Patience, decide

TRACING = RunStatus().after(PhaseChanged(time_s=0.0, phase=Phase.TRACING))
STEPPED = TRACING.after(
    StepsDone(
        time_s=1.0,
        step=10,
        steps=10,
        epoch=1,
        step_in_epoch=10,
        examples=640,
        loss=1.0,
        examples_per_second=1000.0,
    )
)
SAVING = STEPPED.after(PhaseChanged(time_s=2.0, phase=Phase.SAVING))
NOW_S = 100_000.0
HALF_AN_HOUR_S = 1_800.0


def watched(silent_s: float, **more: object) -> Observation:
    return Observation(now_s=NOW_S, last_event_s=NOW_S - silent_s, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "silent_s", "more", "act"),
    [
        (TRACING, 899.0, {}, Action.NOTHING),
        (TRACING, 901.0, {}, Action.TERMINATE),
        (TRACING, HALF_AN_HOUR_S, {"uses_processor": True}, Action.NOTHING),
        (TRACING, 3_601.0, {"uses_processor": True}, Action.TERMINATE),
        (TRACING, 2 * HALF_AN_HOUR_S, {"compiles_for": ("RTX 5090",)}, Action.NOTHING),
        (
            TRACING,
            14_401.0,
            {"compiles_for": ("RTX 5090",), "uses_processor": True},
            Action.TERMINATE,
        ),
        # Kernels that only validation uses are compiled after steps.
        (
            STEPPED,
            HALF_AN_HOUR_S,
            {"compiles_for": ("RTX 5090",), "uses_processor": True},
            Action.NOTHING,
        ),
        (STEPPED, HALF_AN_HOUR_S, {"compiles_for": ("RTX 5090",)}, Action.TERMINATE),
        (STEPPED, HALF_AN_HOUR_S, {"uses_processor": True}, Action.TERMINATE),
    ],
)
def test_that_a_first_step_may_take_as_long_as_was_said(
    status: RunStatus, silent_s: float, more: dict[str, object], act: Action
) -> None:
    found, problem = decide(status, watched(silent_s, **more), Patience())
    assert found is act
    assert (problem is not None and problem.is_error) is (act is Action.TERMINATE)


def test_that_it_is_said_once_what_a_first_step_waits_for() -> None:
    compiling = {"compiles_for": ("RTX 5090",), "uses_processor": True}
    assert decide(TRACING, watched(100.0, **compiling), Patience()) == (Action.NOTHING, None)
    act, hint = decide(TRACING, watched(130.0, **compiling), Patience())
    assert act is Action.NOTHING
    assert hint is not None
    assert (hint.code, hint.severity) == ("first_step_takes_long", Severity.HINT)
    assert "no machine code for RTX 5090, so the driver compiles its kernels now" in hint.message
    assert "up to 4 hours" in hint.hint
    said = watched(130.0, has_reported_wait=True, **compiling)
    assert decide(TRACING, said, Patience()) == (Action.NOTHING, None)
    _, hint = decide(TRACING, watched(HALF_AN_HOUR_S, uses_processor=True), Patience())
    assert hint is not None
    assert "the processor is at work" in hint.message


@pytest.mark.parametrize(
    ("works", "words"), [(False, "It used no processor"), (True, "gpupanel selftest")]
)
def test_that_nobody_is_told_to_use_less_data(works: bool, words: str) -> None:
    _, problem = decide(TRACING, watched(5_000.0, uses_processor=works), Patience())
    assert problem is not None
    assert problem.code == "no_first_step"
    assert words in problem.hint
    assert "less data" not in problem.hint


@pytest.mark.parametrize(
    ("lost_s", "silent_s", "longest_s", "others", "status", "act"),
    [
        (14.0, 100.0, 0.5, True, STEPPED, Action.NOTHING),
        (16.0, 100.0, 0.5, True, STEPPED, Action.KILL),
        # It makes steps: the driver that NVML asks was updated, and CUDA goes on.
        (1_000.0, 1.0, 0.5, True, STEPPED, Action.NOTHING),
        (100.0, 100.0, 60.0, True, STEPPED, Action.NOTHING),
        (130.0, 130.0, 60.0, True, STEPPED, Action.KILL),
        (59.0, 59.0, 0.5, False, STEPPED, Action.NOTHING),
        (61.0, 61.0, 0.5, False, STEPPED, Action.KILL),
        (61.0, 61.0, 0.5, True, SAVING, Action.NOTHING),
        (76.0, 76.0, 0.5, True, SAVING, Action.KILL),
    ],
)
def test_that_a_run_that_waits_for_a_lost_gpu_is_ended_and_one_that_goes_on_is_not(
    lost_s: float, silent_s: float, longest_s: float, others: bool, status: RunStatus, act: Action
) -> None:
    seen = watched(
        silent_s,
        lost=("RTX 3060",),
        lost_since_s=NOW_S - lost_s,
        others_answer=others,
        longest_silence_s=longest_s,
    )
    found, problem = decide(status, seen, Patience())
    assert found is act
    if act is Action.KILL:
        assert problem is not None
        assert problem.code == "gpu_lost"
        assert problem.message.startswith("RTX 3060 was lost in the middle of the run")


@pytest.mark.parametrize(
    ("status", "silent_s", "act"),
    [
        (STEPPED, 59.0, Action.NOTHING),
        (STEPPED, 61.0, Action.KILL),
        # A driver may be slow while it makes contexts, and a first step takes long.
        (TRACING, 800.0, Action.NOTHING),
    ],
)
def test_that_a_run_that_waits_for_a_gpu_of_which_the_driver_says_nothing_is_ended(
    status: RunStatus, silent_s: float, act: Action
) -> None:
    seen = watched(silent_s, unanswered={"RTX 3060": NOW_S - silent_s})
    assert decide(status, seen, Patience())[0] is act
    stepping = watched(1.0, unanswered={"RTX 3060": NOW_S - silent_s})
    assert decide(status, stepping, Patience())[0] is Action.NOTHING


def test_that_a_compiler_works_and_a_heart_that_beats_does_not() -> None:
    use = ProcessorUse()
    for second in range(100):
        use.observe(float(second), 0.01 * second)
        assert not use.is_much
    for second in range(100, 140):
        use.observe(float(second), 1.0 + 0.9 * (second - 100))
    assert use.is_much
    for second in range(140, 180):
        use.observe(float(second), 40.0)
    assert not use.is_much


def test_that_a_program_is_interrupted_and_not_ended_though_its_start_was_not_read_yet() -> None:
    seen = {"stop_requested_s": NOW_S - 1.0}
    assert decide(RunStatus(), watched(1.0, **seen), Patience())[0] is Action.TERMINATE
    own = watched(1.0, runs_program=True, **seen)
    assert decide(RunStatus(), own, Patience())[0] is Action.NOTHING
    late = watched(1.0, runs_program=True, stop_requested_s=NOW_S - 2.0 * Patience().stop_s)
    assert decide(RunStatus(), late, Patience())[0] is Action.TERMINATE
