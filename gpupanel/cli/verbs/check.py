"""The verb check: what is wrong with a profile on this machine, and what would happen."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from gpupanel.cli.device_table import print_gpu_processes
from gpupanel.cli.options import JsonOption, ProfileArgument, RunsDirOption
from gpupanel.cli.output import NONE_GIVEN, answers, print_json, print_problems
from gpupanel.cli.preparation import prepared
from gpupanel.cli.run_hours import say_hours
from gpupanel.domain.number_text import count
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import Recompute
from gpupanel.planning.prepare import Preparation
from gpupanel.runs.directory.profile_file import anchored, write_profile
from gpupanel.runs.folder_examination import folder_problem_in_time
from gpupanel.runs.locations import default_runs_dir
from gpupanel.runs.trust.trusted import code_problems


def check(
    profile: ProfileArgument,
    *,
    fixed: Annotated[
        Path | None,
        typer.Option(
            "--fixed",
            metavar="FILE.toml",
            help="Write the profile with all offered fixes of errors and warnings to this file, "
            "and check that one.",
            show_default=False,
        ),
    ] = None,
    runs_dir: RunsDirOption = None,
    json: JsonOption = False,
) -> None:
    """Print every problem of a profile on this machine, and what would be launched."""
    preparation = Preparation()
    try:
        if fixed is not None:
            from gpupanel.cli.file_endings import check_is_toml

            check_is_toml(fixed)
        read, preparation = prepared(profile, with_preview=True, mend=fixed is not None)
        of_folder = folder_problem_in_time((runs_dir or default_runs_dir()).absolute())
        ways = () if of_folder is None else (of_folder,)
        problems = (*ways, *preparation.problems, *code_problems(read))
        if not any(problem.is_error for problem in problems):
            problems += _block_problems(read)
        if fixed is not None:
            write_profile(fixed, read)
    except ProblemError as error:
        problems = error.problems
    ok = not any(problem.is_error for problem in problems)
    if json:
        plan = preparation.plan.model_dump(mode="json") if preparation.plan else None
        documents = [problem.model_dump(mode="json") for problem in problems]
        others = [held.model_dump(mode="json") for held in preparation.other_processes]
        print_json({"ok": ok, "problems": documents, "plan": plan, "others": others})
    else:
        print_problems(problems, answers)
        if ok and preparation.plan is not None:
            if read.script is None:
                _print_plan(preparation.plan, preparation.device_names)
            else:
                _print_devices(preparation.plan, preparation.device_names)
            print_gpu_processes(preparation.other_processes, answers)
            answers.print("Ready to run.", style="green")
            say_hours(read, answers)
    raise typer.Exit(0 if ok else 1)


def _block_problems(profile: Profile) -> tuple[Problem, ...]:
    """Why the activations of the model cannot be computed again: its layers have to be built."""
    if profile.task != "train" or profile.training.recompute is Recompute.NONE:
        return ()
    from gpupanel.domain.model_summary import summary_request
    from gpupanel.runs.questions.model_summary import summarize_model

    found = summarize_model(summary_request(anchored(profile, Path.cwd()))).problems
    return tuple(each for each in found if each.field == "training.recompute")


def _print_devices(plan: LaunchPlan, names: dict[str, str]) -> None:
    """Print what a program of the person's own sees."""
    for replica in plan.replicas:
        name = names.get(replica.device_key, NONE_GIVEN)
        answers.print(f"{replica.logical_device}  {name}", highlight=False)


def _print_plan(plan: LaunchPlan, names: dict[str, str]) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("replica", justify="right")
    if plan.processes:
        table.add_column("process", no_wrap=True)
    table.add_column("device")
    table.add_column("TensorFlow's name")
    table.add_column("examples of each batch", justify="right")
    for replica in plan.replicas:
        share = f"{count(replica.share)} of {count(plan.global_batch_size)}"
        table.add_row(
            str(replica.index),
            *([plan.gang[replica.process].name] if plan.processes else []),
            names.get(replica.device_key, NONE_GIVEN),
            replica.logical_device,
            f"{share}, then measured" if plan.balanced else share,
        )
    answers.print(table)
    if plan.places:
        places = "; ".join(
            ", ".join(place.logical_device for place in plan.places_of(number))
            for number in range(len(plan.replicas))
        )
        answers.print(f"Layers are placed on {places}.", highlight=False)
    others = [process.name for process in plan.processes if process.role != "worker"]
    if others:
        answers.print(f"Beside them: {', '.join(others)}.", highlight=False)
