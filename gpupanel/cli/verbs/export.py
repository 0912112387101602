"""The verb that writes what a person takes away of a run or a profile."""

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from gpupanel.cli.named_run import run_called
from gpupanel.cli.options import JsonOption, RunsDirOption, TrustOption
from gpupanel.cli.output import answers, print_json, print_problems
from gpupanel.cli.preparation import startable, with_found_data
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.run_layout import RunLayout
from gpupanel.planning.script.notebook import notebook
from gpupanel.planning.script.stand_alone import stand_alone_script
from gpupanel.runs.export_format import ExportFormat
from gpupanel.runs.exported_run import exported, profile_of_export, write_exported
from gpupanel.runs.locations import default_runs_dir
from gpupanel.runs.trust.trusted import check_trusted
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_profile

_SUFFIXES: Final = {each.suffix: each for each in ExportFormat}


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
        if layout is None:
            notes = _export_profile(source, output, wanted, trust=trust)
        else:
            notes = ()
            if trust and wanted is not ExportFormat.REPORT:
                trust_code(profile_of_export(layout)[2])
            write_exported(output, exported(layout, wanted, fill_in=with_found_data))
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


def _export_profile(
    source: str, output: Path, wanted: ExportFormat, *, trust: bool
) -> tuple[Problem, ...]:
    """Write it, and return what else there is to say."""
    if wanted is ExportFormat.REPORT:
        raise ProblemError(_report_of_profile(source))
    profile, plan, preparation = startable(Path(source))
    code = code_of_profile(profile)
    if trust:
        trust_code(code)
    # Whoever runs the script runs these files.
    check_trusted(code)
    write = notebook if wanted is ExportFormat.NOTEBOOK else stand_alone_script
    write_exported(output, write(with_found_data(profile), plan))
    return preparation.problems


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
