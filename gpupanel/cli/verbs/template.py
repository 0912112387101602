"""The verb that begins with a template."""

from pathlib import Path
from typing import Annotated

import typer

from gpupanel.cli.literal_console import styled
from gpupanel.cli.options import JsonOption
from gpupanel.cli.output import EXIT_BAD_PROFILE, EXIT_FAILED, answers, print_json, refuse
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.directory.templates import Template, copy_template, templates

_Name = Annotated[str, typer.Argument(metavar="TEMPLATE", help="Its name; without one, list them.")]
_Folder = Annotated[
    Path | None,
    typer.Argument(metavar="FOLDER", help="Made for it; called as the template if left out."),
]


def template(name: _Name = "", folder: _Folder = None, *, json: JsonOption = False) -> None:
    """Copy a template: profile, data and model of a common shape, to be made one's own."""
    if not name:
        _list(json=json)
        return
    try:
        profile = copy_template(_named(name, json=json), folder or Path(name))
    except ProblemError as error:
        refuse(error, json=json, status=EXIT_FAILED)
    if json:
        print_json({"profile": str(profile)})
    else:
        said = f"{profile.parent} is ready; open it by: gpupanel {profile}"
        answers.print(styled(said), soft_wrap=True)


def _list(*, json: bool) -> None:
    if json:
        fields = ("name", "title", "about")
        listed = [{each: getattr(found, each) for each in fields} for found in templates()]
        print_json({"templates": listed})
        return
    width = max(len(found.name) for found in templates())
    for found in templates():
        answers.print(styled(f"{found.name:<{width}}  {found.about}"))


def _named(name: str, *, json: bool) -> Template:
    named = {found.name: found for found in templates()}
    if name not in named:
        problem = Problem(
            code="template_unknown",
            message=f"No template is called “{name}”.",
            hint=f"There are {', '.join(named)}.",
        )
        refuse(ProblemError(problem), json=json, status=EXIT_BAD_PROFILE)
    return named[name]
