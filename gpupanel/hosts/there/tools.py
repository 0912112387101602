"""Tools that a window elsewhere has carried out here, on what is here now."""

import tempfile
from collections.abc import Callable
from threading import Event
from typing import Final

from gpupanel.domain.asked_prediction import PredictionAnswer
from gpupanel.domain.batch_fit import BatchFit, BatchProgress
from gpupanel.domain.bench import Bench, BenchProgress
from gpupanel.domain.profile_toml import profile_from_document
from gpupanel.hosts.operations.operation import Nothing
from gpupanel.hosts.operations.tools import (
    BatchesWanted,
    BenchWanted,
    PowerWanted,
    PredictionWanted,
    PretrainedFound,
    TraceDoing,
    TraceFound,
    TracesFound,
    TracesWanted,
)
from gpupanel.hosts.there.followed_run import run_there
from gpupanel.runs.locations import default_runs_dir
from gpupanel.runs.readiness import read_machine
from gpupanel.runs.tools.prediction.predictor import Predictor
from gpupanel.runs.tools.tracing.tracing import Trace, read_trace, take_trace, traces_of

_PREDICTOR: Final = Predictor()
"""Its process ends with this one, which is its parent."""


def try_batches(
    wanted: BatchesWanted, say: Callable[[BatchProgress], None], dropped: Event
) -> BatchFit:
    """Try which batches fit."""
    # Here and in what follows: a connection that needs no tool waits for none.
    from gpupanel.runs.tools.batch_search.search import find_batches

    profile = profile_from_document(wanted.profile)
    return find_batches(profile, read_machine(), cancelled=dropped, on_progress=say)


def compare_devices(
    wanted: BenchWanted, say: Callable[[BenchProgress], None], dropped: Event
) -> Bench:
    """Compare the devices.

    Raises:
        ProblemError: As :func:`gpupanel.runs.tools.bench.bench.compare` says it.
    """
    from gpupanel.runs.tools.bench.bench import compared_or_recalled

    return compared_or_recalled(
        profile_from_document(wanted.profile),
        read_machine(),
        default_runs_dir(),
        recalls=wanted.recalls,
        cancelled=dropped,
        on_progress=say,
    )


def predict(
    wanted: PredictionWanted, _say: Callable[[Nothing], None], dropped: Event
) -> PredictionAnswer:
    """Ask a model about one example, whose file may have come with the question."""
    if wanted.asked is None:
        _PREDICTOR.close()
        return PredictionAnswer()
    if wanted.content is None:
        return _PREDICTOR.ask(wanted.asked, dropped)
    with tempfile.NamedTemporaryFile(prefix="gpupanel-asked-", suffix=wanted.suffix) as file:
        file.write(wanted.content.encode("latin-1"))
        file.flush()
        return _PREDICTOR.ask(wanted.asked.about_file(file.name), dropped)


def find_pretrained(
    _: Nothing, _say: Callable[[Nothing], None], _dropped: Event
) -> PretrainedFound:
    """Which pretrained network can be had here."""
    from gpupanel.runs.questions.pretrained_weights import pretrained_at_hand

    found = pretrained_at_hand()
    if found is None:
        return PretrainedFound()
    return PretrainedFound(name=found.application.name, is_here=found.is_here)


def limit_power(wanted: PowerWanted, _say: Callable[[Nothing], None], _dropped: Event) -> Nothing:
    """Set the power limit of a GPU.

    Raises:
        ProblemError: It cannot be set, or this user may not.
    """
    from gpupanel.devices.power_limits import set_power_limit

    set_power_limit(wanted.device, wanted.limit_w)
    return Nothing()


def trace(wanted: TracesWanted, say: Callable[[TraceDoing], None], dropped: Event) -> TracesFound:
    """Take a trace of a run or read one again, if that is wanted, and list all.

    Raises:
        ProblemError: There is no such run, or it cannot be traced.
    """
    layout, found = run_there(wanted.name), None
    if wanted.steps is not None:
        found = take_trace(
            layout,
            wanted.steps,
            wanted.process,
            cancelled=dropped,
            on_progress=lambda stage: say(TraceDoing(stage=stage)),
        )
    elif wanted.number is not None:
        found = read_trace(layout, wanted.number, cancelled=dropped)
    records = dict(traces_of(layout).records)
    return TracesFound(records=records, trace=None if found is None else _told(found))


def _told(found: Trace) -> TraceFound:
    return TraceFound(
        record=found.record,
        devices=found.devices,
        notes=found.notes,
        problems=found.problems,
        warning=found.warning,
    )
