"""The script as a notebook: its parts as cells, each under its heading (nbformat 4.5)."""

import json
import re
from collections.abc import Sequence
from typing import Any

from gpupanel import __version__
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.profile import Profile
from gpupanel.domain.visible_text import visible_line
from gpupanel.planning.script.stand_alone import ScriptSection, script_sections

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_ABOUT = (
    f"Written by gpupanel {__version__}; it runs without gpupanel. Run the cells in their order. "
    "TensorFlow takes its devices once for each process: restart the kernel before running "
    "them again."
)


def notebook(profile: Profile, plan: LaunchPlan) -> str:
    """The script of the same profile and plan as a Jupyter notebook.

    The cells hold the code of
    :func:`~gpupanel.planning.script.stand_alone.stand_alone_script`, part by part, so that they
    give the same weights. The format is that of
    https://nbformat.readthedocs.io/en/latest/format_description.html, version 4.5.

    Args:
        profile: As a script takes it.
        plan: As a script takes it.

    Returns:
        JSON, with an end after the last line.

    Raises:
        ProblemError: As for a script.
    """
    return _document(profile.name, script_sections(profile, plan))


def _document(name: str, sections: Sequence[ScriptSection]) -> str:
    cells = [_cell("markdown", "title", f"# {_literal(name)}\n\n{_ABOUT}")]
    for section in sections:
        place = re.sub(r"[^a-z0-9]+", "-", section.title.lower())
        cells += [
            _cell("markdown", f"{place}-heading", f"## {section.title}"),
            {
                **_cell("code", place, section.code),
                "execution_count": None,
                "outputs": [],
            },
        ]
    document = {"cells": cells, "metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _cell(kind: str, place: str, text: str) -> dict[str, Any]:
    """A cell; its id is the same in each notebook, so that two of them can be compared."""
    lines = text.split("\n")
    source = [*(f"{line}\n" for line in lines[:-1]), lines[-1]]
    return {"cell_type": kind, "id": place, "metadata": {}, "source": source}


def _literal(text: str) -> str:
    """Text as Markdown that shows it as it is: no HTML, no link, no picture from elsewhere."""
    return _PUNCTUATION.sub(r"\\\1", visible_line(text))
