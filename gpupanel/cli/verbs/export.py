"""The verb that writes what a person takes away of a run or a profile."""

import os
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from gpupanel.cli.named_run import run_called
from gpupanel.cli.options import JsonOption, RunsDirOption, TrustOption
from gpupanel.cli.output import answers, print_json, print_problems
from gpupanel.cli.preparation import startable, with_found_data
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.script.notebook import notebook
from gpupanel.planning.script.stand_alone import stand_alone_script
from gpupanel.runs.exported_run import profile_of_export, write_exported
from gpupanel.runs.locations import default_runs_dir
from gpupanel.runs.report.material import read_material
from gpupanel.runs.report.page import report_page
from gpupanel.runs.trust.trusted import check_trusted
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_profile


class ExportFormat(StrEnum):
    """What is written."""

    SCRIPT = "script"
    NOTEBOOK = "notebook"
    REPORT = "report"


_SUFFIXES: Final = {
    ".ipynb": ExportFormat.NOTEBOOK,
    ".html": ExportFormat.REPORT,
    ".htm": ExportFormat.REPORT,
}
_WRITERS: Final[Mapping[ExportFormat, Callable[[Profile, LaunchPlan], str]]] = {
    ExportFormat.SCRIPT: stand_alone_script,
    ExportFormat.NOTEBOOK: notebook,
}


def export(
    source: Annotated[
        str,
        typer.Argument(
            metavar="RUN|PROFILE",
            help="A run's name as `gpupanel runs` lists it, or its folder; or a .toml file.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The file to write.")
    ],
    file_format: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format",
            help="What to write; otherwise what the file's name ends in (.ipynb, .html), or a "
            "script.",
            show_default=False,
        ),
    ] = None,
    runs_dir: RunsDirOption = None,
    *,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Write a stand-alone TensorFlow script or notebook of a run, or its report as HTML."""
    wanted = file_format or _SUFFIXES.get(output.suffix.lower(), ExportFormat.SCRIPT)
    try:
        layout = _run_of(source, runs_dir)
        if wanted is ExportFormat.REPORT:
            _write_report(source, layout, output)
            notes: tuple[Problem, ...] = ()
        else:
            notes = _write_script(source, layout, output, wanted, trust=trust)
    except ProblemError as error:
        print_problems(error.problems)
        if json:
            documents = [problem.model_dump(mode="json") for problem in error.problems]
            print_json({wanted.value: None, "problems": documents})
        raise typer.Exit(1) from error
    print_problems(notes)
    if json:
        print_json({wanted.value: str(output.absolute())})
    else:
        answers.print(f"Wrote {output}.", highlight=False)


def _run_of(source: str, runs_dir: Path | None) -> RunLayout | None:
    """The run that is meant; ``None``: a profile is.

    Raises:
        ProblemError: There is neither.
    """
    path = Path(source)
    if path.suffix == ".toml" and not path.is_dir():
        return None
    layout = run_called(source, runs_dir or default_runs_dir())
    if layout is None and not os.path.lexists(path):
        raise ProblemError(_nothing_to_export(source))
    return layout


def _write_script(
    source: str, layout: RunLayout | None, output: Path, wanted: ExportFormat, *, trust: bool
) -> tuple[Problem, ...]:
    """Write it, and return what else there is to say."""
    if layout is None:
        profile, plan, preparation = startable(Path(source))
        code, notes = code_of_profile(profile), preparation.problems
    else:
        (profile, plan, code), notes = profile_of_export(layout), ()
    if trust:
        trust_code(code)
    # Whoever runs the script runs these files.
    check_trusted(code)
    write_exported(output, _WRITERS[wanted](with_found_data(profile), plan))
    return notes


def _write_report(source: str, layout: RunLayout | None, output: Path) -> None:
    if layout is None:
        raise ProblemError(_report_of_profile(source))
    write_exported(output, report_page(read_material(layout)))


def _report_of_profile(source: str) -> Problem:
    return Problem(
        code="export_needs_run",
        message=f"{source} is a profile, and a report is of a run.",
        hint="Name a run: `gpupanel runs` lists them.",
    )


def _nothing_to_export(source: str) -> Problem:
    return Problem(
        code="run_not_found",
        message=f"There is no run and no profile {source}.",
        hint="`gpupanel runs` lists the runs; --runs-dir names another folder. A profile is a "
        ".toml file.",
    )
