"""Where a bundle starts: the program, or one of its modules as ``python -P -m`` runs it.

The program starts its children as ``sys.executable -P -m MODULE ARGUMENT...``
(gpupanel/domain/child_command.py). In a bundle ``sys.executable`` is the bundle's own command,
which is no Python: this file understands those words in Python's place. Modules are looked for in
the bundle, and where an absolute entry of ``PYTHONPATH`` says; never in the working directory.
"""

import _ssl
import multiprocessing
import os
import runpy
import sys

_AS_MODULE = ["-P", "-m"]
_PACKAGE = "gpupanel"
_CERTIFICATES = ("/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem")
"""Where Fedora and openSUSE have them."""


def start() -> None:
    """Run what the words after the command say."""
    _give_back_environment()
    _find_certificates()
    # A process that multiprocessing starts for a person's own code ends in here.
    multiprocessing.freeze_support()
    # What a person's own code needs besides; after the bundle, none of whose modules it replaces.
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path += [entry for entry in entries if os.path.isabs(entry)]
    if sys.argv[1:3] == _AS_MODULE and len(sys.argv) > 3:
        module = sys.argv[3]
        if module.partition(".")[0] != _PACKAGE:
            sys.exit(f"{sys.argv[0]}: {module} is no module of {_PACKAGE}")
        del sys.argv[1:4]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return
    from gpupanel.__main__ import main

    main()


def _give_back_environment() -> None:
    """Take back what the start of the bundle has changed.

    Its libraries are for itself, not for the browser or ``nvidia-smi`` that it starts; and each of
    its children is to start as the first one did.
    """
    given = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    if given is None:
        os.environ.pop("LD_LIBRARY_PATH", None)
    else:
        os.environ["LD_LIBRARY_PATH"] = given
    for name in [name for name in os.environ if name.startswith("_PYI_")]:
        del os.environ[name]


def _find_certificates() -> None:
    """Let downloads trust what this system trusts, else what Mozilla does.

    The bundle's OpenSSL looks where the system has them that the bundle was made on.
    """
    variable, file, _, folder = _ssl.get_default_verify_paths()
    if not (os.path.exists(file) or (os.path.isdir(folder) and os.listdir(folder))):
        places = (*_CERTIFICATES, os.path.join(sys._MEIPASS, "certifi", "cacert.pem"))
        found = next((each for each in places if os.path.exists(each)), "")
        if found:
            os.environ.setdefault(variable, found)


start()
