"""What is served to a window elsewhere: each operation, and what carries it out."""

from collections.abc import Callable
from threading import Event
from typing import Any, Final

from gpupanel.hosts.operations.exports import CURVE_TABLE, EXPORT, PREDICTIONS, RUN_FILE
from gpupanel.hosts.operations.machine import (
    CHILD,
    DEVICES,
    DOCTOR,
    END,
    FILES,
    FOLDER,
    IMPORT,
    PLACE,
    SUPPORT,
)
from gpupanel.hosts.operations.operation import Operation
from gpupanel.hosts.operations.queue import QUEUE, QUEUE_ACT
from gpupanel.hosts.operations.runs import DELETE, LABEL, REQUEST, RUN, RUNS
from gpupanel.hosts.operations.starting import START
from gpupanel.hosts.operations.sweeps import START_SWEEP, SWEEP_ACT, SWEEPS
from gpupanel.hosts.operations.tools import BATCHES, BENCH, POWER, PREDICT, PRETRAINED, TRACES
from gpupanel.hosts.there import actions, tools
from gpupanel.hosts.there.child import ask_module
from gpupanel.hosts.there.devices import tell_devices
from gpupanel.hosts.there.exports import export_curves, export_model, export_predictions, export_run
from gpupanel.hosts.there.folders import find_place, list_folder
from gpupanel.hosts.there.followed_run import follow_run
from gpupanel.hosts.there.outlined_runs import tell_runs
from gpupanel.hosts.there.queue import act_on_queue, tell_queue
from gpupanel.hosts.there.sweeps import act_on_sweep, start_sweep, tell_sweeps

Work = Callable[[Any, Callable[[Any], None], Event], Any]
"""Carries out a request, tells its parts, and is told when nobody wants it any more."""
SERVED: Final[tuple[tuple[Operation[Any, Any, Any], Work], ...]] = (
    (DEVICES, tell_devices),
    (RUNS, tell_runs),
    (RUN, follow_run),
    (START, actions.start),
    (REQUEST, actions.request),
    (LABEL, actions.label),
    (DELETE, actions.delete),
    (CHILD, ask_module),
    (SUPPORT, actions.support),
    (END, actions.end),
    (FOLDER, actions.folder),
    (IMPORT, actions.tensorflow),
    (DOCTOR, actions.doctor),
    (FILES, list_folder),
    (PLACE, find_place),
    (EXPORT, export_model),
    (RUN_FILE, export_run),
    (PREDICTIONS, export_predictions),
    (SWEEPS, tell_sweeps),
    (START_SWEEP, start_sweep),
    (SWEEP_ACT, act_on_sweep),
    (CURVE_TABLE, export_curves),
    (QUEUE, tell_queue),
    (QUEUE_ACT, act_on_queue),
    (BATCHES, tools.try_batches),
    (BENCH, tools.compare_devices),
    (PREDICT, tools.predict),
    (PRETRAINED, tools.find_pretrained),
    (POWER, tools.limit_power),
    (TRACES, tools.trace),
)
