"""The verb that prints the file by which a program without gpupanel reports its figures."""

import inspect

from gpupanel.cli.options import JsonOption
from gpupanel.cli.output import print_file, print_json
from gpupanel.script_process import reporting as reporting_file


def reporting(*, json: JsonOption = False) -> None:
    """Print a file for beside a program: `gpupanel reporting > reporting.py`, then report()."""
    source = inspect.getsource(reporting_file)
    if json:
        print_json({"file": source})
    else:
        print_file(source)
