"""Exports models in each format: ``python export_arrays.py``, with their requests as JSON lines.

On standard output stands an answer for each, a line each.
"""

import contextlib
import sys

from gpupanel.domain.model_export import ModelExportRequest
from gpupanel.trainer.tools.model_export import export_model

for line in sys.stdin:
    with contextlib.redirect_stdout(sys.stderr):
        found = export_model(ModelExportRequest.model_validate_json(line))
    print(found.model_dump_json(), flush=True)
