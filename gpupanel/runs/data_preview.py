"""A look at data and model file of a profile, by a child process, for the terminal.

The window asks the same child through its own worker.
"""

import json
import os
import subprocess
from pathlib import Path

from pydantic import ValidationError

from gpupanel.domain.child_command import child_environment, python_module_command
from gpupanel.domain.preview import DataPreview, preview_request
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.runs.directory.profile_file import anchored

PREVIEW_TIMEOUT_S = 120.0


def preview_data(profile: Profile) -> DataPreview:
    """The counts, and every problem of the data and of the model's file that a profile names."""
    request = preview_request(anchored(profile, Path.cwd()))
    try:
        answer = subprocess.run(
            python_module_command("gpupanel.trainer.preview"),
            input=json.dumps(request.model_dump(mode="json")),
            env=child_environment(os.environ),
            capture_output=True,
            text=True,
            timeout=PREVIEW_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _failed(f"it took longer than {PREVIEW_TIMEOUT_S:.0f} s", "")
    try:
        return DataPreview.model_validate_json(answer.stdout)
    except ValidationError:
        return _failed(f"its reader ended with exit code {answer.returncode}", answer.stderr)


def _failed(why: str, detail: str) -> DataPreview:
    problem = Problem(
        code="preview_failed",
        severity=Severity.WARNING,
        field="data",
        message=f"The data could not be read: {why}.",
        hint="Check the file; a run may still work and report more.",
        detail=detail,
    )
    return DataPreview(problems=(problem,))
