"""Exports models in every format and predicts with the ``predict.py`` that stands beside each.

``python predict_exported.py``: on standard input a list of ``request``, without format and output,
``folder``, a new one, and ``inputs``, raw files. Each folder gets a ``FORMAT.json`` with what
``predict.py`` printed of all inputs.
"""

import contextlib
import io
import json
import runpy
import sys
from pathlib import Path

import keras

from gpupanel.domain.model_export import ModelExportRequest, ModelFormat
from gpupanel.trainer.tools.model_export import export_model


def predict(script: Path, inputs: list[str]) -> str:
    printed, before = io.StringIO(), sys.argv
    sys.argv = [str(script), "--json", *inputs]
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(script), run_name="__main__")
    except SystemExit as ended:
        return json.dumps(str(ended))
    finally:
        sys.argv = before
    return printed.getvalue().splitlines()[-1]


for asked in json.load(sys.stdin):
    folder = Path(asked["folder"])
    for form in ModelFormat:
        place = folder / form.value
        is_folder = form is ModelFormat.SAVEDMODEL
        (folder if is_folder else place).mkdir(parents=True, exist_ok=True)
        output = place if is_folder else place / f"m.{form.value}"
        more = {"output": str(output), "model_format": form}
        done = export_model(ModelExportRequest.model_validate({**asked["request"], **more}))
        answer = (
            predict(place / "predict.py", asked["inputs"])
            if done.problems == ()
            else json.dumps([each.message for each in done.problems])
        )
        (folder / f"{form.value}.json").write_text(answer, encoding="utf-8")
        keras.backend.clear_session(free_memory=False)
