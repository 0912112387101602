"""The verb summary: the layers of a profile's model, and what they hold."""

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
)
from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.model_summary import (
    ModelSummary,
    parameters_text,
    shape_text,
    summary_request,
    summary_sentence,
)
from gpupanel.domain.previewed_profile import preview_request
from gpupanel.domain.profile import Profile
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.runs.questions.model_summary import summarize_model
from gpupanel.runs.readiness import prepared_on, read_machine


def summary(profile: ProfileArgument, *, json: JsonOption = False) -> None:
    """List the layers of a profile's model, and estimate the memory of its training."""
    read = training_profile(
        profile,
        code="summary_without_training",
        without="its model is in a file already",
        json=json,
    )
    found = summarize_model(summary_request(read))
    preparation = _prepared(read, found)
    if json:
        memory = [each.model_dump(mode="json") for each in preparation.memory]
        document = found.model_dump(mode="json")
        print_json({**document, "memory": memory, "largest_batch": preparation.largest_batch})
    else:
        _print(found)
        _print_memory(preparation)
    raise typer.Exit(1 if found.problems else 0)


def _prepared(profile: Profile, found: ModelSummary) -> Preparation:
    """What the training would take on this machine; nothing where the step is not known."""
    if found.step is None:
        return Preparation()
    preview = preview_data(preview_request(profile))
    # Which GPUs TensorFlow can use changes no estimate, and takes seconds to find out.
    return prepared_on(read_machine(), profile, preview, lambda *_: None, found.step)


def _print_memory(preparation: Preparation) -> None:
    if not preparation.memory:
        return
    terms = ("weights", "gradients", "optimizer", "activations", "update", "data", "counted")
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("estimated MiB of", overflow="fold")
    for title in (*terms[:-1], "together", "there is", "besides"):
        table.add_column(title, justify="right")
    for memory in preparation.memory:
        sizes = (f"{getattr(memory, f'{term}_mib'):,.1f}" for term in terms)
        room = NONE_GIVEN if memory.room_mib is None else f"{memory.room_mib:,}"
        name = " ".join(filter(None, (memory.device, memory.logical_device)))
        table.add_row(styled((name, "")), *sizes, room, f"{memory.overhead_mib:,.0f}")
    answers.print()
    answers.print(table)
    if any(each.device != CPU_KEY for each in preparation.memory):
        answers.print("Besides: the CUDA context, and what TensorFlow keeps aside without a limit.")
    measured = dict.fromkeys(each.device for each in preparation.memory if each.is_measured)
    if measured:
        answers.print(styled(f"Activations were measured by fit-batch on {', '.join(measured)}."))
    plan = preparation.plan
    if plan is not None and any(each.data_on_host for each in plan.replicas):
        answers.print("The examples stay in the host's memory: a GPU has no room for a copy.")
    if preparation.largest_batch is not None:
        answers.print(f"Largest global batch that fits: {preparation.largest_batch:,}.")


def _print(found: ModelSummary) -> None:
    print_problems(found.problems, answers)
    if found.layers:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for title in ("layer", "kind", "output"):
            table.add_column(title, overflow="fold")
        table.add_column("parameters", justify="right")
        for layer in found.layers:
            path = styled((layer.path, ""))
            table.add_row(path, layer.kind, shape_text(layer), parameters_text(layer))
        answers.print(table)
        answers.print()
    if not found.problems:
        answers.print(summary_sentence(found))
