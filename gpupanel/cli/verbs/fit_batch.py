"""The verb fit-batch: which batches really fit on the devices of a profile, by trying."""

from typing import Annotated, Final

import typer
from rich.table import Table

from gpupanel.cli.literal_console import styled
from gpupanel.cli.named_profile import training_profile
from gpupanel.cli.options import JsonOption, ProfileArgument
from gpupanel.cli.output import (
    answers,
    print_json,
    print_problems,
    progress,
    shown,
)
from gpupanel.domain.batch_fit import (
    BatchFit,
    BatchProgress,
    DeviceBatch,
    batch_fit_sentence,
    end_text,
)
from gpupanel.runs.readiness import read_machine
from gpupanel.runs.tools.batch_search.search import SECONDS, find_batches

_EXIT_INTERRUPTED: Final = 130


def fit_batch(
    profile: ProfileArgument,
    *,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds", metavar="SECONDS", min=5.0, max=3600.0, help="How long to try each device."
        ),
    ] = SECONDS,
    json: JsonOption = False,
) -> None:
    """Find the largest batch that fits, and how fast each size trains, by training some steps."""
    read = training_profile(
        profile,
        code="fit_batch_without_training",
        without="it has no batch to be found",
        json=json,
    )
    try:
        with progress.status("Building the model…") as status:

            def show(news: BatchProgress) -> None:
                status.update(styled(_words(news)))

            found = find_batches(read, read_machine(), seconds, on_progress=show)
    except KeyboardInterrupt:
        raise typer.Exit(_EXIT_INTERRUPTED) from None
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        _print(found)
    raise typer.Exit(0 if found.largest_batch else 1)


def _words(news: BatchProgress) -> str:
    if not news.examples:
        return f"Starting on {news.device}…"
    fits = f"; {news.largest:,} fit" if news.largest else ""
    return f"Trying {news.examples:,} examples a step on {news.device}{fits}…"


def _print(found: BatchFit) -> None:
    for device in found.devices:
        _print_device(device)
    if len(found.speeds) > 1 and len(found.shares) > 1:
        table = _table("global batch", "examples/s")
        for speed in found.speeds:
            table.add_row(f"{speed.global_batch_size:,}", f"{speed.examples_per_second:,.0f}")
        answers.print(table)
        answers.print()
    print_problems(found.all_problems, answers)
    if not found.all_problems or found.largest_batch:
        answers.print(batch_fit_sentence(found), highlight=False)


def _print_device(device: DeviceBatch) -> None:
    name = " ".join(filter(None, (device.device, device.logical_device)))
    each = f", each of {device.replicas} replicas" if device.replicas > 1 else ""
    why = f"; {end_text(device)}" if end_text(device) else ""
    about = f"{each}: {device.room_mib:,} MiB to try in, {device.seconds:g} s{why}"
    answers.print(styled((name, "bold"), about))
    table = _table("examples", "fits", "examples/s", "step MiB")
    for trial in sorted(device.trials, key=lambda trial: trial.examples):
        table.add_row(
            f"{trial.examples:,}",
            "yes" if trial.fits else "no",
            shown(trial.examples_per_second),
            shown(trial.peak_mib),
        )
    answers.print(table)
    if device.ratio is not None:
        answers.print(
            f"A step of {device.largest:,} held {shown(device.peak_mib)} MiB beside weights and "
            f"data; estimated were {shown(device.estimated_mib)} MiB.",
            highlight=False,
        )
    answers.print()


def _table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title in titles:
        table.add_column(title, justify="right")
    return table
