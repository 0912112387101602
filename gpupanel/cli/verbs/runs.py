"""``gpupanel runs``: the runs of a folder."""

from gpupanel.cli.options import (
    JsonOption,
    RunsDirOption,
)
from gpupanel.cli.output import answers, print_json, print_problems
from gpupanel.cli.refusal import EXIT_FAILED, refuse
from gpupanel.cli.run_table import runs_table
from gpupanel.domain.problem import ProblemError
from gpupanel.runs.history.summaries import list_runs
from gpupanel.runs.locations import default_runs_dir


def runs(runs_dir: RunsDirOption = None, *, json: JsonOption = False) -> None:
    """List past and present runs, newest first."""
    try:
        found = list_runs(runs_dir or default_runs_dir())
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    if json:
        print_json({"runs": [summary.model_dump(mode="json") for summary in found]})
        return
    if not found:
        answers.print("No runs yet: start one with `gpupanel run PROFILE`.")
        return
    answers.print(runs_table(found))
    print_problems(run.problem for run in found if run.is_running and run.problem is not None)
