"""What comes from elsewhere into an environment, and how gpupanel is started without it.

Python takes modules from the folders of ``PYTHONPATH`` and from those of a person's home before or
beside the installed ones, and the loader takes libraries from those of ``LD_LIBRARY_PATH``. Made of
the standard library alone: it must work where pydantic is the package that does not fit.
"""

import json
import os
import re
import resource
import shlex
import site
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gpupanel.domain.inherited_variables import INHERITED_VARIABLES, Treatment
from gpupanel.domain.visible_text import visible_line
from gpupanel.files.process_limits import address_space_limit
from gpupanel.files.regular_files import open_regular

PACKAGES: Final = (
    *("tensorflow", "keras", "numpy", "google/protobuf", "h5py", "ml_dtypes"),
    *("pydantic", "pydantic_core", "typing_extensions", "typer", "rich", "psutil", "pynvml"),
    *("PySide6", "shiboken6", "pyqtgraph"),
)
"""Packages that gpupanel stands on, as folders or files of a folder of modules."""
LIBRARIES: Final = ("libQt6Core.so.6", "libQt6Gui.so.6", "libQt6Widgets.so.6", "libstdc++.so.6")
"""Libraries that PySide6 brings, or that all packages need of the system's age."""
_MOST_KERAS_BYTES: Final = 2**20
_MOST_NAMED: Final = 4


class Elsewhere(NamedTuple):
    """Something of elsewhere that Python or the loader puts before what is installed.

    Attributes:
        name: As a sentence names it: "PYTHONPATH".
        folders: From which it takes modules or libraries; those of which nothing is known are none.
        variables: What a child is given besides in order to be without it.
        command: What starts gpupanel without it.
        limit: Of address space, in bytes (-1: none), that a child sets itself to be without it;
            empty: it has nothing to do with that.
    """

    name: str
    folders: tuple[str, ...]
    variables: Mapping[str, str]
    command: str
    limit: str = ""

    def named_in(self, text: str) -> tuple[str, ...]:
        """What of its folders a text names: modules and libraries, each once."""
        found = (
            match[1]
            for folder in self.folders
            for match in re.finditer(re.escape(folder.rstrip("/")) + r"/+([\w.+-]+)", text)
        )
        return tuple(dict.fromkeys(visible_line(each) for each in found))[:_MOST_NAMED]

    def blamed_in(self, text: str) -> tuple[str, ...]:
        """The same without modules of a person's own, which stand before nothing of gpupanel's.

        A trace of an error in one's own code names its folder, too.
        """
        mine = {*map(_normal, self.folders)}
        ours = [folder for folder in sys.path if folder and _normal(folder) not in mine]
        return tuple(
            name
            for name in self.named_in(text)
            if ".so" in name or any(_holds(folder, name.removesuffix(".py")) for folder in ours)
        )


def elsewhere(environment: Mapping[str, str] = os.environ) -> tuple[Elsewhere, ...]:
    """All of it that there is here, what is most often the reason first."""
    found = [
        *_module_folders(environment),
        *_own_packages(environment),
        *keras_file(environment),
        *_library_folders(environment),
        *_obeyed(environment),
        *_limit(),
    ]
    return tuple(found)


def packages_before_ours(
    environment: Mapping[str, str] = os.environ, search_path: Sequence[str] | None = None
) -> tuple[tuple[Elsewhere, tuple[str, ...]], ...]:
    """Packages that gpupanel stands on and that stand before those that are installed with it.

    Args:
        environment: The variables of this process.
        search_path: Where modules are looked for; left out, ``sys.path``.

    Returns:
        Where they come from, and their names.
    """
    folders = sys.path if search_path is None else search_path
    foreign = [*_module_folders(environment), *_own_packages(environment)]
    found: dict[int, list[str]] = {}
    for package in PACKAGES:
        holders = [folder for folder in folders if _holds(folder, package)]
        if len(holders) < 2:
            continue  # it is nowhere else, so nothing stands behind
        for place, each in enumerate(foreign):
            if _normal(holders[0]) in map(_normal, each.folders):
                found.setdefault(place, []).append(package.replace("/", "."))
    return tuple((foreign[place], tuple(names)) for place, names in sorted(found.items()))


def libraries_before_ours(
    environment: Mapping[str, str] = os.environ,
) -> tuple[tuple[Elsewhere, tuple[str, ...]], ...]:
    """Libraries that the loader takes from elsewhere though packages bring their own.

    Many people have some of them there, and all is well: they count where something has failed.
    """
    found = []
    for each in _library_folders(environment):
        held = [name for name in LIBRARIES if any(_is_there(Path(f, name)) for f in each.folders)]
        if held:
            found.append((each, tuple(held)))
    return tuple(found)


def _module_folders(environment: Mapping[str, str]) -> Iterable[Elsewhere]:
    entries = [each for each in environment.get("PYTHONPATH", "").split(os.pathsep) if each]
    foreign = [each for each in entries if Path(each).is_absolute() and not _is_ours(each)]
    if foreign:
        kept = os.pathsep.join(each for each in entries if each not in foreign)
        yield Elsewhere(
            "PYTHONPATH",
            tuple(foreign),
            {"PYTHONPATH": kept},
            _without("PYTHONPATH", kept),
        )


def _own_packages(environment: Mapping[str, str]) -> Iterable[Elsewhere]:
    folder = site.getusersitepackages()
    is_used = site.ENABLE_USER_SITE and folder in sys.path
    if is_used and not environment.get("PYTHONNOUSERSITE") and not _is_ours(folder):
        yield Elsewhere(
            "the packages in your home",
            (folder,),
            {"PYTHONNOUSERSITE": "1"},
            "env PYTHONNOUSERSITE=1 gpupanel",
        )


def keras_file(environment: Mapping[str, str]) -> Iterable[Elsewhere]:
    """A ``keras.json`` that Keras refuses, with what it has for a reason."""
    home = environment.get("KERAS_HOME") or "~/.keras"
    file = Path(os.path.expanduser(home)) / "keras.json"  # noqa: PTH111 - a "~" of nobody stays
    if _is_refused_by_keras(file):
        aside = f"{shlex.join(('mv', str(file), f'{file}.old'))} && gpupanel"
        yield Elsewhere(visible_line(str(file)), (), {"KERAS_HOME": f"{os.devnull}/keras"}, aside)


def _is_refused_by_keras(file: Path) -> bool:
    """As ``keras/src/backend/config.py`` reads it (Keras 3): what is no JSON it passes over."""
    try:
        with open_regular(file) as opened:
            settings = json.loads(opened.read(_MOST_KERAS_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(settings, dict):
        return True
    return (
        settings.get("floatx", "float32") not in ("float16", "float32", "float64")
        or not isinstance(settings.get("epsilon", 1e-7), float)
        or settings.get("image_data_format", "channels_last")
        not in ("channels_last", "channels_first")
    )


def _library_folders(environment: Mapping[str, str]) -> Iterable[Elsewhere]:
    for name in ("LD_PRELOAD", "LD_LIBRARY_PATH"):
        entries = [each for each in re.split("[: ]", environment.get(name, "")) if each]
        folders = [os.path.dirname(each) if name == "LD_PRELOAD" else each for each in entries]  # noqa: PTH120
        if entries:
            yield Elsewhere(
                name,
                tuple(each for each in folders if Path(each).is_absolute()),
                {name: ""},
                _without(name),
            )


def _obeyed(environment: Mapping[str, str]) -> Iterable[Elsewhere]:
    """Variables that libraries read when they are loaded, and may refuse."""
    known = {each.name for each in INHERITED_VARIABLES if each.treatment is Treatment.NAMED}
    for name in sorted(known & environment.keys()):
        if environment[name]:
            yield Elsewhere(name, (), {name: ""}, _without(name))


def _limit() -> Iterable[Elsewhere]:
    limit = address_space_limit()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if limit is None:
        return
    can_be_raised = most in (resource.RLIM_INFINITY,) or most > limit
    raised = "unlimited" if most == resource.RLIM_INFINITY else str(most // 1024)
    yield Elsewhere(
        f"the limit of {limit / 2**30:,.1f} GiB of address space (ulimit -v)",
        (),
        {},
        f"ulimit -Sv {raised} && gpupanel" if can_be_raised else "",
        str(most),
    )


def _without(name: str, value: str = "") -> str:
    if value:
        return shlex.join(("env", f"{name}={value}", "gpupanel"))
    return shlex.join(("env", "-u", name, "gpupanel"))


def _is_ours(folder: str) -> bool:
    """Whether gpupanel itself is taken from there."""
    return _normal(folder) == _normal(str(Path(__file__).parents[2]))


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _normal(folder: str) -> str:
    return os.path.realpath(folder)


def _holds(folder: str, package: str) -> bool:
    place = Path(folder, package)
    try:
        # A command beside this one may be named like a package.
        return place.is_dir() or place.with_name(f"{place.name}.py").is_file()
    except OSError:
        return False  # a folder that this user may not search gives Python nothing either
