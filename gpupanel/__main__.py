"""``python -m gpupanel`` and the ``gpupanel`` command."""

import gc
import os
import sys
from contextlib import suppress

from gpupanel.domain.child_command import searched_folders

# Before anything else is imported: a file beside a profile may be named as what is.
with suppress(FileNotFoundError):  # a working directory that was removed holds no modules
    sys.path[:] = searched_folders(sys.path, os.environ, os.getcwd())  # noqa: PTH109 - pathlib is not imported yet

if os.environ.get("PYTHONWARNINGS"):
    import warnings

    # `error` would make a failure of what libraries only advise against; children begin without.
    warnings.resetwarnings()
    warnings.simplefilter("ignore")

# What imports leave stays: it would be searched for garbage dozens of times, now and later.
gc.disable()
try:
    from gpupanel.cli.app import main
except Exception as error:  # noqa: BLE001 - packages of another environment raise whatever they do
    from gpupanel.devices.start_refusal import start_refusal

    sys.exit(start_refusal(error, os.environ))
finally:
    gc.freeze()
    gc.enable()

if __name__ == "__main__":
    main()
