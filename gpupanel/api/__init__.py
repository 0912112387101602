"""Training from Python: the devices, what is wrong with a profile, and a run with its curves.

    from gpupanel import api

    run = api.run("digits.toml")
    run.outcome, run.metrics()["val_accuracy"].values

In a training loop of one's own, ``from gpupanel.api import report`` and
``report(step=i, loss=loss)`` draw its curves where it runs under the panel.

What is listed in ``__all__`` follows semantic versioning, with the names, arguments and attributes
that are documented; what stands elsewhere in the package may change with any version.
"""

from gpupanel.api.run import MetricCurve, Run
from gpupanel.api.session import check, devices, open_run, run, runs
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.profile import Profile
from gpupanel.planning.prepare import Preparation
from gpupanel.script_process.reporting import report

__all__ = [
    "DeviceInventory",
    "Fix",
    "MetricCurve",
    "Outcome",
    "PhysicalDevice",
    "Preparation",
    "Problem",
    "ProblemError",
    "Profile",
    "Run",
    "Severity",
    "check",
    "devices",
    "open_run",
    "report",
    "run",
    "runs",
]
