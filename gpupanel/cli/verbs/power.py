"""The verb that shows the power limits of this machine's GPUs, what they cost, and sets one."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from gpupanel.cli.options import JsonOption, RunsDirOption
from gpupanel.cli.output import (
    EXIT_FAILED,
    answers,
    print_json,
    print_problems,
    progress,
    refuse,
    shown,
)
from gpupanel.devices.power_limits import set_power_limit
from gpupanel.domain.device import DeviceInventory, PhysicalDevice
from gpupanel.domain.power import LimitedGpu, limited_gpus
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.planning.rules.power_rules import supply_problem
from gpupanel.runs.history.limit_speeds import LimitSpeed, limit_sentence, limit_speeds
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.locations import default_runs_dir
from gpupanel.runs.machine_settings import MACHINE_FILE
from gpupanel.runs.readiness import read_machine

_Gpu = Annotated[
    str | None,
    typer.Argument(
        metavar="GPU",
        help="Its UUID, its place among the GPUs counted from 0, or its name where no other has "
        "it.",
        show_default=False,
    ),
]
_Watts = Annotated[
    float | None,
    typer.Argument(metavar="WATTS", help="The limit to set.", show_default=False),
]


def power(
    gpu: _Gpu = None,
    watts: _Watts = None,
    runs_dir: RunsDirOption = None,
    *,
    json: JsonOption = False,
) -> None:
    """Show the power limits of the GPUs and what they cost in speed; set one."""
    if gpu is not None and watts is None:
        raise typer.BadParameter("a GPU needs the limit to set, in watts", param_hint="WATTS")
    try:
        machine, settings = read_machine(), MACHINE_FILE.read()
        inventory = machine.inventory.numbered()
        if gpu is not None and watts is not None:
            set_power_limit(_named(inventory, gpu), watts)
            machine = read_machine()
        runs = list_runs(runs_dir or default_runs_dir())
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    gpus = limited_gpus(inventory.devices, machine.sample)
    speeds = {each.key: limit_speeds(each.key, runs) for each in gpus}
    problem = supply_problem(gpus, settings)
    problems = () if problem is None else (problem,)
    if json:
        print_json(
            {
                "gpus": [_document(inventory, each, speeds[each.key]) for each in gpus],
                "supply_w": settings.supply_w,
                "rest_w": settings.rest_w,
                "problems": [each.model_dump(mode="json") for each in problems],
            }
        )
        return
    if not gpus:
        progress.print("No GPU of this machine reports a power limit.")
        return
    answers.print(_table(inventory, gpus))
    for each in gpus:
        answers.print()
        answers.print(f"{each.name}: {limit_sentence(speeds[each.key])}", highlight=False)
    print_problems(problems)


def _named(inventory: DeviceInventory, name: str) -> PhysicalDevice:
    """The GPU that is meant.

    Raises:
        ProblemError: None is, or several are.
    """
    boards = [each for each in inventory.devices if each.is_gpu and not each.is_mig_instance]
    found = [each for each in boards if name in (each.key, each.name)]
    if not found and name.isdecimal() and int(name) < len(boards):
        found = [boards[int(name)]]
    if len(found) == 1:
        return found[0]
    raise ProblemError(
        Problem(
            code="power_gpu_unknown",
            message=f"This machine has no GPU {name}.",
            hint="`gpupanel power` lists them, with their UUIDs.",
        )
    )


def _document(
    inventory: DeviceInventory, gpu: LimitedGpu, speeds: Sequence[LimitSpeed]
) -> dict[str, Any]:
    device = inventory.device(gpu.key)
    assert device is not None
    return {
        "key": gpu.key,
        "name": gpu.name,
        "limit_w": gpu.limit_w,
        "default_w": device.power_limit_default_w,
        "least_w": device.power_limit_least_w,
        "most_w": device.power_limit_most_w,
        "measured": [
            {
                "limit_w": each.limit_w,
                "examples_per_second": each.examples_per_second,
                "fraction": each.fraction,
                "run": each.run,
            }
            for each in speeds
        ],
    }


def _table(inventory: DeviceInventory, gpus: Sequence[LimitedGpu]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("", "GPU", "limit", "default", "least", "most", "UUID"):
        table.add_column(heading, justify="left" if heading in ("GPU", "UUID") else "right")
    for place, gpu in enumerate(gpus):
        device = inventory.device(gpu.key)
        assert device is not None
        limits = (
            gpu.limit_w,
            device.power_limit_default_w,
            device.power_limit_least_w,
            device.power_limit_most_w,
        )
        table.add_row(str(place), gpu.name, *(shown(each, "W") for each in limits), gpu.key)
    return table
