"""``python -m gpupanel.trainer.tools.self_test``: tests the devices of a plan, case by case.

A :class:`~gpupanel.domain.self_test.SelfTestRequest` as JSON on standard input is answered by lines
of JSON on standard output: ``ready`` once TensorFlow has its devices, ``begun`` with the number of
each case, ``outcome`` with what came of it, and last ``ended``. A process that dies or stops
answering in between does so of what it has begun: who asked kills it, and starts another one for
the rest. It ends with the one that asked.
"""

import signal
import sys
import time
from typing import Final

from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.self_test import (
    BegunCase,
    CaseResult,
    EndedCase,
    EndedSelfTest,
    ReadySelfTest,
    SelfTestCase,
    SelfTestKind,
    SelfTestRequest,
)
from gpupanel.trainer.determinism import refused_as_random
from gpupanel.trainer.failures import problems_of
from gpupanel.trainer.memory_shortage import is_out_of_memory
from gpupanel.trainer.progress_lines import ProgressLines
from gpupanel.trainer.quick_import import quick_import
from gpupanel.trainer.tools.self_test.finding import MOST_DETAIL, CaseFinding, CaseTest

_LONGEST_S: Final = 120
"""The kernel ends the process then, whoever may have forgotten it."""


def main() -> int:
    """Answer the request on standard input."""
    request = SelfTestRequest.model_validate_json(sys.stdin.buffer.read())
    signal.alarm(_LONGEST_S)
    lines = ProgressLines()
    try:
        tests = _tests(request.profile, request.plan)
    except Exception as error:  # noqa: BLE001 - reported as a problem, as in training
        problems: tuple[Problem, ...] = problems_of(error, request.plan, what="The self-test")
        lines.write("ended", EndedSelfTest(problems=problems))
        return 0
    lines.write("ready", ReadySelfTest())
    for number, case in enumerate(request.cases):
        lines.end_when_orphaned()
        lines.write("begun", BegunCase(number=number))
        begin_s = time.monotonic()
        found = _found(tests[case.kind], case)
        outcome = EndedCase(
            number=number,
            result=found.result,
            figure=found.figure,
            seconds=round(time.monotonic() - begin_s, 3),
            detail=found.detail[:MOST_DETAIL],
        )
        lines.write("outcome", outcome)
    lines.write("ended", EndedSelfTest())
    return 0


def _tests(profile: Profile, plan: LaunchPlan) -> dict[SelfTestKind, CaseTest]:
    """What carries out each kind of case; the devices are configured."""
    with quick_import():
        import tensorflow  # noqa: F401 - takes seconds

    from gpupanel.trainer.device_configuration import configure_devices
    from gpupanel.trainer.tools.self_test.copies import pair_transfer, transfer
    from gpupanel.trainer.tools.self_test.memory import memory_patterns
    from gpupanel.trainer.tools.self_test.model_step import StepTest
    from gpupanel.trainer.tools.self_test.sums import SumTest

    configure_devices(plan)
    return {
        SelfTestKind.ALL_REDUCE: SumTest(plan),
        SelfTestKind.STEP: StepTest(profile, plan),
        SelfTestKind.MEMORY: memory_patterns,
        SelfTestKind.TRANSFER: transfer,
        SelfTestKind.PAIR_TRANSFER: pair_transfer,
    }


def _found(test: CaseTest, case: SelfTestCase) -> CaseFinding:
    try:
        return test(case)
    except ProblemError as error:
        return CaseFinding(CaseResult.FAILED, detail=error.problems[0].message)
    except Exception as error:  # noqa: BLE001 - of a device that is tested anything may come
        if is_out_of_memory(error):
            return CaseFinding(CaseResult.NOT_DONE, detail="There was too little memory for it.")
        if said := refused_as_random(error):
            # That TensorFlow has no such operation says nothing of the device.
            return CaseFinding(CaseResult.NOT_DONE, detail=said)
        return CaseFinding(CaseResult.FAILED, detail=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    sys.exit(main())
