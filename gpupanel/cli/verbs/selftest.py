"""The verb selftest: are sums, copies, memory and a step right on the devices of this machine."""

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table

from gpupanel.cli.literal_console import styled
from gpupanel.cli.named_profile import named_profile
from gpupanel.cli.options import JsonOption
from gpupanel.cli.output import (
    answers,
    print_json,
    print_problems,
    progress,
)
from gpupanel.domain.device import CPU_KEY, DeviceInventory
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.self_test import CaseResult, SelfTest, SelfTestProgress
from gpupanel.domain.self_test_text import (
    case_text,
    figure_text,
    places_text,
    progress_text,
    self_test_sentence,
)
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.visible_gpus import default_gpus
from gpupanel.runs.readiness import read_machine
from gpupanel.runs.tools.self_test.testing import run_self_test

_EXIT_INTERRUPTED: Final = 130
_STYLES: Final = {CaseResult.PASSED: "green", CaseResult.NOT_DONE: "dim"}


def selftest(
    profile: Annotated[
        Path | None,
        typer.Argument(
            metavar="PROFILE",
            help="A profile: a .toml file. Without one every GPU is tested, or the CPU.",
            show_default=False,
        ),
    ] = None,
    *,
    again: Annotated[
        bool, typer.Option("--again", help="Also test what was already tested.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Test the devices before a long run: sums over replicas, memory, copies, a training step."""
    read = None if profile is None else named_profile(profile, json=json)
    try:
        machine = read_machine()
        names = {device.key: device.name for device in machine.inventory.numbered().devices}
        with progress.status("Starting TensorFlow on the devices…") as status:

            def show(news: SelfTestProgress) -> None:
                words = f"{news.done} of {news.count}: {progress_text(news, names)}"
                status.update(styled(words))

            chosen = read or _every_device(machine.inventory)
            test = run_self_test(chosen, machine, on_progress=show, again=again)
    except KeyboardInterrupt:
        raise typer.Exit(_EXIT_INTERRUPTED) from None
    if json:
        print_json({"ok": test.is_well, **test.model_dump(mode="json")})
    else:
        _print(test, names)
    raise typer.Exit(0 if test.is_well else 1)


def _every_device(inventory: DeviceInventory) -> Profile:
    """A small model on every GPU that the shell leaves.

    Two logical devices of the CPU where there is none.
    """
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED)
    gpus = tuple(gpu.key for gpu in default_gpus(inventory) if not gpu.is_mig_instance)
    devices = DeviceSettings(visible=gpus or (CPU_KEY,), cpu_replicas=1 if gpus else 2)
    return Profile(devices=devices, strategy=mirrored)


def _print(test: SelfTest, names: dict[str, str]) -> None:
    print_problems(test.problems, answers)
    if test.tested_something:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for title in ("devices", "test", "result"):
            table.add_column(title)
        table.add_column("figure", justify="right")
        for each in test.outcomes:
            table.add_row(
                places_text(each.case, names),
                case_text(each.case),
                styled((each.result.label, _STYLES.get(each.result, "red"))),
                figure_text(each),
            )
        answers.print(table)
        answers.print()
    for detail in dict.fromkeys(each.detail for each in test.not_done if each.detail):
        answers.print(f"Not done: {detail}", style="dim")
    answers.print(self_test_sentence(test), highlight=False)
