"""The verb that writes a run as a script that stands alone."""

from pathlib import Path
from typing import Annotated

import typer

from gpupanel.cli.options import JsonOption, ProfileArgument, TrustOption
from gpupanel.cli.output import answers, print_json, print_problems
from gpupanel.cli.preparation import startable, with_found_data
from gpupanel.domain.problem import ProblemError
from gpupanel.files.whole_files import write_whole
from gpupanel.planning.script.stand_alone import stand_alone_script
from gpupanel.runs.directory.disk_problems import disk_problem
from gpupanel.runs.directory.run_folder import check_outside_of_runs
from gpupanel.runs.trust.trusted import check_trusted
from gpupanel.runs.trust.trusted import trust as trust_code
from gpupanel.runs.trust.user_code import code_of_profile


def export(
    profile: ProfileArgument,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE.py", help="The script to write.")
    ],
    *,
    trust: TrustOption = False,
    json: JsonOption = False,
) -> None:
    """Write a stand-alone TensorFlow script of the same run."""
    try:
        read, plan, preparation = startable(profile)
        code = code_of_profile(read)
        if trust:
            trust_code(code)
        # Whoever runs the script runs these files.
        check_trusted(code)
        _write_script(output, stand_alone_script(with_found_data(read), plan))
    except ProblemError as error:
        print_problems(error.problems)
        if json:
            documents = [problem.model_dump(mode="json") for problem in error.problems]
            print_json({"script": None, "problems": documents})
        raise typer.Exit(1) from error
    print_problems(preparation.problems)
    if json:
        print_json({"script": str(output.absolute())})
    else:
        answers.print(f"Wrote {output}.", highlight=False)


def _write_script(output: Path, script: str) -> None:
    if output.exists():
        check_outside_of_runs(output)
    try:
        write_whole(output, script)
    except OSError as error:
        raise ProblemError(disk_problem(error, output)) from error
