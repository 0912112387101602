"""``gpupanel trace``: which operations the steps of a training spend their time in."""

from typing import Annotated, Any, Final

import typer
from rich.table import Table

from gpupanel.cli.literal_console import styled
from gpupanel.cli.named_run import found_run
from gpupanel.cli.options import JsonOption, RunArgument, RunsDirOption
from gpupanel.cli.output import EXIT_FAILED, answers, print_json, print_problems, progress, refuse
from gpupanel.domain.number_text import count
from gpupanel.domain.plan import LaunchPlan, ProcessRole
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.trace import DEFAULT_TRACED_STEPS, MOST_TRACED_STEPS, TracedDevice
from gpupanel.domain.trace_text import (
    record_sentence,
    share_text,
    time_text,
    time_title,
    traced_device_text,
)
from gpupanel.files.plan_file import plan_if_readable
from gpupanel.runs.tools.tracing.tracing import Trace, has_profiler_page, take_trace

_EXIT_INTERRUPTED: Final = 130
_NO_SUCH_WORKER: Final = 2**31 - 1


def trace(
    run: RunArgument,
    runs_dir: RunsDirOption = None,
    *,
    steps: Annotated[
        int,
        typer.Option(
            "--steps", metavar="N", min=1, max=MOST_TRACED_STEPS, help="How many steps are traced."
        ),
    ] = DEFAULT_TRACED_STEPS,
    worker: Annotated[
        int | None,
        typer.Option(
            "--worker",
            min=0,
            metavar="N",
            help="Trace this worker of a run with several; otherwise the first.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Trace some steps of a running training: its ten most expensive operations per device."""
    layout = found_run(run, runs_dir, json=json)
    process = None if worker is None else _place_of_worker(plan_if_readable(layout), worker)
    try:
        with progress.status("") as shown:
            found = take_trace(
                layout, steps, process, on_progress=lambda stage: shown.update(styled(stage))
            )
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    except KeyboardInterrupt:
        raise typer.Exit(_EXIT_INTERRUPTED) from None
    print_problems((*found.problems, *([found.warning] if found.warning else [])))
    if json:
        print_json(_document(layout, found))
    else:
        _print(found)
    if found.problems:
        raise typer.Exit(EXIT_FAILED)


def _place_of_worker(plan: LaunchPlan | None, worker: int) -> int:
    """The worker's index in the gang; beyond the gang if there is no such worker."""
    if plan is not None:
        for place, process in enumerate(plan.processes):
            if process.role is ProcessRole.WORKER and process.index == worker:
                return place
    return _NO_SUCH_WORKER


def _document(layout: RunLayout, found: Trace) -> dict[str, Any]:
    record = found.record
    return {
        "run": str(layout.root),
        "folder": None if found.folder is None else str(found.folder),
        "trace": None if record is None else record.model_dump(mode="json"),
        "devices": [
            {"label": _label(each, found), **each.model_dump(mode="json")} for each in found.devices
        ],
        "notes": list(found.notes),
        "warning": None if found.warning is None else found.warning.model_dump(mode="json"),
    }


def _label(device: TracedDevice, found: Trace) -> str:
    if found.plan is None or found.record is None:
        return device.name
    return traced_device_text(device, found.plan, found.record.process)


def _print(found: Trace) -> None:
    record = found.record
    if record is None or not found.devices:
        return
    for device in found.devices:
        answers.print(styled((_label(device, found), "bold")))
        table = Table(box=None, pad_edge=False, header_style="dim")
        for title in ("share", time_title(record), "times"):
            table.add_column(title, justify="right", no_wrap=True)
        for title in ("operation", "name"):
            table.add_column(title, overflow="ellipsis")
        for each in device.operations:
            table.add_row(
                share_text(each, device),
                time_text(each, record),
                count(each.count),
                styled(each.kind),
                styled(each.name),
            )
        answers.print(table)
        left = device.operation_count - len(device.operations)
        if left > 0:
            answers.print(f"and {count(left)} more", style="dim")
        answers.print()
    for note in found.notes:
        answers.print(styled(f"The profiler says: {note}"))
    answers.print(styled(record_sentence(record, found.processes)))
    page = "" if has_profiler_page() else ", with the package tensorboard-plugin-profile"
    answers.print(styled(f"TensorBoard shows all of it{page}: tensorboard --logdir"), end=" ")
    answers.print(styled(str(found.folder)), soft_wrap=True)
