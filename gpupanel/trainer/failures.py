"""Turns an exception into a problem that a person can act on."""

import re
import traceback

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.domain.strategy import AllReduce, StrategyKind
from gpupanel.domain.task import Task
from gpupanel.domain.unsafe_files import unsafe_file
from gpupanel.files.file_obstacles import FileObstacle
from gpupanel.files.guarded_files import UnsafeFileError
from gpupanel.files.process_limits import address_space_limit
from gpupanel.trainer.determinism import determinism_problem
from gpupanel.trainer.device_refusals import is_gpu_held, refusal, refused_gpu
from gpupanel.trainer.file_errors import chain, disk_obstacle
from gpupanel.trainer.library_failures import library_problem
from gpupanel.trainer.memory_shortage import full_device, is_out_of_memory
from gpupanel.trainer.user_code import user_code_problem

_PEER_ERRORS = frozenset({"UnavailableError", "AbortedError", "DeadlineExceededError"})
_PEER_WORDS = "Collective ops is aborted by"
_NCCL_WORDS = "Unable to load NCCL library"
"""The message of ``nccl_stub.cc`` in ``xla/tsl/cuda``, also of an aborted collective."""
_SEVERAL = re.compile(r"\d+ root error\(s\) found\.")
_NUMBERED = re.compile(r"^\(\d+\) [A-Z_]+: +")
"""How TensorFlow begins where several operations failed, and each of their errors."""
_NCCL_FAILED = re.compile(r"NCCL: (?P<why>[^.\n]*)\.")
"""Of ``nccl_manager.cc``, likewise: "NCCL: unhandled system error. Set NCCL_DEBUG=WARN for
detail."."""


LOOKING_AT_DATA = "The preview of the data"
DOWNLOADING_DATA = "The download of the data"
_IN_LOG = "; trainer.log in the run's folder has the rest"
_OF_RUNS = {"train": "The training", "evaluate": "The evaluation", "predict": "The prediction"}


def problems_of(
    error: BaseException,
    plan: LaunchPlan | None = None,
    *,
    place: int = 0,
    task: Task = "train",
    what: str = "",
) -> tuple[Problem, ...]:
    """The problems of an exception that ended a run, or something else.

    Args:
        error: TensorFlow's errors are known by their names, so that TensorFlow need not be there.
        plan: Has which physical device a logical one is.
        place: Of the process in its gang: each numbers its own devices.
        task: Of the run.
        what: It ended this, as a sentence begins; empty: a run.
    """
    if isinstance(error, ProblemError):
        return error.problems
    detail = "".join(traceback.format_exception(error))
    if any(_NCCL_WORDS in str(cause) for cause in chain(error)):
        return (_nccl_missing(detail, plan),)
    for cause in chain(error):
        if failed := _NCCL_FAILED.search(str(cause)):
            return (_nccl_failed(failed["why"], detail, plan),)
        if is_gpu_held(cause):
            devices = () if plan is None else plan.gang[place].devices
            return (refusal(cause, refused_gpu(cause, devices)),)
    if plan is not None and plan.processes and any(_is_of_a_peer(cause) for cause in chain(error)):
        return (_peer_lost(detail),)
    for cause in chain(error):
        if isinstance(cause, UnsafeFileError):
            return (unsafe_file(str(cause.path), cause.found),)
    for cause in chain(error):
        if (obstacle := disk_obstacle(cause)) is not None:
            return (_disk_problem(obstacle, detail),)
    if is_out_of_memory(error):
        return (_out_of_memory(str(error), detail, plan, place),)
    named = determinism_problem(error, plan) or library_problem(error) or user_code_problem(error)
    if named is not None:
        return (named,)
    return (
        Problem(
            code="trainer_crashed",
            message=f"{what or _OF_RUNS[task]} ended with an unexpected {type(error).__name__}: "
            f"{_first_sentence(error)[:200]}",
            hint=f"The details show where{'' if what else _IN_LOG}.",
            detail=detail,
        ),
    )


def tensorflow_not_importable(error: BaseException) -> ProblemError:
    """The problem of a TensorFlow that is missing or broken."""
    return ProblemError(
        Problem(
            code="tensorflow_not_importable",
            message="TensorFlow cannot be imported: "
            f"{str(error)[:200] or f'{type(error).__name__}, without a reason'}",
            hint="Install it again in gpupanel's environment: pip install --force-reinstall "
            'tensorflow. "gpupanel doctor" shows more.',
            detail="".join(traceback.format_exception(error)),
        )
    )


def _first_sentence(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if lines and lines[0].startswith("Graph execution error"):
        # TensorFlow names every frame that made the failing node before it says what failed.
        frames = [number for number, line in enumerate(lines) if line.startswith('File "')]
        lines = lines[frames[-1] + 1 :] if frames else lines[1:]
    if lines and _SEVERAL.fullmatch(lines[0]):
        lines = [_NUMBERED.sub("", line) for line in lines[1:]]
    return lines[0] if lines else "it gives no message"


def _is_of_a_peer(error: BaseException) -> bool:
    return type(error).__name__ in _PEER_ERRORS or _PEER_WORDS in str(error)


def _nccl_failed(why: str, detail: str, plan: LaunchPlan | None) -> Problem:
    return Problem(
        code="nccl_failed",
        field="strategy.all_reduce",
        message=f"NCCL could not sum the gradients: {why}.",
        hint="Sum in another way. With NCCL_DEBUG=WARN in the shell the run's log says more; in a "
        "container too little shared memory (/dev/shm) is a frequent cause.",
        detail=detail,
        fix=_another_sum(plan),
    )


def _another_sum(plan: LaunchPlan | None) -> Fix:
    """What does without NCCL."""
    way = AllReduce.AUTO
    if plan is not None and plan.strategy is StrategyKind.MIRRORED:
        is_even = len(plan.replicas) % 2 == 0
        way = AllReduce.HIERARCHICAL_COPY if is_even else AllReduce.REDUCTION_TO_ONE_DEVICE
    label = "Sum over a ring" if way is AllReduce.AUTO else f"Sum by {way.label.lower()}"
    return Fix.of(label, "strategy.all_reduce", way.value)


def _nccl_missing(detail: str, plan: LaunchPlan | None) -> Problem:
    return Problem(
        code="nccl_missing",
        field="strategy.all_reduce",
        message="TensorFlow does not find NCCL (libnccl.so.2), by which the gradients were to be "
        "summed.",
        hint='Sum in another way, or install it: "gpupanel doctor" shows the command.',
        detail=detail,
        fix=_another_sum(plan),
    )


def _peer_lost(detail: str) -> Problem:
    return Problem(
        code="peer_lost",
        message="Another process of the run ended unexpectedly, so this one could not continue.",
        hint="Read the logs of the other processes, and resume the run from its last checkpoint.",
        detail=detail,
    )


def _disk_problem(obstacle: FileObstacle, detail: str) -> Problem:
    return Problem(
        code=obstacle.code,
        message=f"{obstacle.message[:-1]}, so it could not continue.",
        hint=f"{obstacle.hint[:-1]}; complete checkpoints are kept.",
        detail=detail,
    )


def _out_of_memory(message: str, detail: str, plan: LaunchPlan | None, place: int) -> Problem:
    device = _device_named_in(message, plan, place)
    where = f" of {device}" if device else ""
    limit = address_space_limit()
    if limit is not None:
        limited = f"This process may take {limit / 2**30:,.1f} GiB of address space (ulimit -v)."
        detail = f"{limited}\n{detail}"
    return Problem(
        code="out_of_memory",
        field="training.global_batch_size",
        message=f"The memory{where} is not enough for this model and batch.",
        hint="Use a smaller model, a smaller global batch or more accumulation steps, give this "
        "device a smaller share, or raise its memory limit.",
        detail=detail,
    )


def _device_named_in(message: str, plan: LaunchPlan | None, place: int) -> str:
    logical = full_device(message)
    if logical is None or plan is None:
        return logical or ""
    index, gpus = int(logical.rsplit(":", 1)[1]), plan.gang[place].logical_gpus
    key = CPU_KEY if ":GPU:" not in logical else gpus[index] if index < len(gpus) else None
    is_planned = any(device.key == key for device in plan.devices)
    return f"{plan.device_name(key)} ({logical})" if key and is_planned else logical
