"""The verb fit: ways in which a training fits the memory of its devices, and what each costs."""

import typer
from rich.table import Table

from gpupanel.cli.literal_console import styled
from gpupanel.cli.named_profile import training_profile
from gpupanel.cli.options import JsonOption, ProfileArgument
from gpupanel.cli.output import (
    NONE_GIVEN,
    answers,
    print_json,
    print_problems,
    progress,
)
from gpupanel.domain.change_toml import changes_toml
from gpupanel.domain.device_memory import DeviceMemory
from gpupanel.domain.ladder import Ladder, Rung
from gpupanel.domain.model_summary import ModelSummary, summary_request
from gpupanel.domain.number_text import count, memory_size
from gpupanel.domain.previewed_profile import preview_request
from gpupanel.runs.ladder import ladder_on
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.runs.questions.model_summary import summarize_model
from gpupanel.runs.readiness import read_machine

_NOT_KNOWN = "What a step of this model holds cannot be estimated before it is trained."


def fit(profile: ProfileArgument, *, json: JsonOption = False) -> None:
    """Show the ways in which a training fits its devices: memory, time of a step, what changes."""
    read = training_profile(
        profile,
        code="fit_without_training",
        without="there is nothing that has to fit",
        json=json,
    )
    with progress.status("Building the model in every way…"):
        found = summarize_model(summary_request(read, with_variants=True))
        preview = preview_data(preview_request(read))
    # Which GPUs TensorFlow can use changes no estimate, and takes seconds to find out.
    ways = ladder_on(read_machine(), read, preview, found, lambda *_: None)
    if json:
        print_json(ways.model_dump(mode="json"))
    else:
        _print(ways, found)
    raise typer.Exit(0 if ways.fitting else 1)


def _print(ways: Ladder, found: ModelSummary) -> None:
    print_problems(ways.problems, answers)
    if not ways.rungs:
        if not ways.problems:
            said = _NOT_KNOWN
            if found.needs_start or found.needs_download:
                said = "Data or model are not there before the run: nothing is estimated."
            answers.print(said)
        return
    devices = list(dict.fromkeys(memory.device for rung in ways.rungs for memory in rung.memory))
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", justify="right")
    table.add_column("way", overflow="fold")
    table.add_column("fits")
    table.add_column("step", justify="right")
    for device in devices:
        name = ways.device_names.get(device, device)
        table.add_column(styled((name, "")), justify="right", overflow="fold")
    table.add_column("largest batch", justify="right")
    table.add_column("result", overflow="fold")
    for number, rung in enumerate(ways.rungs):
        table.add_row(
            str(number) if rung.fits and rung.fix else "",
            rung.title,
            "yes" if rung.fits else "no",
            NONE_GIVEN if rung.time is None else f"{rung.time:.2f}x",
            *(_taken(rung, device) for device in devices),
            NONE_GIVEN if rung.largest_batch is None else count(rung.largest_batch),
            rung.result or "the same",
        )
    answers.print(table)
    answers.print()
    first = next((rung for rung in ways.rungs if rung.fits), None)
    if first is None:
        answers.print("Nothing of this fits: a smaller model, or examples, or a larger device.")
    elif first.fix is None:
        answers.print("It fits as it is. Estimates may be up to 15 % too small.")
    else:
        answers.print(f"The quickest that fits: {first.title}.", highlight=False)
        answers.print(styled((changes_toml(first.fix.changes), "dim")))
    if ways.largest_side:
        answers.print(f"Images of up to about {ways.largest_side} x {ways.largest_side} fit so.")


def _taken(rung: Rung, device: str) -> str:
    """What is taken of what there is, of each logical device there."""
    there = [memory for memory in rung.memory if memory.device == device]
    return ", ".join(map(_amount, there)) or NONE_GIVEN


def _amount(memory: DeviceMemory) -> str:
    return f"{memory_size(memory.counted_mib)} of {memory_size(memory.room_mib)}"
